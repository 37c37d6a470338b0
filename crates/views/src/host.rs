//! The load of the machine that works on runs.

use serde::{Deserialize, Serialize};

/// Load of a machine at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct HostLoad {
    /// Runnable processes, averaged over the last minute; 0 or more.
    pub load: f64,
    /// Processes that can run in parallel.
    pub cores: u32,
    pub memory_used_bytes: u64,
    pub memory_bytes: u64,
    /// Free space for the data folder.
    pub disk_free_bytes: u64,
}

/// With less free disk than this, runs are about to fail.
const MIN_FREE_DISK: u64 = 5 << 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    Cores,
    Memory,
    Disk,
}

impl HostLoad {
    /// The most severe shortage: disk below 5 GiB, then more than nine tenths
    /// of the memory in use, then more than twice as many processes as cores.
    pub fn shortage(&self) -> Option<Shortage> {
        if self.disk_free_bytes < MIN_FREE_DISK {
            Some(Shortage::Disk)
        } else if self.memory_used_bytes > self.memory_bytes / 10 * 9 {
            Some(Shortage::Memory)
        } else if self.load > 2.0 * f64::from(self.cores) {
            Some(Shortage::Cores)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortages() {
        let check = |load, used: u64, free: u64, expect| {
            let host = HostLoad {
                load,
                cores: 2,
                memory_used_bytes: used << 30,
                memory_bytes: 10 << 30,
                disk_free_bytes: free << 30,
            };
            assert_eq!(host.shortage(), expect, "{host:?}");
        };
        check(4.0, 9, 5, None);
        check(4.1, 9, 5, Some(Shortage::Cores));
        check(4.1, 10, 5, Some(Shortage::Memory));
        check(4.1, 10, 4, Some(Shortage::Disk));
    }
}
