//! What whoever steers a run says of how it is to go on, after it was
//! submitted. Its configuration stays as it was.

use serde::{Deserialize, Deserializer, Serialize};

use crate::agent::Budget;
use crate::problems::Problems;
use crate::run::{BadConfig, RunConfig};

/// The most evolutions of a run at the same time that can be asked for.
pub const MOST_AT_ONCE: u32 = 256;

/// How a run is steered now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Steering {
    /// Nothing of it is worked on until it is resumed.
    pub paused: bool,
    /// The most evolutions of it at the same time, 1 to 256; null for as many
    /// as there are workers.
    pub at_once: Option<u32>,
    /// What it may take: the configuration's budget, or what that was raised to.
    pub budget: Budget,
}

impl Steering {
    /// How a run is steered that nobody has said anything about.
    #[must_use]
    pub fn of(config: &RunConfig) -> Self {
        Self {
            paused: false,
            at_once: None,
            budget: config.budget,
        }
    }
}

/// What is to change in how a run is steered; what is left out stays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Change {
    /// Limits to raise; none of them may fall, and the others stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// The most evolutions of the run at the same time, 1 to 256; null for as
    /// many as there are workers.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "also_null"
    )]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<u32>, minimum = 1, maximum = 256))]
    pub at_once: Option<Option<u32>>,
}

/// A field that is null says something; one that is not there does not.
fn also_null<'de, D: Deserializer<'de>>(given: D) -> Result<Option<Option<u32>>, D::Error> {
    Option::deserialize(given).map(Some)
}

/// Checks how many evolutions of a run are to be worked on at the same time.
///
/// # Errors
/// [`BadConfig`] naming `at_once` when it is not between 1 and [`MOST_AT_ONCE`].
pub fn check_at_once(at_once: Option<u32>) -> Result<(), BadConfig> {
    let fits = at_once.is_none_or(|n| (1..=MOST_AT_ONCE).contains(&n));
    Problems::first_of(|problems| {
        problems.ensure("at_once", fits, || {
            let given = at_once.unwrap_or_default();
            format!("{given} is not between 1 and {MOST_AT_ONCE}; leave it empty for no limit")
        });
    })
}

impl Budget {
    /// This budget with the limits of `wanted` in place of its own. Limits
    /// that `wanted` does not name stay: one is never lifted by an omission.
    ///
    /// # Errors
    /// [`BadConfig`] naming the first limit that would fall. What has no limit
    /// can be given none: work may have been begun that relies on it.
    pub fn raised_to(self, wanted: Self) -> Result<Self, BadConfig> {
        wanted.check()?;
        Ok(Self {
            tokens: raised("budget.tokens", self.tokens, wanted.tokens)?,
            usd: raised("budget.usd", self.usd, wanted.usd)?,
            requests: raised("budget.requests", self.requests, wanted.requests)?,
            seconds: raised("budget.seconds", self.seconds, wanted.seconds)?,
        })
    }
}

fn raised<T: PartialOrd + Copy + std::fmt::Display>(
    field: &'static str,
    now: Option<T>,
    wanted: Option<T>,
) -> Result<Option<T>, BadConfig> {
    let problem = match (now, wanted) {
        (_, None) => return Ok(now),
        (Some(now), Some(wanted)) if wanted >= now => return Ok(Some(wanted)),
        (Some(now), Some(wanted)) => {
            format!("{wanted} is less than the {now} it may take now; a budget can only be raised")
        }
        (None, Some(_)) => {
            "it has no limit now, and a budget can only be raised; leave it out".into()
        }
    };
    Err(BadConfig::new(field, problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Budget = Budget {
        tokens: None,
        usd: None,
        requests: None,
        seconds: None,
    };

    #[test]
    fn a_budget_only_rises() {
        let now = Budget {
            tokens: Some(100),
            usd: Some(2.5),
            ..NONE
        };
        let check = |wanted: Budget, expect: Result<Budget, &str>| {
            let found = now.raised_to(wanted).map_err(|bad| bad.field);
            assert_eq!(found, expect.map_err(str::to_owned), "{wanted:?}");
        };
        // What is not said stays, and saying the same again changes nothing.
        check(NONE, Ok(now));
        check(now, Ok(now));
        let more = Budget {
            usd: Some(4.0),
            ..NONE
        };
        let raised = Budget {
            usd: Some(4.0),
            ..now
        };
        check(more, Ok(raised));
        let with = |tokens, usd, requests| Budget {
            tokens,
            usd,
            requests,
            seconds: None,
        };
        check(with(Some(99), None, None), Err("budget.tokens"));
        check(with(Some(200), Some(2.0), None), Err("budget.usd"));
        check(with(None, Some(f64::NAN), None), Err("budget.usd"));
        // No limit is more than any.
        check(with(None, None, Some(5)), Err("budget.requests"));
        check(with(None, None, Some(0)), Err("budget.requests"));
    }

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
    fn null_and_nothing_are_two_things() {
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
