//! `swe-ci run`: submits and shows runs.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args, Subcommand};
use serde_json::json;
use swe_ci_core::handover::{Handover, HandoverTarget};
use swe_ci_core::run::RunConfig;
use swe_ci_core::task::TaskId;
use swe_ci_engine::experiments;
use swe_ci_views::account::Visibility;
use swe_ci_views::submission::{ExperimentEstimate, Range, Submission};
use swe_ci_views::view::{EvolutionView, RunDetail};

use super::failure::Failure;
use super::{output, steer};
use crate::config::GlobalOptions;

const SUBMIT_HELP: &str = "\
The configuration is TOML (FILE.toml) or JSON (any other name, or `-` for
stdin). The smallest one:

  model = \"my-model\"
  kind = \"measured\"
  split = \"demo\"
  harness = { name = \"builtin\" }
  endpoint = { url = \"https://api.example.org/v1\", model = \"my-model-1\", key = \"example\" }

and the optional fields, with their defaults:

  provider = \"\"
  release_date = \"2026-01-31\"    # and training_cutoff: days, to find unseen tasks
  mode = \"tdd\"    # or rdd, without tests, or impossible, with contradictions; ranked apart
  arm = \"plain\"    # what an experiment varies in this run
  agent_files = { \"AGENTS.md\" = \"Be brief.\" }    # in /app, where agents start
  samples = 1
  plan = { max_iterations = 20, max_attempts = 10 }
  allow_hosted_tools = false    # web search and the like; true is not ranked
  needs = {}    # labels of the workers that may execute it, such as { gpu = \"yes\" }

  [limits]
  cpus_milli = 2000    # thousandths of a processor
  memory_mb = 4096
  pids = 1024
  disk_mb = 4096
  code_mb = 256    # of code that a programmer leaves
  agent_seconds = 3600
  test_seconds = 3600
  patience_seconds = 1800    # of waiting for the provider, in a step
  # audit_seconds = 600, of an evolution's audit; as long as its tests took when absent

  [budget]
  usd = 50.0    # or tokens, requests, seconds; none has a limit by itself

With --continue RUN, or a table

  [handover]
  run = \"RUN\"
  iteration = 5    # the last scored iteration of each evolution when absent
  target = \"same\"    # or moved: RUN ended where the tasks of this run begin

each evolution goes on with the code that RUN had after that iteration, instead
of the base. Such runs are not ranked; `swe-ci read handovers.csv` compares them.

A table `vary` makes an experiment, with a run for each combination:

  vary.mode = [\"tdd\", \"impossible\"]
  [[vary.arm]]
  arm = \"plain\"
  [[vary.arm]]
  arm = \"with AGENTS.md\"
  agent_files = { \"AGENTS.md\" = \"Be brief.\" }

Tables are laid over the configuration; other values are those of the field.
`swe-ci run estimate FILE` says before what it will cost.

The run waits in the queue until a server on the same data executes it. stdout
shows its id.

`swe-ci harness list` shows the harnesses, `swe-ci key set NAME` stores a key.

Examples:
  swe-ci run submit --human --split demo
  swe-ci run submit my-model.toml
  swe-ci run submit my-model.toml --continue RUN --after 5
  id=$(swe-ci run submit my-model.json) && swe-ci run show $id";

const ESTIMATE_HELP: &str = "\
The estimate rests on earlier evolutions of the same harness, model and number
of iterations; without any it is unknown. Four of five runs end in the ranges.

Examples:
  swe-ci run estimate experiment.toml
  swe-ci run estimate experiment.toml --json";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Queue a run
    #[command(after_help = SUBMIT_HELP)]
    Submit(Submit),
    /// Estimate time, tokens and cost of a configuration's runs
    #[command(after_help = ESTIMATE_HELP)]
    Estimate {
        /// File of a configuration or an experiment; `-` reads stdin
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the state of a run
    Show {
        /// The run's id, or its beginning if no other run's begins so
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    #[command(flatten)]
    Steer(steer::Command),
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).args(["file", "human"])))]
pub(super) struct Submit {
    /// File of the run's configuration; `-` reads stdin
    file: Option<PathBuf>,
    /// The human baseline: the real history, replayed
    #[arg(long)]
    human: bool,
    /// Split of the human baseline
    #[arg(
        long,
        value_name = "NAME",
        default_value = "demo",
        conflicts_with = "file"
    )]
    split: String,
    /// Only these tasks of the split, separated by commas; all when absent
    #[arg(long, value_name = "TASK_ID,…", value_delimiter = ',', conflicts_with = "file", value_parser = |name: &str| TaskId::new(name))]
    tasks: Vec<TaskId>,
    /// Go on with the code of this finished run instead of the base
    #[arg(long = "continue", value_name = "RUN", conflicts_with = "human")]
    handover: Option<String>,
    /// The code after this iteration; the last scored one when absent
    #[arg(long, value_name = "N", requires = "handover", value_parser = clap::value_parser!(u32).range(1..=1000))]
    after: Option<u32>,
    /// Towards a later target: RUN ended where the tasks of this run begin
    #[arg(long, requires = "handover")]
    moved: bool,
    /// Show it to administrators only; `swe-ci run publish` shows it to all
    #[arg(long)]
    private: bool,
    /// Begin only after a preflight: its agents on a tiny task, and one of its
    /// tasks at both ends
    #[arg(long)]
    preflight: bool,
    /// Remove the keys it names when it is over
    #[arg(long)]
    forget_keys: bool,
    /// Print the run's id as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(global: &GlobalOptions, command: Command) -> Result<(), Failure> {
    match command {
        Command::Submit(options) => submit(global, &options).await,
        Command::Estimate { file, json } => {
            let configs = read_all(&file)?;
            let engine = super::open(global).await?;
            let estimate = engine.estimate_experiment(configs).await?;
            output::show(&estimate, json, print_estimate)
        }
        Command::Show { id, json } => {
            let engine = super::open(global).await?;
            let run = engine.run(&engine.run_that_begins(&id).await?).await?;
            output::show(&run, json, print_run)
        }
        Command::Steer(command) => steer::execute(&super::open(global).await?, command).await,
    }
}

async fn submit(global: &GlobalOptions, options: &Submit) -> Result<(), Failure> {
    let mut configs = match &options.file {
        Some(file) => read_all(file)?,
        None => vec![RunConfig {
            tasks: options.tasks.clone(),
            ..RunConfig::human(&options.split)
        }],
    };
    if let Some(run) = &options.handover {
        let handover = Handover {
            run: run.clone(),
            iteration: options.after,
            target: match options.moved {
                true => HandoverTarget::Moved,
                false => HandoverTarget::Same,
            },
        };
        for config in &mut configs {
            config.handover = Some(handover.clone());
        }
    }
    let visibility = match options.private {
        true => Visibility::Private,
        false => Visibility::default(),
    };
    let engine = super::open(global).await?;
    let submission = |config| Submission {
        config,
        visibility,
        preflight: options.preflight,
        forget_keys: options.forget_keys,
    };
    let submissions = configs.into_iter().map(submission).collect();
    let ids = engine.queue_experiment(submissions).await?;
    if options.json {
        return match ids.as_slice() {
            [id] => output::json(&json!({"run_id": id})),
            ids => output::json(&json!({"run_ids": ids})),
        };
    }
    for id in &ids {
        output::line(id)?;
    }
    let id = ids.last().map_or("", String::as_str);
    output::note(format_args!(
        "queued; `swe-ci run show {id}` shows its state"
    ));
    Ok(())
}

fn print_estimate(estimate: &ExperimentEstimate) -> Result<(), Failure> {
    let range = |range: Option<Range>, show: fn(u64) -> String| match range {
        None => "unknown".to_owned(),
        Some(Range { low, high }) if low == high => show(low),
        Some(Range { low, high }) => format!("{} to {}", show(low), show(high)),
    };
    let hours = |seconds: u64| format!("{:.1} h", seconds as f64 / 3600.0);
    let dollars = |micro: u64| format!("${:.2}", micro as f64 / 1e6);
    let rows = estimate.runs.iter().map(|run| {
        [
            run.model.clone(),
            run.harness.clone(),
            run.mode.name().to_owned(),
            run.arm.clone().unwrap_or_default(),
            run.estimate.evolutions.to_string(),
            range(run.estimate.seconds, hours),
            range(run.estimate.tokens, |tokens| tokens.to_string()),
            range(run.estimate.micro_usd, dollars),
        ]
    });
    let heads = "model | harness | mode | arm | evolutions: | work: | tokens: | cost:";
    output::table(heads, rows)?;
    output::line(format_args!(
        "{} runs, {} evolutions: work {}, tokens {}, cost {}",
        estimate.runs.len(),
        estimate.evolutions,
        range(estimate.seconds, hours),
        range(estimate.tokens, |tokens| tokens.to_string()),
        range(estimate.micro_usd, dollars),
    ))
}

/// One configuration.
pub(super) fn read(file: &Path) -> Result<RunConfig, Failure> {
    let mut all = read_all(file)?;
    match (all.pop(), all.is_empty()) {
        (Some(config), true) => Ok(config),
        _ => {
            let what = format!(
                "`{}` is an experiment, and this needs one run",
                file.display()
            );
            Err(Failure::new(what).next("leave `vary` out"))
        }
    }
}

/// All configurations of an experiment.
fn read_all(file: &Path) -> Result<Vec<RunConfig>, Failure> {
    let wrong = |problem: &dyn std::fmt::Display| {
        Failure::new(format!(
            "the configuration `{}` cannot be used: {problem}",
            file.display()
        ))
        .next("`swe-ci run submit --help` shows an example")
    };
    let mut text = String::new();
    let read = if file == Path::new("-") {
        std::io::stdin().read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|mut file| file.read_to_string(&mut text))
    };
    read.map_err(|e| wrong(&e))?;
    let read = match file.extension().is_some_and(|ending| ending == "toml") {
        true => experiments::from_toml(&text),
        false => experiments::from_json(&text),
    };
    let configs = read.map_err(|e| wrong(&e))?;
    let problems: Vec<_> = configs.iter().flat_map(RunConfig::problems).collect();
    match problems.as_slice() {
        [] => Ok(configs),
        problems => {
            let lines = problems.iter().map(|bad| format!("\n  {bad}"));
            Err(wrong(&lines.collect::<String>()))
        }
    }
}

