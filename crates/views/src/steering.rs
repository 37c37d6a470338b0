//! Steering of a run after its submission: pause, concurrency, budget. Its
//! configuration does not change.

use serde::{Deserialize, Deserializer, Serialize};
use swe_ci_core::agent::Budget;
use swe_ci_core::problems::Problems;
use swe_ci_core::run::{BadConfig, RunConfig};

pub const MOST_AT_ONCE: u32 = 256;

/// The current steering of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Steering {
    /// No worker works on it until a user resumes it.
    pub paused: bool,
    /// Maximum concurrent evolutions, 1 to 256; null for as many as there are
    /// workers.
    pub at_once: Option<u32>,
    /// Its current budget: the configuration's, or a raised one.
    pub budget: Budget,
}

impl Steering {
    pub fn of(config: &RunConfig) -> Self {
        Self {
            paused: false,
            at_once: None,
            budget: config.budget,
        }
    }
}

/// A change of a run's steering; absent fields stay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Change {
    /// Limits to raise; none may fall, and omitted ones stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// Maximum concurrent evolutions of the run, 1 to 256; null for as many as
    /// there are workers.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "null_as_some"
    )]
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 256)]
    pub at_once: Option<Option<u32>>,
}

/// Distinguishes a null field (`Some(None)`) from an absent one (`None`).
fn null_as_some<'de, D: Deserializer<'de>>(given: D) -> Result<Option<Option<u32>>, D::Error> {
    Option::deserialize(given).map(Some)
}

/// Checks the number of concurrent evolutions of a run.
///
/// # Errors
/// [`BadConfig`] naming `at_once` when it is not between 1 and [`MOST_AT_ONCE`].
pub fn check_at_once(at_once: Option<u32>) -> Result<(), BadConfig> {
    let fits = at_once.is_none_or(|n| (1..=MOST_AT_ONCE).contains(&n));
    Problems::first(|problems| {
        problems.ensure("at_once", fits, || {
            let given = at_once.unwrap_or_default();
            format!("{given} is not between 1 and {MOST_AT_ONCE}; leave it empty for no limit")
        });
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_many_at_once() {
        for fine in [None, Some(1), Some(256)] {
            assert_eq!(check_at_once(fine), Ok(()), "{fine:?}");
        }
        for bad in [0, 257, u32::MAX] {
            let error = check_at_once(Some(bad)).unwrap_err();
            assert_eq!(error.field, "at_once", "{bad}");
        }
    }

    #[test]
    fn null_and_absent_differ() {
        let check = |json: &str, expect: Option<Option<u32>>| {
            let change: Change = serde_json::from_str(json).unwrap();
            assert_eq!(change.at_once, expect, "{json}");
        };
        check("{}", None);
        check(r#"{"at_once": null}"#, Some(None));
        check(r#"{"at_once": 3}"#, Some(Some(3)));
        assert!(serde_json::from_str::<Change>(r#"{"at_onse": 3}"#).is_err());
    }
}
