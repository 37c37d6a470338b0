//! `swe-ci dataset`: imports, curates, exports and lists splits.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use swe_ci_core::audit::CoverageSum;
use swe_ci_core::step::Plan;
use swe_ci_core::task::{TaskId, TestCommand};
use swe_ci_engine::{
    CurationPlan, EXAMPLE_PLAN, Engine, Error, ImportOptions, ImportSource, Imported,
};
use swe_ci_views::curation::{CurationDetail, CurationState, DroppedByReview};
use swe_ci_views::hub_results::benchmark_yaml;
use swe_ci_views::leaderboard::{Published, PublishedRow};
use swe_ci_views::preparation::TaskAudit;
use swe_ci_views::task_results::Difficulty;
use swe_ci_views::view::{TaskState, TaskSummary};
use tokio_util::sync::CancellationToken;

use super::failure::Failure;
use super::hub_push::{self, HubTarget, Pushed, RepositoryKind};
use super::output;
use super::signals::stop_on_signals;
use crate::config::GlobalOptions;

const DEMO_HELP: &str = "\
Four real evolutions of small Python packages, made from their releases on the
package index. Takes a few minutes the first time; a repeated call resumes an
interrupted one.

Examples:
  swe-ci dataset demo && swe-ci run submit --human";

const IMPORT_HELP: &str = "\
The source is a dataset on the hub of Hugging Face, or a folder in the layout
of the official one:
  FOLDER/metadata/SPLIT.csv            task_id, current_sha, target_sha, test_gap, …
  FOLDER/data/TASK_ID/code.zip         a git checkout with its history
  FOLDER/data/TASK_ID/image.tar.gz     a `docker save`

Each task's suite runs several times on its base and on its target; tests that
do not come out alike every time do not count. An unusable task is imported with
the reason. A repeated call resumes an interrupted import, downloads included.

A gated dataset requires a token in HF_TOKEN; HF_ENDPOINT names a mirror.

Examples:
  swe-ci dataset import --from hf:skylenage-ai/SWE-CI --split default
  swe-ci dataset import --from ./swe-ci-dataset --split demo
  swe-ci dataset import --from ./swe-ci-dataset --split demo --tasks acme__lib-1 --again";

const AUDIT_HELP: &str = "\
Each task's tests are contradicted on the target's code, and run on that code
with empty functions (docs/security.md, The audit). It takes about ten runs of
each suite, once: what is known is printed at once.

  oracle         runs of the import in which the target passes all tests that count;
                 `dataset import --again --repeats 5` tries harder
  quarantined    tests that did not come out alike in all of them: they do not count
  contradicted   tests that have a contradiction; an audit of results tries it
  by value       those with another expected value or exception
  test nothing   tests that pass with empty functions
  minutes        of the slowest run
  guard          full, or the walls of grading that its tests do without

Examples:
  swe-ci tasks audit demo";

const CURATE_HELP: &str = "\
Makes a split from git histories, like section 3.1 of the paper: it collects
repositories, finds stretches of history with unchanged dependencies, builds an
image for each in which its tests run, and selects the best candidates. The plan
is a TOML file; --example prints one with every setting.

The results of every stage are stored. Ctrl-C or SIGTERM stops the command, and
--go-on resumes the curation; --cancel ends it for good and keeps its findings.
With `review = true` in the plan, it ends before the split is written; --publish
accepts the tasks.
If a server works on the data folder, it does the work.

Examples:
  swe-ci dataset curate --example > plan.toml
  swe-ci dataset curate plan.toml
  swe-ci read curations                   with their ids
  swe-ci dataset curate --publish 0199c1d2-… --drop 'acme__lib-1=half of its tests read the clock'
  swe-ci dataset curate --cancel 0199c1d2-…";

const EXPORT_HELP: &str = "\
Examples:
  swe-ci dataset export demo ./demo-dataset
  swe-ci dataset export demo ./demo-tasks --as harbor --iterations 5";

const PUSH_EXAMPLES: &str = "\
Examples:
  HF_TOKEN=… swe-ci dataset push demo --to hf:acme/swe-ci-demo --private
  swe-ci dataset import --from hf:acme/swe-ci-demo --split demo";

const OUTSIDE_HELP: &str = "\
The models' repositories say these values, and nothing here has checked them: they
take no rank. Reading again replaces them. HF_ENDPOINT names another hub.

