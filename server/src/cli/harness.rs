//! `swe-ci harness`: lists, installs and tries agent programs.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};
use swe_ci_core::agent::{Endpoint, HarnessConfig, Protocol};
use swe_ci_core::run::{Kind, RunConfig};
use swe_ci_core::step::StepOutcome;
use swe_ci_engine::{BuiltLayer, CheckNews, Engine, HarnessCheck, HarnessView, Installed};
use swe_ci_views::view::StepView;
use tokio_util::sync::CancellationToken;

use super::failure::Failure;
use super::output;

const LIST_HELP: &str = "\
Built-in harnesses, and those described by files harnesses/NAME.toml of the
data folder. A missing program is installed when a run first needs it, or by
`build`.

Examples:
  swe-ci harness list
  swe-ci harness list --json | jq '.[] | select(.protocol == \"chat\") | .name'";

const BUILD_HELP: &str = "\
A program is built once for each base image, description and version; then all
tasks and runs use it. An installed program takes no time.

Examples:
  swe-ci harness build opencode mini-swe-agent
  swe-ci harness build codex --version 0.170.0
  swe-ci harness build --all";

const CHECK_HELP: &str = "\
Executes a miniature run on a package of three functions: an architect reads two
failing tests and writes a document, a programmer changes the code, the tests
run. Each agent has two minutes and one attempt, all together 400,000 tokens
(a fraction of it is usual). Nothing is stored.

FILE is a run's configuration, as for `swe-ci run submit`.

Examples:
  swe-ci harness check --config my-model.toml
  swe-ci harness check --harness builtin --url https://api.example.org/v1 \\
      --model acme-large --key acme

Exit codes: 0 a document was written and code was changed, 1 otherwise (the
output has the reason and advice), 2 the command line is invalid.";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the harnesses
    #[command(after_help = LIST_HELP)]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Install agent programs ahead of the runs that need them
    #[command(after_help = BUILD_HELP)]
    Build(Build),
    /// Try harness, endpoint and key on one tiny task, before a run costs money
    #[command(after_help = CHECK_HELP)]
    Check(Check),
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).args(["names", "all"])))]
pub(super) struct Build {
    /// Names of harnesses
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// All harnesses whose package is available
    #[arg(long)]
    all: bool,
    /// The version to install instead of the pinned one; only with one NAME
    #[arg(long, value_name = "VERSION", conflicts_with = "all")]
    version: Option<String>,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).args(["config", "harness"])))]
