//! The image cache: loads the images of tasks from their archives, evicts them
//! when the container engine's disk space runs low, and reloads an evicted
//! image when a container needs it.
//!
//! A record in the data folder names the archives of an image; the file's
//! modification time is the image's last use. So each machine knows which
//! images it can reload, whatever other machines of the same database have.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context, bail};
use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use swe_ci_base::blocking::blocking;
use swe_ci_base::files::{self, FileIdentity};
use swe_ci_base::named_locks::NamedLocks;
use tokio::sync::Mutex;

use crate::images::{EvictableImage, Images, Registry, SharedName};
use crate::{ContainerSpec, Docker, Sandbox, SandboxContainer, SandboxError, host};

#[derive(Debug, Clone)]
pub struct ImageCache {
    images: Images,
    folder: PathBuf,
    registry: Option<Registry>,
    /// By digest: nothing else waits while an image is pulled or pushed.
    images_at_work: NamedLocks,
    /// Serialises loading, since all archives go to the one disk of the container
    /// engine, and writing records. Taken after the lock of an image.
    loading: Arc<Mutex<()>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Record {
    digest: String,
    archives: Vec<Archive>,
    /// It was pushed to the registry, or came from there.
    #[serde(default)]
    in_registry: bool,
}

impl Record {
    fn new(digest: String) -> Self {
        Self {
            digest,
            archives: Vec::new(),
            in_registry: false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Archive {
    path: PathBuf,
    identity: FileIdentity,
}

impl Archive {
    /// Whether the file still holds the image. Outside of this folder, another one
    /// may have its name by now.
    fn is_there(&self, folder: &Path) -> bool {
        let now = files::identity(&self.path);
        now.is_ok_and(|now| now == self.identity || self.path.starts_with(folder))
    }
}

impl ImageCache {
    /// `data` is the data folder.
    pub fn new(images: Images, data: &Path) -> Self {
        Self {
            images,
            folder: data.join("images"),
            registry: None,
            images_at_work: NamedLocks::default(),
            loading: Arc::default(),
        }
    }

    #[must_use]
    pub fn shared_in(self, registry: Option<Registry>) -> Self {
        Self { registry, ..self }
    }

    /// Pushes the image of a task to the registry; `false` when it was there
    /// already, or there is no registry.
    pub async fn share(&self, digest: &str) -> anyhow::Result<bool> {
        let Some(registry) = &self.registry else {
            return Ok(false);
        };
        if self.images.digest(digest).await?.is_none() {
            self.reload(digest).await?;
        }
        let _guard = self.images_at_work.lock(digest).await;
        if self.known(digest).await?.in_registry {
            return Ok(false);
        }
        let name = SharedName::of_task(digest);
        self.images.push(digest, registry, &name).await?;
        self.remember_shared(digest).await?;
        Ok(true)
    }

    /// Pulls the image of a task; `false` when the registry does not have it.
    async fn pull(&self, digest: &str) -> anyhow::Result<bool> {
        let Some(registry) = &self.registry else {
            return Ok(false);
        };
        let name = SharedName::of_task(digest);
        match self.images.pull(registry, &name).await? {
            None => Ok(false),
            Some(found) if found == digest => {
                tracing::info!(image = digest, "image pulled");
                self.remember_shared(digest).await?;
                Ok(true)
            }
            Some(found) => {
                self.images.remove(&found).await?;
                bail!("the registry has another image ({found}) in the place of {digest}")
            }
        }
    }

    async fn known(&self, digest: &str) -> anyhow::Result<Record> {
        let (file, digest) = (self.record(digest), digest.to_owned());
        blocking(move || Ok(read_record(&file).unwrap_or(Record::new(digest)))).await
    }

    async fn remember_shared(&self, digest: &str) -> anyhow::Result<()> {
        let _guard = self.loading.lock().await;
        let mut record = self.known(digest).await?;
        record.in_registry = true;
        let file = self.record(digest);
        blocking(move || files::write_whole(&file, &serde_json::to_vec(&record)?)).await
    }

    /// Loads an image archive and returns the image's content digest. Skips
    /// reading a file that was loaded before, under any name, as long as the
    /// engine has the image.
    pub async fn load(&self, archive: &Path) -> anyhow::Result<String> {
        let identity = files::identity(archive)?;
        let _guard = self.loading.lock().await;
        if let Some(digest) = self.recorded_digest(identity).await?
            && self.images.digest(&digest).await?.is_some()
        {
            self.touch(&digest).await;
            return Ok(digest);
        }
        let digest = self.images.load(archive).await?;
        self.remember(archive, identity, &digest).await?;
        Ok(digest)
    }

    /// # Errors
    /// [`swe_ci_base::Error::Unavailable`] when the container engine's disk has
    /// no space for this many more bytes. Succeeds where the free space is not
    /// known.
    pub async fn ensure_free_space(&self, bytes: u64) -> swe_ci_base::Result<()> {
        match self.images.folder().await {
            Some(folder) => host::ensure_free_space(&folder, bytes),
            None => Ok(()),
        }
    }

    /// The digest of the image in an archive that was loaded before; `None` for any
    /// other file.
    pub async fn digest_of(&self, archive: &Path) -> anyhow::Result<Option<String>> {
        match files::identity(archive) {
            Ok(identity) => self.recorded_digest(identity).await,
            Err(_) => Ok(None),
        }
    }

    /// Whether the image of an archive is loaded, so that the archive need not
    /// be read.
    pub async fn knows(&self, archive: &Path) -> bool {
        match self.digest_of(archive).await {
            Ok(Some(digest)) => matches!(self.images.digest(&digest).await, Ok(Some(_))),
            _ => false,
        }
    }

    /// As [`Images::other_processor`].
    pub async fn other_processor(&self, digest: &str) -> anyhow::Result<Option<[String; 2]>> {
        self.images.other_processor(digest).await
    }

    /// Records that this archive holds this image.
    pub async fn remember(
        &self,
        archive: &Path,
        identity: FileIdentity,
        digest: &str,
    ) -> anyhow::Result<()> {
        let path = std::path::absolute(archive)?;
        let (file, digest) = (self.record(digest), digest.to_owned());
        let link = file.with_extension("tar.gz");
        blocking(move || {
            let mut record: Record = read_record(&file).unwrap_or(Record::new(digest));
            record.archives.retain(|known| known.path != path);
            // A hard link costs nothing and keeps the archive when its folder
            // is removed.
            if let Some(folder) = link.parent() {
                std::fs::create_dir_all(folder)?;
            }
            if !link.exists() && std::fs::hard_link(&path, &link).is_ok() {
                let path = link;
                record.archives.push(Archive { path, identity });
            }
            record.archives.push(Archive { path, identity });
            files::write_whole(&file, &serde_json::to_vec(&record)?)
        })
        .await
    }

    /// Reloads an image that the engine does not have: from an archive, or from
    /// the registry.
    ///
    /// # Errors
    /// When none of them has it.
    pub async fn reload(&self, digest: &str) -> anyhow::Result<()> {
        let _guard = self.images_at_work.lock(digest).await;
        if self.images.digest(digest).await?.is_some() {
            return Ok(());
        }
        for archive in self.known(digest).await?.archives {
            if !archive.path.is_file() {
                continue;
            }
            let _loading = self.loading.lock().await;
            tracing::info!(image = digest, archive = %archive.path.display(), "image reloaded");
            if self.images.load(&archive.path).await? == digest {
                self.touch(digest).await;
                return Ok(());
            }
        }
        if self.pull(digest).await? {
            return Ok(());
        }
        match self.registry {
            Some(_) => bail!(
                "the image {digest} is neither here nor in the registry; run `swe-ci dataset share` where its task was imported"
            ),
            None => bail!(
                "the image {digest} was evicted and its archive is gone; import its task again"
            ),
        }
    }

    /// The images in the engine that could be reloaded.
    pub async fn evictable(&self) -> anyhow::Result<Vec<EvictableImage>> {
        let (shared, folder) = (self.registry.is_some(), self.folder.clone());
        self.at_hand(|record| {
            let mut archives = record.archives.iter();
            let in_archive = archives.any(|archive| archive.is_there(&folder));
            in_archive || (record.in_registry && shared)
        })
        .await
    }

    /// All images of tasks that the engine has.
    pub async fn images(&self) -> anyhow::Result<Vec<EvictableImage>> {
        self.at_hand(|_| true).await
    }

    async fn at_hand(
        &self,
        wanted: impl Fn(&Record) -> bool,
    ) -> anyhow::Result<Vec<EvictableImage>> {
        let folder = self.folder.clone();
        let mut evictable = Vec::new();
        let records = blocking(move || Ok(records::<Record>(&folder)));
        for (_, record, used) in records.await? {
            if !wanted(&record) {
                continue;
            }
            if let Some(layers) = self.images.layers(&record.digest).await? {
                evictable.push(EvictableImage {
                    name: record.digest,
                    used,
                    layers,
                });
            }
        }
        Ok(evictable)
    }

    /// Removes an image for good, with its record and its archive.
    pub async fn forget(&self, digest: &str) -> anyhow::Result<()> {
        self.images.remove(digest).await?;
        let file = self.record(digest);
        blocking(move || {
            for path in [file.with_extension("tar.gz"), file] {
                if let Err(error) = std::fs::remove_file(&path)
                    && error.kind() != std::io::ErrorKind::NotFound
                {
                    return Err(error).context(format!("cannot remove {}", path.display()));
                }
            }
            Ok(())
        })
        .await
    }

    /// Evicts an image from the engine; `false` when something still uses it.
    pub async fn give_back(&self, digest: &str) -> anyhow::Result<bool> {
        self.images.remove(digest).await
    }

    async fn touch(&self, digest: &str) {
        let file = self.record(digest);
        let _ = tokio::task::spawn_blocking(move || files::touch(&file)).await;
    }

    /// The digest of the image of an archive that was loaded before.
    async fn recorded_digest(&self, identity: FileIdentity) -> anyhow::Result<Option<String>> {
        let folder = self.folder.clone();
        blocking(move || {
            let holds = |record: &Record| record.archives.iter().any(|a| a.identity == identity);
            let mut entries = records(&folder).into_iter().map(|(_, record, _)| record);
            Ok(entries.find(holds).map(|record| record.digest))
        })
        .await
    }

    fn record(&self, digest: &str) -> PathBuf {
        let name = digest.replace(':', "-");
        self.folder.join(format!("{name}.json"))
    }
}

/// Reads a record; `None` if it is missing or unreadable. Blocks.
pub fn read_record<T: DeserializeOwned>(file: &Path) -> Option<T> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}

/// All readable records of a folder (`NAME.json`) with their names and the time
/// of last use. Blocks.
pub fn records<T: DeserializeOwned>(folder: &Path) -> Vec<(String, T, SystemTime)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let record = |entry: std::fs::DirEntry| {
        let file = entry.file_name().into_string().ok()?;
        let name = file.strip_suffix(".json")?.to_owned();
        let used = entry.metadata().and_then(|data| data.modified()).ok()?;
        Some((name, read_record(&entry.path())?, used))
    };
    entries.filter_map(record).collect()
}

/// Docker with the image cache behind it: a container whose image was evicted
/// gets the image reloaded.
#[derive(Debug)]
pub struct CachingSandbox {
    pub docker: Docker,
    pub image_cache: ImageCache,
}

#[async_trait]
impl Sandbox for CachingSandbox {
    async fn open(&self, spec: &ContainerSpec) -> Result<Box<dyn SandboxContainer>, SandboxError> {
        match self.docker.open(spec).await {
            Err(SandboxError::NoImage(image)) => {
                self.image_cache.reload(&image).await?;
                self.docker.open(spec).await
            }
            result => {
                self.image_cache.touch(&spec.image).await;
                result
            }
        }
    }

    async fn ping(&self) -> Result<(), SandboxError> {
        self.docker.ping().await
    }
}
