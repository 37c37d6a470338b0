//! Artifacts: the files of results, such as code, documents, reports and logs.
//! They are stored compressed in an object store (a local folder by default, or
//! S3 for several machines), and written before the row that names them.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use bytes::Bytes;
use futures::TryStreamExt;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::buffered::BufWriter;
use object_store::local::LocalFileSystem;
use object_store::prefix::PrefixStore;
use object_store::{
    GetResult, GetResultPayload, ObjectStore, ObjectStoreExt, PutPayload, RetryConfig,
};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use swe_ci_base::code::CodeTree;
use swe_ci_base::retry::{Backoff, Retries};
use tokio::io::AsyncWriteExt;

use crate::last_lines::LastLines;

/// The most bytes an artifact may unpack to.
const MAX_UNPACKED: u64 = 8 * 1024 * 1024 * 1024;
/// Fast, and shrinks to about a third.
const ZSTD_LEVEL: i32 = 3;

/// Of whole reads: the store's client goes on with no transfer that broke off.
const READS: Retries = Retries {
    first_delay: Duration::from_millis(200),
    max_delay: Duration::from_secs(5),
    max_requested: Duration::ZERO,
    tries: 5,
};

/// Packed bytes of a bucket's artifacts that a process keeps in memory: pages
/// and the steps of an evolution read the same code several times.
const KEPT_BYTES: u64 = 128 << 20;
/// About how many artifacts that is.
const KEPT: usize = 2_000;
/// Larger ones are not kept: one would take the place of hundreds.
const MAX_KEPT: usize = 8 << 20;

#[derive(Debug, Clone)]
pub struct Artifacts {
    store: Arc<dyn ObjectStore>,
    /// What was read and written last, by name; none for a folder, which the
    /// operating system keeps in memory itself.
    kept: Option<Arc<Cache<String, Bytes, Size>>>,
}

#[derive(Debug, Clone)]
struct Size;

impl Weighter<String, Bytes> for Size {
    fn weight(&self, key: &String, packed: &Bytes) -> u64 {
        (key.len() + packed.len()) as u64
    }
}

impl Artifacts {
    /// Artifacts in a local folder, created when absent.
    pub fn in_folder(folder: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        let store = LocalFileSystem::new_with_prefix(folder)
            .with_context(|| format!("cannot use {} for artifacts", folder.display()))?;
        // A row names an artifact for good, so the file must outlive a power
        // cut as the row does.
        Ok(Self {
            store: Arc::new(store.with_fsync(true).with_automatic_cleanup(true)),
            kept: None,
        })
    }

    /// Artifacts in a bucket: `s3://bucket/prefix`. `settings` are the usual
    /// variables of S3's programs, such as `AWS_ENDPOINT_URL` and
    /// `AWS_ACCESS_KEY_ID`; without a key, the machine's role is used. A request
    /// is tried again for as long as `patience`: signatures are good for five
    /// minutes.
    ///
    /// # Errors
    /// Naming the setting that cannot be used, never its value.
    pub fn in_bucket(
        url: &str,
        settings: &[(String, String)],
        patience: Duration,
    ) -> anyhow::Result<Self> {
        let place = url.strip_prefix("s3://").unwrap_or_default();
        let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
        ensure!(
            !bucket.is_empty(),
            "the artifacts' place must be a folder or s3://BUCKET/PREFIX"
        );
        swe_ci_base::tls::use_ring();
        let mut builder = AmazonS3Builder::new().with_bucket_name(bucket);
        for (name, value) in settings {
            if name == "AWS_ENDPOINT_URL" {
                builder = builder.with_allow_http(value.starts_with("http://"));
            }
            // What other programs of S3 read and this one does not know is theirs.
            if let Ok(key) = name.to_lowercase().parse::<AmazonS3ConfigKey>() {
                builder = builder.with_config(key, value);
            }
        }
        let s3 = builder
            .with_retry(RetryConfig {
                max_retries: usize::MAX,
                retry_timeout: patience,
                ..RetryConfig::default()
            })
            .build()
            .with_context(|| format!("cannot use the bucket {bucket} for artifacts"))?;
        let store: Arc<dyn ObjectStore> = match prefix.trim_matches('/') {
            "" => Arc::new(s3),
            prefix => Arc::new(PrefixStore::new(s3, prefix)),
        };
        Ok(Self::remembering(store))
    }

