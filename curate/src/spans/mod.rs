//! Spans: the longest stretches of the main branch within which nothing
//! changes that the project depends on (paper, section 3.1, step 2). The two
//! ends of each are a candidate for base and target of a task.

mod change;
mod cut;
mod declarations;
mod judge;
mod moves;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub use change::{Change, Changes};

use crate::repository::Repository;
use crate::watch::{Progress, Watch, tell};

/// Which spans are kept. All have to hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpanRules {
    /// Lines added and deleted between base and target, in all files: 1,000 in
    /// section 3.1.
    pub min_modified_lines: usize,
    /// The same in Python files outside of tests: 500, which holds for every
    /// task of the paper.
    pub min_source_lines: usize,
    /// Commits after the base up to the target. The paper asks for none in
    /// particular.
    pub min_commits: usize,
}

impl Default for SpanRules {
    fn default() -> Self {
        Self {
            min_modified_lines: 1_000,
            min_source_lines: 500,
            min_commits: 1,
        }
    }
}

/// A stretch of the main branch with the same dependencies from end to end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Commit ids, 40 hexadecimal digits.
    pub base: String,
    pub target: String,
    /// Commits after the base up to the target, along the first parents.
    pub commits: usize,
    /// When they were committed, in Unix seconds.
    pub base_time: i64,
    pub target_time: i64,
    /// Between the two; 0 where clocks ran backwards.
    pub days: f64,
}

/// A span that is kept, and what changes in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    pub span: Span,
    pub changes: Changes,
}

/// A span that is not kept, and the first reason there is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dropped {
    pub span: Span,
    pub reason: Reason,
}

/// Why no task can come of a span. Shown, it is a sentence that goes on from
/// "the span is dropped:".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    TooFewCommits {
        commits: usize,
        least: usize,
    },
    /// No file of the target says what it needs to run.
    NoManifest,
    /// A file of the target says it in a way that nothing can read.
    Unreadable {
        file: String,
        problem: String,
    },
    /// The target has no modules of tests in `tests/`, where they are run.
    NoTests,
    /// The target has no Python outside of its tests.
    NoSource,
    /// Base or target has more files than are looked at.
    TooLarge {
        problem: String,
    },
    TooFewLines {
        modified: usize,
        least: usize,
    },
    TooFewSourceLines {
        modified: usize,
        least: usize,
    },
}

impl Reason {
    /// A short name for each, as in JSON; it stays as it is.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::TooFewCommits { .. } => "too_few_commits",
            Self::NoManifest => "no_manifest",
            Self::Unreadable { .. } => "unreadable",
            Self::NoTests => "no_tests",
            Self::NoSource => "no_source",
            Self::TooLarge { .. } => "too_large",
            Self::TooFewLines { .. } => "too_few_lines",
            Self::TooFewSourceLines { .. } => "too_few_source_lines",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewCommits { commits, least } => {
                write!(
                    f,
                    "it has {commits} commits after the base, at least {least} are needed"
                )
            }
            Self::NoManifest => write!(f, "no file of the target says what it depends on"),
            Self::Unreadable { file, problem } => write!(f, "the target's {file} is {problem}"),
            Self::NoTests => write!(f, "the target has no test_*.py or *_test.py in tests/"),
            Self::NoSource => write!(f, "the target has no Python outside of its tests"),
            Self::TooLarge { problem } => write!(f, "{problem}"),
            Self::TooFewLines { modified, least } => {
                write!(
                    f,
                    "it has {modified} modified lines, at least {least} are needed"
                )
            }
            Self::TooFewSourceLines { modified, least } => {
                write!(
                    f,
                    "it has {modified} modified lines of source code, at least {least} are needed"
                )
            }
        }
    }
}

/// What came of a repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpanReport {
    /// The last commit of the main branch.
    pub head: String,
    /// Commits of the main branch, along the first parents.
    pub commits: usize,
    /// Stretches of the same dependencies. Each is a single commit, kept or
    /// dropped.
    pub subsequences: usize,
    /// Subsequences of one commit, which span nothing.
    pub singles: usize,
    /// Those that are kept, the most modified lines first.
    pub kept: Vec<Found>,
    /// Those that are not, oldest first.
    pub dropped: Vec<Dropped>,
}

