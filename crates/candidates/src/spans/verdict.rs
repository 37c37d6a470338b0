//! Decides whether a span can become a task. Cheap checks come first.

use swe_ci_git::{BoundExceeded, EntryKind};

use super::declarations::Declarations;
use super::{Changes, Reason, Span, SpanRules, change};
use crate::dependencies::Unparsed;
use crate::files::{self, Class};
use crate::repository::Commit;
use crate::watch::Stopped;

/// The changes between the ends of a span, or the reason to drop it. `check_stop`
/// returns an error to stop.
pub(super) fn verdict(
    declarations: &mut Declarations<'_>,
    rules: &SpanRules,
    (base, target): (Commit, Commit),
    span: &Span,
    check_stop: &dyn Fn() -> Result<(), Stopped>,
) -> anyhow::Result<Result<Changes, Reason>> {
    let (commits, least) = (span.commits, rules.min_commits);
    if commits < least {
        return Ok(Err(Reason::TooFewCommits { commits, least }));
    }
    let judged = against_target(declarations, target).and_then(|against| match against {
        Some(reason) => Ok(Err(reason)),
        None => {
            change::between(declarations.repository, base.tree, target.tree, check_stop).map(Ok)
        }
    });
    let changes = match judged {
        Ok(Ok(changes)) => changes,
        Ok(Err(reason)) => return Ok(Err(reason)),
        // One commit that is too large does not fail the whole repository.
        Err(error) if error.is::<BoundExceeded>() => {
            let problem = error.to_string();
            return Ok(Err(Reason::TooLarge { problem }));
        }
        Err(error) => return Err(error),
    };
    Ok(too_few_lines(&changes, rules).map_or(Ok(changes), Err))
}

fn too_few_lines(changes: &Changes, rules: &SpanRules) -> Option<Reason> {
    let (modified, least) = (changes.total().modified(), rules.min_modified_lines);
    if modified < least {
        return Some(Reason::TooFewLines { modified, least });
    }
    let (modified, least) = (changes.source.modified(), rules.min_source_lines);
    if modified < least {
        return Some(Reason::TooFewSourceLines { modified, least });
    }
    let (modified, least) = (changes.tests.modified(), rules.min_test_lines);
    (modified < least).then_some(Reason::TooFewTestLines { modified, least })
}

/// The reason the target is unsuitable: its declarations make the environment,
/// its tests are run, and its source is the goal.
fn against_target(
    declarations: &mut Declarations<'_>,
    target: Commit,
) -> anyhow::Result<Option<Reason>> {
    let files = declarations.files(target.tree)?;
    let declared = declarations.together(&files)?;
    // A program that computes requirements can still run when the image is
    // built.
    let unreadable = declared
        .unparsed()
        .find(|(_, why)| **why != Unparsed::Computed);
    if let Some((file, why)) = unreadable {
        let (file, problem) = (file.to_owned(), why.to_string());
        return Ok(Some(Reason::Unreadable { file, problem }));
    }
    if !declarations.has_manifest(&files)? {
        return Ok(Some(Reason::NoManifest));
    }
    let (mut tests, mut source) = (false, false);
    declarations.repository.list(target.tree, |path, _, kind| {
        if matches!(kind, EntryKind::File { .. }) {
            tests |= files::is_run_test(path);
            source |= files::class(path) == Class::Source;
        }
    })?;
    Ok(match (tests, source) {
        (false, _) => Some(Reason::NoTests),
        (true, false) => Some(Reason::NoSource),
        (true, true) => None,
    })
}