    fn remembering(store: Arc<dyn ObjectStore>) -> Self {
        let kept = Cache::with_weighter(KEPT, KEPT_BYTES, Size);
        Self {
            store,
            kept: Some(Arc::new(kept)),
        }
    }

    /// Whether there is an artifact of this name.
    pub async fn has(&self, key: &str) -> anyhow::Result<bool> {
        match self.store.head(&key.into()).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error).with_context(|| format!("cannot look for the artifact {key}")),
        }
    }

    /// Stores a file as it is.
    pub async fn put_file(&self, key: &str, file: &Path) -> anyhow::Result<()> {
        let mut from = tokio::fs::File::open(file).await?;
        let mut to = BufWriter::new(self.store.clone(), key.into());
        let copied = async {
            tokio::io::copy(&mut from, &mut to).await?;
            to.shutdown().await
        };
        copied
            .await
            .with_context(|| format!("cannot keep the artifact {key}"))
    }

    /// Removes an artifact; nothing happens where there is none.
    pub async fn remove(&self, key: &str) -> anyhow::Result<()> {
        self.forget(key);
        match self.store.delete(&key.into()).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error).with_context(|| format!("cannot remove the artifact {key}")),
        }
    }

    /// Removes all artifacts in a folder.
    pub async fn remove_folder(&self, folder: &str) -> anyhow::Result<()> {
        let found = self.store.list(Some(&folder.into()));
        let found: Vec<_> = found.try_collect().await?;
        for object in found {
            self.remove(object.location.as_ref()).await?;
        }
        Ok(())
    }

    /// Copies an artifact into a file, which it replaces.
    pub async fn get_file(&self, key: &str, file: &Path) -> anyhow::Result<()> {
        let copied = retried(|| self.copy_to(key, file)).await;
        Ok(copied.map_err(|error| unread(key, error))??)
    }

    /// Outside are failures of the store, inside those of the disk.
    async fn copy_to(&self, key: &str, file: &Path) -> object_store::Result<std::io::Result<()>> {
        let mut pieces = self.store.get(&key.into()).await?.into_stream();
        let mut to = match tokio::fs::File::create(file).await {
            Ok(file) => file,
            Err(error) => return Ok(Err(error)),
        };
        while let Some(piece) = pieces.try_next().await? {
            if let Err(error) = to.write_all(&piece).await {
                return Ok(Err(error));
            }
        }
        Ok(to.sync_all().await)
    }

    /// Stores `bytes` under `key` plus `.zst`, and returns that key.
    pub async fn put(&self, key: &str, bytes: Vec<u8>) -> anyhow::Result<String> {
        let pack = move || zstd::encode_all(bytes.as_slice(), ZSTD_LEVEL);
        let packed = tokio::task::spawn_blocking(pack).await??;
        self.put_packed(format!("{key}.zst"), packed).await
    }

    #[tracing::instrument(name = "write an artifact", level = "debug", skip_all)]
    async fn put_packed(&self, key: String, packed: Vec<u8>) -> anyhow::Result<String> {
        let packed = Bytes::from(packed);
        self.store
            .put(&key.as_str().into(), PutPayload::from(packed.clone()))
            .await
            .with_context(|| format!("cannot keep the artifact {key}; is the disk full?"))?;
        self.remember(&key, &packed);
        Ok(key)
    }

    /// An artifact is never changed, only replaced when it is damaged.
    fn remember(&self, key: &str, packed: &Bytes) {
        if let Some(kept) = &self.kept
            && packed.len() <= MAX_KEPT
        {
            kept.insert(key.to_owned(), packed.clone());
        }
    }

    /// Another process may replace a damaged artifact.
    fn forget(&self, key: &str) {
        if let Some(kept) = &self.kept {
            kept.remove(key);
        }
    }

    pub async fn get(&self, key: &str) -> anyhow::Result<Vec<u8>> {
        self.get_within(key, MAX_UNPACKED).await
    }

    /// A reader that unpacks the artifact while it is read; reading blocks. A
    /// local file is never in memory as a whole.
    pub async fn reader(&self, key: &str) -> anyhow::Result<impl Read + Send + use<>> {
        let packed = retried(|| async {
            let packed: Box<dyn Read + Send> = match self.store.get(&key.into()).await? {
                GetResult {
                    payload: GetResultPayload::File(file, _),
                    ..
                } => Box::new(file),
                other => Box::new(std::io::Cursor::new(other.bytes().await?)),
            };
            Ok(packed)
        });
        let packed = packed.await.map_err(|error| unread(key, error))?;
        Ok(zstd::Decoder::new(packed)?.take(MAX_UNPACKED))
    }

    /// The last whole lines of a text, at most `most` bytes of them, without
    /// the rest in memory.
    pub async fn last_lines(&self, key: &str, most: usize) -> anyhow::Result<LastLines> {
        let reader = self.reader(key).await?;
        let read = move || LastLines::read(reader, most);
        let lines = tokio::task::spawn_blocking(read).await?;
        lines.with_context(|| format!("the artifact {key} is damaged"))
    }

    async fn packed(&self, key: &str) -> anyhow::Result<Bytes> {
        if let Some(packed) = self.kept.as_ref().and_then(|kept| kept.get(key)) {
            return Ok(packed);
        }
        let packed = retried(|| async { self.store.get(&key.into()).await?.bytes().await });
        let packed = packed.await.map_err(|error| unread(key, error))?;
        self.remember(key, &packed);
        Ok(packed)
    }

    /// Like [`Self::get`], but fails when it unpacks to more than `max_bytes`.
    pub async fn get_within(&self, key: &str, max_bytes: u64) -> anyhow::Result<Vec<u8>> {
        let packed = self.packed(key).await?;
        let name = key.to_owned();
        let unpacked = tokio::task::spawn_blocking(move || {
            let mut bytes = Vec::new();
            let mut reader = zstd::Decoder::new(packed.as_ref())?.take(max_bytes + 1);
            reader.read_to_end(&mut bytes)?;
            ensure!(
                bytes.len() as u64 <= max_bytes,
                "it unpacks to more than {} MiB",
                max_bytes >> 20
            );
            anyhow::Ok(bytes)
        })
        .await?;
        if unpacked.is_err() {
            self.forget(key);
        }
        unpacked.with_context(|| format!("the artifact {name} is damaged or too large"))
    }

    /// Stores code under its digest; equal code is stored once. An artifact
    /// that is there but does not hold this code is damaged, and is replaced.
    /// Packs while it writes the archive: only the packed one is in memory.
    #[tracing::instrument(name = "store code", level = "debug", skip_all)]
    pub async fn put_code(&self, code: &Arc<CodeTree>) -> anyhow::Result<String> {
        let own = code.clone();
        let digest = tokio::task::spawn_blocking(move || own.digest()).await?;
        let key = format!("code/{digest}.tar.zst");
        if self.store.head(&key.as_str().into()).await.is_ok() && self.get_code(&key).await.is_ok()
        {
            return Ok(key);
        }
        let code = code.clone();
        let pack = move || {
            let packed = zstd::Encoder::new(Vec::new(), ZSTD_LEVEL)?;
            code.write_tar("", packed)?.finish()
        };
        let packed = tokio::task::spawn_blocking(pack).await??;
        self.put_packed(key, packed).await
    }

    pub async fn get_code(&self, key: &str) -> anyhow::Result<CodeTree> {
        self.get_code_within(key, MAX_UNPACKED).await
    }

    /// Like [`Self::get_code`], but fails when the code exceeds `max_bytes`.
    ///
    /// # Errors
    /// Also when the code is not the one that the key names.
    pub async fn get_code_within(&self, key: &str, max_bytes: u64) -> anyhow::Result<CodeTree> {
        let packed = std::io::Cursor::new(self.packed(key).await?);
        let name = key.to_owned();
        let read = move || {
            let code = CodeTree::from_tar(zstd::Decoder::new(packed)?, 0, max_bytes)
                .with_context(|| format!("the artifact {name} is damaged or too large"))?;
            let named = name.strip_prefix("code/");
            let named = named.and_then(|name| name.strip_suffix(".tar.zst"));
            let intact = named.is_none_or(|digest| digest == code.digest());
            ensure!(
                intact,
                "the artifact {name} is damaged: it holds other code"
            );
            Ok(code)
        };
        let code = tokio::task::spawn_blocking(read).await?;
        if code.is_err() {
            self.forget(key);
        }
        code
    }
}

