//! Names of tasks, and the counts of their test suites.

use std::fmt;
use std::num::NonZeroU16;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

use crate::test_plan::{BadPlan, PYTHON, TestPlan};

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

/// The folder with the tests that pytest runs.
pub const TESTS: &str = "tests";

/// How a task's tests are run. It belongs to the task, since its counts were
/// measured so; preparing the task again can change it. Written as `bare`,
/// `reference`, `platform`, or `platform:60` with the seconds that a test may take,
/// all of which are pytest's; otherwise as a plan in JSON, or as the name of the
/// language whose defaults are the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum TestCommand {
    /// Without the options of the oracle's settings (`addopts`): tasks that were
    /// prepared before there was a choice.
    #[default]
    Bare,
    /// The options of the paper's authors, and those of the oracle's settings.
    Reference,
    /// The options of the oracle's settings, without those that nothing installed
    /// knows. A test that takes over so many seconds fails, and the others go on;
    /// without the number only the suite has a limit.
    Platform { test_seconds: Option<NonZeroU16> },
    /// Not pytest.
    Plan(Arc<TestPlan>),
}

/// The most seconds for one test: those of the whole suite.
const MAX_TEST_SECONDS: u16 = 3_600;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTestCommand {
    #[error(
        "`{0}` is no test command: choose `reference`, `platform`, `platform:60` with 1 to {MAX_TEST_SECONDS} seconds for a test, a language with defaults, or a test plan in JSON"
    )]
    Unknown(String),
    #[error(transparent)]
    Plan(#[from] BadPlan),
}

impl TestCommand {
    /// Without a limit for a test.
    pub const PLATFORM: Self = Self::Platform { test_seconds: None };

    /// The command for the target's code, where T is found: a test has half of its
    /// time, so that another machine's speed does not decide whether it passes.
    #[must_use]
    pub fn on_target(self) -> Self {
        let half = |seconds: NonZeroU16| seconds.get().div_ceil(2);
        match self {
            Self::Platform { test_seconds } => Self::Platform {
                test_seconds: test_seconds.map(half).and_then(NonZeroU16::new),
            },
            other => other,
        }
    }

    /// The seconds that each stage of a test may take.
    pub fn test_seconds(&self) -> Option<NonZeroU16> {
        match self {
            Self::Bare | Self::Reference | Self::Plan(_) => None,
            Self::Platform { test_seconds } => *test_seconds,
        }
    }

    /// The plan of tests that are not pytest's.
    pub fn plan(&self) -> Option<&TestPlan> {
        match self {
            Self::Plan(plan) => Some(plan),
            Self::Bare | Self::Reference | Self::Platform { .. } => None,
        }
    }

    /// Whether a path belongs to the tests.
    pub fn is_test(&self, path: &str) -> bool {
        match self.plan() {
            Some(plan) => plan.is_test(path),
            None => path.split('/').next() == Some(TESTS),
        }
    }

    /// The language of the task.
    pub fn language(&self) -> &str {
        self.plan().map_or(PYTHON, |plan| &plan.language)
    }
}

impl utoipa::PartialSchema for TestCommand {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(
                "How a task's tests are run: by pytest, where the number is the seconds that a test may take, or by a test plan in JSON.",
            ))
            .pattern(Some("^(bare|reference|platform(:[1-9][0-9]{0,3})?|[{].*)$"))
            .into()
    }
}

impl utoipa::ToSchema for TestCommand {}

impl fmt::Display for TestCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bare => f.write_str("bare"),
            Self::Reference => f.write_str("reference"),
            Self::Platform { test_seconds: None } => f.write_str("platform"),
            Self::Platform {
                test_seconds: Some(seconds),
            } => write!(f, "platform:{seconds}"),
            Self::Plan(plan) => {
                f.write_str(&serde_json::to_string(&**plan).map_err(|_| fmt::Error)?)
            }
        }
    }
}

impl FromStr for TestCommand {
    type Err = BadTestCommand;

    fn from_str(text: &str) -> Result<Self, BadTestCommand> {
        let bad = || BadTestCommand::Unknown(text.to_owned());
        match text {
            "bare" => Ok(Self::Bare),
            "reference" => Ok(Self::Reference),
            "platform" | PYTHON => Ok(Self::PLATFORM),
            _ if text.starts_with('{') => Ok(Self::Plan(Arc::new(TestPlan::parse(text)?))),
            _ => {
                if let Some(plan) = TestPlan::of_language(text) {
                    return Ok(Self::Plan(Arc::new(plan)));
                }
                let seconds = text.strip_prefix("platform:").ok_or_else(bad)?;
                let seconds: NonZeroU16 = seconds.parse().map_err(|_| bad())?;
                let test_seconds = (seconds.get() <= MAX_TEST_SECONDS).then_some(seconds);
                match test_seconds {
                    Some(_) => Ok(Self::Platform { test_seconds }),
                    None => Err(bad()),
                }
            }
        }
    }
}

impl TryFrom<String> for TestCommand {
    type Error = BadTestCommand;

    fn try_from(text: String) -> Result<Self, BadTestCommand> {
        text.parse()
    }
}

impl From<TestCommand> for String {
    fn from(command: TestCommand) -> String {
        command.to_string()
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

    #[test]
    fn a_language_is_a_test_command() {
        let rust: TestCommand = "rust".parse().unwrap();
        assert_eq!(rust.language(), "rust");
        assert_eq!(rust.to_string().parse(), Ok(rust));
        assert_eq!("python".parse(), Ok(TestCommand::PLATFORM));
        assert_eq!(TestCommand::PLATFORM.language(), "python");
        let why = r#"{"language":"go","test":""}"#.parse::<TestCommand>();
        assert!(why.unwrap_err().to_string().contains("`test`"));
    }

    #[test]
    fn test_commands_are_read_as_they_are_written() {
        for text in [
            "bare",
            "reference",
            "platform",
            "platform:1",
            "platform:3600",
        ] {
            let command: TestCommand = text.parse().unwrap();
            assert_eq!(command.to_string(), text);
            let seconds = command.test_seconds().map_or(0, NonZeroU16::get);
            let expect = text.split_once(':').map_or(0, |(_, n)| n.parse().unwrap());
            assert_eq!(seconds, expect);
        }
        for text in [
            "",
            "Bare",
            "platform:",
            "platform:0",
            "platform:3601",
            "platform:-1",
            "reference:60",
        ] {
            let error = text.parse::<TestCommand>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }
}
