//! Results on the Hugging Face hub: a run as a result of a benchmark, and the hub's
//! leaderboard of one as outside results.

use swe_ci_base::clock::{now_ms, rfc3339};
use swe_ci_base::error::{Error, Result};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_dataset::ImportSource;
use swe_ci_views::account::AccountRole;
use swe_ci_views::hub_results::{EvalResult, HubEntry, outside_results};
use swe_ci_views::leaderboard::{Board, Published};

use crate::Engine;

#[swe_ci_boxed::boxed]
impl Engine {
    /// A ranked run as a result of the benchmark that is this dataset of the hub, with
    /// its provenance in its notes. `at` is the address of this site, if it has one.
    ///
    /// # Errors
    /// [`Error::Conflict`] for a run that is not ranked: its score compares with none.
    pub async fn eval_result(
        &self,
        run_id: &str,
        dataset: &str,
        revision: Option<String>,
        at: Option<&str>,
    ) -> Result<EvalResult> {
        let run = self.visible_run(run_id).await?;
        let board = Board::new(&run.config.split, run.config.mode);
        let data = self.leaderboard_data(board).await?;
        let rows = data.rank(Gamma::ONE, Convention::Paper);
        let row = rows.into_iter().find(|row| row.run_id == run_id);
        let row = row.ok_or_else(|| {
            let why = data
                .unranked_runs()
                .into_iter()
                .find(|run| run.run_id == run_id);
            let why = why.map_or("it is not on the leaderboard".to_owned(), |run| {
                run.unranked.to_string()
            });
            Error::Conflict(format!(
                "only ranked runs are results of a benchmark, and run {run_id} has no rank: {why}"
            ))
        })?;
        let provenance = self.store.provenance(run_id).await?;
        let mut notes = format!(
            "EvoScore at γ = 1 on {} tasks, N = {}, {} per task, mode {}, harness {} {}, tasks {}, run {run_id}, swe-ci {}",
            row.tasks,
            data.iterations,
            run.config.samples,
            run.config.mode.name(),
            row.harness,
            row.harness_version,
            provenance.dataset_digest,
            provenance.platform_version,
        );
        if let Some(mark) = row.mark {
            notes += &format!(", {}", mark.name());
        }
        let finished = run.finished_at.unwrap_or_else(|| rfc3339(now_ms()));
        Ok(EvalResult {
            dataset: dataset.to_owned(),
            revision,
            split: run.config.split,
            value: row.evoscore,
            date: finished,
            source: at.map(|at| format!("{}/runs/{run_id}", at.trim_end_matches('/'))),
            notes,
        })
    }

    /// Reads the hub's leaderboard of a dataset, and shows it below that of a split as
    /// outside results, instead of what was read before; for administrators. Returns
    /// them with the number of values that are no EvoScore.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the hub does not answer, or has no leaderboard of it.
    pub async fn read_hub_leaderboard(
        &self,
        dataset: &str,
        split: &str,
    ) -> Result<(Published, usize)> {
        self.require(AccountRole::Admin)?;
        let tasks = self.split(split).await?.summary.tasks;
        let ImportSource::Hub { dataset, .. } =
            ImportSource::on_hub(dataset).map_err(Error::Invalid)?
        else {
            return Err(Error::Invalid(
                "write the name of a dataset on the hub, OWNER/NAME".into(),
            ));
        };
        let read = self.hub()?.leaderboard::<HubEntry>(&dataset).await;
        let entries = read.map_err(|error| Error::Unavailable(error.to_string()))?;
        let day = &rfc3339(now_ms())[..10];
        let (published, left_out) =
            outside_results(&dataset.to_string(), split, tasks, day, entries);
        self.store.put_outside_results(split, &published).await?;
        Ok((published, left_out))
    }
}
