//! The machine runs are worked on: how busy it is, and what room it has.

use std::path::Path;
use std::time::Duration;

use swe_ci_core::event::What;
use swe_ci_core::host::HostLoad;
use swe_ci_core::run::Limits;
use sysinfo::{MemoryRefreshKind, System};

use crate::blocking::blocking;
use crate::error::{Error, Result};
use crate::events::Events;
use crate::gateway::Ledgers;

/// How often those who watch a run are told.
const EVERY: Duration = Duration::from_secs(10);

/// How busy the machine is now. Blocks for as long as reading three small
/// files takes. Absent where the system does not tell.
pub fn load(data: &Path) -> Option<HostLoad> {
    let mut system = System::new().ok()?;
    system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
    let cores = std::thread::available_parallelism().ok()?;
    Some(HostLoad {
        load: System::load_average().ok()?.one,
        cores: u32::try_from(cores.get()).ok()?,
        memory_used_bytes: system.used_memory(),
        memory_bytes: system.total_memory(),
        disk_free_bytes: free_bytes(data)?,
    })
}

/// What an ordinary user may still write on the file system a folder is on.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let room = rustix::fs::statvfs(folder).ok()?;
    room.f_bavail.checked_mul(room.f_frsize)
}

/// What is left free whatever is asked for: what is at work goes on writing.
const RESERVE: u64 = 512 << 20;

/// # Errors
/// [`Error::Unavailable`] when a folder's file system has no room for so many
/// bytes more. Where the system does not tell, it is hoped for.
pub fn make_sure_of(folder: &Path, bytes: u64) -> Result<()> {
    let Some(free) = free_bytes(folder) else {
        return Ok(());
    };
    let needed = bytes.saturating_add(RESERVE);
    if free >= needed {
        return Ok(());
    }
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    Err(Error::Unavailable(format!(
        "there is no room on the disk of {}: {} MiB are free, about {} MiB are needed; `swe-ci disk` says what takes room",
        folder.display(),
        mib(free),
        mib(needed)
    )))
}

/// How many containers of these limits the machine carries at a time, at
/// least 1: one for each core, within half of its memory.
pub fn carries(limits: Limits) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let memory = System::new().ok().map(|mut system| {
        system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
        system.total_memory() / 2 / (u64::from(limits.memory_mb.max(1)) << 20)
    });
    let memory = memory.and_then(|fit| usize::try_from(fit).ok());
    cores.min(memory.unwrap_or(1)).max(1)
}

/// Tells those who watch the runs at work how busy the machine is.
pub async fn tell(events: &Events, ledgers: &Ledgers, data: &Path) -> std::convert::Infallible {
    loop {
        tokio::time::sleep(EVERY).await;
        let runs = ledgers.at_work();
        if runs.is_empty() || !events.are_heard() {
            continue;
        }
        let data = data.to_owned();
        if let Ok(Some(load)) = blocking(move || Ok(load(&data))).await {
            for run_id in runs {
                events.mention(&run_id, What::Host { load });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_some_of_everything() {
        let folder = tempfile::tempdir().unwrap();
        let host = load(folder.path()).unwrap();
        assert!(host.cores > 0 && host.load >= 0.0, "{host:?}");
        assert!(host.memory_used_bytes > 0 && host.memory_used_bytes < host.memory_bytes);
        assert!(host.disk_free_bytes > 0);
        assert_eq!(load(&folder.path().join("gone")), None);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_figures() {
        let folder = tempfile::tempdir().unwrap();
        assert!(make_sure_of(folder.path(), 0).is_ok());
        let error = make_sure_of(folder.path(), u64::MAX).unwrap_err();
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