/// Says whether there is no such artifact, or whether the store did not answer.
fn unread(key: &str, error: object_store::Error) -> anyhow::Error {
    let what = match error {
        object_store::Error::NotFound { .. } => format!("the artifact {key} is not there"),
        _ => format!("cannot read the artifact {key}"),
    };
    anyhow::Error::new(error).context(what)
}

/// Reads until it succeeds or fails for good, or has failed too often.
async fn retried<T, F: Future<Output = object_store::Result<T>>>(
    mut read: impl FnMut() -> F,
) -> object_store::Result<T> {
    let mut tries = Backoff::new(READS, 0);
    loop {
        let failed = match read().await {
            // Of the line, not of the artifact.
            Err(error @ object_store::Error::Generic { .. }) => error,
            read => return read,
        };
        match tries.failed(None) {
            Some(delay) => tokio::time::sleep(delay).await,
            None => return Err(failed),
        }
    }
}

/// Whether this is no fault of what is stored: the database or the store of
/// artifacts did not answer. Another try may succeed.
pub fn is_outage(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(|cause| {
        let artifact = cause.downcast_ref::<object_store::Error>();
        artifact.is_some_and(|error| !matches!(error, object_store::Error::NotFound { .. }))
            || cause.is::<sqlx::Error>()
    })
}

