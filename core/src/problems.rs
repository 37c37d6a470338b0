//! What is wrong with a configuration: every field that cannot be used, at
//! once, so that whoever wrote it mends it in one go.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// A field that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[error("{field}: {problem}")]
pub struct BadConfig {
    /// As configurations write it: `endpoint.url`, `limits.memory_mb`, ….
    pub field: String,
    /// What is wrong with it, and what would be right.
    pub problem: String,
}

impl BadConfig {
    #[must_use]
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            problem: problem.into(),
        }
    }
}

/// The problems found so far, in the order of the fields.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    /// What stands before the fields' names: nothing, or `programmer.`.
    part: &'static str,
    found: Vec<BadConfig>,
}

impl Problems {
    /// Everything a check found.
    pub fn of(check: impl FnOnce(&mut Self)) -> Vec<BadConfig> {
        let mut problems = Self::default();
        check(&mut problems);
        problems.found
    }

    /// The first thing a check found.
    pub fn first_of(check: impl FnOnce(&mut Self)) -> Result<(), BadConfig> {
        match Self::of(check).into_iter().next() {
            Some(first) => Err(first),
            None => Ok(()),
        }
    }

    /// The fields of a part of the configuration.
    pub fn within(&mut self, part: &'static str, check: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.part, part);
        check(self);
        self.part = outer;
    }

    pub fn ensure(&mut self, field: &str, holds: bool, problem: impl FnOnce() -> String) {
        if !holds {
            let field = format!("{}{field}", self.part);
            self.found.push(BadConfig::new(field, problem()));
        }
    }

    pub fn range(&mut self, field: &str, value: impl Into<u64>, range: RangeInclusive<u64>) {
        let value = value.into();
        self.ensure(field, range.contains(&value), || {
            format!(
                "{value} is not between {} and {}",
                range.start(),
                range.end()
            )
        });
    }

    /// `min` to 120 characters without line breaks.
    pub fn one_line(&mut self, field: &str, value: &str, min: usize) {
        let length = value.chars().count();
        let plain = value.chars().all(|c| !c.is_control());
        self.ensure(field, plain && (min..=120).contains(&length), || {
            format!("needs {min} to 120 characters on one line")
        });
    }
}
