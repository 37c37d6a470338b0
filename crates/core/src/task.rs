//! Names of tasks, and the counts of their test suites.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The name of a task: 1 to 200 letters, digits, `.`, `_`, `-`, not starting
/// with a dot. It becomes a folder name and a part of URLs, which allow
/// nothing else.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String)]
pub struct TaskId(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` cannot name a task or split: use 1 to 200 letters, digits, `.`, `_` or `-`, not starting with a dot"
)]
pub struct BadName(String);

impl TaskId {
    /// # Errors
    /// [`BadName`] when a character, the length or the start of the text is
    /// not allowed.
    pub fn new(name: impl Into<String>) -> Result<Self, BadName> {
        let name = name.into();
        if is_plain_name(&name) {
            Ok(Self(name))
        } else {
            Err(BadName(name))
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a text may name a task or a split.
pub fn is_plain_name(name: &str) -> bool {
    (1..=200).contains(&name.len())
        && !name.starts_with('.')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

impl TryFrom<String> for TaskId {
    type Error = BadName;

    fn try_from(name: String) -> Result<Self, BadName> {
        Self::new(name)
    }
}

impl From<TaskId> for String {
    fn from(id: TaskId) -> String {
        id.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How many tests the base and the target of a task pass, in both conventions
/// (see [`crate::metrics::Convention`]).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SuiteCounts {
    /// Tests of T (those the target passes) that the base also passes.
    pub base_in_target: u32,
    /// Size of T.
    pub target: u32,
    /// All tests the base passes, in T or not.
    pub base_passed: u32,
    /// Only the numbers of passing tests are known: the results were imported
    /// as counts. They have no score in the paper's convention.
    #[serde(default)]
    pub counts_only: bool,
}

impl SuiteCounts {
    /// The counts of a task when only they are known: the tests the base
    /// passes, and how many more the target passes. T is then assumed to be
    /// exactly those.
    pub fn counts_only(base_passed: u32, gap: u32) -> Self {
        Self {
            base_in_target: base_passed,
            target: base_passed.saturating_add(gap),
            base_passed,
            counts_only: true,
        }
    }

    /// Tests the target passes and the base does not.
    pub fn gap(&self) -> u32 {
        self.target - self.base_in_target
    }
}

/// How pytest is started for a task's tests. It belongs to the task, since its
/// counts were measured so; preparing the task again can change it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TestCommand {
    /// Without the options of the oracle's settings (`addopts`): tasks that were
    /// prepared before there was a choice.
    #[default]
    Bare,
    /// The options of the paper's authors, and those of the oracle's settings.
    Reference,
    /// The options of the oracle's settings, without those that nothing installed
    /// knows.
    Platform,
}

impl TestCommand {
    pub const ALL: [Self; 3] = [Self::Bare, Self::Reference, Self::Platform];

    pub fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Reference => "reference",
            Self::Platform => "platform",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in ["a", "psf__requests-1.2.3", "A.b_c-9", &"x".repeat(200)] {
            assert!(TaskId::new(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            ".",
            "..",
            ".git",
            "a/b",
            "a\\b",
            "a b",
            "ä",
            "a\n",
            &"x".repeat(201),
        ] {
            assert!(TaskId::new(bad).is_err(), "{bad:?}");
        }
        assert!(serde_json::from_str::<TaskId>("\"../up\"").is_err());
    }
}
