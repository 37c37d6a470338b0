//! The façade's scores: sheets, rankings and all that is known of one run.

mod counting;

use std::collections::HashMap;
use std::sync::Arc;

use swe_ci_core::leaderboard::{
    Entry, Incomparable, Judge, Published, RecoveryTime, Row, Scores, Sheet, Unseen, Versus,
};
use swe_ci_core::metrics::{Convention, Gamma, Verdict, recoveries};
use swe_ci_core::outcomes::Outcomes;
use swe_ci_core::step::Ending;
use swe_ci_core::task::TaskId;

use crate::Engine;
use crate::blocking::blocking;
use crate::error::{Error, Result};
use crate::published::published;
use crate::sheets::Ranking;

impl Engine {
    /// Everything the leaderboard of a split needs.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`] when there is no such split.
    pub async fn sheet(&self, split: &str) -> Result<Arc<Sheet>> {
        let changes = self.changes().await?;
        let (engine, split) = (self.clone(), split.to_owned());
        let name = split.clone();
        let counting = Box::pin(async move { engine.count_sheet(&name).await });
        self.inner.sheets.sheet(split, changes, counting).await
    }

    /// Rises with every change of what pages show; what was made of the data
    /// stands as long as it does not.
    pub async fn changes(&self) -> Result<i64> {
        self.inner.store.changes().await
    }

    /// Results known only as they were published; no database is asked.
    #[must_use]
    pub fn published(&self) -> &'static Published {
        published()
    }

    /// What of a sheet no model can have seen while it was trained.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`] when there is no such split.
    pub async fn unseen(&self, split: &str) -> Result<Arc<Unseen>> {
        let changes = self.changes().await?;
        let (engine, split) = (self.clone(), split.to_owned());
        let name = split.clone();
        let sifting = Box::pin(async move {
            let sheet = engine.sheet(&name).await?;
            Ok(blocking(move || Ok(sheet.unseen())).await?)
        });
        self.inner.sheets.unseen(split, changes, sifting).await
    }

    /// The leaderboard of a split with intervals and tie groups.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`] when there is no such split.
    pub async fn ranking(
        &self,
        split: &str,
        gamma: Gamma,
        convention: Convention,
    ) -> Result<Vec<Row>> {
        let of = Ranking::new((split, self.changes().await?), gamma, convention, false);
        let (engine, split) = (self.clone(), split.to_owned());
        let ranking = Box::pin(async move {
            let sheet = engine.sheet(&split).await?;
            let rank = move || Ok(Judge::new(&sheet).rank(&sheet, gamma, convention));
            Ok(blocking(rank).await?)
        });
        let rows = self.inner.sheets.ranking(of, ranking).await?;
        Ok(rows.to_vec())
    }

    /// The same, where only tasks count that are younger than the model.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`] when there is no such split.
    pub async fn ranking_of_unseen(
        &self,
        split: &str,
        gamma: Gamma,
        convention: Convention,
    ) -> Result<Vec<Row>> {
        let of = Ranking::new((split, self.changes().await?), gamma, convention, true);
        let (engine, split) = (self.clone(), split.to_owned());
        let ranking = Box::pin(async move {
            let unseen = engine.unseen(&split).await?;
            let rank = move || {
                let sheet = &unseen.sheet;
                Ok(Judge::new(sheet).rank(sheet, gamma, convention))
            };
            Ok(blocking(rank).await?)
        });
        let rows = self.inner.sheets.ranking(of, ranking).await?;
        Ok(rows.to_vec())
    }

    /// Runs of one split side by side, with the evolutions of one task if
    /// that is wanted.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such run or no such task,
    /// [`Error::Invalid`] when these runs cannot be compared; its text says
    /// why.
    pub async fn compare(
        &self,
        run_ids: &[String],
        gamma: Gamma,
        convention: Convention,
        task: Option<&TaskId>,
    ) -> Result<Versus> {
        let refused = |why: Incomparable| Error::Invalid(why.to_string());
        // Before the database is asked for however many were given.
        Incomparable::check(run_ids).map_err(refused)?;
        let mut splits = Vec::new();
        for id in run_ids {
            let run = self.seen_run(id).await?;
            splits.push((run.run_id, run.config.split));
        }
        Incomparable::check_splits(&splits).map_err(refused)?;
        let split = splits.swap_remove(0).1;
        let sheet = self.sheet(&split).await?;
        let (run_ids, task) = (run_ids.to_vec(), task.cloned());
        let found =
            blocking(move || Ok(sheet.versus(&run_ids, gamma, convention, task.as_ref()))).await?;
        found.map_err(|why| match why {
            Incomparable::NoSuchTask(id) => Error::not_found("shared task", id),
            why => refused(why),
        })
    }

    /// Everything that is counted of one run. One without any scored
    /// evolution has scores without numbers.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`] when there is no such run.
    pub async fn scores(
        &self,
        run_id: &str,
        gamma: Gamma,
        convention: Convention,
    ) -> Result<Scores> {
        let run = self.seen_run(run_id).await?;
        let origins = self.origins(&run.config.split).await?;
        let entry = self.entry(&run, &origins).await?;
        let recovery = match convention {
            Convention::Paper => self.recovery(run_id).await?,
            Convention::Reference => None,
        };
        let sheet = Sheet {
            split: run.config.split,
            entries: entry.into_iter().collect(),
            published: published().clone(),
        };
        let scores = blocking(move || {
            let rows = Judge::new(&sheet).rank(&sheet, gamma, convention);
            let none = || Entry::none(run.config.plan.max_iterations);
            let entry = sheet.entries.into_iter().next().unwrap_or_else(none);
            let mut scores = entry.scores(gamma, convention);
            scores.intervals = rows.first().and_then(|row| row.intervals);
            Ok(scores)
        })
        .await?;
        Ok(Scores { recovery, ..scores })
    }

    /// How long the regressions of a run lasted; `None` when the names of
    /// its tests are not known.
    async fn recovery(&self, run_id: &str) -> Result<Option<RecoveryTime>> {
        let store = &self.inner.store;
        let mut iterations: HashMap<String, Vec<Option<Outcomes>>> = HashMap::new();
        for (evolution_id, row) in store.iterations_of_run(run_id).await? {
            let scored = matches!(row.verdict, Verdict::Scored { .. });
            iterations
                .entry(evolution_id)
                .or_default()
                .push(scored.then_some(row.outcomes));
        }
        let mut all = Vec::new();
        for evolution in store.evolutions_of_run(run_id).await? {
            if !evolution.ending.is_some_and(Ending::is_scored) {
                continue;
            }
            if evolution.counts.counts_only {
                return Ok(None);
            }
            let base = store.suite(&evolution.suite).await?.base_outcomes;
            let rows = iterations.remove(&evolution.id).unwrap_or_default();
            let rows: Vec<Option<&Outcomes>> = rows.iter().map(Option::as_ref).collect();
            all.extend(recoveries(&base, &rows));
        }
        Ok(Some(RecoveryTime::of(&all)))
    }
}