impl SpanReport {
    /// How many were dropped for each reason there was, by [`Reason::name`].
    /// With [`Self::singles`] and those kept it adds up to
    /// [`Self::subsequences`].
    #[must_use]
    pub fn reasons(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for dropped in &self.dropped {
            *counts.entry(dropped.reason.name()).or_default() += 1;
        }
        counts
    }
}

/// Cuts the main branch of a repository, or the branch of that name, into
/// spans and judges each.
///
/// # Errors
/// If the repository or an object of it cannot be read; [`crate::Stopped`] if
/// the watch said so.
pub fn spans(
    folder: &Path,
    branch: Option<&str>,
    rules: &SpanRules,
    watch: Watch<'_>,
) -> anyhow::Result<SpanReport> {
    let repository = Repository::open(folder)?;
    let head = repository.tip(branch)?;
    let chain = repository.first_parents(head, watch)?;
    let mut declarations = declarations::Declarations::of(&repository);
    let subsequences = cut::subsequences(&chain, &mut declarations, watch)?;
    let of = subsequences.len();
    let mut report = SpanReport {
        head: head.to_string(),
        commits: chain.len(),
        subsequences: of,
        singles: 0,
        kept: Vec::new(),
        dropped: Vec::new(),
    };
    for (done, range) in subsequences.into_iter().enumerate() {
        let still = || tell(watch, Progress::Judged { done, of });
        still()?;
        if range.len() < 2 {
            report.singles += 1;
            continue;
        }
        let (base, target) = (chain[range.start], chain[range.end - 1]);
        let span = cut::span(base, target, range.len() - 1);
        match judge::judge(&mut declarations, rules, (base, target), &span, &still)? {
            Ok(changes) => report.kept.push(Found { span, changes }),
            Err(reason) => report.dropped.push(Dropped { span, reason }),
        }
    }
    let lines = |found: &Found| std::cmp::Reverse(found.changes.total().modified());
    report.kept.sort_by_key(lines);
    Ok(report)
}

/// What changes from one commit of a repository to another.
///
/// # Errors
/// If the repository or an object of it cannot be read; [`crate::Stopped`] if
/// the watch said so.
pub fn changes(
    folder: &Path,
    base: &str,
    target: &str,
    watch: Watch<'_>,
) -> anyhow::Result<Changes> {
    let repository = Repository::open(folder)?;
    let (old, new) = (repository.tree_of(base)?, repository.tree_of(target)?);
    let still = || tell(watch, Progress::Judged { done: 0, of: 1 });
    change::between(&repository, old, new, &still)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_names_and_sentences() {
        let check = |reason: Reason, name: &str, sentence: &str| {
            assert_eq!(reason.name(), name);
            assert_eq!(reason.to_string(), sentence);
            let json = serde_json::to_value(&reason).unwrap();
            let tag = json.as_object().and_then(|tagged| tagged.keys().next());
            assert_eq!(
                tag.map_or_else(|| json.as_str(), |tag| Some(tag)),
                Some(name)
            );
        };
        let (commits, modified, least) = (1, 2, 3);
        check(
            Reason::TooFewCommits { commits, least },
            "too_few_commits",
            "it has 1 commits after the base, at least 3 are needed",
        );
        check(
            Reason::NoManifest,
            "no_manifest",
            "no file of the target says what it depends on",
        );
        let (file, problem) = ("uv.lock".into(), "longer than 8 MiB".into());
        check(
            Reason::Unreadable { file, problem },
            "unreadable",
            "the target's uv.lock is longer than 8 MiB",
        );
        check(
            Reason::NoTests,
            "no_tests",
            "the target has no test_*.py or *_test.py in tests/",
        );
        check(
            Reason::NoSource,
            "no_source",
            "the target has no Python outside of its tests",
        );
        let what = "files and folders";
        let problem = crate::Exceeded { what, most: 9 }.to_string();
        check(
            Reason::TooLarge { problem },
            "too_large",
            "its files cannot be listed: files and folders exceed the bound of 9",
        );
        check(
            Reason::TooFewLines { modified, least },
            "too_few_lines",
            "it has 2 modified lines, at least 3 are needed",
        );
        check(
            Reason::TooFewSourceLines { modified, least },
            "too_few_source_lines",
            "it has 2 modified lines of source code, at least 3 are needed",
        );
    }
}
