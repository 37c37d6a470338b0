//! The error of pages, and the only one a visitor ever sees.
//!
//! The rule: messages are written for the visitor. Internal details are logged
//! here, once, and never sent: an internal error says only that there was one.

use axum::http::{HeaderValue, StatusCode, header};
use leptos::context::use_context;
use swe_ci_core::task::TaskId;
use swe_ci_engine::{Engine, Error};

/// The error of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppError {
    pub kind: ErrorKind,
    /// Safe to show.
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    NotFound,
    Invalid,
    SignIn,
    Forbidden,
    TooMany,
    Unavailable,
    Internal,
}

impl ErrorKind {
    /// The HTTP status of the response, and the heading above the message.
    fn entry(self) -> (u16, &'static str) {
        match self {
            Self::NotFound => (404, "Not found"),
            Self::Invalid => (400, "That request cannot be read"),
            Self::SignIn => (401, "Sign in first"),
            Self::Forbidden => (403, "Not for your account"),
            Self::TooMany => (429, "Too many tries"),
            Self::Unavailable => (503, "Not available right now"),
            Self::Internal => (500, "Something broke on our side"),
        }
    }

    pub fn status(self) -> u16 {
        self.entry().0
    }

    pub fn title(self) -> &'static str {
        self.entry().1
    }
}

impl AppError {
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::answering(ErrorKind::NotFound, message)
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self::answering(ErrorKind::Invalid, message)
    }

    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::answering(ErrorKind::Unavailable, message)
    }

    pub fn sign_in(message: impl Into<String>) -> Self {
        Self::answering(ErrorKind::SignIn, message)
    }

    pub fn internal() -> Self {
        Self::answering(
            ErrorKind::Internal,
            "It was logged. Try again. If it happens again, tell the operator of this site when it happened.",
        )
    }

    /// On the server, also sets the status of the current response.
    fn answering(kind: ErrorKind, message: impl Into<String>) -> Self {
        set_status(kind.status());
        Self {
            kind,
            message: message.into(),
        }
    }
}

/// Sets the status of the current response, and when to try again if the server
/// cannot answer now.
pub(crate) fn set_status(status: u16) {
    let response = use_context::<leptos_axum::ResponseOptions>();
    if let (Some(response), Ok(status)) = (response, StatusCode::from_u16(status)) {
        response.set_status(status);
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.insert_header(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
    }
}

/// The engine that the server provides to every page.
pub(crate) fn engine() -> Result<Engine, AppError> {
    use_context::<Engine>().ok_or_else(|| {
        tracing::error!("no engine was provided to the application");
        AppError::internal()
    })
}

/// A task in an address; an invalid name matches none.
pub(crate) fn task_id(name: String) -> Result<TaskId, AppError> {
    TaskId::new(name).map_err(|_| AppError::not_found("There is no task of this name."))
}

impl From<Error> for AppError {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::NotFound { .. } => ErrorKind::NotFound,
            Error::NoSuchPage(_) | Error::Invalid(_) | Error::Rejected(_) | Error::Conflict(_) => {
                ErrorKind::Invalid
            }
            Error::Unauthenticated(_) => ErrorKind::SignIn,
            Error::Forbidden(_) => ErrorKind::Forbidden,
            Error::TooMany { .. } => ErrorKind::TooMany,
            Error::Unavailable(_) | Error::Busy => ErrorKind::Unavailable,
            Error::Internal(cause) => {
                tracing::error!(error = ?cause, "a page could not be made");
                return Self::internal();
            }
        };
        let text = error.to_string();
        let sentence = crate::format::capital(text.trim_end_matches('.'));
        Self::answering(kind, format!("{sentence}."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inside_stays_inside() {
        let inside: Error = std::io::Error::other("password=hunter2").into_internal();
        let shown = AppError::from(inside);
        assert_eq!(shown.kind, ErrorKind::Internal);
        assert!(!format!("{shown:?}").contains("hunter2"));
    }

    #[test]
    fn what_is_missing_is_named() {
        let missing = Error::not_found("run", "x");
        let shown = AppError::from(missing);
        assert_eq!(
            (shown.kind.status(), shown.message.as_str()),
            (404, "There is no run `x`.")
        );
    }

    trait IntoInternal {
        fn into_internal(self) -> Error;
    }

    impl IntoInternal for std::io::Error {
        fn into_internal(self) -> Error {
            Error::Internal(self.into())
        }
    }
}
