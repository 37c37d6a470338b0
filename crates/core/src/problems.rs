//! Validation of configurations: it reports every invalid field at once, so
//! that the author can correct them all in one go.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::day::is_day;
use crate::text::visible;

/// An invalid field.
#[derive(
    Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize, utoipa::ToSchema,
)]
#[error("{field}: {problem}")]
pub struct BadConfig {
    /// As configurations write it: `endpoint.url`, `limits.memory_mb`, ….
    pub field: String,
    /// Why it is invalid, and what would be valid.
    pub problem: String,
}

impl BadConfig {
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            problem: problem.into(),
        }
    }
}

/// Collects the invalid fields, in the order of the fields.
#[derive(Debug, Default)]
pub struct Problems {
    /// Prefix of the field names: empty, or `programmer.`.
    prefix: &'static str,
    fields: Vec<BadConfig>,
}

impl Problems {
    pub fn collect(check: impl FnOnce(&mut Self)) -> Vec<BadConfig> {
        let mut problems = Self::default();
        check(&mut problems);
        problems.fields
    }

    /// Fails with the first problem that a check reports.
    pub fn first(check: impl FnOnce(&mut Self)) -> Result<(), BadConfig> {
        let first = Self::collect(check).into_iter().next();
        first.map_or(Ok(()), Err)
    }

    /// Checks one part of the configuration under a prefix.
    pub fn within(&mut self, prefix: &'static str, check: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.prefix, prefix);
        check(self);
        self.prefix = outer;
    }

    pub fn ensure(&mut self, field: &str, holds: bool, problem: impl FnOnce() -> String) {
        if !holds {
            let field = format!("{}{field}", self.prefix);
            self.fields.push(BadConfig::new(field, problem()));
        }
    }

    pub fn range(&mut self, field: &str, value: impl Into<u64>, range: RangeInclusive<u64>) {
        let value = value.into();
        self.ensure(field, range.contains(&value), || {
            let (start, end) = range.into_inner();
            format!("{value} is not between {start} and {end}")
        });
    }

    /// A day of the calendar; a missing one is valid.
    pub fn day(&mut self, field: &str, day: Option<&str>) {
        self.ensure(field, day.is_none_or(is_day), || {
            let day = day.unwrap_or_default();
            format!("`{day}` is not a date in the form YYYY-MM-DD")
        });
    }

    /// `min` to 120 characters without line breaks, and none that turns or hides text.
    pub fn one_line(&mut self, field: &str, value: &str, min: usize) {
        let length = value.chars().count();
        let plain = visible(value) == value && !value.contains(['\n', '\t']);
        self.ensure(
            field,
            plain && (min..=120).contains(&length),
            || match length {
                0 => "required".to_owned(),
                _ => "must be at most 120 visible characters on one line".to_owned(),
            },
        );
    }
}