/// Whether an artifact or a file is not there. It may come back, as a folder on
/// another machine does.
pub fn is_missing(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(|cause| {
        let artifact = cause.downcast_ref::<object_store::Error>();
        let file = cause.downcast_ref::<std::io::Error>();
        matches!(artifact, Some(object_store::Error::NotFound { .. }))
            || file.is_some_and(|file| file.kind() == std::io::ErrorKind::NotFound)
    })
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn artifacts_round_trip() {
        let folder = tempfile::tempdir().unwrap();
        let artifacts = Artifacts::in_folder(folder.path()).unwrap();
        let key = artifacts.put("a/b.json", b"{}".to_vec()).await.unwrap();
        assert_eq!(artifacts.get(&key).await.unwrap(), b"{}");
        let error = artifacts.get("a/none").await.unwrap_err();
        assert!(error.to_string().contains("a/none is not there"));

        let mut code = CodeTree::default();
        code.insert_file("a.py", "a = 1\n");
        let code = Arc::new(code);
        let key = artifacts.put_code(&code).await.unwrap();
        assert_eq!(artifacts.put_code(&code).await.unwrap(), key);
        assert_eq!(artifacts.get_code(&key).await.unwrap(), *code);
        let error = artifacts.get_code_within(&key, 9).await.unwrap_err();
        assert!(error.to_string().contains("too large"), "{error}");

        artifacts.put("ab/c", Vec::new()).await.unwrap();
        artifacts.remove_folder("a").await.unwrap();
        artifacts.remove("a/none").await.unwrap();
        assert!(!artifacts.has("a/b.json.zst").await.unwrap());
        assert!(artifacts.has("ab/c.zst").await.unwrap());
    }

    /// What a power cut can leave behind, and code under a digest that is not
    /// its own.
    #[tokio::test]
    async fn damaged_code_is_never_believed() {
        let folder = tempfile::tempdir().unwrap();
        let artifacts = Artifacts::in_folder(folder.path()).unwrap();
        let mut code = CodeTree::default();
        code.insert_file("a.py", "a = 1\n");
        let code = Arc::new(code);
        let key = artifacts.put_code(&code).await.unwrap();
        let file = folder.path().join(&key);
        let whole = std::fs::read(&file).unwrap();
        let other = zstd::encode_all(&*CodeTree::default().to_tar("").unwrap(), 1).unwrap();
        for damaged in [&[], &whole[..whole.len() / 2], &other[..]] {
            std::fs::write(&file, damaged).unwrap();
            let error = artifacts.get_code(&key).await.unwrap_err();
            assert!(error.to_string().contains("is damaged"), "{error:#}");
            assert_eq!(artifacts.put_code(&code).await.unwrap(), key);
            assert_eq!(artifacts.get_code(&key).await.unwrap(), *code);
        }
    }

    /// What a bucket holds is fetched once, unless it is damaged.
    #[tokio::test]
    async fn artifacts_of_a_bucket_are_kept_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let local = LocalFileSystem::new_with_prefix(folder.path()).unwrap();
        let artifacts = Artifacts::remembering(Arc::new(local));
        let file = |key: &str| folder.path().join(key);

        let key = artifacts.put("report", b"{}".to_vec()).await.unwrap();
        std::fs::remove_file(file(&key)).unwrap();
        assert_eq!(artifacts.get(&key).await.unwrap(), b"{}");

        let other = zstd::encode_all(&b"from elsewhere"[..], 1).unwrap();
        std::fs::write(file("other.zst"), &other).unwrap();
        assert_eq!(artifacts.get("other.zst").await.unwrap(), b"from elsewhere");
        std::fs::remove_file(file("other.zst")).unwrap();
        assert_eq!(artifacts.get("other.zst").await.unwrap(), b"from elsewhere");

        std::fs::write(file("torn.zst"), &other[..other.len() / 2]).unwrap();
        artifacts.get("torn.zst").await.unwrap_err();
        std::fs::write(file("torn.zst"), &other).unwrap();
        assert_eq!(artifacts.get("torn.zst").await.unwrap(), b"from elsewhere");

        // The largest take no place.
        let large: Vec<u8> = (0..MAX_KEPT as u64 / 4)
            .flat_map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes())
            .collect();
        let key = artifacts.put("large", large).await.unwrap();
        std::fs::remove_file(file(&key)).unwrap();
        artifacts.get(&key).await.unwrap_err();
    }

    /// A bucket that answers each request as `answers` say, one after the other.
    async fn bucket(answers: &'static [&'static str]) -> Artifacts {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            for answer in answers {
                let (mut line, _) = listener.accept().await.unwrap();
                let mut request = [0; 4096];
                let _ = line.read(&mut request).await;
                line.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        let settings = [
            ("AWS_ENDPOINT_URL", format!("http://{address}")),
            ("AWS_ACCESS_KEY_ID", "a".into()),
            ("AWS_SECRET_ACCESS_KEY", "b".into()),
        ];
        let settings = settings.map(|(name, value)| (name.to_owned(), value));
        Artifacts::in_bucket("s3://b", &settings, Duration::ZERO).unwrap()
    }

    const BROKEN: &str = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nETag: \"e\"\r\n\
        Last-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\nConnection: close\r\n\r\nabc";
    const WHOLE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nETag: \"e\"\r\n\
        Last-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\nConnection: close\r\n\r\nabcdef";

    /// A file has no bytes of a transfer that broke off.
    #[tokio::test]
    async fn a_transfer_that_breaks_off_is_begun_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let artifacts = bucket(&[BROKEN, BROKEN, WHOLE]).await;
        artifacts.get_file("x", &file).await.unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"abcdef");
        let artifacts = bucket(&[BROKEN, WHOLE]).await;
        let text = artifacts.packed("x").await.unwrap();
        assert_eq!(text, b"abcdef"[..]);
        // Its reader fails later: these bytes are no archive.
        let artifacts = bucket(&[BROKEN, WHOLE]).await;
        artifacts.reader("x").await.unwrap();
    }

    #[tokio::test]
    async fn an_outage_is_no_damage() {
        const REFUSED: &str =
            "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        const MISSING: &str =
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        let check = async |answer: &'static [&'static str], expect: bool| {
            let error = bucket(answer).await.get("x").await.unwrap_err();
            assert_eq!(is_outage(error.as_ref()), expect, "{error:#}");
            let error = swe_ci_base::error::Error::from(error);
            assert_eq!(is_outage(&error), expect, "as the callers have it");
        };
        check(&[REFUSED], true).await;
        check(&[MISSING], false).await;
        check(&[WHOLE], false).await;
        let unanswered = swe_ci_base::error::Error::from(sqlx::Error::PoolTimedOut);
        assert!(is_outage(&unanswered));
    }

    #[tokio::test]
    async fn a_damaged_artifact_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let artifacts = Artifacts::in_folder(folder.path()).unwrap();
        std::fs::write(folder.path().join("x.zst"), b"garbage").unwrap();
        let error = artifacts.get("x.zst").await.unwrap_err();
        assert!(error.to_string().contains("x.zst is damaged"), "{error}");
    }
}
