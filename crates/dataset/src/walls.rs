//! Finds the walls of grading that a task's own tests do not bear: those that
//! notice something about honest code, and those behind which tests come out
//! otherwise than plainly.

use std::collections::{BTreeMap, BTreeSet};

use swe_ci_core::wall::Wall;
use swe_ci_grading::Graded;
use swe_ci_store::TaskRow;

use super::TaskPreparation;
use super::prepare::{End, Ends, Prepared};

/// The walls left away, and why.
pub(crate) type LeftAway = BTreeMap<Wall, String>;

/// The others watch, and change no result.
const FELT_BY_TESTS: [Wall; 4] = [Wall::Canaries, Wall::Sources, Wall::Names, Wall::Exceptions];

impl TaskPreparation<'_> {
    /// The suite behind the walls that this end of the task bears; walls that it
    /// does not bear are left away.
    pub(crate) async fn behind_walls(
        &self,
        row: &TaskRow,
        ends: &Ends,
        end: End,
        left_away: &mut LeftAway,
    ) -> Prepared<Graded> {
        let run = self.quiet(row, ends, end, left_away).await?;
        let all = Wall::ALL.into_iter().collect();
        // The base may fail as it likes: that is what there is to do.
        if matches!(end, End::Base) && run.result.is_ok() {
            return Ok(run);
        }
        let plain = self.run(row, ends, end, &all).await?;
        if bears(&plain, &run) {
            return Ok(run);
        }
        // Once may be chance.
        let again = self.quiet(row, ends, end, left_away).await?;
        if bears(&plain, &again) {
            return Ok(again);
        }
        let singly = FELT_BY_TESTS.map(|wall| vec![wall]);
        for walls in singly.into_iter().chain([FELT_BY_TESTS.to_vec()]) {
            let why = lost(&plain, &again);
            let mut fewer = left_away.clone();
            fewer.extend(walls.into_iter().map(|wall| (wall, why.clone())));
            let without = self.quiet(row, ends, end, &mut fewer).await?;
            if bears(&plain, &without) {
                *left_away = fewer;
                return Ok(without);
            }
        }
        Ok(again)
    }

    /// The suite behind walls of which none notices anything.
    async fn quiet(
        &self,
        row: &TaskRow,
        ends: &Ends,
        end: End,
        left_away: &mut LeftAway,
    ) -> Prepared<Graded> {
        loop {
            let without = left_away.keys().copied().collect();
            let run = self.run(row, ends, end, &without).await?;
            if run.alarms.is_empty() {
                return Ok(run);
            }
            let of = end.name();
            let noticed = run.alarms.into_iter();
            left_away.extend(noticed.map(|(wall, text)| (wall, format!("on the {of}, {text}"))));
        }
    }
}

/// Whether the same tests pass plainly and behind walls.
fn bears(plain: &Graded, walled: &Graded) -> bool {
    plain.result.is_err() || walled.result.is_ok() && passing(plain) == passing(walled)
}

fn passing(run: &Graded) -> BTreeSet<&str> {
    let report = run.result.as_ref().ok();
    report.map(|r| r.passing().collect()).unwrap_or_default()
}

/// Why a wall is left away that tests feel.
fn lost(plain: &Graded, walled: &Graded) -> String {
    let (plain, walled) = (passing(plain), passing(walled));
    let other: Vec<&str> = plain.symmetric_difference(&walled).copied().collect();
    match other.as_slice() {
        [] => "the suite does not run behind it".into(),
        [test] => format!("{test} comes out otherwise behind it"),
        [test, ..] => format!(
            "{} tests come out otherwise behind it, for example {test}",
            other.len()
        ),
    }
}
