//! Prepares one task: unpacks it, loads its image, runs its suite on both ends.

use std::path::Path;

use anyhow::Context;
use swe_ci_base::blocking::blocking;
use swe_ci_base::code::CodeTree;
use swe_ci_base::error::{Error, Result};
use swe_ci_base::files::{self, UnpackLimits};
use swe_ci_candidates::{Change, Changes, Facts, changes, facts, unwatched};
use swe_ci_core::report::Report;
use swe_ci_core::run::Limits;
use swe_ci_sandbox::image_cache::ImageCache;
use swe_ci_sandbox::{ContainerSpec, Purpose, Sandbox, SandboxError, host, test_suite};
use swe_ci_store::artifacts::Artifacts;
use swe_ci_store::{Suite, TaskRow};
use swe_ci_views::preparation::{Lines, LinesChanged, Preparation};
use swe_ci_views::view::TaskState;

use super::{History, TaskFolders, TaskLine, base_report_key};

/// Maximum size of an unpacked checkout.
const CHECKOUT: UnpackLimits = UnpackLimits {
    files: 1_000_000,
    bytes: 16 << 30,
};
/// Lines of a suite's output in the error when it does not run.
const LAST_LINES: usize = 20;

#[expect(missing_debug_implementations, reason = "it holds a closure")]
pub struct TaskPreparation<'a> {
    pub artifacts: &'a Artifacts,
    pub sandbox: &'a dyn Sandbox,
    pub image_cache: &'a ImageCache,
    pub folders: &'a TaskFolders,
    /// How often to run the target's suite.
    pub repeats: u32,
    pub folder: &'a Path,
}

/// Both ends of a task, and data about the history between them.
struct Ends {
    base: CodeTree,
    oracle: CodeTree,
    commits: usize,
    /// The times of the two commits, in unix seconds.
    times: (i64, i64),
    lines: Option<LinesChanged>,
    licence: Option<String>,
}

