//! Failures of this machine: its disk is full, or something it runs does not
//! answer. They say nothing about the data that was worked on, so the work is
//! tried again once the machine is well. A lack of memory is not among them:
//! the size of the data may be its cause.

use std::io::{self, ErrorKind};

/// Whether a cause of the error is a failed operation of this machine. A missing
/// or damaged file is none.
pub fn is_machine_failure(error: &anyhow::Error) -> bool {
    let mut causes = error.chain();
    causes.any(|cause| cause.downcast_ref().is_some_and(is_failed_operation))
}

fn is_failed_operation(error: &io::Error) -> bool {
    /// EIO, ENFILE and EMFILE have no kinds of their own.
    const WITHOUT_KIND: [i32; 3] = [5, 23, 24];
    let without_kind = error.raw_os_error();
    without_kind.is_some_and(|code| WITHOUT_KIND.contains(&code))
        || matches!(
            error.kind(),
            ErrorKind::StorageFull
                | ErrorKind::QuotaExceeded
                | ErrorKind::ReadOnlyFilesystem
                | ErrorKind::PermissionDenied
                | ErrorKind::ResourceBusy
                | ErrorKind::StaleNetworkFileHandle
        )
}

/// The message of another program (git, the container engine) as an error, which is
/// a failed operation of this machine if it tells of one: such a program says it in
/// the system's words, and in no other way.
pub fn told_by_program(message: String) -> anyhow::Error {
    match tells_of_machine_failure(&message) {
        true => io::Error::new(ErrorKind::ResourceBusy, message).into(),
        false => anyhow::Error::msg(message),
    }
}

fn tells_of_machine_failure(message: &str) -> bool {
    const WORDS: [&str; 6] = [
        "no space left on device",
        "disk quota exceeded",
        "read-only file system",
        "permission denied (os error",
        "input/output error",
        "too many open files",
    ];
    let message = message.to_lowercase();
    WORDS.iter().any(|words| message.contains(words))
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn the_machine_or_the_data() {
        let check = |error: io::Error, expect: bool| {
            let text = error.to_string();
            let error = Err::<(), _>(error).context("cannot unpack it").unwrap_err();
            assert_eq!(is_machine_failure(&error), expect, "{text}");
        };
        let of_system = io::Error::from_raw_os_error;
        for machine in [28, 122, 30, 13, 5, 24] {
            check(of_system(machine), true);
        }
        check(of_system(2), false);
        check(ErrorKind::UnexpectedEof.into(), false);
        check(ErrorKind::InvalidData.into(), false);
        check(io::Error::other("no space left on device"), false);
        assert!(!is_machine_failure(&anyhow::anyhow!("it has no tests")));
    }

    #[test]
    fn messages_of_other_programs() {
        let check = |message: &str, expect: bool| {
            let error = told_by_program(message.to_owned());
            assert_eq!(error.to_string(), message);
            assert_eq!(is_machine_failure(&error), expect, "{message}");
        };
        check("write /layer.tar: no space left on device", true);
        check("fatal: write error: No space left on device", true);
        check("error: unable to write file: Disk quota exceeded", true);
        check("archive/tar: invalid tar header", false);
        check("repository 'https://x' not found", false);
    }
}