pub(super) struct Check {
    /// Configuration of a run, TOML (FILE.toml) or JSON
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Name of the harness, instead of a file
    #[arg(long, value_name = "NAME", requires_all = ["url", "model"])]
    harness: Option<String>,
    /// Version of the harness; the pinned one when absent
    #[arg(long, value_name = "VERSION", requires = "harness")]
    version: Option<String>,
    /// The provider's address including the version
    #[arg(long, value_name = "URL", requires = "harness")]
    url: Option<String>,
    /// The provider's name for the model
    #[arg(long, value_name = "MODEL", requires = "harness")]
    model: Option<String>,
    /// Name of the stored key; none when the endpoint needs none
    #[arg(long, value_name = "NAME", requires = "harness")]
    key: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(engine: &Engine, command: Command) -> Result<(), Failure> {
    match command {
        Command::List { json } => output::show(&engine.harnesses().await?[..], json, list),
        Command::Build(options) => build(engine, &options).await,
        Command::Check(options) => check(engine, options).await,
    }
}

fn list(harnesses: &[HarnessView]) -> Result<(), Failure> {
    let rows = harnesses.iter().map(|harness| {
        [
            harness.name.clone(),
            harness.version.clone(),
            harness.protocol.map_or("–", Protocol::name).to_owned(),
            installed(&harness.installed),
        ]
    });
    output::table("harness | version | protocol | installed:", rows)?;
    for harness in harnesses {
        if let Some(note) = &harness.note {
            output::line(format_args!("\n{}: {note}", harness.name))?;
        }
        if let Installed::PackageMissing { path } = &harness.installed {
            output::line(format_args!("  Put its package at {path}."))?;
        }
    }
    Ok(())
}

fn installed(installed: &Installed) -> String {
    match installed {
        Installed::BuiltIn => "built in".into(),
        Installed::Yes { bytes } => format!("{} MB", bytes.div_ceil(1_000_000)),
        Installed::No => "no".into(),
        Installed::PackageMissing { .. } => "no package".into(),
        Installed::Unknown => "unknown".into(),
    }
}

async fn build(engine: &Engine, options: &Build) -> Result<(), Failure> {
    if options.version.is_some() && options.names.len() > 1 {
        return Err(Failure::usage("--version is only for one NAME"));
    }
    let names = match options.all {
        true => available(&engine.harnesses().await?),
        false => options.names.clone(),
    };
    let mut failed = Vec::new();
    for name in &names {
        let built = engine.build_layer(name, options.version.as_deref(), &output::say);
        match Box::pin(built).await {
            Ok(layer) => output::line(layer_line(&layer))?,
            Err(error) => {
                output::note(format_args!("{name}: {}", Failure::from(error).what));
                failed.push(name.as_str());
            }
        }
    }
    match failed.as_slice() {
        [] => Ok(()),
        failed => Err(Failure::new(format!("not built: {}", failed.join(", ")))),
    }
}

/// The programs that can be built without action by the operator.
fn available(harnesses: &[HarnessView]) -> Vec<String> {
    let mut names = Vec::new();
    for harness in harnesses {
        match &harness.installed {
            Installed::BuiltIn => {}
            Installed::PackageMissing { path } => output::note(format_args!(
                "{}: skipped, because its package is not at {path}",
                harness.name
            )),
            _ => names.push(harness.name.clone()),
        }
    }
    names
}

fn layer_line(layer: &BuiltLayer) -> String {
    let (name, version, digest) = (&layer.name, &layer.version, &layer.digest);
    let seconds = layer.seconds;
    match seconds > 0.0 {
        true => format!("{name} {version}: built in {seconds:.1} s, {digest}"),
        false => format!("{name} {version}: already installed, {digest}"),
    }
}

async fn check(engine: &Engine, options: Check) -> Result<(), Failure> {
    let json = options.json;
    let config = match &options.config {
        Some(file) => super::run::read(file)?,
        None => config_of_options(engine, options).await?,
    };
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            stopped.cancel();
        }
    });
    let checking = engine.check_harness(config, &tell, &stop);
    let checked = Box::pin(checking).await?;
    output::show(&checked, json, print)?;
    match checked.works {
        true => Ok(()),
        false => Err(Failure::new("the check failed; a run would too")),
    }
}

/// The configuration the command line describes.
async fn config_of_options(engine: &Engine, options: Check) -> Result<RunConfig, Failure> {
    let name = options.harness.unwrap_or_default();
    let known = engine.harnesses().await?;
    if !known.iter().any(|harness| harness.name == name) {
        return Err(Failure::new(format!("there is no harness `{name}`"))
            .next("`swe-ci harness list` shows those there are"));
    }
    let model = options.model.unwrap_or_default();
    let mut config = RunConfig::human("check");
    config.model.clone_from(&model);
    config.kind = Kind::Measured;
    config.harness = match name.as_str() {
        "builtin" => HarnessConfig::Builtin,
        "replay" => config.harness,
        _ => HarnessConfig::Program {
            program: name,
            version: options.version,
        },
    };
    config.endpoint = Some(Endpoint {
        url: options.url.unwrap_or_default(),
        model,
        key: options.key,
        ..Endpoint::default()
    });
    Ok(config)
}

fn tell(news: CheckNews) {
    match news {
        CheckNews::Said(line) => output::note(line),
        CheckNews::Layer(layer) => output::note(layer_line(&layer)),
        CheckNews::Step(step) => output::note(step_line(&step)),
        CheckNews::Tests { passed, of } => {
            output::note(format_args!("{passed} of {of} tests pass"));
        }
    }
}

