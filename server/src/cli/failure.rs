use std::process::ExitCode;

use swe_ci_engine::Error;

/// Why a command did not do what it was asked for: printed to stderr as what
/// is wrong and, where there is something to do, what to do next.
#[derive(Debug)]
pub(super) struct Failure {
    what: String,
    next: Option<String>,
    code: u8,
}

impl Failure {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            next: None,
            code: 1,
        }
    }

    /// The command line or the environment cannot be used.
    pub(super) fn usage(what: impl Into<String>) -> Self {
        Self {
            code: 2,
            ..Self::new(what)
        }
    }

    /// What the user can do about it.
    pub(super) fn next(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }

    pub(super) fn what(&self) -> &str {
        &self.what
    }

    pub(super) fn is_usage(&self) -> bool {
        self.code == 2
    }

    pub(super) fn report(&self) -> ExitCode {
        eprintln!("error: {}", self.what);
        if let Some(next) = &self.next {
            eprintln!("  next: {next}");
        }
        ExitCode::from(self.code)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let next = match &error {
            Error::NotFound { what: "run", .. } => {
                Some("`swe-ci run list` shows the runs there are")
            }
            Error::NotFound {
                what: "split" | "task",
                ..
            } => Some("`swe-ci dataset list` shows the splits and tasks there are"),
            Error::Unavailable(_) => {
                Some("`swe-ci doctor` looks at everything that is needed and says what to do")
            }
            _ => None,
        };
        let what = match &error {
            Error::Internal(cause) => format!("{cause:#}"),
            other => other.to_string(),
        };
        Self {
            what,
            next: next.map(str::to_owned),
            code: 1,
        }
    }
}
