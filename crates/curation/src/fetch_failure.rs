//! Why a repository could not be fetched: only a failure of its own drops it.

use anyhow::Error;
use swe_ci_base::machine_failure::is_machine_failure;
use swe_ci_candidates::environment::distribution::may_pass;

#[derive(Debug)]
pub enum FetchFailure {
    /// This machine failed; every repository would fail.
    Machine(Error),
    /// Its server, or the network, did not answer, or not to the end.
    Unreachable(Error),
    /// It does not exist, is not public, is too large, …
    Repository(Error),
}

impl From<Error> for FetchFailure {
    fn from(error: Error) -> Self {
        if is_machine_failure(&error) {
            Self::Machine(error)
        } else if may_pass(&error) {
            Self::Unreachable(error)
        } else {
            Self::Repository(error)
        }
    }
}
