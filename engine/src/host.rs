//! The machine runs are worked on: how busy it is, and what room it has.

use std::path::Path;
use std::time::Duration;

use swe_ci_core::event::What;
use swe_ci_core::host::HostLoad;
use sysinfo::{MemoryRefreshKind, System};

use crate::blocking::blocking;
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
}
