//! The disk that a container takes: its own layer, and the volumes that its image
//! declares, which the engine creates for each container and does not count.

use std::fs::DirEntry;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use bollard::models::ContainerInspectResponse;
use bollard::query_parameters::InspectContainerOptionsBuilder;

use super::container::DockerContainer;
use crate::bubblewrap::entries;

pub(crate) const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// An entry of a file system takes at least this much of it.
const BLOCK_BYTES: u64 = 4_096;

impl DockerContainer {
    /// Returns once the container has written more than its limit.
    pub(super) async fn disk_spent(&self) {
        let options = || InspectContainerOptionsBuilder::default().size(true).build();
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            let container = self.api.inspect_container(&self.id, Some(options())).await;
            let Ok(container) = container else { continue };
            let (layer, volumes) = (layer_of(&container), volumes_of(&container));
            let written = container.size_rw.unwrap_or_default();
            let written = u64::try_from(written).unwrap_or_default();
            let limit = self.disk_bytes;
            let exceeds = move || exceeds(written, layer, volumes, limit);
            if tokio::task::spawn_blocking(exceeds).await.unwrap_or(false) {
                return;
            }
        }
    }
}

/// The folder of the container's own layer, where the engine's storage is a
/// folder of this machine.
fn layer_of(container: &ContainerInspectResponse) -> Option<PathBuf> {
    let driver = container.graph_driver.as_ref()?;
    driver.data.get("UpperDir").map(PathBuf::from)
}

/// The folders of the volumes that the container may write to.
fn volumes_of(container: &ContainerInspectResponse) -> Vec<PathBuf> {
    let mounts = container.mounts.iter().flatten();
    let volumes = mounts.filter(|m| m.typ.as_deref() == Some("volume") && m.rw == Some(true));
    volumes
        .filter_map(|m| m.source.as_ref().map(PathBuf::from))
        .collect()
}

/// Whether a layer with this many bytes and some volumes exceed a limit in
/// bytes, or have more files and folders than it has room for: empty files have
/// no size. Blocks.
pub(crate) fn exceeds(
    layer_bytes: u64,
    layer: Option<PathBuf>,
    volumes: Vec<PathBuf>,
    limit: u64,
) -> bool {
    let mut entries = 0;
    let mut is_one_too_many = || {
        entries += 1;
        entries > limit / BLOCK_BYTES
    };
    let mut bytes = layer_bytes;
    any_entry(layer.into_iter().collect(), |_| is_one_too_many())
        || any_entry(volumes, |entry| {
            // The engine counts those of its layers itself.
            bytes += entry.metadata().map_or(0, |file| file.blocks() * 512);
            bytes > limit || is_one_too_many()
        })
        || bytes > limit
}

/// Whether an entry below folders meets a condition.
fn any_entry(mut folders: Vec<PathBuf>, mut condition: impl FnMut(&DirEntry) -> bool) -> bool {
    while let Some(folder) = folders.pop() {
        // Code may remove a folder meanwhile.
        for entry in entries(&folder) {
            if condition(&entry) {
                return true;
            }
            // Links are not followed.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_counted_at_any_depth() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(deep.join("empty"), "").unwrap();
        std::os::unix::fs::symlink("/", deep.join("link")).unwrap();
        let layer = || Some(folder.path().to_owned());
        assert!(!exceeds(0, layer(), vec![], 4 * BLOCK_BYTES));
        assert!(exceeds(0, layer(), vec![], 3 * BLOCK_BYTES));
        // Those of a volume are added to them.
        let volume = || vec![folder.path().join("a")];
        assert!(exceeds(0, layer(), volume(), 6 * BLOCK_BYTES));
        assert!(!exceeds(0, Some(folder.path().join("gone")), vec![], 0));
    }

    #[test]
    fn bytes_of_volumes_are_added_to_those_of_the_layer() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), vec![b'x'; 1 << 20]).unwrap();
        let volumes = || vec![folder.path().to_owned()];
        assert!(!exceeds(1 << 20, None, volumes(), 3 << 20));
        assert!(exceeds(5 << 19, None, volumes(), 3 << 20));
        assert!(exceeds((3 << 20) + 1, None, vec![], 3 << 20));
    }
}
