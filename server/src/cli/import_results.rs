//! `swe-ci import-results`: imports results made elsewhere as a run.

use std::path::PathBuf;

use clap::Args;
use swe_ci_core::requirement::Mode;
use swe_ci_core::results::Layout;
use swe_ci_core::run::is_day;
use swe_ci_engine::{Engine, Error, ImportRequest, ImportedResults};

use super::failure::Failure;
use super::{output, score};

pub(super) const AFTER_HELP: &str = "\
The results become a finished run of their split, marked as imported. Importing
the same results again changes nothing; extended results replace the earlier
ones under the same run id. An inconsistent file is reported with its line, and
nothing of the run is imported; a task that was never started is imported as
blocked, unscored.

Layouts:
  reference   FOLDER/TASK_ID/iteration.jsonl, as the authors' program writes it;
              with its archived test reports, test by test, else by counts alone
  otter       FOLDER/TASK_ID#SAMPLE/{meta.json,turn_N/conclusion.json}; by counts
              alone
  harbor      FOLDER/TRIAL/{result.json,verifier/swe-ci.json}: a job of Harbor on
              tasks of `swe-ci dataset export --as harbor`, test by test

Results by counts alone have no score in the `paper` convention.

Examples:
  swe-ci import-results --from reference experiments/my-model \\
    --metadata metadata/default.csv --model my-model --provider acme
  swe-ci leaderboard --split default --convention reference";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Folder of the experiment
    folder: PathBuf,
    /// Layout of the folder
    #[arg(long, value_name = "LAYOUT", default_value = "reference", value_parser = ["reference", "otter", "harbor"])]
    from: String,
    /// The split's metadata file: which tasks there are
    #[arg(long, value_name = "CSV")]
    metadata: PathBuf,
    /// The model's name, as the leaderboard shows it
    #[arg(long, value_name = "NAME")]
    model: String,
    /// The model's provider
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// The day the model was released, YYYY-MM-DD
    #[arg(long, value_name = "DAY", value_parser = day)]
    release_date: Option<String>,
    /// The agent program; the layout's own when absent
    #[arg(long, value_name = "NAME")]
    harness: Option<String>,
    /// The basis of its programmer's work: requirements and tests (tdd), or
    /// requirements alone (rdd)
    #[arg(long, value_name = "MODE", default_value = "tdd", value_parser = ["tdd", "rdd"])]
    mode: String,
    /// Name of the split; that of the metadata file when absent
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// Number of iterations: shorter evolutions are padded, later iterations
    /// ignored; when absent that of the job with `--from harbor`, else 20
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    max_iterations: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn day(text: &str) -> Result<String, String> {
    if is_day(text) {
        Ok(text.to_owned())
    } else {
        Err("it is not a date as YYYY-MM-DD".into())
    }
}

pub(super) async fn execute(engine: &Engine, options: Options) -> Result<(), Failure> {
    let layout: Layout = options.from.parse().map_err(Failure::usage)?;
    let request = ImportRequest {
        layout,
        metadata: options.metadata,
        split: options.split,
        model: options.model,
        provider: options.provider.unwrap_or_default(),
        release_date: options.release_date,
        mode: Mode::from_name(&options.mode).unwrap_or_default(),
        harness: options.harness,
        max_iterations: options.max_iterations,
    };
    let imported = engine.import_results(&options.folder, &request).await;
    output::show(&imported.map_err(refused)?, options.json, tell)
}

fn refused(error: Error) -> Failure {
    let invalid = matches!(error, Error::Invalid(_));
    let advice = score::INPUT_ADVICE;
    let next = format!("nothing was imported; fix this, then import again: {advice}");
    Failure::from(error).next_if(invalid, next)
}

fn tell(imported: &ImportedResults) -> Result<(), Failure> {
    output::line(&imported.run_id)?;
    for note in &imported.notes {
        output::note(format_args!("note: {note}"));
    }
    score::skipped(&imported.skipped, &imported.ignored);
    let split = &imported.split;
    let shown = match imported.counts_only {
        true => {
            format!("; `swe-ci leaderboard --split {split} --convention reference` shows it")
        }
        false => String::new(),
    };
    output::note(format_args!(
        "{}: {} scored evolutions of {} tasks on `{split}`{shown}",
        imported.change.name(),
        imported.evolutions,
        imported.tasks
    ));
    Ok(())
}
