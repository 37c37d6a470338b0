//! Errors of the engine's API as errors of the sandbox.

use bollard::errors::Error;

use crate::SandboxError;

/// The HTTP status with which the engine refused a request.
pub fn status_of(error: &Error) -> Option<u16> {
    match error {
        Error::DockerResponseServerError { status_code, .. } => Some(*status_code),
        _ => None,
    }
}

/// Whether the engine was gone, or did not answer to the end: neither it nor what it
/// was asked about is to blame. A refusal is an answer.
pub fn lost_engine(error: &anyhow::Error) -> bool {
    use Error::{DockerResponseServerError, DockerStreamError};
    error
        .chain()
        .any(|cause| match cause.downcast_ref::<Error>() {
            Some(answer) => !matches!(
                answer,
                DockerResponseServerError { .. } | DockerStreamError { .. }
            ),
            None => matches!(
                cause.downcast_ref::<SandboxError>(),
                Some(SandboxError::Engine(_) | SandboxError::Lost)
            ),
        })
}

/// The engine did not do what `action` names (an infinitive without "to").
pub(super) fn engine_error(action: &str, error: &Error) -> SandboxError {
    SandboxError::Engine(format!(
        "it did not {action} ({error}); `swe-ci doctor` tells more"
    ))
}

/// Whether an engine's refusal comes from the state in which code left its
/// container: no command starts any more, or files stand where folders are
/// needed. A full disk may be the machine's.
pub(super) fn is_refused_inside(message: &str) -> bool {
    let inside = ["OCI runtime", "Error processing tar file", "copier: put"];
    inside.iter().any(|phrase| message.contains(phrase))
        && !message.contains("no space left on device")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_an_answer_of_the_engine() {
        let check = |error: Error, expect: bool| {
            let shown = error.to_string();
            let error = anyhow::Error::new(error).context("cannot load a.tar.gz");
            assert_eq!(lost_engine(&error), expect, "{shown}");
        };
        let refused = Error::DockerResponseServerError {
            status_code: 400,
            message: "unexpected EOF".into(),
        };
        check(refused, false);
        check(Error::RequestTimeoutError, true);
        let cut = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
        check(Error::IOError { err: cut }, true);
        assert!(!lost_engine(&anyhow::anyhow!("it holds no image")));
    }

    #[test]
    fn refusals_from_inside() {
        let check = |message: &str, expect: bool| {
            assert_eq!(is_refused_inside(message), expect, "{message}");
        };
        check(
            "OCI runtime exec failed: fork/exec: resource temporarily unavailable",
            true,
        );
        check(
            "Error processing tar file(exit status 1): mkdir /app/harness: not a directory",
            true,
        );
        check(
            "Error processing tar file(exit status 1): write /x: no space left on device",
            false,
        );
        check("connection refused", false);
    }
}
