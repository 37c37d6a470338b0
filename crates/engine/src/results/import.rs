//! Imports results made elsewhere as a finished run: completely, or not at all.

use std::path::{Path, PathBuf};

use serde::Serialize;
use swe_ci_base::blocking::blocking;
use swe_ci_base::clock::now_ms;
use swe_ci_base::digest::sha256_hex;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::agent::Budget;
use swe_ci_core::requirement::Mode;
use swe_ci_core::results::Change;
use swe_ci_core::results::Layout;
use swe_ci_core::run::{HarnessConfig, Kind, Limits, RunConfig};
use swe_ci_core::step::Plan;
use swe_ci_dataset::TaskLine;
use swe_ci_store::{ImportedEvolution, ImportedRun, TaskRow};
use swe_ci_views::account::{AccountRole, Standing};
use swe_ci_views::view::{ImportedFrom, Provenance, TaskState};

use super::trajectories::Trajectories;
use super::{Detail, Experiment, Found, Skipped, TaskResults, evolution, read};
use crate::{Engine, METRIC_VERSION, as_u32};

/// The facts about the run that the files do not contain.
#[derive(Debug, Clone)]
pub struct ImportRequest {
    pub layout: Layout,
    pub metadata: PathBuf,
    /// Name of the split; that of the metadata file when absent.
    pub split: Option<String>,
    pub model: String,
    /// The provider of the model; may be empty.
    pub provider: String,
    /// `YYYY-MM-DD`
    pub release_date: Option<String>,
    /// The basis of its programmer's work.
    pub mode: Mode,
    /// The program that ran the agents; the layout's own when absent.
    pub harness: Option<String>,
    /// N, 1 to 1,000; later iterations are ignored. When absent that of a job of
    /// Harbor, else the paper's.
    pub max_iterations: Option<u32>,
}

#[derive(Debug, Clone, Serialize)]
pub struct ImportedResults {
    pub run_id: String,
    pub change: Change,
    pub split: String,
    pub tasks: u32,
    /// Evolutions that count in scores.
    pub evolutions: u32,
    /// Only the number of passing tests is known, not which ones.
    pub counts_only: bool,
    /// Tasks, or single samples of them, that were never started.
    pub skipped: Vec<Skipped>,
    /// Folders that belong to no task of the split.
    pub ignored: Vec<String>,
    /// Stored with the run, for readers of its results.
    pub notes: Vec<String>,
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// Imports results made elsewhere as a finished run; for administrators. The
    /// same import again changes nothing; one with more results replaces it.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the problem: a field of the request, the
    /// metadata file, or any file of the results with its line. There is no
    /// run then.
    pub async fn import_results(
        &self,
        folder: &Path,
        request: &ImportRequest,
    ) -> Result<ImportedResults> {
        self.require(AccountRole::Admin)?;
        let mut config = config(request)?;
        let (layout, root) = (request.layout, folder.to_path_buf());
        let metadata = request.metadata.clone();
        let experiment =
            blocking(move || Ok(read(layout, &root, &metadata, Detail::Tests))).await??;
        refuse_bad(&experiment, folder)?;
        config.plan.max_iterations = experiment.max_iterations(request.max_iterations)?;
        let (mut run, skipped) = run(&experiment, config, layout)?;
        let trajectories = Trajectories::store(&self.artifacts, folder, &experiment, &run).await?;
        trajectories.name_in(&mut run, &experiment);
        let (run_id, change) = self.store.put_import(&run).await?;
        let scored = run.evolutions.iter().filter(|e| e.ending.is_scored());
        let imported = run.provenance.imported;
        Ok(ImportedResults {
            run_id,
            change,
            tasks: as_u32(experiment.tasks.len()),
            evolutions: as_u32(scored.count()),
            counts_only: detail(&experiment) == Detail::Counts,
            skipped,
            ignored: experiment.ignored,
            notes: imported.map(|from| from.notes).unwrap_or_default(),
            split: run.config.split,
        })
    }
}

/// The run's configuration, validated; the numbers of samples and of iterations
/// are not known yet.
fn config(request: &ImportRequest) -> Result<RunConfig> {
    let stem = request.metadata.file_stem().unwrap_or_default();
    let split = request.split.clone();
    let program = request.harness.clone();
    let config = RunConfig {
        model: request.model.clone(),
        provider: request.provider.clone(),
        release_date: request.release_date.clone(),
        training_cutoff: None,
        kind: Kind::Imported,
        harness: HarnessConfig::Elsewhere {
            program: program.unwrap_or_else(|| request.layout.name().into()),
        },
        mode: request.mode,
        split: split.unwrap_or_else(|| stem.to_string_lossy().into_owned()),
        tasks: Vec::new(),
        samples: 1,
        plan: Plan {
            max_iterations: request
                .max_iterations
                .unwrap_or(Plan::default().max_iterations),
            ..Plan::default()
        },
        limits: Limits::default(),
        endpoint: None,
        programmer: None,
        budget: Budget::default(),
        evolution_budget: Budget::default(),
        allow_hosted_tools: false,
        arm: None,
        agent_files: Default::default(),
        handover: None,
        needs: Default::default(),
    };
    check(&config)?;
    Ok(config)
}

fn check(config: &RunConfig) -> Result<()> {
    let checked = config.check();
    checked.map_err(|bad| Error::Invalid(bad.to_string()))
}

/// One bad file fails the whole import: otherwise half a run would pass for a
/// whole one.
fn refuse_bad(experiment: &Experiment, folder: &Path) -> Result<()> {
    let mut all = experiment.tasks.iter().flat_map(|task| &task.samples);
    let bad = all.find_map(|found| match found {
        Found::Bad(why) => Some(why),
        _ => None,
    });
    bad.map_or(Ok(()), |why| {
        let at = folder.display();
        Err(Error::Invalid(format!("{at}/{why}")))
    })
}

