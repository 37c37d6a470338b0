//! Whether a task can come of a span. What is cheap to tell is asked first.

use super::declarations::Declarations;
use super::{Changes, Reason, Span, SpanRules, change};
use crate::bounds::Exceeded;
use crate::dependencies::AsText;
use crate::files::{self, Class};
use crate::repository::{Commit, Kind};
use crate::watch::Stopped;

/// What changes between the ends, or the reason against the span. `still`
/// is asked whether to go on.
pub(super) fn judge(
    declarations: &mut Declarations<'_>,
    rules: &SpanRules,
    (base, target): (Commit, Commit),
    span: &Span,
    still: &dyn Fn() -> Result<(), Stopped>,
) -> anyhow::Result<Result<Changes, Reason>> {
    let (commits, least) = (span.commits, rules.min_commits);
    if commits < least {
        return Ok(Err(Reason::TooFewCommits { commits, least }));
    }
    let judged = against_target(declarations, target).and_then(|against| match against {
        Some(reason) => Ok(Err(reason)),
        None => change::between(declarations.repository, base.tree, target.tree, still).map(Ok),
    });
    let changes = match judged {
        Ok(Ok(changes)) => changes,
        Ok(Err(reason)) => return Ok(Err(reason)),
        // No repository is given up for a commit that is too large.
        Err(error) if error.is::<Exceeded>() => {
            let problem = error.to_string();
            return Ok(Err(Reason::TooLarge { problem }));
        }
        Err(error) => return Err(error),
    };
    Ok(match too_few_lines(&changes, rules) {
        Some(reason) => Err(reason),
        None => Ok(changes),
    })
}

fn too_few_lines(changes: &Changes, rules: &SpanRules) -> Option<Reason> {
    let (modified, least) = (changes.total().modified(), rules.min_modified_lines);
    if modified < least {
        return Some(Reason::TooFewLines { modified, least });
    }
    let (modified, least) = (changes.source.modified(), rules.min_source_lines);
    (modified < least).then_some(Reason::TooFewSourceLines { modified, least })
}

/// What is missing in the target: the environment is made from what it
/// declares, its tests are run, and its source is what is led towards.
fn against_target(
    declarations: &mut Declarations<'_>,
    target: Commit,
) -> anyhow::Result<Option<Reason>> {
    let files = declarations.files(target.tree)?;
    let declared = declarations.together(&files)?;
    // A program that works them out can still be run when images are built.
    let unreadable = declared
        .as_text()
        .find(|(_, why)| **why != AsText::WorkedOut);
    if let Some((file, why)) = unreadable {
        let (file, problem) = (file.to_owned(), why.to_string());
        return Ok(Some(Reason::Unreadable { file, problem }));
    }
    if !declarations.has_manifest(&files)? {
        return Ok(Some(Reason::NoManifest));
    }
    let (mut tests, mut source) = (false, false);
    declarations.repository.list(target.tree, |path, _, kind| {
        if kind == Kind::File {
            tests |= files::is_run(path);
            source |= files::class(path) == Class::Source;
        }
    })?;
    Ok(match (tests, source) {
        (false, _) => Some(Reason::NoTests),
        (true, false) => Some(Reason::NoSource),
        (true, true) => None,
    })
}
