//! Loading image archives into the engine.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use bollard::errors::Error;
use bollard::query_parameters::{ImportImageOptions, TagImageOptionsBuilder};
use bytes::Bytes;
use futures::{StreamExt, stream};
use swe_ci_base::blocking::blocking;
use swe_ci_base::machine_failure::told_by_program;
use tokio::sync::mpsc;

use super::Images;
use super::archive::renamed;

/// Repository of the names that loaded images get.
const TASK_IMAGES: &str = "swe-ci/task";
/// Bytes of a piece on its way to the engine.
const PIECE_BYTES: usize = 1 << 20;
/// Pieces that wait for the engine.
const PIECES: usize = 4;

impl Images {
    /// Loads an image archive and returns the image's content digest. None of
    /// the archive's own names is used: a name may belong to another image.
    ///
    /// # Errors
    /// When the archive does not hold exactly one image as `docker save` writes
    /// it, plain or gzipped.
    pub async fn load(&self, archive: &Path) -> anyhow::Result<String> {
        let shown = archive.display();
        if let Some(store) = self.docker.unpacked()? {
            let (store, path) = (store.clone(), archive.to_owned());
            let loaded = blocking(move || store.load(&path)).await;
            let digest = loaded.with_context(|| format!("cannot load {shown}"))?;
            self.name(&digest).await?;
            return Ok(digest);
        }
        let (sender, mut receiver) = mpsc::channel(PIECES);
        let path = archive.to_owned();
        let copying = tokio::task::spawn_blocking(move || copy(&path, &sender));
        let pieces = stream::poll_fn(move |context| receiver.poll_recv(context));
        let loaded = self.load_pieces(pieces).await;
        // An archive that was refused did not reach the engine as a whole.
        let cannot = || format!("cannot load {shown}");
        copying.await?.with_context(cannot)?;
        let name = loaded.with_context(cannot)?;
        let digest = self.digest(&name).await?;
        let digest =
            digest.with_context(|| format!("the image of {shown} was loaded but is missing"))?;
        self.name(&digest).await?;
        Ok(digest)
    }

    /// The name by which the engine knows the image that it loaded.
    async fn load_pieces(
        &self,
        pieces: impl futures::Stream<Item = io::Result<Bytes>> + Send + 'static,
    ) -> anyhow::Result<String> {
        let (api, options) = (self.docker.api()?, ImportImageOptions::default());
        let mut load = std::pin::pin!(api.import_image_stream(options, pieces, None));
        let mut loaded = None;
        while let Some(info) = load.next().await {
            let refused =
                |why: &str| told_by_program(format!("the container engine refused it: {why}"));
            let info = info.map_err(|error| match &error {
                Error::DockerStreamError { error: why }
                | Error::DockerResponseServerError { message: why, .. } => refused(why),
                _ => anyhow::Error::new(error).context("the container engine refused it"),
            })?;
            if let Some(problem) = info.error_detail.and_then(|e| e.message) {
                return Err(refused(&problem));
            }
            loaded = loaded_name(info.stream.as_deref()).or(loaded);
        }
        loaded.context("it holds no image")
    }

    /// Gives an image without any name one of ours, so that nobody who tidies up
    /// the engine takes it for a leftover.
    async fn name(&self, digest: &str) -> anyhow::Result<()> {
        let image = self.inspect(digest).await?;
        let named = image.is_none_or(|i| i.repo_tags.is_some_and(|names| !names.is_empty()));
        if named {
            return Ok(());
        }
        self.tag(digest, &task_image_name(digest)).await
    }

    /// Gives an image a name, `repository:tag`; another image loses it.
    pub async fn tag(&self, digest: &str, name: &str) -> anyhow::Result<()> {
        if let Some(store) = self.docker.unpacked()? {
            let (store, digest, name) = (store.clone(), digest.to_owned(), name.to_owned());
            return blocking(move || store.tag(&digest, &name)).await;
        }
        let (repository, tag) = name.split_once(':').unwrap_or((name, "latest"));
        let options = TagImageOptionsBuilder::default()
            .repo(repository)
            .tag(tag)
            .build();
        let tagged = self.docker.api()?.tag_image(digest, Some(options)).await;
        tagged.with_context(|| format!("the container engine did not name the image {digest}"))
    }
}

/// The name of a task's image, by its content.
pub fn task_image_name(digest: &str) -> String {
    let content = digest.rsplit(':').next().unwrap_or(digest);
    format!("{TASK_IMAGES}:{content}")
}

/// The name in a line "Loaded image: name:tag" or "Loaded image ID: sha256:…".
fn loaded_name(text: Option<&str>) -> Option<String> {
    let mut names = text?.lines().filter_map(|line| {
        let (head, name) = line.split_once(": ")?;
        head.starts_with("Loaded image")
            .then(|| name.trim().to_owned())
    });
    names.next_back()
}

/// Sends an archive without its names. Blocks.
fn copy(archive: &Path, sender: &mpsc::Sender<io::Result<Bytes>>) -> anyhow::Result<()> {
    let copied = File::open(archive).map_err(Into::into).and_then(|file| {
        let file = io::BufReader::with_capacity(PIECE_BYTES, file);
        let pieces = BufWriter::with_capacity(PIECE_BYTES, PieceWriter(sender.clone()));
        renamed(file, pieces, None)
    });
    match copied {
        // The engine wants no more of it, and says why.
        Err(_) if sender.is_closed() => Ok(()),
        Err(error) => {
            // A request that ends early is refused by the engine.
            let _ = sender.blocking_send(Err(io::Error::other("the archive was refused")));
            Err(error)
        }
        Ok(()) => Ok(()),
    }
}

/// Sends what is written in pieces; blocks while the engine is busy.
struct PieceWriter(mpsc::Sender<io::Result<Bytes>>);

impl Write for PieceWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.0.blocking_send(Ok(Bytes::copy_from_slice(bytes)));
        sent.map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_names_what_it_loaded() {
        let check = |text: Option<&str>, expect: Option<&str>| {
            assert_eq!(loaded_name(text).as_deref(), expect, "{text:?}");
        };
        check(Some("Loaded image ID: sha256:00\n"), Some("sha256:00"));
        check(Some("Loaded image: a/b:c\n"), Some("a/b:c"));
        check(Some("The image was tagged: x"), None);
        check(None, None);
    }
}
