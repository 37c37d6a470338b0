//! `swe-ci export-results`: writes runs in the formats of other programs.

use std::path::PathBuf;

use clap::Args;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_engine::{ExportedLog, LogExport};

use super::failure::Failure;
use super::hub_push::{self, HubTarget, Pushed};
use super::output;
use crate::config::GlobalOptions;

pub(super) const AFTER_HELP: &str = "\
Formats:
  inspect   FOLDER/TIME_swe-ci_RUN.eval, a log of Inspect (inspect_ai): a sample
            for each evolution, with scores, tokens, and the conversations of the
            agents where they were recorded

A run must be over. A file that is there already is kept, and a note on stderr
says so; --replace writes it anew. stdout shows the names of the files.

With --to the files are also pushed to a dataset of the Hugging Face hub, into
its folder `logs`. The program `hf` of the hub does it (pip install
huggingface_hub), with the token in HF_TOKEN; HF_ENDPOINT names another hub. All
files arrive in one commit, or none.

Examples:
  swe-ci export-results 0199a1b2-… --as inspect --output logs
  inspect view --log-dir logs
  swe-ci export-results A B --as inspect --output logs --gamma 1.5 --replace
  HF_TOKEN=… swe-ci export-results A --as inspect --output logs --to hf:acme/swe-ci-logs";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// The runs
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
    /// The format of the files
    #[arg(long = "as", value_name = "FORMAT", required = true, value_parser = ["inspect"])]
    format: String,
    /// The folder of the files; created when absent
    #[arg(long, value_name = "FOLDER")]
    output: PathBuf,
    /// Push the files to this dataset, hf:OWNER/NAME[@BRANCH]
    #[arg(long, value_name = "TARGET")]
    to: Option<HubTarget>,
    /// With --to: a dataset that is created shall be private
    #[arg(long, requires = "to")]
    private: bool,
    /// Replace files that are there already
    #[arg(long)]
    replace: bool,
    /// Weight of later iterations, 0.1 to 10
    #[arg(long, value_name = "GAMMA", default_value = "1")]
    gamma: Gamma,
    /// How tests are counted, see `swe-ci leaderboard --help`
    #[arg(long, default_value = "paper", value_parser = ["paper", "reference"])]
    convention: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(global: &GlobalOptions, options: Options) -> Result<(), Failure> {
    if options.to.is_some() {
        hub_push::require_token(global)?;
    }
    let engine = super::open(global).await?;
    let convention: Convention = options.convention.parse().map_err(Failure::usage)?;
    let wanted = LogExport {
        folder: options.output.clone(),
        replace: options.replace,
        gamma: options.gamma,
        convention,
    };
    let mut runs: Vec<&String> = Vec::new();
    for run in &options.runs {
        if !runs.contains(&run) {
            engine.check_log_export(run, &wanted).await?;
            runs.push(run);
        }
    }
    if options.to.is_some() {
        hub_push::ask().await?;
    }
    let mut exported = Vec::new();
    for run in runs {
        let log = engine.export_log(run, &wanted).await?;
        if log.kept {
            let file = log.file.display();
            output::note(format_args!(
                "note: {file} is there already, and is kept; --replace writes it anew"
            ));
        }
        if !options.json {
            tell(&log)?;
        }
        exported.push(log);
    }
    if options.json {
        output::json(&exported)?;
    }
    match &options.to {
        Some(target) => push(target, &options, &exported).await,
        None => Ok(()),
    }
}

async fn push(
    target: &HubTarget,
    options: &Options,
    exported: &[ExportedLog],
) -> Result<(), Failure> {
    let names = exported.iter().filter_map(|log| log.file.file_name());
    let pushed = Pushed {
        folder: &options.output,
        only: names
            .map(|name| name.to_string_lossy().into_owned())
            .collect(),
        path: "logs",
        message: format!("Logs of {} runs", exported.len()),
        private: options.private,
    };
    target.push(&pushed).await
}

fn tell(log: &ExportedLog) -> Result<(), Failure> {
    for note in &log.notes {
        output::note(format_args!("note: {note}"));
    }
    output::line(log.file.display())
}
