//! Finds the walls of grading that a task's own tests do not bear: behind these,
//! tests come out otherwise than plainly.

use std::collections::BTreeSet;

use swe_ci_core::report::Report;
use swe_ci_core::wall::Wall;
use swe_ci_grading::Graded;
use swe_ci_store::TaskRow;

use super::TaskPreparation;
use super::prepare::{End, Ends, LeftAway, Prepared};

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
        let run = self.behind_others(row, ends, end, left_away).await?;
        // The walls are pytest's.
        if row.test_command.plan().is_some() {
            return Ok(run);
        }
        // The base may fail as it likes: that is what there is to do.
        if matches!(end, End::Base) && run.result.is_ok() {
            return Ok(run);
        }
        let plain = self.run(row, ends, end, &Wall::all()).await?;
        let felt = differing(&plain, &run);
        if felt.is_empty() {
            return Ok(run);
        }
        // Once may be chance.
        let run = self.behind_others(row, ends, end, left_away).await?;
        let felt = &felt & &differing(&plain, &run);
        let Some(first) = felt.first() else {
            return Ok(run);
        };
        let why = match felt.len() {
            1 => format!("{first} comes out otherwise behind it"),
            n => format!("{n} tests come out otherwise behind it, for example {first}"),
        };
        let singly = Wall::PRESENT.map(|wall| vec![wall]);
        for walls in singly.into_iter().chain([Wall::PRESENT.to_vec()]) {
            let mut fewer = left_away.clone();
            fewer.extend(walls.into_iter().map(|wall| (wall, why.clone())));
            let without = self.behind_others(row, ends, end, &fewer).await?;
            if differing(&plain, &without).is_disjoint(&felt) {
                *left_away = fewer;
                return Ok(without);
            }
        }
        Ok(run)
    }

    async fn behind_others(
        &self,
        row: &TaskRow,
        ends: &Ends,
        end: End,
        left_away: &LeftAway,
    ) -> Prepared<Graded> {
        let left_away = left_away.keys().copied().collect();
        self.run(row, ends, end, &left_away).await
    }
}

/// Tests that pass either plainly or behind walls.
fn differing(plain: &Graded, walled: &Graded) -> BTreeSet<String> {
    let (Ok(plain), walled) = (&plain.result, walled.result.as_ref()) else {
        return BTreeSet::new();
    };
    let passing = |report: &Report| report.passing().map(str::to_owned).collect();
    let plain: BTreeSet<String> = passing(plain);
    match walled {
        Ok(walled) => &plain ^ &passing(walled),
        Err(_) => plain,
    }
}
