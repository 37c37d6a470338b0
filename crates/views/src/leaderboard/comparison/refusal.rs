//! The reasons why runs cannot be compared.

use swe_ci_core::task::TaskId;

/// The number of runs in a comparison: with more, there are too many pairs to
/// read, and one in twenty of them differs by chance.
const MIN_RUNS: usize = 2;
pub(crate) const MAX_RUNS: usize = 6;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Incomparable {
    #[error("a comparison needs {MIN_RUNS} to {MAX_RUNS} runs, not {0}")]
    Number(usize),
    #[error("the run `{0}` appears twice; a run cannot be compared with itself")]
    Twice(String),
    #[error(
        "the run `{0}` is not on the leaderboard of its split: it has no scored task yet, or is not public"
    )]
    Unknown(String),
    #[error(
        "runs of different splits cannot be compared: `{first}` is of `{first_split}`, `{other}` of `{other_split}`"
    )]
    Splits {
        first: String,
        first_split: String,
        other: String,
        other_split: String,
    },
    #[error(
        "`{first}` and `{other}` start from different code, so their scores cannot be compared; compare runs that go on with the same run, or see /handover"
    )]
    Starts { first: String, other: String },
    #[error(
        "only the counts of passed tests are known for {0}, so it has no score in the paper's convention; compare in the `reference` convention"
    )]
    CountsOnly(String),
    #[error("there is no task that all of these runs were scored on")]
    NothingShared,
    #[error("`{0}` is not a task that all of these runs were scored on")]
    NoSuchTask(TaskId),
}

impl Incomparable {
    /// Checks the number of runs, and that each appears once.
    ///
    /// # Errors
    /// [`Incomparable::Number`] and [`Incomparable::Twice`].
    pub fn check(run_ids: &[String]) -> Result<(), Self> {
        if !(MIN_RUNS..=MAX_RUNS).contains(&run_ids.len()) {
            return Err(Self::Number(run_ids.len()));
        }
        for (index, id) in run_ids.iter().enumerate() {
            if run_ids[..index].contains(id) {
                return Err(Self::Twice(id.clone()));
            }
        }
        Ok(())
    }

    /// Checks that runs (id, split) are of one split.
    ///
    /// # Errors
    /// [`Incomparable::Splits`].
    pub fn check_splits(runs: &[(String, String)]) -> Result<(), Self> {
        let Some((first, split)) = runs.first() else {
            return Ok(());
        };
        match runs.iter().find(|(_, other)| other != split) {
            None => Ok(()),
            Some((other, other_split)) => Err(Self::Splits {
                first: first.clone(),
                first_split: split.clone(),
                other: other.clone(),
                other_split: other_split.clone(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_are_not_mixed() {
        let check = |splits: &[&str]| {
            let runs = splits.iter().enumerate();
            let runs: Vec<(String, String)> = runs
                .map(|(i, split)| (format!("r{i}"), (*split).to_owned()))
                .collect();
            Incomparable::check_splits(&runs)
        };
        assert_eq!(check(&[]), Ok(()));
        assert_eq!(check(&["s", "s"]), Ok(()));
        let message = check(&["s", "s", "t"]).unwrap_err().to_string();
        assert!(message.contains("`r0` is of `s`, `r2` of `t`"), "{message}");
    }
}
