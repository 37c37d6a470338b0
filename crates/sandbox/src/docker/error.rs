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

/// The engine did not do what `action` names (an infinitive without "to").
pub(super) fn engine_error(action: &str, error: &Error) -> SandboxError {
    SandboxError::Engine(format!(
        "it did not {action} ({error}); `swe-ci doctor` tells more"
    ))
}
