//! The error of server functions, and the only one a visitor ever sees.
//!
//! The rule: a message is written for the visitor. What went wrong inside is
//! logged here, once, and never sent: an internal error says only that there
//! was one.

use leptos::prelude::{FromServerFnError, ServerFnErrorErr};
use leptos::server_fn::codec::JsonEncoding;
use serde::{Deserialize, Serialize};
use wasm_split_helpers::SplitLoaderError;

/// What a page or server function answers instead of data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppError {
    pub kind: ErrorKind,
    /// Safe to show.
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// The HTTP status it answers with.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::NotFound => 404,
            Self::Invalid => 400,
            Self::SignIn => 401,
            Self::Forbidden => 403,
            Self::TooMany => 429,
            Self::Unavailable => 503,
            Self::Internal => 500,
        }
    }

    /// What stands above the message.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::NotFound => "Not found",
            Self::Invalid => "That request cannot be read",
            Self::SignIn => "Sign in first",
            Self::Forbidden => "Not for your account",
            Self::TooMany => "Too many tries",
            Self::Unavailable => "Not available right now",
            Self::Internal => "Something broke on our side",
        }
    }
}

impl AppError {
    #[must_use]
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::answering(ErrorKind::NotFound, message)
    }

    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::answering(ErrorKind::Invalid, message)
    }

    #[must_use]
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::answering(ErrorKind::Unavailable, message)
    }

    #[must_use]
    pub fn sign_in(message: impl Into<String>) -> Self {
        Self::answering(ErrorKind::SignIn, message)
    }

    #[must_use]
    pub fn internal() -> Self {
        Self::answering(
            ErrorKind::Internal,
            "It was logged. Try again; if it stays, tell whoever runs this site when it happened.",
        )
    }

    /// On the server the response at hand takes the error's status, be it a
    /// page or a server function's answer.
    fn answering(kind: ErrorKind, message: impl Into<String>) -> Self {
        set_status(kind.status());
        Self {
            kind,
            message: message.into(),
        }
    }
}

/// Gives the response being made this status. Nothing to do in the browser.
#[cfg(feature = "ssr")]
pub(crate) fn set_status(status: u16) {
    let response = leptos::context::use_context::<leptos_axum::ResponseOptions>();
    if let (Some(response), Ok(status)) = (response, axum::http::StatusCode::from_u16(status)) {
        response.set_status(status);
    }
}

#[cfg(not(feature = "ssr"))]
pub(crate) fn set_status(_status: u16) {}

/// Failures of the transport between page and server function.
impl From<SplitLoaderError> for AppError {
    fn from(_: SplitLoaderError) -> Self {
        Self::unavailable(
            "A part of this page could not be fetched. Load the page again: the site may have been renewed since.",
        )
    }
}

impl FromServerFnError for AppError {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        match error {
            ServerFnErrorErr::Args(_) | ServerFnErrorErr::MissingArg(_) => {
                Self::invalid("A part of the address is missing or malformed.")
            }
            ServerFnErrorErr::Request(_) | ServerFnErrorErr::Response(_) => {
                Self::unavailable("The server did not answer. Check the connection and try again.")
            }
            _ => Self::internal(),
        }
    }
}

#[cfg(feature = "ssr")]
mod server {
    use leptos::context::use_context;
    use swe_ci_engine::{Engine, Error};

    use super::{AppError, ErrorKind};

    /// The engine the server provides to every page and server function.
    pub(crate) fn engine() -> Result<Engine, AppError> {
        use_context::<Engine>().ok_or_else(|| {
            tracing::error!("no engine was provided to the application");
            AppError::internal()
        })
    }

    impl From<Error> for AppError {
        fn from(error: Error) -> Self {
            let told = |kind| Self::answering(kind, format!("{}.", sentence(&error)));
            match error {
                Error::NotFound { .. } => Self::not_found(format!("{}.", sentence(&error))),
                Error::Invalid(_) | Error::Rejected(_) | Error::Conflict(_) => {
                    Self::invalid(format!("{}.", sentence(&error)))
                }
                Error::Unauthenticated(_) => told(ErrorKind::SignIn),
                Error::Forbidden(_) => told(ErrorKind::Forbidden),
                Error::TooMany { .. } => told(ErrorKind::TooMany),
                Error::Unavailable(_) => Self::unavailable(format!("{}.", sentence(&error))),
                Error::Internal(cause) => {
                    tracing::error!(error = ?cause, "a page could not be made");
                    Self::internal()
                }
            }
        }
    }

    /// The error's text as the start of a sentence.
    fn sentence(error: &Error) -> String {
        let text = error.to_string();
        let mut letters = text.trim_end_matches('.').chars();
        letters
            .next()
            .map(|first| first.to_uppercase().chain(letters).collect())
            .unwrap_or_default()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn what_is_inside_stays_inside() {
            let inside: Error = std::io::Error::other("password=hunter2").into_internal();
            let shown = AppError::from(inside);
            assert_eq!(shown.kind, ErrorKind::Internal);
            assert!(!serde_json::to_string(&shown).unwrap().contains("hunter2"));
        }

        #[test]
        fn what_is_missing_is_named() {
            let missing = Error::NotFound {
                what: "run",
                id: "x".into(),
            };
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
}

#[cfg(feature = "ssr")]
pub(crate) use server::engine;
