//! Holds the limits on memory and processes where the engine cannot: without root
//! an engine holds them by cgroups only if it was given some.
//!
//! Looks from outside of the container at the processes of its pid namespace,
//! which code in there cannot leave. When memory runs out, the largest process
//! is killed, as the kernel does it; when there are too many processes, all
//! of them are.

use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use swe_ci_core::run::Limits;
use swe_ci_views::container::Hold;

/// How often the processes are looked at.
const INTERVAL: Duration = Duration::from_millis(200);

/// How often processes are killed that are too many, until none is left.
const PASSES: usize = 100;

/// How the limits of a container are held, and its first process if somebody has to
/// watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Holds {
    pub memory: Hold,
    pub processes: Hold,
    pub first: Option<Pid>,
}

impl Holds {
    pub const BY_ENGINE: Self = Self {
        memory: Hold::Held,
        processes: Hold::Held,
        first: None,
    };

    /// Of the container whose first process this is, by what the kernel says about
    /// it. Blocks.
    pub fn of(first: Option<Pid>, limits: Limits) -> Self {
        let Some(pid) = first.filter(|pid| pid_namespace(*pid).is_some()) else {
            // The engine is on another machine, or belongs to somebody else.
            return Self {
                memory: Hold::Unknown,
                processes: Hold::Unknown,
                first: None,
            };
        };
        let memory = (u64::from(limits.memory_mb) << 20).to_string();
        let pids = limits.pids.to_string();
        let limited = |controller, names: [&str; 2], limit: &str| {
            let mut files = names
                .into_iter()
                .flat_map(|n| cgroup_files(pid, controller, n));
            files.any(|file| fs::read_to_string(file).is_ok_and(|value| value.trim() == limit))
        };
        let hold = |held| if held { Hold::Held } else { Hold::Watched };
        Self {
            memory: hold(limited(
                "memory",
                ["memory.max", "memory.limit_in_bytes"],
                &memory,
            )),
            processes: hold(limited("pids", ["pids.max", "pids.max"], &pids)),
            first,
        }
    }
}

/// Holds the limits that nobody else does, until it is dropped. Tells when a process
/// was killed because memory ran out.
pub(crate) async fn hold(holds: Holds, limits: Limits, ran_out: impl Fn()) -> Infallible {
    let watched = [holds.memory, holds.processes].contains(&Hold::Watched);
    let Some(first) = holds.first.filter(|_| watched) else {
        return std::future::pending().await;
    };
    loop {
        tokio::time::sleep(INTERVAL).await;
        let kept = tokio::task::spawn_blocking(move || keep(first, limits, holds)).await;
        if kept.is_ok_and(|out_of_memory| out_of_memory) {
            ran_out();
        }
    }
}

/// Kills what exceeds the limits; whether that was memory. Blocks.
fn keep(first: Pid, limits: Limits, holds: Holds) -> bool {
    let mut processes = processes_beside(first);
    let too_many = |processes: &[Process]| {
        let threads: u64 = processes.iter().map(|process| process.threads).sum();
        holds.processes == Hold::Watched && threads >= limits.pids.into()
    };
    if too_many(&processes) {
        // They make others while they are killed.
        for _ in 0..PASSES {
            for process in &processes {
                let _ = kill_process(process.pid, Signal::KILL);
            }
            processes = processes_beside(first);
            if processes.is_empty() {
                break;
            }
        }
        return false;
    }
    let limit = u64::from(limits.memory_mb) << 10;
    let resident: u64 = processes.iter().map(|process| process.resident).sum();
    if holds.memory != Hold::Watched || resident <= limit {
        return false;
    }
    // Pages that processes share count once. To learn of them takes longer.
    let exact = processes.iter().map(|p| (proportional(p.pid), p.pid));
    let exact: Vec<(u64, Pid)> = exact.collect();
    if exact.iter().map(|(kibibytes, _)| kibibytes).sum::<u64>() <= limit {
        return false;
    }
    let largest = exact.into_iter().max_by_key(|(kibibytes, _)| *kibibytes);
    largest.is_some_and(|(_, pid)| kill_process(pid, Signal::KILL).is_ok())
}

#[derive(Debug)]
struct Process {
    pid: Pid,
    threads: u64,
    /// Kibibytes of memory that no file backs.
    resident: u64,
}

/// The processes of the same container but the first.
fn processes_beside(first: Pid) -> Vec<Process> {
    let Some(namespace) = pid_namespace(first) else {
        return vec![];
    };
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let pids = pids.filter_map(Pid::from_raw);
    let inside =
        pids.filter(|pid| *pid != first && pid_namespace(*pid).as_ref() == Some(&namespace));
    inside
        .filter_map(|pid| {
            let status = fs::read_to_string(of(pid, "status")).ok()?;
            let resident = number(&status, "RssAnon:") + number(&status, "RssShmem:");
            let threads = number(&status, "Threads:");
            Some(Process {
                pid,
                threads,
                resident,
            })
        })
        .collect()
}

fn of(pid: Pid, file: &str) -> PathBuf {
    Path::new("/proc").join(pid.to_string()).join(file)
}

fn pid_namespace(pid: Pid) -> Option<PathBuf> {
    fs::read_link(of(pid, "ns/pid")).ok()
}

/// Kibibytes of a process's memory that no file backs, its part of shared pages
/// included.
fn proportional(pid: Pid) -> u64 {
    let parts = fs::read_to_string(of(pid, "smaps_rollup")).unwrap_or_default();
    number(&parts, "Pss_Anon:") + number(&parts, "Pss_Shmem:")
}

/// The number in a line that begins with this name.
fn number(text: &str, name: &str) -> u64 {
    let value = text.lines().find_map(|line| line.strip_prefix(name));
    let number = value.and_then(|value| value.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Where the kernel shows a setting of a process's cgroup, in either version.
fn cgroup_files(pid: Pid, controller: &str, name: &str) -> Vec<PathBuf> {
    let groups = fs::read_to_string(of(pid, "cgroup")).unwrap_or_default();
    let root = Path::new("/sys/fs/cgroup");
    let file = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, group) = (parts.next()?, parts.next()?.trim_start_matches('/'));
        match controllers {
            "" => Some(root.join(group).join(name)),
            of if of.split(',').any(|one| one == controller) => {
                Some(root.join(controller).join(group).join(name))
            }
            _ => None,
        }
    };
    groups.lines().filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_kernel_tells_of_processes() {
        let mine = rustix::process::getpid();
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let found = processes_beside(mine);
        let child_pid = Pid::from_child(&child);
        let sleeping = found.iter().find(|process| process.pid == child_pid);
        assert_eq!(sleeping.map(|process| process.threads), Some(1));
        assert!(found.iter().all(|process| process.pid != mine));
        assert!(proportional(mine) > 0);
        // No container of these limits.
        let holds = Holds::of(Some(mine), Limits::default());
        assert_eq!(holds.memory, Hold::Watched);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(Holds::of(None, Limits::default()).memory, Hold::Unknown);
    }
}