/// The run to store, still without the trajectories, and what was never started.
fn run(
    experiment: &Experiment,
    mut config: RunConfig,
    layout: Layout,
) -> Result<(ImportedRun, Vec<Skipped>)> {
    let most = experiment.tasks.iter().map(|t| t.samples.len()).max();
    config.samples = as_u32(most.unwrap_or(1));
    check(&config)?;
    let (evolutions, skipped) = evolutions(experiment, &config);
    if !evolutions.iter().any(|e| e.ending.is_scored()) {
        return Err(nothing(experiment, &config, layout));
    }
    let run = ImportedRun {
        source: source(experiment, &config, layout),
        standing: Standing::default(),
        submission: None,
        provenance: provenance(experiment, &config, layout),
        tasks: experiment.tasks.iter().map(|t| row(&t.line)).collect(),
        evolutions,
        config,
    };
    Ok((run, skipped))
}

fn nothing(experiment: &Experiment, config: &RunConfig, layout: Layout) -> Error {
    Error::Invalid(format!(
        "there are no results of the tasks of `{}` in `{}`, read as the layout `{}`",
        config.split,
        experiment.name.escape_debug(),
        layout.name()
    ))
}

/// A run has one level of detail: if one evolution is known by counts alone,
/// all are imported by counts.
fn detail(experiment: &Experiment) -> Detail {
    let mut all = experiment.tasks.iter().flat_map(|task| &task.samples);
    match all.any(|found| matches!(found, Found::Evolution(e) if e.tests.is_err())) {
        true => Detail::Counts,
        false => Detail::Tests,
    }
}

/// One for each sample of each task, in their order.
fn evolutions(
    experiment: &Experiment,
    config: &RunConfig,
) -> (Vec<ImportedEvolution>, Vec<Skipped>) {
    let (now, plan, detail) = (now_ms(), config.plan, detail(experiment));
    let (mut evolutions, mut skipped) = (Vec::new(), Vec::new());
    for task in &experiment.tasks {
        for (sample, found) in (1..).zip(&task.samples) {
            let task_id = &task.line.task_id;
            evolutions.push(match found {
                Found::Evolution(e) => evolution::imported(e, task_id, sample, plan, detail, now),
                // There are no bad ones here; see `refuse_bad`.
                Found::Missing(reason) | Found::Bad(reason) => {
                    skipped.push(Skipped {
                        task_id: task_id.clone(),
                        reason: reason.clone(),
                    });
                    evolution::blocked(task_id, sample, reason)
                }
            });
        }
    }
    (evolutions, skipped)
}

fn notes(experiment: &Experiment, config: &RunConfig) -> Vec<String> {
    let mut notes = Vec::new();
    let mut why_counts: Vec<(&str, Vec<&TaskResults>)> = Vec::new();
    for task in &experiment.tasks {
        let (there, most) = (task.samples.len(), config.samples as usize);
        if there < most {
            let id = &task.line.task_id;
            notes.push(format!("`{id}` has {there} of {most} samples"));
        }
        for found in &task.samples {
            let Found::Evolution(evolution) = found else {
                continue;
            };
            notes.extend(evolution.notes_up_to(&task.line.task_id, config.plan.max_iterations));
            let Err(why) = &evolution.tests else { continue };
            match why_counts.iter_mut().find(|(known, _)| known == why) {
                Some((_, tasks)) => tasks.push(task),
                None => why_counts.push((why, vec![task])),
            }
        }
    }
    let why_counts = why_counts.iter();
    notes.extend(why_counts.map(|(why, tasks)| counts_note(why, tasks)));
    notes
}

/// Why a run is known by counts alone, with the first tasks affected.
fn counts_note(why: &str, tasks: &[&TaskResults]) -> String {
    const NAMED: usize = 3;
    let mut ids: Vec<&str> = tasks.iter().map(|t| t.line.task_id.as_str()).collect();
    ids.dedup();
    let more = match ids.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    ids.truncate(NAMED);
    format!(
        "the run is known by counts alone: {why} ({}{more})",
        ids.join(", ")
    )
}

/// The identity of the run over repeated imports.
fn source(experiment: &Experiment, config: &RunConfig, layout: Layout) -> String {
    let parts = [
        layout.name(),
        &experiment.name,
        &config.split,
        &config.model,
        &config.provider,
        config.harness.name(),
    ];
    // As JSON, so that different lists of names never coincide.
    serde_json::json!(parts).to_string()
}

fn provenance(experiment: &Experiment, config: &RunConfig, layout: Layout) -> Provenance {
    let lines = experiment.tasks.iter().map(|t| &t.line);
    let tasks: String = lines
        .map(|l| format!("{}\0{}\0{}\0", l.task_id, l.base_sha, l.target_sha))
        .collect();
    Provenance {
        platform_version: env!("CARGO_PKG_VERSION").into(),
        metric_version: METRIC_VERSION,
        dataset_digest: format!("sha256:{}", sha256_hex(tasks.as_bytes())),
        harness_version: "unknown".into(),
        prompts: None,
        imported: Some(ImportedFrom {
            layout: layout.name().into(),
            experiment: experiment.name.clone(),
            digest: experiment.digest.clone(),
            notes: notes(experiment, config),
        }),
        engines: Vec::new(),
        not_handed_over: Vec::new(),
    }
}

/// A new task without code and image.
fn row(line: &TaskLine) -> TaskRow {
    let reason =
        "results only: code and image are not installed; “swe-ci dataset import” brings them";
    line.row(TaskState::Unusable {
        reason: reason.into(),
    })
}
