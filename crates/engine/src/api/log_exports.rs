//! Export of runs as logs of Inspect.

use std::path::PathBuf;

use serde::Serialize;
use swe_ci_base::blocking::blocking;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_gateway::trajectory::Conversations;
use swe_ci_gateway::trajectory::atif::Trajectory;
use swe_ci_store::StepRow;
use swe_ci_views::view::{EvolutionView, RunDetail};

use crate::Engine;
use crate::api::conversations::about_agent;
use crate::api::runs::by_evolution;
use crate::heavy_reads::typed;
use crate::inspect_logs::{LogFile, RecordedStep, RunFacts};

/// Where logs go, and how they count.
#[derive(Debug, Clone)]
pub struct LogExport {
    /// Created when absent.
    pub folder: PathBuf,
    /// Replaces a file of the same run.
    pub replace: bool,
    pub gamma: Gamma,
    pub convention: Convention,
}

/// The log of a run, in its place.
#[derive(Debug, Clone, Serialize)]
pub struct ExportedLog {
    pub run_id: String,
    pub file: PathBuf,
    /// The file was there already, and is as it was.
    pub kept: bool,
    /// Evolutions, each a sample.
    pub samples: usize,
    /// Recordings that could not be read: the log has no conversation of these
    /// steps.
    pub notes: Vec<String>,
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// Whether [`Engine::export_log`] can write the log of this run.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a run the actor may not see; [`Error::Conflict`]
    /// while it goes on; [`Error::Invalid`] when it has no score in this
    /// convention.
    pub async fn check_log_export(&self, run_id: &str, wanted: &LogExport) -> Result<()> {
        check(&self.run(run_id).await?, wanted)
    }

    /// Writes a run that is over as a log that Inspect reads. A file that is there
    /// already is kept, unless it shall be replaced.
    ///
    /// # Errors
    /// As of [`Engine::check_log_export`].
    pub async fn export_log(&self, run_id: &str, wanted: &LogExport) -> Result<ExportedLog> {
        let run = self.run(run_id).await?;
        check(&run, wanted)?;
        let mut steps = by_evolution(self.store.steps_of_run(run_id).await?);
        let facts = self.run_facts(run, wanted).await?;
        let (folder, replace) = (wanted.folder.clone(), wanted.replace);
        let begin = move || Ok((LogFile::begin(&facts, &folder, replace), facts));
        let (begun, mut facts) = blocking(begin).await?;
        let evolutions = facts.run.evolution_list.clone();
        let mut exported = ExportedLog {
            run_id: run_id.to_owned(),
            file: wanted.folder.join(facts.file_name()),
            kept: true,
            samples: evolutions.len(),
            notes: Vec::new(),
        };
        let Some(mut log) = begun? else {
            return Ok(exported);
        };
        for view in evolutions {
            let rows = steps.remove(&view.evolution_id).unwrap_or_default();
            let notes = &mut exported.notes;
            let recorded = self.recorded_steps(&facts, &view, rows, notes).await?;
            let add = move || {
                log.add(&facts, &view, &recorded)?;
                Ok((log, facts))
            };
            (log, facts) = blocking(add).await?;
        }
        let finish = move || Ok(log.finish(&facts));
        exported.kept = !blocking(finish).await??;
        Ok(exported)
    }

    async fn run_facts(&self, run: RunDetail, wanted: &LogExport) -> Result<RunFacts> {
        let summary = &run.summary;
        let origins = self.store.task_origins(&summary.config.split).await?;
        let (gamma, convention) = (wanted.gamma, wanted.convention);
        Ok(RunFacts {
            card: self.card(&summary.run_id).await?,
            scores: self.scores(&summary.run_id, gamma, convention).await?,
            repos: origins
                .into_iter()
                .map(|task| (task.id, task.repo))
                .collect(),
            run,
        })
    }

    /// The steps of an evolution with their conversations. One that cannot be read
    /// becomes a note, and the rest of the log stays of use.
    async fn recorded_steps(
        &self,
        facts: &RunFacts,
        view: &EvolutionView,
        rows: Vec<StepRow>,
        notes: &mut Vec<String>,
    ) -> Result<Vec<RecordedStep>> {
        let mut steps = Vec::new();
        for row in rows {
            let trajectory = match self.trajectory_of(facts, &row).await {
                Err(Error::Internal(error)) => {
                    notes.push(format!(
                        "{}, sample {}, iteration {}, {}, attempt {}: the recording cannot be read: {error:#}",
                        view.task_id,
                        view.sample,
                        row.iteration,
                        row.role.name(),
                        row.attempt
                    ));
                    None
                }
                read => read?,
            };
            steps.push(RecordedStep {
                view: row.view(),
                started_at: row.started_at,
                finished_at: row.finished_at,
                trajectory,
            });
        }
        Ok(steps)
    }

    async fn trajectory_of(&self, facts: &RunFacts, row: &StepRow) -> Result<Option<Trajectory>> {
        let about = about_agent(&facts.run.summary.config, row.role);
        let (Some(key), Some(about)) = (&row.trajectory, about) else {
            return Ok(None);
        };
        let _permit = self.heavy_reads.permit().await?;
        let (key, bytes) = (key.clone(), self.artifacts.get(key).await?);
        let read = move || Ok(Conversations::read(&key, bytes)?.atif(&about));
        Ok(Some(blocking(read).await.map_err(typed)?))
    }
}

fn check(run: &RunDetail, wanted: &LogExport) -> Result<()> {
    let (id, progress) = (&run.summary.run_id, run.summary.progress);
    if !progress.is_over() {
        return Err(Error::Conflict(format!(
            "the run `{id}` is {}; export it when it is over",
            progress.name()
        )));
    }
    let counts_only = run.evolution_list.iter().any(|e| e.suite.counts_only);
    if counts_only && wanted.convention == Convention::Paper {
        return Err(Error::Invalid(format!(
            "the run `{id}` knows counts of tests only, which have no score in the convention `paper`; choose `reference`"
        )));
    }
    Ok(())
}
