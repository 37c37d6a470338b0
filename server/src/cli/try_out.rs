//! `swe-ci try`: a first look at agents on a repository of one's own, from its
//! history to a table.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::json;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::run::{HarnessConfig, Kind, Progress, RunConfig};
use swe_ci_core::step::{Plan, Role};
use swe_ci_engine::{CurationPlan, Engine, Error, PageRequest, WorkLock};
use swe_ci_views::account::Visibility;
use swe_ci_views::curation::{CandidateView, CurationDetail, CurationState, Fate, Stage};
use swe_ci_views::run_list::RunFilter;
use swe_ci_views::view::{EvolutionView, RunDetail};
use tokio_util::sync::CancellationToken;

use super::failure::Failure;
use super::signals::stop_on_signals;
use super::{output, run};
use crate::config::GlobalOptions;
use crate::worker;

pub(super) const AFTER_HELP: &str = "\
Looks at the history of a repository, and takes its newest spans, one to three, in
which the dependencies of the project stay the same and at least three tests come to
pass: the suite must run at both ends. It builds their environments, replays the
real history in five iterations (the human baseline), has your models do the same,
and ends with a table. Only commits count, on the branch that is checked out.

It needs a container engine and a base image (`swe-ci doctor`), and no account. If a
server works on the data folder, that server does the work. After Ctrl-C or a crash
the same command goes on where it was. A run of the same model and harness is not
repeated: give it another `model` name.

The split of a file is replaced, and so are its tasks and iterations; its budget
holds for the run.

Examples:
  swe-ci try .
  swe-ci try https://example.org/owner/name --config one.toml --config other.toml

Exit codes: 0 with a table; 1 where the repository does not fit, with the reason and
what to do about it; 2 an option is invalid.";

/// How often the progress is looked at.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Where a server is that nobody has configured.
const USUAL_SITE: &str = "http://127.0.0.1:3000";
const NAME_ONE: &str = "name a folder with a git repository and commits, or an address (https, ssh, …) that `git clone` takes without asking";
const AGAIN: &str = "the same command goes on where it was";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// A folder with a git repository, or an address that git clones
    #[arg(value_name = "PATH-OR-URL")]
    repository: String,
    /// A branch other than the main one
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// File of a run's configuration, see `swe-ci run submit --help`; may be
    /// repeated
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// Where the site is, for the address of the comparison
    #[arg(
        long,
        env = "SWE_CI_PUBLIC_URL",
        value_name = "URL",
        hide_env_values = true
    )]
    public_url: Option<String>,
    /// Print the split, the runs and the address of the comparison as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(global: &GlobalOptions, options: &Options) -> Result<(), Failure> {
    let models = options.config.iter().map(|file| run::read(file));
    let models: Vec<RunConfig> = models.collect::<Result<_, _>>()?;
    let engine = Engine::open(global.engine_at_work().map_err(Failure::usage)?).await?;
    let mut checks = engine.doctor().await.into_iter();
    if let Some(bad) = checks.find(|check| !check.ok && check.name != "tasks") {
        return Err(Failure::new(format!("{}: {}", bad.name, bad.found)).next(bad.advice));
    }
    for model in &models {
        let wrong =
            |error: Error| Failure::from(error).next("`swe-ci harness check` tries the agents");
        engine
            .check_before_split(model.clone())
            .await
            .map_err(wrong)?;
    }
    let stop = CancellationToken::new();
    stop_on_signals(stop.clone())?;
    let lock = match engine.lock_for_work() {
        Ok(lock) => {
            engine.remove_remains(&lock).await?;
            Some(lock)
        }
        Err(Error::Conflict(_)) => {
            output::note("A server works on this data folder: it does the work.");
            None
        }
        Err(error) => return Err(error.into()),
    };
    let address = address(&options.repository)?;
    output::note(format_args!("Looking at the history of {address}"));
    let id = engine.first_look(&address, options.branch.as_deref());
    let id = id.await.map_err(|error| {
        let wrong = matches!(error, Error::Invalid(_));
        Failure::from(error).next_if(wrong, NAME_ONE)
    })?;
    let state = engine.curate(&id, &output::say, &stop).await;
    if stop.is_cancelled() {
        return Err(Failure::new("it was stopped").next(AGAIN));
    }
    let state = state?;
    let curation = engine.curation(&id).await?;
    if state != CurationState::Finished {
        return Err(does_not_fit(&curation));
    }
    let split = curation.summary.split.clone();
    let mut runs = vec![queued(&engine, human(&split, &curation)).await?];
    for model in models {
        runs.push(queued(&engine, on_split(model, &split, &curation)).await?);
    }
    work_until_over(&engine, lock.as_ref(), &runs, &stop).await?;
    let site = options.public_url.as_deref().filter(|url| !url.is_empty());
    let site = site.unwrap_or(USUAL_SITE).trim_end_matches('/');
    let place = match runs.as_slice() {
        [only] => format!("{site}/runs/{only}"),
        all => format!("{site}/compare?runs={}", all.join(",")),
    };
    if options.json {
        return output::json(&json!({"split": split, "runs": runs, "address": place}));
    }
    print_table(&engine, &runs).await?;
    output::line(format_args!(
        "\n{place}\n{}",
        match lock {
            Some(_) =>
                "`swe-ci serve` on this data folder shows it: every iteration, test by test.",
            None => "Every iteration, test by test.",
        }
    ))?;
    print_plan(&engine.config().data, &curation)
}

