//! The images that tasks are worked on in: loaded from their archives, given
//! back to the container engine's disk when it gets narrow, and loaded again
//! when a container asks for one that is gone.
//!
//! Which archive an image came from is a record in the data folder; when the
//! image was last used is that file's time. So a machine knows what it can
//! bring back, whatever another one of the same database has.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context, bail};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::blocking::blocking;
use crate::files::{self, FileIdentity};
use crate::host;
use crate::images::{Held, Images};
use crate::sandbox::{BoxSpec, Docker, Sandbox, SandboxError, StepBox};

#[derive(Debug, Clone)]
pub struct Shelf {
    images: Images,
    folder: PathBuf,
    /// One archive at a time: the container engine's disk is one.
    loading: Arc<Mutex<()>>,
}

/// Where an image came from.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Record {
    digest: String,
    archives: Vec<Archive>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Archive {
    path: PathBuf,
    identity: FileIdentity,
}

impl Shelf {
    /// `data` is the data folder.
    pub fn new(images: Images, data: &Path) -> Self {
        Self {
            images,
            folder: data.join("images"),
            loading: Arc::default(),
        }
    }

    /// Loads an image archive and returns the image's content digest. A file
    /// that was loaded before, under whatever name, is not read again as long
    /// as the engine has the image.
    pub async fn load(&self, archive: &Path) -> anyhow::Result<String> {
        let identity = files::identity(archive)?;
        let _one = self.loading.lock().await;
        if let Some(digest) = self.recorded(identity).await?
            && self.images.digest(&digest).await?.is_some()
        {
            self.used(&digest).await;
            return Ok(digest);
        }
        let digest = self.images.load(archive).await?;
        self.remember(archive, identity, &digest).await?;
        Ok(digest)
    }

    /// # Errors
    /// [`crate::Error::Unavailable`] when the container engine's disk has no
    /// room for so many bytes more. Where it is not known, it is hoped for.
    pub async fn make_sure_of(&self, bytes: u64) -> crate::Result<()> {
        match self.images.folder().await {
            Some(folder) => host::make_sure_of(&folder, bytes),
            None => Ok(()),
        }
    }

    /// Whether an archive need not be read.
    pub async fn knows(&self, archive: &Path) -> bool {
        let Ok(identity) = files::identity(archive) else {
            return false;
        };
        match self.recorded(identity).await {
            Ok(Some(digest)) => matches!(self.images.digest(&digest).await, Ok(Some(_))),
            _ => false,
        }
    }

    /// Takes down that this archive holds this image.
    pub async fn remember(
        &self,
        archive: &Path,
        identity: FileIdentity,
        digest: &str,
    ) -> anyhow::Result<()> {
        let path = std::path::absolute(archive)?;
        let (file, digest) = (self.record(digest), digest.to_owned());
        let kept = file.with_extension("tar.gz");
        blocking(move || {
            let mut record = read(&file).unwrap_or(Record {
                digest,
                archives: Vec::new(),
            });
            record.archives.retain(|known| known.path != path);
            // Where it costs nothing, the archive stays when its folder goes.
            if let Some(folder) = kept.parent() {
                std::fs::create_dir_all(folder)?;
            }
            if !kept.exists() && std::fs::hard_link(&path, &kept).is_ok() {
                let path = kept;
                record.archives.push(Archive { path, identity });
            }
            record.archives.push(Archive { path, identity });
            files::write_whole(&file, &serde_json::to_vec(&record)?)
        })
        .await
    }

    /// Brings an image back that the engine does not have any more.
    ///
    /// # Errors
    /// When no archive is left that holds it.
    pub async fn bring_back(&self, digest: &str) -> anyhow::Result<()> {
        let _one = self.loading.lock().await;
        if self.images.digest(digest).await?.is_some() {
            return Ok(());
        }
        let file = self.record(digest);
        let record = blocking(move || Ok(read(&file))).await?;
        let archives = record.map(|record| record.archives).unwrap_or_default();
        for archive in archives.iter().filter(|archive| archive.path.is_file()) {
            tracing::info!(image = digest, archive = %archive.path.display(), "image loaded again");
            if self.images.load(&archive.path).await? == digest {
                self.used(digest).await;
                return Ok(());
            }
        }
        bail!(
            "the image {digest} is gone and so is the archive it came from; import its task again"
        )
    }

    /// The images there are that could be loaded again.
    pub async fn held(&self) -> anyhow::Result<Vec<Held>> {
        let folder = self.folder.clone();
        let mut held = Vec::new();
        for (record, used) in blocking(move || Ok(records(&folder))).await? {
            if !record.archives.iter().any(|archive| archive.path.is_file()) {
                continue;
            }
            if let Some(layers) = self.images.layers(&record.digest).await? {
                held.push(Held {
                    name: record.digest,
                    used,
                    layers,
                });
            }
        }
        Ok(held)
    }

    /// Removes an image for good, with what is kept to bring it back.
    pub async fn forget(&self, digest: &str) -> anyhow::Result<()> {
        self.images.remove(digest).await?;
        let file = self.record(digest);
        blocking(move || {
            for path in [file.with_extension("tar.gz"), file] {
                match std::fs::remove_file(&path) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                        return Err(error)
                            .with_context(|| format!("cannot remove {}", path.display()));
                    }
                    _ => {}
                }
            }
            Ok(())
        })
        .await
    }

    /// Removes an image from the engine; false when something still needs it.
    pub async fn give_back(&self, digest: &str) -> anyhow::Result<bool> {
        self.images.remove(digest).await
    }

    async fn used(&self, digest: &str) {
        let file = self.record(digest);
        let touched = blocking(move || {
            files::touch(&file);
            Ok(())
        });
        let _ = touched.await;
    }

    /// The image of an archive that was loaded before.
    async fn recorded(&self, identity: FileIdentity) -> anyhow::Result<Option<String>> {
        let folder = self.folder.clone();
        blocking(move || {
            let holds = |record: &Record| record.archives.iter().any(|a| a.identity == identity);
            let found = records(&folder).into_iter().map(|(record, _)| record);
            Ok(found.filter(holds).map(|record| record.digest).next())
        })
        .await
    }

    fn record(&self, digest: &str) -> PathBuf {
        let name = digest.replace(':', "-");
        self.folder.join(format!("{name}.json"))
    }
}

fn read(file: &Path) -> Option<Record> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}

/// All records with the time of last use; what cannot be read is none.
fn records(folder: &Path) -> Vec<(Record, SystemTime)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let record = |entry: std::fs::DirEntry| {
        let used = entry.metadata().and_then(|data| data.modified()).ok()?;
        let path = entry.path();
        let whole = path.extension().is_some_and(|end| end == "json");
        Some((read(&path).filter(|_| whole)?, used))
    };
    entries.filter_map(record).collect()
}

/// Docker with the shelf behind it: an image that was given back is brought
/// back when a container asks for it.
#[derive(Debug)]
pub struct Stocked {
    pub docker: Docker,
    pub shelf: Shelf,
}

#[async_trait]
impl Sandbox for Stocked {
    async fn open(&self, spec: &BoxSpec) -> Result<Box<dyn StepBox>, SandboxError> {
        match self.docker.open(spec).await {
            Err(SandboxError::NoImage(image)) => {
                self.shelf.bring_back(&image).await?;
                self.docker.open(spec).await
            }
            opened => {
                self.shelf.used(&spec.image).await;
                opened
            }
        }
    }

    async fn ping(&self) -> Result<(), SandboxError> {
        self.docker.ping().await
    }
}
