//! Reads and writes `metadata/<split>.csv`, which has one line per task.

use std::path::Path;

use swe_ci_core::step::Plan;
use swe_ci_core::task::{TaskId, TestCommand};
use swe_ci_store::{Suite, TaskRow};
use swe_ci_views::preparation::Preparation;
use swe_ci_views::view::TaskState;

/// The column that says how pytest is started.
pub const TEST_COMMAND: &str = "test_command";

/// A line of the file. Unknown columns stay unchanged in `extra`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskLine {
    pub task_id: TaskId,
    pub base_sha: String,
    pub target_sha: String,
    /// The gap that the file declares, if any.
    pub declared_gap: Option<u32>,
    pub extra: Vec<(String, String)>,
}

impl TaskLine {
    /// The repository: the column `repo` or `repo_name` if present, otherwise the
    /// task's name without its end. Official names end in the first digits of the
    /// two commits, `owner__name__<base>__<target>`; for others, the end starts at
    /// the last `__` or `-`.
    pub fn repo(&self) -> String {
        let named = self.column("repo").or_else(|| self.column("repo_name"));
        named.unwrap_or_else(|| self.repo_from_name()).to_owned()
    }

    fn column(&self, name: &str) -> Option<&str> {
        let mut extra = self.extra.iter();
        let (_, value) = extra.find(|(column, _)| column == name)?;
        Some(value)
    }

    /// The N of its split, where the file declares it.
    pub fn iterations(&self) -> Option<u32> {
        self.column(Plan::COLUMN)?.trim().parse().ok()
    }

    /// The column `test_command`; the reference's without it, which the declared
    /// gaps of the official dataset were counted with.
    pub fn test_command(&self) -> TestCommand {
        let command = self
            .column(TEST_COMMAND)
            .and_then(|value| value.parse().ok());
        command.unwrap_or(TestCommand::Reference)
    }

    /// A new row of which only this line is known.
    pub fn row(&self, state: TaskState) -> TaskRow {
        TaskRow {
            id: self.task_id.clone(),
            repo: self.repo(),
            base_sha: self.base_sha.clone(),
            target_sha: self.target_sha.clone(),
            state,
            image: String::new(),
            suite: Suite::none(),
            base_report: None,
            test_command: self.test_command(),
            suite_seconds: 0.0,
            commits: 0,
            span_days: 0.0,
            target_time: None,
            preparation: Preparation::default(),
            extra: self.extra.clone(),
        }
    }

    fn repo_from_name(&self) -> &str {
        let id = self.task_id.as_str();
        let mut rest = id;
        while let Some((before, last)) = rest.rsplit_once("__") {
            if before.is_empty() || !self.is_commit(last) {
                break;
            }
            rest = before;
        }
        if rest.len() < id.len() {
            return rest;
        }
        let end = id
            .rfind("__")
            .or_else(|| id.rfind('-'))
            .filter(|at| *at > 0)
            .unwrap_or(id.len());
        &id[..end]
    }

    /// Whether a part of a name is the start of one of the two commits.
    fn is_commit(&self, part: &str) -> bool {
        let part = part.to_ascii_lowercase();
        let starts = |sha: &str| sha.starts_with(&part);
        part.len() >= COMMIT_DIGITS && (starts(&self.base_sha) || starts(&self.target_sha))
    }
}

/// Minimum digits of a commit in a task's name.
const COMMIT_DIGITS: usize = 6;

const MAX_TASKS: usize = 100_000;
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Reads a metadata file. One bad line fails the whole file, with an error that
/// names file, line and column.
pub fn read(path: &Path) -> anyhow::Result<Vec<TaskLine>> {
    let name = path.display();
    let bytes = swe_ci_base::files::read_limited(path, MAX_BYTES)?;
    parse(&bytes).map_err(|problem| anyhow::anyhow!("{name}: {problem}"))
}

/// Reads the lines of the tasks in `only`, or all if it is empty, each with its
/// position in the file. Fails if the file lacks one of them.
pub fn read_tasks(path: &Path, only: &[TaskId]) -> anyhow::Result<Vec<(u32, TaskLine)>> {
    let lines = read(path)?;
    let listed = |id: &&TaskId| lines.iter().any(|line| line.task_id == **id);
    if let Some(unknown) = only.iter().find(|id| !listed(id)) {
        anyhow::bail!("{} lists no task `{unknown}`", path.display());
    }
    let wanted = |line: &TaskLine| only.is_empty() || only.contains(&line.task_id);
    let lines = (0u32..).zip(lines).filter(|(_, line)| wanted(line));
    Ok(lines.collect())
}

