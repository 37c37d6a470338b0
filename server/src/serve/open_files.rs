//! The number of files this process may open; a connection counts as one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit to the hard one, which needs no privilege: many
/// systems start a process with 1,024 files for the sake of old programs.
/// Returns the limit in force.
pub(super) fn raise_limit() -> usize {
    let before = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: before.maximum,
        maximum: before.maximum,
    };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!("the limit of open files stays as it is: {error:#}");
    }
    let now = getrlimit(Resource::Nofile).current;
    now.map_or(usize::MAX, |files| {
        usize::try_from(files).unwrap_or(usize::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_becomes_the_hard_one() {
        let files = raise_limit();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
        assert!(limit.current.is_none_or(|current| current == files as u64));
    }
}