Examples:
  swe-ci dataset outside-results demo --from hf:acme/swe-ci-demo";

const SHARE_HELP: &str = "\
An import does this by itself where SWE_CI_ARTIFACTS or SWE_CI_REGISTRY are set.
What is there already is not sent again.

Examples:
  swe-ci dataset share demo";

const DELETE_HELP: &str = "\
Its runs go with their results and code, and so do the tasks that no other split
has. Its snapshots and the audit log stay.

Examples:
  swe-ci dataset delete trial --confirm trial";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Make the demo split from release histories and import it
    #[command(after_help = DEMO_HELP)]
    Demo {
        /// Print the imported tasks as JSON
        #[arg(long)]
        json: bool,
    },
    /// Import a split from a dataset folder
    #[command(after_help = IMPORT_HELP)]
    Import(Import),
    /// Make a split from git histories
    #[command(after_help = CURATE_HELP)]
    Curate(Curate),
    /// Write a split into a folder, in the official layout or for Harbor
    #[command(after_help = EXPORT_HELP)]
    Export(Export),
    /// Push a split to a dataset of the Hugging Face hub, in the official layout
    #[command(after_help = format!("{}\n\n{PUSH_EXAMPLES}", hub_push::HELP))]
    Push(Push),
    /// Read the hub's leaderboard of a benchmark, and show it below that of a split
    #[command(after_help = OUTSIDE_HELP)]
    OutsideResults {
        /// The split that the benchmark is
        split: String,
        /// The benchmark's dataset, hf:OWNER/NAME
        #[arg(long, value_name = "DATASET")]
        from: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Put the code and images of a split where other machines find them
    #[command(after_help = SHARE_HELP)]
    Share {
        /// The split
        split: String,
    },
    /// Delete a split for good, with its runs
    #[command(after_help = DELETE_HELP)]
    Delete {
        /// The split
        split: String,
        /// The split again, to confirm it
        #[arg(long, value_name = "SPLIT")]
        confirm: String,
    },
    /// Try the tests of a split's tasks: how far can scores be trusted?
    #[command(after_help = AUDIT_HELP)]
    Audit {
        /// The split
        split: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(super) struct Export {
    /// The split
    split: String,
    /// An empty or absent folder
    folder: PathBuf,
    /// `official`, or `harbor`: tasks that Harbor runs (docs/harbor.md)
    #[arg(long = "as", value_name = "FORMAT", default_value = "official")]
    format: ExportFormat,
    /// With `--as harbor`: number of iterations of an evolution; 20 when absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    iterations: Option<u32>,
}

impl Export {
    fn check(&self) -> Result<(), Failure> {
        if self.format == ExportFormat::Official && self.iterations.is_some() {
            let what = "--iterations needs `--as harbor`";
            return Err(Failure::usage(what)
                .next("leave it out: in the official layout a task has no number of iterations"));
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    Official,
    Harbor,
}

#[derive(Debug, Args)]
pub(super) struct Import {
    /// Folder of the dataset, or hf:OWNER/NAME[@REVISION]
    #[arg(long, value_name = "SOURCE")]
    from: ImportSource,
    /// A split of the dataset
    #[arg(long, value_name = "NAME")]
    split: String,
    /// Only these tasks, separated by commas; all when absent
    #[arg(long, value_name = "TASK_ID,…", value_delimiter = ',', value_parser = |name: &str| TaskId::new(name))]
    tasks: Vec<TaskId>,
    /// Number of runs of each suite on target and base, 1 to 100
    #[arg(long, value_name = "N", default_value_t = ImportOptions::default().repeats)]
    repeats: u32,
    /// Tasks to prepare at a time; as many as cores and memory allow when
    /// absent
    #[arg(long, value_name = "N")]
    parallel: Option<usize>,
    /// Prepare ready tasks again
    #[arg(long)]
    again: bool,
    /// How their tests are run: `reference` (as the paper's authors do), `platform`
    /// (without options that nothing installed knows) or `platform:SECONDS` (a test
    /// that takes longer fails); when absent, as the dataset says, or `reference`
    #[arg(long, value_name = "COMMAND", value_parser = test_command)]
    test_command: Option<TestCommand>,
    /// Print the imported tasks as JSON
    #[arg(long)]
    json: bool,
}

fn test_command(name: &str) -> Result<TestCommand, String> {
    match name.parse() {
        Ok(TestCommand::Bare) => Err("choose `reference` or `platform`".into()),
        Ok(command) => Ok(command),
        Err(error) => Err(error.to_string()),
    }
}

#[derive(Debug, Args)]
pub(super) struct Push {
    /// The split
    split: String,
    /// The dataset, hf:OWNER/NAME[@BRANCH]
    #[arg(long, value_name = "TARGET")]
    to: HubTarget,
    /// Keep what is pushed in this folder, which is empty or absent; a temporary
    /// one in the data folder when absent
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// A dataset that is created shall be private
    #[arg(long)]
    private: bool,
}

#[derive(Debug, Args)]
pub(super) struct Curate {
    /// The plan
    #[arg(value_name = "FILE", required_unless_present_any = ["example", "go_on", "cancel", "publish"])]
    plan: Option<PathBuf>,
    /// Only use commits from this day on, such as 2026-11-01; instead of what
    /// the plan says
    #[arg(long, value_name = "DAY", requires = "plan")]
    since: Option<String>,
    /// Print an example plan with every setting, and exit
    #[arg(long)]
    example: bool,
    /// Resume this curation instead of beginning one
    #[arg(long, value_name = "ID", conflicts_with_all = ["plan", "example"])]
    go_on: Option<String>,
    /// Cancel this curation, whichever process works on it
    #[arg(long, value_name = "ID", conflicts_with_all = ["plan", "example", "go_on"])]
    cancel: Option<String>,
    /// Publish the tasks of this curation, which is in review, and write the split
    #[arg(long, value_name = "ID", conflicts_with_all = ["plan", "example", "go_on", "cancel"])]
    publish: Option<String>,
    /// With --publish: keep a task out, `TASK=REASON`; may be repeated
    #[arg(long, value_name = "TASK=REASON", requires = "publish", value_parser = dropped)]
    drop: Vec<DroppedByReview>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

fn dropped(text: &str) -> Result<DroppedByReview, String> {
    let (task, reason) = text.split_once('=').ok_or("write TASK=REASON")?;
    Ok(DroppedByReview {
        task: task.to_owned(),
        reason: reason.to_owned(),
    })
}

pub(super) async fn execute(global: &GlobalOptions, command: Command) -> Result<(), Failure> {
    if let Command::Curate(Curate { example: true, .. }) = command {
        return output::line(EXAMPLE_PLAN.trim_end());
    }
    if matches!(command, Command::Push(_)) {
        hub_push::require_token(global)?;
    }
    if let Command::Export(options) = &command {
        options.check()?;
    }
    let engine = super::open(global).await?;
    match command {
        Command::Demo { json } => {
            let done = unless_stopped(engine.import_demo(&output::say)).await?;
            imported(&done, json)
        }
        Command::Import(import) => {
            let options = ImportOptions {
                repeats: import.repeats,
                parallel: import.parallel,
                only: import.tasks,
                again: import.again,
                test_command: import.test_command,
            };
            let done = engine.import(import.from, &import.split, &options, &output::say);
            imported(&unless_stopped(done).await?, import.json)
        }
        Command::Curate(options) => curate(&engine, options).await,
        Command::Export(Export {
            split,
            folder,
            format,
            iterations,
        }) => {
            let say = &output::say;
            let tasks = match format {
                ExportFormat::Official => engine.export(&split, &folder, say).await?,
                ExportFormat::Harbor => {
                    let iterations = iterations.unwrap_or(Plan::default().max_iterations);
                    let tasks = engine.export_for_harbor(&split, &folder, iterations, say);
                    tasks.await?
                }
            };
            output::note(format_args!("{tasks} tasks in {}", folder.display()));
            Ok(())
        }
        Command::OutsideResults { split, from, json } => {
            let (read, left_out) = engine.read_hub_leaderboard(&from, &split).await?;
            if left_out > 0 {
                output::note(format_args!(
                    "left out {left_out} values that are no EvoScore, -1 to 1"
                ));
            }
            output::show(&read, json, |read: &Published| {
                let row = |row: &PublishedRow| {
                    [
                        row.model.clone(),
                        row.provider.clone(),
                        format!("{:.4}", row.evoscore),
                    ]
                };
                output::table("model | provider | EvoScore:", read.rows.iter().map(row))
            })
        }
        Command::Push(options) => push(global, &engine, options).await,
        Command::Share { split } => {
            let tasks = engine.share(&split, &output::say).await?;
            output::note(format_args!("{tasks} tasks are shared"));
            Ok(())
        }
        Command::Delete { split, confirm } => {
            engine.delete_split(&split, &confirm).await?;
            output::note(format_args!("the split {split} is deleted"));
            Ok(())
        }
        Command::Audit { split, json } => {
            let audits = engine.audit_tasks(&split, &output::say).await?;
            output::show(&audits[..], json, print_audits)
        }
    }
}

/// An import, until a signal ends it.
async fn unless_stopped(
    import: impl Future<Output = Result<Imported, Error>>,
) -> Result<Imported, Failure> {
    let stop = CancellationToken::new();
    stop_on_signals(stop.clone())?;
    match stop.run_until_cancelled(import).await {
        Some(done) => Ok(done?),
        None => Err(Failure::new("the import was stopped").next(
            "the same command resumes it: tasks that are ready and files that are here stay",
        )),
    }
}

fn imported(imported: &Imported, json: bool) -> Result<(), Failure> {
    output::show(&imported.tasks[..], json, print_tasks)?;
    for (task, why) in &imported.missing {
        output::note(format_args!("{task} could not be downloaded: {why}"));
    }
    let split = &imported.split;
    if !imported.missing.is_empty() {
        let n = imported.missing.len();
        let what = format!("{n} tasks of split `{split}` could not be downloaded");
        return Err(Failure::new(what).next("import again; the downloaded tasks stay"));
    }
    let mut tasks = imported.tasks.iter();
    if tasks.any(|task| task.state == TaskState::Ready) {
        return Ok(());
    }
    let what = format!("no task of split `{split}` can be used");
    Err(Failure::new(what).next("the list gives the reasons; `swe-ci doctor` may find more"))
}

async fn push(global: &GlobalOptions, engine: &Engine, options: Push) -> Result<(), Failure> {
    engine.check_export(&options.split).await?;
    hub_push::ask().await?;
    if let Some(folder) = &options.folder {
        return push_from(folder, engine, &options).await;
    }
    let data = global.engine(0).map_err(Failure::usage)?.data;
    let temporary = tempfile::Builder::new().prefix("push-").tempdir_in(&data);
    let temporary =
        temporary.map_err(|e| Failure::new(format!("no folder in {}: {e}", data.display())))?;
    push_from(&temporary.path().join("dataset"), engine, &options).await
}

async fn push_from(folder: &Path, engine: &Engine, options: &Push) -> Result<(), Failure> {
    let split = &options.split;
    let tasks = engine.export(split, folder, &output::say).await?;
    let detail = engine.split(split).await?;
    let beside = [
        ("README.md", detail.hub_card()),
        ("eval.yaml", benchmark_yaml(split, tasks)),
    ];
    for (name, text) in beside {
        let file = folder.join(name);
        std::fs::write(&file, text)
            .map_err(|e| Failure::new(format!("{}: {e}", file.display())))?;
    }
    let pushed = Pushed {
        kind: RepositoryKind::Dataset,
        pull_request: false,
        folder,
        message: format!("Split {split}: {tasks} tasks"),
        private: options.private,
    };
    options.to.push(&pushed).await
}

async fn curate(engine: &Engine, options: Curate) -> Result<(), Failure> {
    if let Some(id) = options.cancel {
        engine.cancel_curation(&id).await?;
        // It is over: this only removes what it left, unless its process does.
        engine
            .curate(&id, &output::say, &CancellationToken::new())
            .await?;
        output::note(format_args!("curation {id} is cancelled"));
        return Ok(());
    }
    if let Some(id) = &options.publish {
        engine.publish_curation(id, &options.drop).await?;
    }
    let id = match (options.go_on.or(options.publish), options.plan) {
        (Some(id), _) => id,
        (None, Some(file)) => {
            let named = |why: &str| format!("{}: {why}", file.display());
            let text = std::fs::read_to_string(&file);
            let text = text.map_err(|e| Failure::usage(named(&e.to_string())))?;
            let text = match options.since {
                Some(day) => CurationPlan::read(&text)
                    .and_then(|plan| plan.since(&day))
                    .and_then(|plan| plan.to_toml().map_err(|e| format!("{e:#}")))
                    .map_err(|why| Failure::usage(named(&why)))?,
                None => text,
            };
            let submitted = engine.submit_curation(&text).await;
            submitted.map_err(|error| match error {
                Error::Invalid(why) => Failure::new(named(&why)).next(
                    "mend the plan; `swe-ci dataset curate --example` prints one with every setting",
                ),
                other => other.into(),
            })?
        }
        (None, None) => return Ok(()),
    };
    output::note(format_args!("curation {id}"));
    let stop = CancellationToken::new();
    stop_on_signals(stop.clone())?;
    let state = engine.curate(&id, &output::say, &stop).await;
    let state = state.map_err(|error| {
        let next = format!("`swe-ci dataset curate --go-on {id}` resumes it");
        Failure::from(error).next(next)
    })?;
    output::show(&engine.curation(&id).await?, options.json, print_curation)?;
    match state {
        CurationState::Finished => Ok(()),
        CurationState::InReview => {
            let next = format!(
                "its page shows what was found of each task; `swe-ci dataset curate --publish {id}` \
                 publishes them, --drop TASK=REASON all but that one"
            );
            output::note(format_args!("the tasks wait for a review: {next}"));
            Ok(())
        }
        CurationState::Failed { reason } => Err(Failure::new(reason)),
        other => Err(Failure::new(format!("the curation is {}", other.name()))),
    }
}

fn print_curation(curation: &CurationDetail) -> Result<(), Failure> {
    let rows = curation.summary.funnel.iter().map(|count| {
        let why = count.dropped.iter();
        let why = why.map(|dropped| format!("{}: {}", dropped.reason, dropped.count));
        [
            count.stage.name().to_owned(),
            count.entered.to_string(),
            count.survived.to_string(),
            why.collect::<Vec<_>>().join(", "),
        ]
    });
    output::table("stage | came: | stayed: | dropped, and why", rows)
}

fn print_audits(audits: &[TaskAudit]) -> Result<(), Failure> {
    let header = "task | tests: | oracle | quarantined: | contradicted: | by value: | test nothing: | minutes: | guard";
    let rows = audits.iter().map(|audit| {
        let coverage = &audit.coverage;
        let share = |tests: u32| {
            let percent = 100.0 * f64::from(tests) / f64::from(coverage.tests.max(1));
            format!("{tests} ({percent:.0} %)")
        };
        let known = |text: String| match coverage.reason {
            Some(_) => "–".to_owned(),
            None => text,
        };
        [
            audit.task_id.to_string(),
            known(coverage.tests.to_string()),
            format!("{0} of {0}", audit.suite_seconds.len()),
            audit.quarantined.len().to_string(),
            known(share(coverage.contradicted)),
            known(share(coverage.strongly)),
            known(
                coverage
                    .vacuous
                    .map_or("not known".into(), |n| n.to_string()),
            ),
            format!("{:.2}", audit.minutes()),
            audit.guard(),
        ]
    });
    output::table(header, rows)?;
    for audit in audits {
        if !audit.quarantined.is_empty() {
            let tests = audit.quarantined.join(", ");
            output::note(format_args!("{}: quarantined: {tests}", audit.task_id));
        }
        if let Some(why) = &audit.coverage.reason {
            output::note(format_args!(
                "{}: no test can be contradicted: {why}",
                audit.task_id
            ));
        }
    }
    let coverages = audits.iter().map(|audit| &audit.coverage);
    let sum: CoverageSum = coverages.filter(|c| c.reason.is_none()).collect();
    output::line(sum.text(u32::try_from(audits.len()).unwrap_or(u32::MAX)))?;
    output::line(TaskAudit::sum(audits))
}

fn print_tasks(tasks: &[TaskSummary]) -> Result<(), Failure> {
    let header = "task | solved by: | base passes: | target passes: | gap: | commits: | suite: | findings: | without | state";
    let rows = tasks.iter().map(|task| {
        [
            task.task_id.to_string(),
            task.difficulty
                .as_ref()
                .map_or("–".into(), Difficulty::solved),
            task.base_passed.to_string(),
            task.target_passed.to_string(),
            task.gap.to_string(),
            task.commits.to_string(),
            format!("{:.1} s", task.suite_seconds),
            task.findings.to_string(),
            Vec::from_iter(task.left_away.iter().map(|wall| wall.name())).join(", "),
            match &task.state {
                TaskState::Ready => "ready".into(),
                TaskState::Unusable { reason } => format!("unusable: {reason}"),
            },
        ]
    });
    output::table(header, rows)
}
