//! The reasons why iterations lost tests: read from their reports in the background, kept in
//! digests, and summed for the pages of runs and models.

use swe_ci_base::error::Result;
use swe_ci_core::finding::tampering;
use swe_ci_core::metrics::Verdict;
use swe_ci_core::report::Outcome;
use swe_ci_store::artifacts::is_missing;
use swe_ci_store::{IterationRow, StepRow};
use swe_ci_views::failures::{Loss, LossClass, by_error};
use swe_ci_views::inspection::{ChangedTest, Ended};
use swe_ci_views::trajectories::{EvolutionDigest, LostByClass, lost_by_class};

use super::inspection::{lost_between, report_of};
use crate::Engine;
use crate::digests::{has_losses, stored_losses};
use crate::heavy_reads::readable;

/// Groups of lost tests of an iteration that keep their line of the code.
const MOST_LINES: usize = 20;

#[swe_ci_boxed::boxed]
impl Engine {
    /// The losses of a run by class, as far as its reports were read.
    ///
    /// # Errors
    /// [`Error::NotFound`](swe_ci_base::error::Error::NotFound) for a run the actor
    /// may not see.
    pub async fn lost_by_class(&self, run_id: &str) -> Result<Vec<LostByClass>> {
        self.visible_run(run_id).await?;
        self.lost_by_class_in(&[run_id.to_owned()]).await
    }

    /// The same over runs that the actor sees.
    pub(super) async fn lost_by_class_in(&self, runs: &[String]) -> Result<Vec<LostByClass>> {
        Ok(lost_by_class(&stored_losses(&self.store, runs).await?))
    }

    /// Reads why each iteration lost tests, one report after the other. Tests without a
    /// result stay unknown; a report that is missing is read once it is back.
    pub(crate) async fn read_losses(
        &self,
        evolution_id: &str,
        iterations: &[IterationRow],
        steps: &[StepRow],
        digest: &mut EvolutionDigest,
    ) -> Result<()> {
        let evolution = self.store.evolution(evolution_id).await?;
        let suite = self.store.suite(&evolution.suite).await?;
        let mut before = &suite.base_outcomes;
        for row in iterations {
            if !has_losses(digest, row) {
                let lost = lost_between(&suite.tests, before, &row.outcomes);
                if let Some(losses) = self.losses_of(row, &lost, steps).await? {
                    digest.losses.insert(row.iteration, losses);
                }
            }
            if matches!(row.verdict, Verdict::Scored { .. }) {
                before = &row.outcomes;
            }
        }
        Ok(())
    }

    /// `None` where its report is missing.
    async fn losses_of(
        &self,
        row: &IterationRow,
        lost: &[String],
        steps: &[StepRow],
    ) -> Result<Option<Vec<Loss>>> {
        let report = match report_of(steps, row.iteration) {
            Some(key) if !lost.is_empty() => {
                let _permit = self.heavy_reads.permit().await?;
                match self.results_of(lost, &key).await {
                    Err(error) if is_missing(error.as_ref()) => return Ok(None),
                    read => readable(read)?,
                }
            }
            _ => None,
        };
        let changed = report.map_or_else(Vec::new, |report| {
            let one = |test: &String| ChangedTest {
                node_id: test.clone(),
                before: Ended {
                    outcome: Outcome::Passed,
                    message: String::new(),
                    earlier: 0,
                },
                after: Ended::in_report(test, &report),
            };
            lost.iter().map(one).collect()
        });
        let collapse = row.collapse.clone().map(|why| (why, None));
        let does_not_load = collapse.is_some() && tampering(&row.findings).is_none();
        let mut losses = Loss::of(
            &by_error(lost, &changed, collapse),
            does_not_load,
            MOST_LINES,
        );
        // Of imported results only the number of lost tests may be known.
        let told: u32 = losses.iter().map(|loss| loss.tests).sum();
        let unknown = row.verdict.lost().saturating_sub(told);
        losses.extend((unknown > 0).then_some(Loss {
            class: LossClass::Unknown,
            frame: None,
            tests: unknown,
        }));
        Ok(Some(losses))
    }
}
