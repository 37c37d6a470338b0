//! The system calls of containers: `seccomp.json` lists the allowed ones, in the
//! format of Docker's own profile.
//!
//! Compared with that one it refuses what reads or steers other processes
//! (`ptrace`, `process_vm_readv`, `pidfd_getfd`, `kcmp`), what has often been a
//! way into kernels and no test suite needs (`io_uring`, `userfaultfd`, `bpf`,
//! `perf_event_open`, keys, 32-bit calls), new namespaces for everybody, and
//! sockets but those of Unix, IP and netlink: `AF_VSOCK` leads out of a
//! container.

use std::path::Path;

use swe_ci_base::files;

/// The profile.
pub(super) const PROFILE: &str = include_str!("seccomp.json");

/// Writes the profile to a file, unless it is there. Blocks.
pub(super) fn write(file: &Path) -> anyhow::Result<()> {
    if std::fs::read(file).is_ok_and(|found| found == PROFILE.as_bytes()) {
        return Ok(());
    }
    files::write_whole(file, PROFILE.as_bytes())
}

/// The security option by which an engine takes the profile: its text.
pub(super) fn option() -> String {
    format!("seccomp={PROFILE}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    struct Rule {
        #[serde(rename = "comment")]
        _comment: String,
        names: Vec<String>,
        action: String,
        #[serde(default)]
        args: Vec<Value>,
        errno_ret: Option<i32>,
    }

    fn rules() -> Vec<Rule> {
        let mut profile: Value = serde_json::from_str(PROFILE).unwrap();
        assert_eq!(profile["defaultAction"], "SCMP_ACT_ERRNO");
        serde_json::from_value(profile["syscalls"].take()).unwrap()
    }

    #[test]
    fn dangerous_calls_are_not_allowed() {
        let rules = rules();
        let allowed: BTreeSet<&str> = rules
            .iter()
            .filter(|rule| rule.action == "SCMP_ACT_ALLOW")
            .flat_map(|rule| rule.names.iter().map(String::as_str))
            .collect();
        for call in "\
            ptrace process_vm_readv process_vm_writev process_madvise kcmp pidfd_getfd \
            io_uring_setup io_uring_enter io_uring_register userfaultfd bpf perf_event_open \
            add_key request_key keyctl unshare setns clone3 mount umount2 move_mount fsopen \
            open_tree pivot_root chroot open_by_handle_at quotactl swapon reboot syslog \
            kexec_load init_module finit_module delete_module iopl ioperm acct settimeofday \
            clock_settime sethostname setdomainname vhangup lookup_dcookie fanotify_init \
            modify_ldt socketcall"
            .split_whitespace()
        {
            assert!(!allowed.contains(call), "{call}");
        }
        for call in "read write openat execve clone socket futex rseq wait4".split(' ') {
            assert!(allowed.contains(call), "{call}");
        }
    }

    #[test]
    fn arguments_are_compared() {
        let rules = rules();
        let arguments = |call: &str| -> Vec<&Value> {
            let of_call = rules.iter().filter(|rule| rule.names == [call]);
            of_call.flat_map(|rule| &rule.args).collect()
        };
        // AF_UNIX, AF_INET, AF_INET6, AF_NETLINK.
        let families = arguments("socket").into_iter().map(|arg| {
            assert_eq!(
                (&arg["index"], &arg["op"]),
                (&0.into(), &"SCMP_CMP_EQ".into())
            );
            arg["value"].as_u64().unwrap()
        });
        assert_eq!(families.collect::<Vec<_>>(), [1, 2, 10, 16]);
        // All flags of new namespaces must be zero: mount, cgroup, uts, ipc,
        // user, pid, network.
        let namespaces = 0x2_0000
            | 0x200_0000
            | 0x400_0000
            | 0x800_0000u64
            | 0x1000_0000
            | 0x2000_0000
            | 0x4000_0000;
        let clone = arguments("clone");
        assert_eq!(clone.len(), 1);
        assert_eq!(clone[0]["value"], namespaces);
        assert_eq!(
            (&clone[0]["valueTwo"], &clone[0]["op"]),
            (&0.into(), &"SCMP_CMP_MASKED_EQ".into())
        );
        // Calls with rules of their own appear nowhere without arguments.
        for call in ["socket", "clone", "personality"] {
            let mut of_call = rules
                .iter()
                .filter(|rule| rule.names.iter().any(|name| name == call));
            assert!(of_call.all(|rule| rule.args.len() == 1), "{call}");
        }
        // Programs take these for missing, and use something else.
        for call in ["clone3", "io_uring_setup"] {
            let mut of_call = rules.iter().filter(|rule| rule.names == [call]);
            assert!(of_call.all(|rule| rule.errno_ret == Some(38)), "{call}");
        }
    }
}