/// Relative folders are those of this process.
fn address(repository: &str) -> Result<String, Failure> {
    if repository.contains("://") {
        return Ok(repository.to_owned());
    }
    let folder = Path::new(repository).canonicalize();
    folder
        .map(|folder| folder.display().to_string())
        .map_err(|e| Failure::new(format!("{repository}: {e}")).next(NAME_ONE))
}

/// The N of the split.
fn iterations(curation: &CurationDetail) -> u32 {
    let plan = CurationPlan::read(&curation.plan).ok();
    let declared = plan.and_then(|plan| plan.max_iterations);
    declared.unwrap_or(Plan::default().max_iterations)
}

fn human(split: &str, curation: &CurationDetail) -> RunConfig {
    let max_chunks = iterations(curation);
    let human = RunConfig {
        harness: HarnessConfig::Replay { max_chunks },
        ..RunConfig::human(split)
    };
    on_split(human, split, curation)
}

fn on_split(mut config: RunConfig, split: &str, curation: &CurationDetail) -> RunConfig {
    config.split = split.to_owned();
    config.tasks.clear();
    config.plan.max_iterations = iterations(curation);
    config
}

/// The run of this model and harness on its split, or a new one.
async fn queued(engine: &Engine, config: RunConfig) -> Result<String, Failure> {
    let filter = RunFilter {
        split: Some(config.split.clone()),
        ..RunFilter::default()
    };
    let name = |config: &RunConfig| {
        let (harness, kind) = (config.harness.name().to_owned(), config.kind);
        (config.model.clone(), harness, kind, config.mode)
    };
    let mut page = PageRequest::default();
    loop {
        let runs = engine.runs(&filter, &page).await?;
        let same =
            runs.items.iter().map(|run| &run.summary).find(|run| {
                name(&run.config) == name(&config) && run.progress != Progress::Cancelled
            });
        if let Some(run) = same {
            return Ok(run.run_id.clone());
        }
        if runs.next.is_none() {
            break;
        }
        page.after = runs.next;
    }
    let model = config.model.clone();
    let id = engine.submit(config, Visibility::Public).await?;
    output::note(format_args!("{model}: run {id} is queued"));
    Ok(id)
}

/// Works on everything queued, if no server does, and tells how far these runs are.
async fn work_until_over(
    engine: &Engine,
    lock: Option<&WorkLock>,
    runs: &[String],
    stop: &CancellationToken,
) -> Result<(), Failure> {
    let over = stop.child_token();
    let (watched, worked) = tokio::join!(
        async {
            let watched = over.run_until_cancelled(watch(engine, runs)).await;
            over.cancel();
            watched.unwrap_or(Ok(()))
        },
        async {
            let worked = match lock {
                Some(lock) => worker::keep_working(engine, lock, false, &over).await,
                None => Ok(()),
            };
            if worked.is_err() {
                over.cancel();
            }
            worked
        }
    );
    worked?;
    watched?;
    match stop.is_cancelled() {
        true => Err(Failure::new("it was stopped").next(AGAIN)),
        false => Ok(()),
    }
}

