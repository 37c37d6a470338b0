//! Spans: the longest stretches of the main branch with unchanged dependencies
//! (paper, section 3.1, step 2). The two ends of each are a candidate for base
//! and target of a task.

mod change;
mod declarations;
mod lines;
mod moves;
mod verdict;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use anyhow::Context;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

pub use change::{Change, Changes};
pub use declarations::declared;

use self::declarations::Declarations;
use crate::dependencies::Source;
use crate::repository::{Commit, PROGRESS_INTERVAL, first_parents, open_repository};
use crate::watch::{Progress, Watch, notify};

/// Requirements on a span. All must hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpanRules {
    /// Lines added and deleted between base and target, in all files: 1,000 in
    /// section 3.1.
    pub min_modified_lines: usize,
    /// The same in Python files outside of tests: 500, which every task of the
    /// paper satisfies.
    pub min_source_lines: usize,
    /// Commits after the base up to the target. The paper states no minimum.
    pub min_commits: usize,
    /// The dependencies that stay the same from base to target.
    pub unchanged: Unchanged,
    /// Only commits from this day on, for tasks that are newer than the models.
    pub since: Option<Date>,
    /// Lines added and deleted in tests. The paper states no minimum.
    pub min_test_lines: usize,
    /// Longer stretches are cut into spans of so many commits, counted from the
    /// newest one; 0 leaves them whole.
    pub most_commits: usize,
    /// Which kept spans come first.
    pub first: First,
}

/// The spans that come first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum First {
    /// Those with the most modified lines.
    #[default]
    Largest,
    /// Those with the youngest targets.
    Newest,
}

/// The dependencies that stay the same within a span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unchanged {
    /// Everything that a file declares, lock files included.
    #[default]
    Locked,
    /// Everything but lock files.
    Declared,
    /// Needed when the project is used: its dependencies and its Python.
    /// Tools of tests and developers may change; the target's are used.
    Runtime,
}

impl Unchanged {
    fn reads(self, source: Source) -> bool {
        self == Self::Locked || !source.is_lock()
    }
}

impl Default for SpanRules {
    fn default() -> Self {
        Self {
            min_modified_lines: 1_000,
            min_source_lines: 500,
            min_commits: 1,
            unchanged: Unchanged::default(),
            since: None,
            min_test_lines: 0,
            most_commits: 0,
            first: First::default(),
        }
    }
}

/// A stretch of the main branch with the same dependencies from end to end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Commit ids, 40 hexadecimal digits, or 64 in a SHA-256 repository.
    pub base: String,
    pub target: String,
    /// Commits after the base up to the target, along the first parents.
    pub commits: usize,
    /// When they were committed, in Unix seconds.
    pub base_time: i64,
    pub target_time: i64,
    /// Days between the two; 0 if clocks ran backwards.
    pub days: f64,
}

/// A span that satisfies the rules, and its changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptSpan {
    pub span: Span,
    pub changes: Changes,
}

/// A span that violates a rule, and the first such rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dropped {
    pub span: Span,
    pub reason: Reason,
}

/// Why a span cannot become a task. Displayed as the continuation of "the span
/// is dropped:".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    #[error("it has {commits} commits after the base, at least {least} required")]
    TooFewCommits { commits: usize, least: usize },
    #[error("no file of the target lists its dependencies")]
    NoManifest,
    /// A file that should list them cannot be parsed.
    #[error("the target's {file} is {problem}")]
    Unreadable { file: String, problem: String },
    #[error("the target has no test_*.py or *_test.py in tests/")]
    NoTests,
    #[error("the target has no Python outside of its tests")]
    NoSource,
    /// Base or target exceeds a limit of [`crate::bounds`].
    #[error("{problem}")]
    TooLarge { problem: String },
    #[error("it has {modified} modified lines, at least {least} required")]
    TooFewLines { modified: usize, least: usize },
    #[error("it has {modified} modified lines of source code, at least {least} required")]
    TooFewSourceLines { modified: usize, least: usize },
    #[error("it has {modified} modified lines of tests, at least {least} required")]
    TooFewTestLines { modified: usize, least: usize },
}