fn parse(bytes: &[u8]) -> Result<Vec<TaskLine>, String> {
    let mut reader = csv::Reader::from_reader(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
    let headers = reader.headers().map_err(|e| csv_problem(&e))?.clone();
    let column = |name: &str| headers.iter().position(|h| h.trim() == name);
    let required =
        |name: &str| column(name).ok_or_else(|| format!("line 1: the column `{name}` is missing"));
    let (id, base, target) = (
        required("task_id")?,
        required("current_sha")?,
        required("target_sha")?,
    );
    let gap = column("test_gap");
    let iterations = column(Plan::COLUMN);
    let mut tasks: Vec<TaskLine> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| csv_problem(&e))?;
        let line = record.position().map_or(0, csv::Position::line);
        let field = |index: usize| record.get(index).unwrap_or_default().trim();
        let problem = |column: &str, why: String| format!("line {line}, column `{column}`: {why}");
        let task_id = TaskId::new(field(id)).map_err(|e| problem("task_id", e.to_string()))?;
        if tasks.iter().any(|t| t.task_id == task_id) {
            return Err(format!("line {line}: the task `{task_id}` is listed twice"));
        }
        if tasks.len() == MAX_TASKS {
            return Err(format!(
                "line {line}: a split has at most {MAX_TASKS} tasks"
            ));
        }
        let declared_gap = gap.map(field).filter(|text| !text.is_empty());
        let declared_gap = declared_gap.map(|text| {
            let why = |_| problem("test_gap", format!("`{text}` is not a count"));
            text.parse().map_err(why)
        });
        let command = column(TEST_COMMAND).map(field).unwrap_or_default();
        if !command.is_empty()
            && let Err(why) = command.parse::<TestCommand>()
        {
            return Err(problem(TEST_COMMAND, why.to_string()));
        }
        let declared = iterations.map(field).unwrap_or_default();
        let most = Plan::MOST_ITERATIONS;
        if !declared.is_empty() && !declared.parse().is_ok_and(|n| (1..=most).contains(&n)) {
            let why = format!("`{declared}` is not a number from 1 to {most}");
            return Err(problem(Plan::COLUMN, why));
        }
        if let Some(first) = tasks.first()
            && first.column(Plan::COLUMN).unwrap_or_default().trim() != declared
        {
            let why = "all tasks of a split have the same".to_owned();
            return Err(problem(Plan::COLUMN, why));
        }
        tasks.push(TaskLine {
            task_id,
            base_sha: sha(field(base)).map_err(|e| problem("current_sha", e))?,
            target_sha: sha(field(target)).map_err(|e| problem("target_sha", e))?,
            declared_gap: declared_gap.transpose()?,
            extra: headers
                .iter()
                .zip(&record)
                .enumerate()
                .filter(|(index, _)| {
                    ![Some(id), Some(base), Some(target), gap].contains(&Some(*index))
                })
                .map(|(_, (name, value))| (name.trim().to_owned(), value.to_owned()))
                .collect(),
        });
    }
    if tasks.is_empty() {
        return Err("it has no tasks".into());
    }
    Ok(tasks)
}

fn csv_problem(error: &csv::Error) -> String {
    let line = error.position().map_or(1, csv::Position::line);
    match error.kind() {
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => {
            format!("line {line} has {len} columns, the first line has {expected_len}")
        }
        csv::ErrorKind::Utf8 { .. } => format!("line {line} is not UTF-8"),
        _ => format!("line {line}: {error}"),
    }
}