/// "architect: done in 12.3 s; 3 requests, 6000 tokens in (1000 cached), 300 out, $0.0081"
fn step_line(step: &StepView) -> String {
    let mut line = format!(
        "{}: {} in {:.1} s",
        step.role.name(),
        outcome(step.outcome),
        step.seconds
    );
    if let (Some(traffic), Some(usage)) = (step.traffic, step.usage) {
        line += &format!(
            "; {}, {} tokens in ({} cached), {} out",
            requests(traffic.requests),
            usage.input_tokens,
            usage.cached_tokens,
            usage.output_tokens
        );
        if let Some(cost) = traffic.micro_usd {
            line += &format!(", {}", output::dollars(cost));
        }
    }
    if !step.detail.is_empty() {
        line += &format!(": {}", step.detail);
    }
    line
}

fn outcome(outcome: StepOutcome) -> &'static str {
    match outcome {
        StepOutcome::Done => "done",
        StepOutcome::NoChange => "changed nothing",
        StepOutcome::NothingLeft => "nothing left",
        StepOutcome::Scored { .. } => "ran",
        StepOutcome::Collapsed => "did not run",
        StepOutcome::MalformedRequirement => "no usable document",
        StepOutcome::AgentFailed => "failed",
        StepOutcome::AgentTimedOut => "timed out",
        StepOutcome::BudgetSpent => "budget spent",
        StepOutcome::EvolutionBudgetSpent => "evolution's budget spent",
        StepOutcome::ProviderFailed => "provider failed",
        StepOutcome::InfraFailed => "platform failed",
        StepOutcome::Interrupted => "interrupted",
        StepOutcome::Cancelled => "cancelled",
        StepOutcome::Retried | StepOutcome::Cleared => "to be tried again",
    }
}

fn requests(count: u64) -> String {
    match count {
        1 => "1 request".into(),
        count => format!("{count} requests"),
    }
}

fn print(checked: &HarnessCheck) -> Result<(), Failure> {
    output::line(&checked.verdict)?;
    let cost = checked.traffic.micro_usd.map(output::dollars);
    output::line(format_args!(
        "It took {}, {} tokens, {}.",
        requests(checked.traffic.requests),
        checked.usage.total(),
        cost.as_deref().unwrap_or("at an unknown price")
    ))?;
    for advice in &checked.advice {
        output::line(format_args!("- {advice}"))?;
    }
    if !checked.last_lines.is_empty() {
        output::line("The last lines printed:")?;
    }
    for line in &checked.last_lines {
        output::line(format_args!("  {}", output::short(line, 200)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::step::Role;
    use swe_ci_core::usage::{Traffic, Usage};

    #[test]
    fn a_step_in_a_line() {
        let check = |outcome, detail: &str, usage, traffic, expect: &str| {
            let step = StepView {
                iteration: 1,
                role: Role::Architect,
                attempt: 1,
                outcome,
                detail: detail.into(),
                seconds: 1.25,
                finished_at: None,
                usage,
                traffic,
                truncation: None,
                recording: None,
                container: None,
            };
            assert_eq!(step_line(&step), expect);
        };
        let usage = Usage {
            input_tokens: 6_000,
            output_tokens: 300,
            cached_tokens: 1_000,
            reasoning_tokens: 0,
        };
        let traffic = |micro_usd| Traffic {
            requests: 3,
            micro_usd,
            ..Traffic::default()
        };
        check(
            StepOutcome::Done,
            "",
            Some(usage),
            Some(traffic(Some(1_008_100))),
            "architect: done in 1.2 s; 3 requests, 6000 tokens in (1000 cached), 300 out, $1.008100",
        );
        check(
            StepOutcome::AgentFailed,
            "exit code 1",
            Some(usage),
            Some(traffic(None)),
            "architect: failed in 1.2 s; 3 requests, 6000 tokens in (1000 cached), 300 out: exit code 1",
        );
        check(
            StepOutcome::Scored { solved: true },
            "",
            None,
            None,
            "architect: ran in 1.2 s",
        );
    }
}