impl Reason {
    /// A stable short name, the same as in JSON.
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
            Self::TooFewTestLines { .. } => "too_few_test_lines",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpanReport {
    /// The last commit of the main branch.
    pub head: String,
    /// Commits of the main branch, along the first parents.
    pub commits: usize,
    /// Stretches with the same dependencies, cut where the rules say so. Each is a
    /// single commit, kept or dropped.
    pub subsequences: usize,
    /// Subsequences of a single commit, which are no spans.
    pub singles: usize,
    /// Kept spans, in the order of [`SpanRules::first`].
    pub kept: Vec<KeptSpan>,
    /// Dropped spans, oldest first.
    pub dropped: Vec<Dropped>,
}

impl SpanReport {
    /// The number of dropped spans by [`Reason::name`]. Together with
    /// [`Self::singles`] and the kept spans they add up to
    /// [`Self::subsequences`].
    pub fn reasons(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for dropped in &self.dropped {
            *counts.entry(dropped.reason.name()).or_default() += 1;
        }
        counts
    }
}

/// Cuts the main branch, or the named branch, into spans and judges each.
///
/// # Errors
/// If the repository or one of its objects cannot be read; [`crate::Stopped`]
/// if the watch stopped the reading.
pub fn spans(
    folder: &Path,
    branch: Option<&str>,
    rules: &SpanRules,
    watch: Watch<'_>,
) -> anyhow::Result<SpanReport> {
    let repository = open_repository(folder)?;
    let head = repository.tip(branch)?;
    let mut chain = first_parents(&repository, head, watch)?;
    chain.drain(..before(&chain, rules.since)?);
    let mut declarations = Declarations::new(&repository, rules.unchanged);
    let found = subsequences(&chain, &mut declarations, watch)?.into_iter();
    let found: Vec<_> = found
        .flat_map(|stretch| cut(stretch, rules.most_commits))
        .collect();
    let of = found.len();
    let mut report = SpanReport {
        head: head.to_string(),
        commits: chain.len(),
        subsequences: of,
        singles: 0,
        kept: Vec::new(),
        dropped: Vec::new(),
    };
    for (done, range) in found.into_iter().enumerate() {
        let check_stop = || notify(watch, Progress::Judged { done, of });
        check_stop()?;
        if range.len() < 2 {
            report.singles += 1;
            continue;
        }
        let (base, target) = (chain[range.start], chain[range.end - 1]);
        let span = span(base, target, range.len() - 1);
        match verdict::verdict(&mut declarations, rules, (base, target), &span, &check_stop)? {
            Ok(changes) => report.kept.push(KeptSpan { span, changes }),
            Err(reason) => report.dropped.push(Dropped { span, reason }),
        }
    }
    report.kept.sort_by_key(|found| {
        Reverse(match rules.first {
            First::Largest => i64::try_from(found.changes.total().modified()).unwrap_or(i64::MAX),
            First::Newest => found.span.target_time,
        })
    });
    Ok(report)
}

/// A stretch in pieces of at most so many commits after the first, oldest first:
/// one ends where the next begins.
fn cut(stretch: Range<usize>, most_commits: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut end = stretch.end;
    while most_commits > 0 && end - stretch.start > most_commits + 1 {
        pieces.push(end - most_commits - 1..end);
        end -= most_commits;
    }
    pieces.push(stretch.start..end);
    pieces.reverse();
    pieces
}

/// The changes from one commit to another.
///
/// # Errors
/// If the repository or one of its objects cannot be read; [`crate::Stopped`]
/// if the watch stopped the reading.
pub fn changes(
    folder: &Path,
    base: &str,
    target: &str,
    watch: Watch<'_>,
) -> anyhow::Result<Changes> {
    let repository = open_repository(folder)?;
    let tree = |rev: &str| repository.root(repository.commit(rev)?);
    let (old, new) = (tree(base)?, tree(target)?);
    let check_stop = || notify(watch, Progress::Judged { done: 0, of: 1 });
    change::between(&repository, old, new, &check_stop)
}

/// The number of commits up to the last one before a day. Clocks run backwards
/// at times, so a later commit may have an earlier time.
fn before(chain: &[Commit], since: Option<Date>) -> anyhow::Result<usize> {
    let Some(day) = since else { return Ok(0) };
    let first = day.to_zoned(TimeZone::UTC)?.timestamp().as_second();
    let last = chain.iter().rposition(|commit| commit.time < first);
    Ok(last.map_or(0, |last| last + 1))
}

const SECONDS_A_DAY: f64 = 86_400.0;

/// The maximal subsequences of commits with the same declarations, in order.
/// They cover the chain, and the declarations of neighbours differ.
fn subsequences(
    chain: &[Commit],
    declarations: &mut Declarations<'_>,
    watch: Watch<'_>,
) -> anyhow::Result<Vec<Range<usize>>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, commit) in chain.iter().enumerate() {
        if at % PROGRESS_INTERVAL == 0 {
            let (done, of) = (at, chain.len());
            notify(watch, Progress::Compared { done, of })?;
        }
        let files = declarations.files(commit.tree);
        let files = files.with_context(|| format!("the declarations of {}", commit.id))?;
        if let Some(before) = &before
            && !declarations.same(before, &files)?
        {
            found.push(start..at);
            start = at;
        }
        before = Some(files);
    }
    if start < chain.len() {
        found.push(start..chain.len());
    }
    Ok(found)
}

fn span(base: Commit, target: Commit, commits: usize) -> Span {
    let seconds = target.time.saturating_sub(base.time).max(0);
    Span {
        base: base.id.to_string(),
        target: target.id.to_string(),
        commits,
        base_time: base.time,
        target_time: target.time,
        days: seconds as f64 / SECONDS_A_DAY,
    }
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
            "it has 1 commits after the base, at least 3 required",
        );
        check(
            Reason::NoManifest,
            "no_manifest",
            "no file of the target lists its dependencies",
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
        let problem = crate::BoundExceeded { what, most: 9 }.to_string();
        check(
            Reason::TooLarge { problem },
            "too_large",
            "cannot list its files: files and folders exceed the limit of 9",
        );
        check(
            Reason::TooFewLines { modified, least },
            "too_few_lines",
            "it has 2 modified lines, at least 3 required",
        );
        check(
            Reason::TooFewSourceLines { modified, least },
            "too_few_source_lines",
            "it has 2 modified lines of source code, at least 3 required",
        );
        check(
            Reason::TooFewTestLines { modified, least },
            "too_few_test_lines",
            "it has 2 modified lines of tests, at least 3 required",
        );
    }

    #[test]
    fn long_stretches_are_cut_from_their_newest_end() {
        let check = |stretch: Range<usize>, most, expect: &str| {
            assert_eq!(format!("{:?}", cut(stretch, most)), expect);
        };
        check(0..9, 0, "[0..9]");
        check(0..4, 3, "[0..4]");
        check(0..5, 3, "[0..2, 1..5]");
        check(2..12, 3, "[2..6, 5..9, 8..12]");
        check(3..4, 1, "[3..4]");
    }
}
