//! The target's suite under other conditions.

use serde::{Deserialize, Serialize};

use super::Named;
use super::findings::subject;

swe_ci_core::named! {
    /// What tests may depend on beside the code.
    pub enum Condition {
        /// The order in which they run.
        Order = "order",
        /// The home folder of the user: there is none.
        Home = "home",
        /// The date: it is 400 days later.
        Clock = "clock",
    }
}

impl Condition {
    /// How the suite was run.
    pub fn text(self) -> &'static str {
        match self {
            Self::Order => "In a random order",
            Self::Home => "Without a home folder",
            Self::Clock => "With the clock 400 days ahead",
        }
    }
}

/// The target's suite under another condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Trial {
    pub condition: Condition,
    pub runs: u32,
    /// Tests of T that did not pass: in a random order at least once, otherwise
    /// twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failing: Option<Named>,
    /// Why the suite gave no result, or could not be tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Trial {
    /// A trial whose suite ran to its end.
    pub fn of<'a>(
        condition: Condition,
        runs: u32,
        failing: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        Self {
            condition,
            runs,
            failing: Named::from_names(failing),
            problem: None,
        }
    }

    /// In a few words, such as `3 tests did not pass`.
    pub fn result(&self) -> String {
        match (&self.problem, &self.failing) {
            (Some(problem), _) => format!("no result: {problem}"),
            (None, Some(tests)) => format!("{} not pass", subject(tests, "did")),
            (None, None) => "every test passed".into(),
        }
    }

    pub fn without_result(condition: Condition, runs: u32, why: String) -> Self {
        Self {
            condition,
            runs,
            failing: None,
            problem: Some(why),
        }
    }
}
