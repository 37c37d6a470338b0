//! Raises the budget of a submitted run.

use crate::agent::Budget;
use crate::problems::BadConfig;

impl Budget {
    /// This budget with the limits of `wanted` in place of its own. Limits
    /// that `wanted` omits stay: an omission never removes one.
    ///
    /// # Errors
    /// [`BadConfig`] naming the first limit that would fall. An unlimited
    /// quantity stays unlimited: the run may already rely on that.
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
            format!("{wanted} is below the current limit of {now}; a budget can only be raised")
        }
        (None, Some(_)) => "it has no limit now, and a budget can only be raised; omit it".into(),
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
            let actual = now.raised_to(wanted).map_err(|bad| bad.field);
            assert_eq!(actual, expect.map_err(str::to_owned), "{wanted:?}");
        };
        // Omitted limits stay, and repeating the limits changes nothing.
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
        // Unlimited is more than any limit.
        check(with(None, None, Some(5)), Err("budget.requests"));
        check(with(None, None, Some(0)), Err("budget.requests"));
    }
}