impl TaskPreparation<'_> {
    /// Prepares a task. The row is ready, or unusable with the reason. Only
    /// failures of the platform are errors.
    pub async fn prepare(&self, line: &TaskLine) -> Result<TaskRow> {
        let mut row = line.row(TaskState::Ready);
        match self.fill(line, &mut row).await {
            Ok(()) => {}
            Err(PrepareError::Platform(error)) => return Err(error),
            Err(PrepareError::Task(reason)) => row.state = TaskState::Unusable { reason },
        }
        Ok(row)
    }

    async fn fill(&self, line: &TaskLine, row: &mut TaskRow) -> Prepared<()> {
        let data = self.folder.join("data").join(line.task_id.as_str());
        self.ensure_free_space(&data).await?;
        let ends = self.unpack(&data, line).await?;
        row.commits = u32::try_from(ends.commits).unwrap_or(u32::MAX);
        row.span_days = (ends.times.1 - ends.times.0) as f64 / 86_400.0;
        row.target_time = Some(ends.times.1 * 1_000);
        let image = self.image_cache.load(&data.join("image.tar.gz")).await;
        row.image = image.map_err(|e| PrepareError::task(&e))?;

        // The base comes second: if it fails, the repeats are not needed.
        let first = self.test(row, &ends.oracle, "target").await?;
        let base = ends.base.with_folder_of(test_suite::TESTS, &ends.oracle);
        let base = self.test(row, &base, "base").await?;
        let mut seconds = vec![first.seconds];
        let mut targets = vec![first.report];
        for _ in 1..self.repeats {
            let again = self.test(row, &ends.oracle, "target").await?;
            seconds.push(again.seconds);
            targets.push(again.report);
        }
        let (tests, found) = Preparation::of(&targets, &base.report, line.declared_gap);
        if tests.is_empty() {
            return Err(PrepareError::Task(match targets.len() {
                1 => "the target passes no test".into(),
                n => format!("no test passes in each of {n} runs on the target"),
            }));
        }
        row.suite_seconds = median(&seconds);
        row.preparation = Preparation {
            suite_seconds: seconds,
            lines: ends.lines,
            licence: ends.licence,
            ..found
        };
        row.suite = Suite::of(tests, &base.report);
        let key = base_report_key(&row.id);
        self.artifacts.put(&key, base.raw).await?;
        Ok(())
    }

    /// Fails before any work if the disk lacks the space.
    async fn ensure_free_space(&self, data: &Path) -> Prepared<()> {
        let (code, image) = (data.join("code.zip"), data.join("image.tar.gz"));
        let known = self.image_cache.knows(&image).await;
        let needs = blocking(move || {
            let code = files::unpacked_bytes(&code).unwrap_or(0);
            let packed = std::fs::metadata(&image).map_or(0, |file| file.len());
            Ok((code, if known { 0 } else { packed * UNPACKED_IMAGE }))
        });
        let (code, image) = needs.await?;
        host::ensure_free_space(self.folders.root(), code).map_err(PrepareError::Platform)?;
        // The sum, since both are usually on one disk.
        let image_cache = self.image_cache.ensure_free_space(code + image).await;
        image_cache.map_err(PrepareError::Platform)
    }

    async fn unpack(&self, data: &Path, line: &TaskLine) -> Prepared<Ends> {
        let (archive, checkout) = (data.join("code.zip"), self.folders.checkout(&line.task_id));
        let (base, target) = (line.base_sha.clone(), line.target_sha.clone());
        let ends = blocking(move || {
            if let Some(parent) = checkout.parent() {
                std::fs::create_dir_all(parent)
                    .with_context(|| format!("cannot create {}", parent.display()))?;
            }
            files::unzip(&archive, &checkout, CHECKOUT)?;
            // These stay unknown on failure, for example in a shallow copy.
            let lines = changes(&checkout, &base, &target, &unwatched).ok();
            let licence = facts(&checkout, &target, &unwatched).ok().and_then(licence);
            let history = History::new(checkout);
            Ok(Ends {
                lines: lines.as_ref().map(lines_changed),
                licence,
                commits: history.between(&base, &target)?.len(),
                times: (history.commit(&base)?.time, history.commit(&target)?.time),
                base: history.code(&base)?,
                oracle: history.code(&target)?,
            })
        });
        ends.await.map_err(|e| PrepareError::task(&e))
    }

    /// Runs the suite on one end of a task.
    async fn test(&self, row: &TaskRow, code: &CodeTree, end: &str) -> Prepared<Tested> {
        let purpose = Purpose::Preparation(format!("import {} {end}", row.id));
        let limits = Limits::default();
        let spec = ContainerSpec::new(&row.image, limits, purpose);
        let sandbox = self.sandbox.open(&spec).await?;
        let mut last_lines: Vec<String> = Vec::new();
        let mut on_line = |line: &str| {
            last_lines.push(line.to_owned());
            if last_lines.len() > LAST_LINES {
                last_lines.remove(0);
            }
        };
        let run = test_suite::run(sandbox.as_ref(), code, limits, &mut on_line).await?;
        match run.result {
            Ok(report) => Ok(Tested {
                report,
                raw: run.raw.unwrap_or_default(),
                seconds: run.seconds,
            }),
            Err(why) => {
                let tail = last_lines.join("\n");
                let why = format!("the target's tests do not run on the {end} code: {why}\n{tail}");
                Err(PrepareError::Task(why.trim_end().to_owned()))
            }
        }
    }
}

/// How many times larger an image usually is than its archive.
const UNPACKED_IMAGE: u64 = 3;

struct Tested {
    report: Report,
    /// The report's bytes.
    raw: Vec<u8>,
    seconds: f64,
}

/// The target's licences as one SPDX expression.
fn licence(facts: Facts) -> Option<String> {
    let mut names: Vec<String> = facts.licences.into_iter().map(|l| l.spdx).collect();
    // A vague name ("some kind of BSD") adds nothing to an exact one.
    if names.iter().any(|name| !is_vague(name)) {
        names.retain(|name| !is_vague(name));
    }
    (!names.is_empty()).then(|| names.join(" AND "))
}

fn is_vague(licence: &str) -> bool {
    licence.starts_with("LicenseRef-")
}

fn lines_changed(changes: &Changes) -> LinesChanged {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let lines = |change: Change| Lines {
        files: count(change.files),
        added: count(change.added),
        deleted: count(change.deleted),
    };
    LinesChanged {
        source: lines(changes.source),
        tests: lines(changes.tests),
        other: lines(changes.other),
    }
}

fn median(seconds: &[f64]) -> f64 {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

type Prepared<T> = std::result::Result<T, PrepareError>;

/// Why preparing a task failed: by the task's or the platform's fault.
enum PrepareError {
    Task(String),
    Platform(Error),
}

impl PrepareError {
    fn task(error: &anyhow::Error) -> Self {
        Self::Task(format!("{error:#}"))
    }
}

impl From<anyhow::Error> for PrepareError {
    fn from(error: anyhow::Error) -> Self {
        Self::Platform(error.into())
    }
}

impl From<SandboxError> for PrepareError {
    fn from(error: SandboxError) -> Self {
        match error.blames_the_code() {
            true => Self::Task(error.to_string()),
            false => Self::Platform(Error::Unavailable(error.to_string())),
        }
    }
}
