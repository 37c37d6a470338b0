//! `swe-ci publish`: a run as a result of a benchmark on the Hugging Face hub.

use clap::Args;
use swe_ci_engine::Engine;
use swe_ci_views::hub_results::EvalResult;
use url::Url;

use super::failure::Failure;
use super::hub_push::{self, HubTarget, Pushed, RepositoryKind};
use super::output;
use crate::config::GlobalOptions;

pub(super) const AFTER_HELP: &str = "\
Prints the file that belongs into the model's repository, and pushes nothing
without --push. The hub shows it on the model's page and on the leaderboard of
the benchmark, which is a dataset with an eval.yaml; `swe-ci dataset push` writes
that too. Only ranked runs can be published.

The program `hf` of the hub pushes (pip install huggingface_hub); the token of an
account that may write there is in HF_TOKEN.

Examples:
  swe-ci publish 0199a1b2-… --to hf:acme/model --benchmark hf:acme/swe-ci-demo
  HF_TOKEN=… swe-ci publish 0199a1b2-… --to hf:acme/model --benchmark hf:acme/swe-ci-demo --push";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Id of a ranked run, or how it begins
    #[arg(value_name = "ID")]
    id: String,
    /// The model, hf:OWNER/NAME[@BRANCH]
    #[arg(long, value_name = "TARGET")]
    to: HubTarget,
    /// The benchmark's dataset, hf:OWNER/NAME[@COMMIT]
    #[arg(long, value_name = "DATASET")]
    benchmark: HubTarget,
    /// Address of the site that shows the run
    #[arg(long, value_name = "URL")]
    site: Option<Url>,
    /// Push it
    #[arg(long)]
    push: bool,
    /// Push it as a pull request, to a model of others
    #[arg(long, requires = "push")]
    pull_request: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(
    global: &GlobalOptions,
    engine: &Engine,
    options: &Options,
) -> Result<(), Failure> {
    if options.push {
        hub_push::require_token(global)?;
    }
    let run = engine.run_that_begins(&options.id).await?;
    let (dataset, revision) = options.benchmark.parts();
    let revision = (revision != "main").then(|| revision.to_owned());
    let site = options.site.as_ref().map(Url::as_str);
    let result = engine.eval_result(&run, dataset, revision, site).await?;
    output::show(&result, options.json, |result: &EvalResult| {
        output::line(format_args!("# {}", result.path()))?;
        output::line(result.yaml().trim_end())
    })?;
    if !options.push {
        output::note("nothing was pushed; add --push for that");
        return Ok(());
    }
    hub_push::ask().await?;
    let written = || {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join(result.path());
        std::fs::create_dir_all(file.parent().unwrap_or(folder.path()))?;
        std::fs::write(file, result.yaml())?;
        std::io::Result::Ok(folder)
    };
    let folder =
        written().map_err(|error| Failure::new(format!("no temporary folder: {error}")))?;
    let pushed = Pushed {
        folder: folder.path(),
        message: format!("Result of {} on {}", result.split, result.dataset),
        private: false,
        kind: RepositoryKind::Model,
        pull_request: options.pull_request,
    };
    options.to.push(&pushed).await
}
