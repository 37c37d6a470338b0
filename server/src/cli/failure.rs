//! Errors of commands, as stderr shows them.

use std::process::ExitCode;

use swe_ci_engine::Error;

/// Why a command failed: printed to stderr with the problem and, if there is
/// one, the next step to take.
#[derive(Debug)]
pub(super) struct Failure {
    pub what: String,
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

    /// The command line or the environment is invalid.
    pub(super) fn usage(what: impl Into<String>) -> Self {
        Self {
            code: 2,
            ..Self::new(what)
        }
    }

    /// A gate that cannot tell; only a candidate that fails it has code 1.
    pub(super) fn cannot_tell(self) -> Self {
        Self { code: 2, ..self }
    }

    /// The user's next step.
    pub(super) fn next(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }

    /// As [`Failure::next`], for one kind of failure.
    pub(super) fn next_if(self, applies: bool, next: impl Into<String>) -> Self {
        if applies { self.next(next) } else { self }
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
            Error::NotFound { what, .. } => match *what {
                "run" => Some("`swe-ci read runs` shows the runs"),
                "split" => Some("`swe-ci read splits` shows the splits"),
                "task" => Some("`swe-ci read tasks` shows the tasks"),
                "account" => Some("`swe-ci read accounts` shows the accounts"),
                "key" => Some("`swe-ci read keys` shows the keys"),
                "price" => Some("`swe-ci price list` shows the prices"),
                _ => None,
            },
            Error::Unavailable(_) => {
                Some("`swe-ci doctor` checks everything and advises on problems")
            }
            _ => None,
        };
        Self {
            next: next.map(str::to_owned),
            ..Self::new(error.chain())
        }
    }
}