fn sha(text: &str) -> Result<String, String> {
    let plain = (7..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
    if plain {
        Ok(text.to_ascii_lowercase())
    } else {
        Err(format!("`{text}` is not a commit id"))
    }
}

pub fn write(path: &Path, tasks: &[TaskLine]) -> anyhow::Result<()> {
    swe_ci_base::files::write_whole(path, &table(tasks)?)
}

/// A metadata file in the official format. A further column is empty for tasks
/// without it.
pub fn table(tasks: &[TaskLine]) -> anyhow::Result<Vec<u8>> {
    let mut further: Vec<&str> = Vec::new();
    for (name, _) in tasks.iter().flat_map(|task| &task.extra) {
        if !further.contains(&name.as_str()) {
            further.push(name);
        }
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let known = ["task_id", "current_sha", "target_sha", "test_gap"];
    writer.write_record(known.iter().chain(&further))?;
    for task in tasks {
        let gap = task.declared_gap.map(|g| g.to_string()).unwrap_or_default();
        let known = [
            task.task_id.as_str(),
            &task.base_sha,
            &task.target_sha,
            &gap,
        ];
        let value = |name: &&str| {
            let pair = task.extra.iter().find(|(column, _)| column == name);
            pair.map_or("", |(_, value)| value.as_str())
        };
        writer.write_record(known.into_iter().chain(further.iter().map(value)))?;
    }
    Ok(writer.into_inner()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip_with_unknown_columns() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.csv");
        let task = TaskLine {
            task_id: TaskId::new("acme__lib-1").unwrap(),
            base_sha: "a".repeat(40),
            target_sha: "b".repeat(40),
            declared_gap: Some(7),
            extra: vec![
                ("repo_name".into(), "acme/lib".into()),
                ("note".into(), "x, \"y\"\nz".into()),
            ],
        };
        write(&path, std::slice::from_ref(&task)).unwrap();
        assert_eq!(read(&path).unwrap(), std::slice::from_ref(&task));
        assert_eq!(task.repo(), "acme/lib");
        assert_eq!(
            TaskLine {
                extra: vec![],
                ..task
            }
            .repo(),
            "acme"
        );
    }

    #[test]
    fn the_repository_in_a_name() {
        let check = |id: &str, expect: &str| {
            let line = TaskLine {
                task_id: TaskId::new(id).unwrap(),
                base_sha: "abcdef0123456789".into(),
                target_sha: "0123456789abcdef".into(),
                declared_gap: None,
                extra: vec![],
            };
            assert_eq!(line.repo(), expect, "{id}");
        };
        check("owner__name__abcdef__012345", "owner__name");
        check("owner__name__ABCDEF__01234567", "owner__name");
        check("owner__my__name__abcdef__012345", "owner__my__name");
        check("owner__name__012345", "owner__name");
        check("owner__name-2__abcdef__012345", "owner__name-2");
        // Other digits are no commit of this task; fewer digits may be a word.
        check("owner__name__fedcba__fedcba", "owner__name__fedcba");
        check("owner__name__abc__012", "owner__name__abc");
        check("owner__name-1", "owner");
        check("sqlparse-0.4.4-0.5.3", "sqlparse-0.4.4");
        check("abcdef__012345", "abcdef");
        check("abcdef", "abcdef");
        check("__abcdef", "__abcdef");
    }

    #[test]
    fn bad_files_name_line_and_column() {
        let check = |text: &str, expect: &str| {
            let problem = parse(text.as_bytes()).unwrap_err();
            assert!(problem.contains(expect), "{text:?} → {problem}");
        };
        let head = "task_id,current_sha,target_sha,test_gap\n";
        check("", "`task_id` is missing");
        check("task_id,current_sha\n", "`target_sha` is missing");
        check(head, "it has no tasks");
        check(
            &format!("{head}a,0123456,0123456,x\n"),
            "line 2, column `test_gap`: `x`",
        );
        check(
            &format!("{head}a,0123456,0123456,1\n../b,0123456,0123456,1\n"),
            "line 3, column `task_id`",
        );
        check(
            &format!("{head}a,xyz,0123456,1\n"),
            "line 2, column `current_sha`: `xyz`",
        );
        check(
            &format!("{head}a,0123456,0123456,1\na,0123456,0123456,1\n"),
            "line 3: the task `a` is listed twice",
        );
        let head_with_n = "task_id,current_sha,target_sha,max_iterations\n";
        check(
            &format!("{head_with_n}a,0123456,0123456,0\n"),
            "line 2, column `max_iterations`: `0` is not a number from 1 to 1000",
        );
        check(
            &format!("{head_with_n}a,0123456,0123456,5\nb,0123456,0123456,\n"),
            "line 3, column `max_iterations`: all tasks of a split have the same",
        );
        check(&format!("{head}a,0123456\n"), "line 2");
        check(&format!("{head}\"a,0123456,\u{fffd}\n"), "line 2");
    }
}
