//! Artifacts: the files of results, such as code, documents, reports and logs.
//! They are stored compressed in an object store (a local folder by default),
//! and written before the row that names them.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, ensure};
use bytes::Bytes;
use object_store::local::LocalFileSystem;
use object_store::{GetResult, GetResultPayload, ObjectStore, ObjectStoreExt, PutPayload};
use swe_ci_base::code::CodeTree;

use crate::last_lines::LastLines;

/// The most bytes an artifact may unpack to.
const MAX_UNPACKED: u64 = 8 * 1024 * 1024 * 1024;
/// Fast, and shrinks to about a third.
const ZSTD_LEVEL: i32 = 3;

#[derive(Debug, Clone)]
pub struct Artifacts {
    store: Arc<dyn ObjectStore>,
}

impl Artifacts {
    /// Artifacts in a local folder, created when absent.
    pub fn in_folder(folder: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        let store = LocalFileSystem::new_with_prefix(folder)
            .with_context(|| format!("cannot use {} for artifacts", folder.display()))?;
        Ok(Self {
            store: Arc::new(store),
        })
    }

    /// Stores `bytes` under `key` plus `.zst`, and returns that key.
    pub async fn put(&self, key: &str, bytes: Vec<u8>) -> anyhow::Result<String> {
        let key = format!("{key}.zst");
        let packed =
            tokio::task::spawn_blocking(move || zstd::encode_all(bytes.as_slice(), ZSTD_LEVEL))
                .await??;
        self.store
            .put(&key.as_str().into(), PutPayload::from(packed))
            .await
            .with_context(|| format!("cannot keep the artifact {key}: is the disk full?"))?;
        Ok(key)
    }

    pub async fn get(&self, key: &str) -> anyhow::Result<Vec<u8>> {
        self.get_within(key, MAX_UNPACKED).await
    }

    /// A reader that unpacks the artifact while it is read; reading blocks. A
    /// local file is never in memory as a whole.
    pub async fn reader(&self, key: &str) -> anyhow::Result<impl Read + Send + use<>> {
        let packed: Box<dyn Read + Send> = match self.object(key).await? {
            GetResult {
                payload: GetResultPayload::File(file, _),
                ..
            } => Box::new(file),
            other => Box::new(std::io::Cursor::new(other.bytes().await?)),
        };
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

    async fn object(&self, key: &str) -> anyhow::Result<GetResult> {
        let object = self.store.get(&key.into()).await;
        object.with_context(|| format!("the artifact {key} is not there"))
    }

    async fn packed(&self, key: &str) -> anyhow::Result<Bytes> {
        let packed = self.object(key).await?.bytes().await;
        packed.with_context(|| format!("cannot read the artifact {key}"))
    }

    /// Like [`Self::get`], but fails when it unpacks to more than `max_bytes`.
    pub async fn get_within(&self, key: &str, max_bytes: u64) -> anyhow::Result<Vec<u8>> {
        let packed = self.packed(key).await?;
        let name = key.to_owned();
        tokio::task::spawn_blocking(move || {
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
        .await?
        .with_context(|| format!("the artifact {name} is damaged or too large"))
    }

    /// Stores code under its digest; equal code is stored once.
    pub async fn put_code(&self, code: &CodeTree) -> anyhow::Result<String> {
        let key = format!("code/{}.tar", code.digest());
        let stored = format!("{key}.zst");
        if self.store.head(&stored.as_str().into()).await.is_ok() {
            return Ok(stored);
        }
        self.put(&key, code.to_tar("")?).await
    }

    pub async fn get_code(&self, key: &str) -> anyhow::Result<CodeTree> {
        self.get_code_within(key, MAX_UNPACKED).await
    }

    /// Like [`Self::get_code`], but fails when the code exceeds `max_bytes`.
    pub async fn get_code_within(&self, key: &str, max_bytes: u64) -> anyhow::Result<CodeTree> {
        let tar = self.get_within(key, max_bytes).await?;
        let read = move || CodeTree::from_tar(tar.as_slice(), 0, max_bytes);
        tokio::task::spawn_blocking(read).await?
    }
}

#[cfg(test)]
mod tests {
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
        let key = artifacts.put_code(&code).await.unwrap();
        assert_eq!(artifacts.put_code(&code).await.unwrap(), key);
        assert_eq!(artifacts.get_code(&key).await.unwrap(), code);
        let error = artifacts.get_code_within(&key, 100).await.unwrap_err();
        assert!(error.to_string().contains("too large"), "{error}");
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
