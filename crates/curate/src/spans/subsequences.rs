//! Cuts a branch where dependencies change.

use std::ops::Range;

use anyhow::Context;

use super::Span;
use super::declarations::Declarations;
use crate::repository::{Commit, PROGRESS_INTERVAL};
use crate::watch::{Progress, Watch, notify};

const SECONDS_A_DAY: f64 = 86_400.0;

/// The maximal subsequences of commits with the same declarations, in order.
/// They cover the chain, and the declarations of neighbours differ.
pub(super) fn subsequences(
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
    found.push(start..chain.len());
    Ok(found)
}

pub(super) fn span(base: Commit, target: Commit, commits: usize) -> Span {
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