async fn watch(engine: &Engine, runs: &[String]) -> Result<(), Error> {
    let mut told: HashMap<String, String> = HashMap::new();
    loop {
        let mut all_over = true;
        for id in runs {
            let run = engine.run(id).await?;
            all_over &= run.summary.progress.is_over();
            let model = &run.summary.config.model;
            for evolution in &run.evolution_list {
                let now = news(evolution);
                let before = told.insert(evolution.evolution_id.clone(), now.clone());
                if before.as_ref() != Some(&now) && !now.is_empty() {
                    output::note(format_args!("{model}: {}: {now}", evolution.task_id));
                }
            }
        }
        if all_over {
            return Ok(());
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// How far an evolution is; empty before it begins.
fn news(evolution: &EvolutionView) -> String {
    let (passing, of) = (evolution.passing(), evolution.suite.target);
    let lost: u32 = evolution.iterations.iter().map(|i| i.verdict.lost()).sum();
    let tests = format!("{passing} of {of} tests pass, {lost} lost on the way");
    if let Some(ending) = evolution.ending {
        let reason = evolution.reason.as_ref().map(|why| format!(" ({why})"));
        let name = ending.name().replace('_', " ");
        return format!("{name}{}: {tests}", reason.unwrap_or_default());
    }
    match &evolution.current {
        Some(step) if step.role == Role::Test => {
            format!("iteration {}, tests; before: {tests}", step.iteration)
        }
        Some(step) => format!("iteration {}, {}", step.iteration, step.role.name()),
        None => String::new(),
    }
}

async fn print_table(engine: &Engine, runs: &[String]) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for id in runs {
        let run = engine.run(id).await?;
        let scores = engine.scores(id, Gamma::ONE, Convention::Paper).await?;
        let percent = |share: Option<f64>| share.map(output::percent);
        let minutes = run.elapsed_seconds.map(|s| format!("{:.1}", s / 60.0));
        let cells = [
            scores.evoscore.map(|score| format!("{score:.4}")),
            percent(scores.zero_regression_rate),
            percent(scores.solved_rate),
            scores.average_turns.map(|turns| format!("{turns:.1}")),
            cost(&run),
            minutes,
        ];
        let [score, kept, solved, turns, cost, minutes] =
            cells.map(|cell| cell.unwrap_or_else(|| "–".into()));
        let summary = &run.summary;
        let tasks = format!("{}/{}", summary.evolutions_scored, summary.evolutions);
        let config = &summary.config;
        let harness = config.harness.name().to_owned();
        rows.push([
            output::short(&config.model, 40),
            harness,
            score,
            kept,
            solved,
            turns,
            tasks,
            cost,
            minutes,
        ]);
    }
    let header = "model | harness | EvoScore: | zero regression: | solved: | iterations: | scored: | cost: | minutes:";
    output::table(header, rows)
}

fn cost(run: &RunDetail) -> Option<String> {
    let micro_usd = run.spent.as_ref()?.traffic?.micro_usd?;
    (run.summary.config.kind != Kind::Human).then(|| output::dollars(micro_usd))
}

/// Why no task came of it, and what to do.
fn does_not_fit(curation: &CurationDetail) -> Failure {
    let dropped = |fate: &Fate| match fate {
        Fate::Dropped { reason, detail } => Some((reason.clone(), detail.clone())),
        Fate::Waiting | Fate::Survived => None,
    };
    let repository = curation.repositories.first();
    if let Some((reason, detail)) = repository.and_then(|found| dropped(&found.fate)) {
        return Failure::new(format!("the repository does not fit, {reason}: {detail}")).next(
            "swe-ci tries Python projects that list their dependencies (pyproject.toml, setup.cfg, requirements.txt, …), with pytest's modules (test_*.py) in `tests/` at their root",
        );
    }
    // The furthest first.
    let Some(last) = curation.candidates.first() else {
        let spans = curation.summary.funnel.iter();
        let spans = spans.filter(|count| count.stage == Stage::Spans);
        let why = spans.flat_map(|count| &count.dropped);
        let why: Vec<String> = why.map(|d| format!("{} × {}", d.count, d.reason)).collect();
        let why = match why.is_empty() {
            true => String::new(),
            false => format!(" ({})", why.join(", ")),
        };
        return Failure::new(format!(
            "nothing changed that tests could tell: no stretch of the history with the same dependencies changes 10 lines of source and 10 lines of tests{why}"
        ))
        .next("try again after more commits, or another --branch; `swe-ci dataset curate` takes thresholds of your own");
    };
    for candidate in curation.candidates.iter().rev() {
        if let Some((reason, detail)) = dropped(&candidate.fate)
            && reason != "not needed"
        {
            output::note(format_args!("{}: {reason}: {detail}", candidate.task));
        }
    }
    let (reason, detail) = dropped(&last.fate).unwrap_or_default();
    let tried = curation.candidates.len();
    let (what, next) = match last.stage {
        Stage::Collect | Stage::Spans | Stage::Environment => (
            "no environment could be built in which its tests start",
            "`swe-ci read curations/ID` has every attempt; a plan may name an image that has what is missing ([environment] images, docs/curation.md)",
        ),
        Stage::Filter => (
            "at no span do its tests run at both ends and differ by three",
            "`swe-ci dataset curate` takes a plan with other spans (most_commits, since) and thresholds (min_gap), docs/curation.md",
        ),
    };
    let next = next.replace("ID", &curation.summary.curation_id);
    Failure::new(format!(
        "{what}; of {tried} tried, the last: {reason}: {detail}"
    ))
    .next(next)
}

/// What a split of it takes.
fn print_plan(data: &Path, curation: &CurationDetail) -> Result<(), Failure> {
    let mut plan = CurationPlan::read(&curation.plan).map_err(Failure::new)?;
    let file = data.join(format!("{}.toml", plan.split));
    plan.split = "my-split".into();
    plan.max_iterations = None;
    plan.spans.first = Default::default();
    plan.environment = Default::default();
    plan.filter = Default::default();
    plan.limits = Default::default();
    let unwritable = |error: &dyn std::fmt::Display| {
        Failure::new(format!("{} cannot be written: {error}", file.display()))
    };
    let text = plan.to_toml().map_err(|e| unwritable(&e))?;
    std::fs::write(&file, text).map_err(|e| unwritable(&e))?;
    let seconds = |candidate: &CandidateView| -> f64 {
        let attempts = candidate.attempts.iter();
        attempts.map(|attempt| attempt.seconds).sum()
    };
    let longest = curation.candidates.iter().map(seconds).fold(0.0, f64::max);
    output::line(format_args!(
        "\nA split to publish takes more of its {} spans and tries each harder; an environment took up to {:.1} min here. A plan to start from:\nswe-ci dataset curate {}",
        curation.candidates.len(),
        longest / 60.0,
        file.display()
    ))
}