fn print_run(run: &RunDetail) -> Result<(), Failure> {
    let summary = &run.summary;
    let (run_id, config) = (&summary.run_id, &summary.config);
    output::line(format_args!(
        "{}: {} on {} by {}, queued {} UTC\n{run_id}",
        config.model,
        summary.state().name(),
        config.split,
        config.harness.name(),
        output::minute(&summary.created_at),
    ))?;
    if let Some(handover) = &config.handover {
        output::line(format_args!(
            "goes on with the code of run {}, towards {}",
            handover.run,
            handover.target.in_words()
        ))?;
        for left in &run.provenance.not_handed_over {
            output::note(format_args!(
                "not handed over: {}, sample {}: {}",
                left.task_id,
                left.sample,
                left.why.in_words()
            ));
        }
    }
    let header = "task | sample: | progress | iterations: | passing: | lost: | now";
    output::table(header, run.evolution_list.iter().map(evolution_row))
}

fn evolution_row(evolution: &EvolutionView) -> [String; 7] {
    let lost: u32 = evolution.iterations.iter().map(|i| i.verdict.lost()).sum();
    let at_work = evolution.current.as_ref().map(|step| {
        format!(
            "iteration {}, {}, attempt {}",
            step.iteration,
            step.role.name(),
            step.attempt
        )
    });
    let ended = evolution.ending.map(|ending| ending.name().to_owned());
    let reason = evolution.reason.as_ref().map(|r| format!(": {r}"));
    let state = at_work.or(ended).unwrap_or_default() + &reason.unwrap_or_default();
    [
        evolution.task_id.to_string(),
        evolution.sample.to_string(),
        evolution.progress.name().into(),
        format!(
            "{}/{}",
            evolution.iterations.len(),
            evolution.max_iterations
        ),
        format!("{}/{}", evolution.passing(), evolution.suite.target),
        lost.to_string(),
        state,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> Result<RunConfig, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        read(&path).map_err(|failure| failure.what)
    }

    const SMALLEST: &str = r#"
        model = "m"
        kind = "measured"
        split = "demo"
        harness = { name = "replay", max_chunks = 4 }
    "#;

    #[test]
    fn toml_and_json_agree() {
        let toml = file("c.toml", SMALLEST).unwrap();
        assert_eq!(toml.samples, 1);
        let json = serde_json::to_string(&toml).unwrap();
        assert_eq!(file("c.json", &json).unwrap(), toml);
    }

    #[test]
    fn the_help_lists_the_layouts() {
        let (_, shown) = SUBMIT_HELP.split_once("smallest one:").unwrap();
        let (shown, _) = shown.split_once("With --continue").unwrap();
        let config: String = shown
            .lines()
            .filter(|l| l.starts_with("  "))
            .fold(String::new(), |all, l| all + l + "\n");
        let config = file("help.toml", &config).unwrap();
        assert_eq!(config.limits, swe_ci_core::run::Limits::default());
        assert_eq!(
            (config.samples, config.plan),
            (1, swe_ci_core::step::Plan::default())
        );
    }

    #[test]
    fn bad_configurations_name_the_field() {
        let check = |name: &str, text: &str, expect: &[&str]| {
            let message = file(name, text).unwrap_err();
            for part in [&[name], expect].concat() {
                assert!(message.contains(part), "{text} → {message}");
            }
        };
        check("c.json", "{", &["line 1"]);
        check("c.json", "{}", &["missing field `model`"]);
        check("c.toml", "model = ", &["line 1"]);
        check(
            "c.toml",
            &format!("{SMALLEST}\nsample = 3"),
            &["line 7, sample: there is no such field"],
        );
        check(
            "c.toml",
            &format!("{SMALLEST}\nlimits = {{ memory = 3 }}"),
            &["limits.memory: there is no such field"],
        );
        check(
            "c.toml",
            &format!("{SMALLEST}\nsamples = 101"),
            &["samples: 101 is not between 1 and 100"],
        );
        check(
            "c.toml",
            &SMALLEST.replace("replay", "opencode"),
            &["harness.max_chunks: there is no such field"],
        );
        check(
            "c.toml",
            &SMALLEST.replace("max_chunks", "chunks"),
            &["harness `replay` needs `max_chunks`"],
        );
        let missing = read(Path::new("nowhere.json")).unwrap_err();
        assert!(missing.what.contains("nowhere.json"));
    }
}
