//! How busy the machine is on which runs are worked on.

use serde::{Deserialize, Serialize};

/// Load of a machine at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HostLoad {
    /// Processes that want to run at the same time, on average over the last
    /// minute; 0 or more.
    pub load: f64,
    /// What can run at the same time.
    pub cores: u32,
    pub memory_used_bytes: u64,
    pub memory_bytes: u64,
    /// Free for the data folder.
    pub disk_free_bytes: u64,
}

/// Below this much free disk, runs are about to fail.
const LITTLE_DISK: u64 = 5 << 30;

/// What a machine is short of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    Cores,
    Memory,
    Disk,
}

impl HostLoad {
    /// What there is too little of, the worst first: disk below 5 GiB, memory
    /// more than nine tenths in use, twice as many processes as cores.
    #[must_use]
    pub fn shortage(&self) -> Option<Shortage> {
        if self.disk_free_bytes < LITTLE_DISK {
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
    fn what_there_is_too_little_of() {
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
