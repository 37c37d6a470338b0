//! When runs cannot be compared, and why.

use crate::task::TaskId;

/// How many runs one comparison takes: with more, the pairs are too many to
/// read and one in twenty of them stands out by chance.
const FEWEST: usize = 2;
const MOST: usize = 6;

/// Why runs cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Incomparable {
    #[error("a comparison is of {FEWEST} to {MOST} runs, and {0} are given")]
    Number(usize),
    #[error("the run `{0}` is given twice; a run is not compared with itself")]
    Twice(String),
    #[error("there is no run `{0}` with a scored task on this split")]
    Unknown(String),
    #[error(
        "runs of different splits have no common ground: `{first}` is of `{first_split}`, `{other}` of `{other_split}`"
    )]
    Splits {
        first: String,
        first_split: String,
        other: String,
        other_split: String,
    },
    #[error(
        "of {0} only how many tests passed is known, not which, so it has no score in the paper's convention; compare in the `reference` convention"
    )]
    CountsOnly(String),
    #[error("there is no task that all of these runs were scored on")]
    NothingShared,
    #[error("`{0}` is not a task that all of these runs were scored on")]
    NoSuchTask(TaskId),
}

impl Incomparable {
    /// Whether so many runs can be compared, each given once.
    ///
    /// # Errors
    /// [`Incomparable::Number`] and [`Incomparable::Twice`].
    pub fn check(run_ids: &[String]) -> Result<(), Self> {
        if !(FEWEST..=MOST).contains(&run_ids.len()) {
            return Err(Self::Number(run_ids.len()));
        }
        for (at, id) in run_ids.iter().enumerate() {
            if run_ids[..at].contains(id) {
                return Err(Self::Twice(id.clone()));
            }
        }
        Ok(())
    }

    /// Whether runs (id, split) are of one split.
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
        let of = |splits: &[&str]| {
            let runs = splits.iter().enumerate();
            let runs: Vec<(String, String)> = runs
                .map(|(i, split)| (format!("r{i}"), (*split).to_owned()))
                .collect();
            Incomparable::check_splits(&runs)
        };
        assert_eq!(of(&[]), Ok(()));
        assert_eq!(of(&["s", "s"]), Ok(()));
        let said = of(&["s", "s", "t"]).unwrap_err().to_string();
        assert!(said.contains("`r0` is of `s`, `r2` of `t`"), "{said}");
    }
}
