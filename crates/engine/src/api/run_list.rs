//! The list of runs: filtered, each with its score.

use std::collections::HashMap;

use swe_ci_base::error::{Error, Result};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::run::Progress;
use swe_ci_store::Whose;
use swe_ci_views::finding::unranked;
use swe_ci_views::run_list::{ListedRun, RunFilter};
use swe_ci_views::view::{Page, RunSummary};

use super::runs::{PageRequest, page};
use crate::Engine;

#[swe_ci_boxed::boxed]
impl Engine {
    /// The runs of a filter, newest first.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an unknown split, [`Error::NoSuchPage`] when the page
    /// begins after no id, [`Error::Unauthenticated`] when somebody without an account
    /// asks for their own.
    pub async fn runs(&self, filter: &RunFilter, request: &PageRequest) -> Result<Page<ListedRun>> {
        let limit = request.limit()?;
        let whose = match filter.mine {
            true => self.own_runs()?,
            false => self.visible_runs(),
        };
        if let Some(split) = &filter.split {
            self.check_split(split).await?;
        }
        let runs = self
            .store
            .runs(&whose, filter, request.after_id()?, limit + 1);
        let Page { items, next } = page(runs.await?, limit, |run: &RunSummary| run.run_id.clone());
        let items = self.with_scores(items).await?;
        Ok(Page { items, next })
    }

    fn own_runs(&self) -> Result<Whose> {
        match self.by().identity() {
            Some(who) => Ok(Whose::Own(who.account_id.clone())),
            None => Err(Error::Unauthenticated(
                "sign in first: only an account has runs of its own".into(),
            )),
        }
    }

    /// Takes everything that is counted in iterations from the counts of runs
    /// that are finished: a page of them has a hundred thousand iterations.
    async fn with_scores(&self, runs: Vec<RunSummary>) -> Result<Vec<ListedRun>> {
        let ids: Vec<String> = runs.iter().map(|run| run.run_id.clone()).collect();
        let suspicions = self.store.suspicions_of_runs(&ids).await?;
        let finished = runs.iter().filter(|run| run.progress == Progress::Finished);
        let finished: Vec<String> = finished.map(|run| run.run_id.clone()).collect();
        let mut counts: HashMap<String, _> = self.counts_of(&finished).await?;
        let listed = runs.into_iter().map(|summary| {
            let suspicions = suspicions.get(&summary.run_id).into_iter().flatten();
            let mut run = ListedRun {
                unranked: unranked(&summary.config, summary.set_aside.as_ref(), suspicions),
                summary,
                evoscore: None,
            };
            if let Some(counted) = counts.remove(&run.summary.run_id) {
                run.summary.iterations = counted.iterations;
                let entry = counted.entry.filter(|_| run.may_have_score());
                run.evoscore =
                    entry.and_then(|entry| entry.evoscore(Gamma::ONE, Convention::default()));
            }
            run
        });
        Ok(listed.collect())
    }
}
