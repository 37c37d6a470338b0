//! The machine that works on runs: its load, and its free memory and disk
//! space.

use std::path::Path;

use swe_ci_base::error::{Error, Result};
use swe_ci_core::run::Limits;
use swe_ci_views::host::HostLoad;
use sysinfo::{MemoryRefreshKind, System};

/// The machine's name.
pub fn name() -> String {
    System::host_name().unwrap_or_else(|_| "unnamed".into())
}

/// The current load of the machine. Blocks while it reads three small files.
/// `None` where the system does not report it.
pub fn load(data: &Path) -> Option<HostLoad> {
    let system = memory()?;
    let cores = std::thread::available_parallelism().ok()?;
    Some(HostLoad {
        load: System::load_average().ok()?.one,
        cores: u32::try_from(cores.get()).ok()?,
        memory_used_bytes: system.used_memory(),
        memory_bytes: system.total_memory(),
        disk_free_bytes: free_bytes(data)?,
    })
}

fn memory() -> Option<System> {
    let mut system = System::new().ok()?;
    system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
    Some(system)
}

/// Bytes that an ordinary user may still write on a folder's file system.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let stats = rustix::fs::statvfs(folder).ok()?;
    stats.f_bavail.checked_mul(stats.f_frsize)
}

/// Bytes that always stay free, because running work continues to write.
const RESERVE: u64 = 512 << 20;

/// # Errors
/// [`Error::Unavailable`] when a folder's file system has no space for this
/// many more bytes. Succeeds where the system does not report its free space.
pub fn ensure_free_space(folder: &Path, bytes: u64) -> Result<()> {
    let Some(free) = free_bytes(folder) else {
        return Ok(());
    };
    let needed = bytes.saturating_add(RESERVE);
    if free >= needed {
        return Ok(());
    }
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    Err(Error::Unavailable(format!(
        "the disk of {} is too full: {} MiB are free, about {} MiB are needed; `swe-ci disk` shows what uses the space",
        folder.display(),
        mib(free),
        mib(needed)
    )))
}

/// How many containers with these limits the machine can run at once, at least
/// 1: one for each core, within half of its memory.
pub fn carries(limits: Limits) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let each = u64::from(limits.memory_mb.max(1)) << 20;
    let fit = memory().and_then(|system| usize::try_from(system.total_memory() / 2 / each).ok());
    cores.min(fit.unwrap_or(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_of_this_machine_is_plausible() {
        let folder = tempfile::tempdir().unwrap();
        let host = load(folder.path()).unwrap();
        assert!(host.cores > 0 && host.load >= 0.0, "{host:?}");
        assert!(host.memory_used_bytes > 0 && host.memory_used_bytes < host.memory_bytes);
        assert!(host.disk_free_bytes > 0);
        assert_eq!(load(&folder.path().join("gone")), None);
    }

    #[test]
    fn too_little_space_is_refused_with_figures() {
        let folder = tempfile::tempdir().unwrap();
        assert!(ensure_free_space(folder.path(), 0).is_ok());
        let error = ensure_free_space(folder.path(), u64::MAX).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::Unavailable(_)), "{text}");
        assert!(
            text.contains("MiB are free") && text.contains("swe-ci disk"),
            "{text}"
        );
        let small = Limits::default();
        let large = Limits {
            memory_mb: u32::MAX,
            ..small
        };
        assert!(carries(small) >= 1);
        assert_eq!(carries(large), 1);
    }
}
