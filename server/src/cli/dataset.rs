use std::path::PathBuf;

use clap::{Args, Subcommand};
use comfy_table::CellAlignment::{Left, Right};
use swe_ci_core::view::{Page, SplitSummary, TaskState, TaskSummary};
use swe_ci_engine::{Imported, PageRequest};

use super::failure::Failure;
use super::output;
use crate::config::GlobalOptions;

const DEMO_HELP: &str = "\
Four real evolutions of small Python packages, made from their releases on the
package index. Takes a few minutes the first time; run again, it goes on where
it was.

Examples:
  swe-ci dataset demo && swe-ci run submit --human";

const IMPORT_HELP: &str = "\
The folder has the layout of the official dataset:
  FOLDER/metadata/SPLIT.csv            task_id, current_sha, target_sha, test_gap, …
  FOLDER/data/TASK_ID/code.zip         a git checkout with its history
  FOLDER/data/TASK_ID/image.tar.gz     a `docker save`

Each task's suite is run on its base and its target. A task that cannot be
used is imported as unusable, with the reason.

Examples:
  swe-ci dataset import ./swe-ci-dataset --split demo";

const LIST_HELP: &str = "\
Examples:
  swe-ci dataset list          the splits
  swe-ci dataset list demo     the tasks of a split";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Make the demo split from release histories and import it
    #[command(after_help = DEMO_HELP)]
    Demo(Demo),
    /// Import a split from a dataset folder
    #[command(after_help = IMPORT_HELP)]
    Import(Import),
    /// List splits, or the tasks of one
    #[command(after_help = LIST_HELP)]
    List(List),
}

#[derive(Debug, Args)]
pub(super) struct Demo {
    /// Print the imported tasks as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Import {
    /// Folder of the dataset
    folder: PathBuf,
    /// Which split of it
    #[arg(long, value_name = "NAME")]
    split: String,
    /// Print the imported tasks as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct List {
    /// The split whose tasks are wanted
    split: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(global: &GlobalOptions, command: Command) -> Result<(), Failure> {
    let engine = super::open(global).await?;
    let say = |line: String| output::note(line);
    match command {
        Command::Demo(Demo { json }) => imported(&engine.import_demo(&say).await?, json),
        Command::Import(Import {
            folder,
            split,
            json,
        }) => imported(&engine.import(&folder, &split, &say).await?, json),
        Command::List(List { split: None, json }) => splits(&engine.splits().await?, json),
        Command::List(List { split, json }) => {
            let tasks = all_tasks(&engine, split.as_deref()).await?;
            if json {
                output::json(&tasks)
            } else {
                print_tasks(&tasks)
            }
        }
    }
}

fn imported(imported: &Imported, json: bool) -> Result<(), Failure> {
    if json {
        output::json(&imported.tasks)?;
    } else {
        print_tasks(&imported.tasks)?;
    }
    if imported
        .tasks
        .iter()
        .any(|task| task.state == TaskState::Ready)
    {
        return Ok(());
    }
    let what = format!("no task of split `{}` can be used", imported.split);
    Err(Failure::new(what).next("the list says why; `swe-ci doctor` may say more"))
}

async fn all_tasks(
    engine: &swe_ci_engine::Engine,
    split: Option<&str>,
) -> Result<Vec<TaskSummary>, Failure> {
    let mut page = PageRequest::default();
    let mut tasks = Vec::new();
    loop {
        let Page { items, next } = engine.tasks(split, &page).await?;
        tasks.extend(items);
        if next.is_none() {
            return Ok(tasks);
        }
        page.after = next;
    }
}

fn splits(splits: &[SplitSummary], json: bool) -> Result<(), Failure> {
    if json {
        return output::json(&splits);
    }
    if splits.is_empty() {
        output::note("There are no splits; `swe-ci dataset demo` makes one to try things with.");
        return Ok(());
    }
    let columns = [("split", Left), ("tasks", Right), ("ready", Right)];
    let rows = splits
        .iter()
        .map(|s| [s.name.clone(), s.tasks.to_string(), s.ready.to_string()]);
    output::table(columns, rows)
}

fn print_tasks(tasks: &[TaskSummary]) -> Result<(), Failure> {
    let columns = [
        ("task", Left),
        ("base passes", Right),
        ("target passes", Right),
        ("gap", Right),
        ("commits", Right),
        ("suite", Right),
        ("state", Left),
    ];
    let rows = tasks.iter().map(|task| {
        [
            task.task_id.to_string(),
            task.base_passed.to_string(),
            task.target_passed.to_string(),
            task.gap.to_string(),
            task.commits.to_string(),
            format!("{:.1} s", task.suite_seconds),
            match &task.state {
                TaskState::Ready => "ready".into(),
                TaskState::Unusable { reason } => format!("unusable: {reason}"),
            },
        ]
    });
    output::table(columns, rows)
}
