//! One task made ready: unpacked, its image loaded, its suite run on both ends.

use std::path::Path;

use anyhow::Context;
use swe_ci_core::preparation::{Lines, LinesChanged, Preparation};
use swe_ci_core::report::Report;
use swe_ci_core::run::Limits;
use swe_ci_core::view::TaskState;
use swe_ci_curate::{Change, Changes, Facts, changes, facts, unwatched};

use super::{History, TaskFolders, TaskLine, base_report_key};
use crate::artifacts::Artifacts;
use crate::blocking::blocking;
use crate::code::CodeTree;
use crate::error::{Error, Result};
use crate::files::{self, UnpackLimits};
use crate::host;
use crate::sandbox::{BoxSpec, Purpose, Sandbox, SandboxError};
use crate::shelf::Shelf;
use crate::store::{Suite, TaskRow};
use crate::suite;

/// What a checkout may unpack to.
const CHECKOUT: UnpackLimits = UnpackLimits {
    files: 1_000_000,
    bytes: 16 << 30,
};
/// Lines of a suite's output that are told when it does not run.
const LAST_LINES: usize = 20;

/// What a task is prepared with, and where.
pub struct Workbench<'a> {
    pub artifacts: &'a Artifacts,
    pub sandbox: &'a dyn Sandbox,
    pub shelf: &'a Shelf,
    pub folders: &'a TaskFolders,
    pub limits: Limits,
    /// How often the target's suite is run.
    pub repeats: u32,
    /// Of the dataset.
    pub folder: &'a Path,
}

/// Both ends of a task, and what lies between.
struct Ends {
    base: CodeTree,
    oracle: CodeTree,
    commits: usize,
    /// When they were committed, in unix seconds.
    times: (i64, i64),
    lines: Option<LinesChanged>,
    licence: Option<String>,
}

impl Workbench<'_> {
    /// A task as a row: ready, or unusable with the reason. Only trouble that
    /// is nobody's fault but the platform's is an error.
    pub async fn prepare(&self, line: &TaskLine) -> Result<TaskRow> {
        let mut row = TaskRow {
            id: line.task_id.clone(),
            repo: line.repo(),
            base_sha: line.base_sha.clone(),
            target_sha: line.target_sha.clone(),
            state: TaskState::Ready,
            image: String::new(),
            suite: Suite::none(),
            suite_seconds: 0.0,
            commits: 0,
            span_days: 0.0,
            target_time: None,
            preparation: Preparation::default(),
            extra: line.extra.clone(),
        };
        match self.fill(line, &mut row).await {
            Ok(()) => {}
            Err(Trouble::Platform(error)) => return Err(error),
            Err(Trouble::Task(reason)) => row.state = TaskState::Unusable { reason },
        }
        Ok(row)
    }

    async fn fill(&self, line: &TaskLine, row: &mut TaskRow) -> std::result::Result<(), Trouble> {
        let data = self.folder.join("data").join(line.task_id.as_str());
        self.make_sure_it_fits(&data).await?;
        let ends = self.unpack(&data, line).await?;
        row.commits = u32::try_from(ends.commits).unwrap_or(u32::MAX);
        row.span_days = (ends.times.1 - ends.times.0) as f64 / 86_400.0;
        row.target_time = Some(ends.times.1 * 1_000);
        let image = self.shelf.load(&data.join("image.tar.gz")).await;
        row.image = image.map_err(|e| Trouble::task(&e))?;

        // The base comes second: what does not run on it need not be repeated.
        let first = self.test(row, &ends.oracle, "target").await?;
        let base = ends.base.with_folder_of(suite::TESTS, &ends.oracle);
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
            return Err(Trouble::Task(match targets.len() {
                1 => "the target passes no test".into(),
                n => format!("no test passes in each of {n} runs on the target"),
            }));
        }
        row.suite_seconds = middle(&seconds);
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

    /// Nothing is begun that the disk has no room for.
    async fn make_sure_it_fits(&self, data: &Path) -> std::result::Result<(), Trouble> {
        let (code, image) = (data.join("code.zip"), data.join("image.tar.gz"));
        let known = self.shelf.knows(&image).await;
        let needs = blocking(move || {
            let code = files::unpacked_bytes(&code).unwrap_or(0);
            let packed = std::fs::metadata(&image).map_or(0, |file| file.len());
            Ok((code, if known { 0 } else { packed * UNPACKED_IMAGE }))
        });
        let (code, image) = needs.await?;
        host::make_sure_of(self.folders.root(), code).map_err(Trouble::Platform)?;
        // Both, as most times they are on one disk.
        let shelf = self.shelf.make_sure_of(code + image).await;
        shelf.map_err(Trouble::Platform)
    }

    async fn unpack(&self, data: &Path, line: &TaskLine) -> std::result::Result<Ends, Trouble> {
        let (archive, checkout) = (data.join("code.zip"), self.folders.checkout(&line.task_id));
        let (base, target) = (line.base_sha.clone(), line.target_sha.clone());
        let ends = blocking(move || {
            if let Some(parent) = checkout.parent() {
                std::fs::create_dir_all(parent)
                    .with_context(|| format!("cannot create {}", parent.display()))?;
            }
            files::unzip(&archive, &checkout, CHECKOUT)?;
            // What cannot be told (of a shallow copy, for one) stays unknown.
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
        ends.await.map_err(|e| Trouble::task(&e))
    }

    /// Tests one end of a task.
    async fn test(
        &self,
        row: &TaskRow,
        code: &CodeTree,
        end: &str,
    ) -> std::result::Result<Tested, Trouble> {
        let purpose = Purpose::Preparation(format!("import {} {end}", row.id));
        let spec = BoxSpec::new(&row.image, self.limits, purpose);
        let sandbox = self.sandbox.open(&spec).await?;
        let mut last_lines: Vec<String> = Vec::new();
        let mut on_line = |line: &str| {
            last_lines.push(line.to_owned());
            if last_lines.len() > LAST_LINES {
                last_lines.remove(0);
            }
        };
        let run = suite::run(sandbox.as_ref(), code, self.limits, &mut on_line).await?;
        match run.result {
            Ok(report) => Ok(Tested {
                report,
                raw: run.raw.unwrap_or_default(),
                seconds: run.seconds,
            }),
            Err(why) => {
                let tail = last_lines.join("\n");
                Err(Trouble::Task(
                    format!("the target's tests do not run on the {end} code: {why}\n{tail}")
                        .trim_end()
                        .to_owned(),
                ))
            }
        }
    }
}

/// How much larger an image is than its archive, at most times.
const UNPACKED_IMAGE: u64 = 3;

struct Tested {
    report: Report,
    /// As it was written.
    raw: Vec<u8>,
    seconds: f64,
}

/// What the target states, as one.
fn licence(facts: Facts) -> Option<String> {
    let mut names: Vec<String> = facts.licences.into_iter().map(|l| l.spdx).collect();
    // "Some kind of BSD" says nothing beside the kind.
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

fn middle(seconds: &[f64]) -> f64 {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

/// Whose fault it is that a task could not be prepared.
enum Trouble {
    Task(String),
    Platform(Error),
}

impl Trouble {
    fn task(error: &anyhow::Error) -> Self {
        Self::Task(format!("{error:#}"))
    }
}

impl From<anyhow::Error> for Trouble {
    fn from(error: anyhow::Error) -> Self {
        Self::Platform(error.into())
    }
}

impl From<SandboxError> for Trouble {
    fn from(error: SandboxError) -> Self {
        Self::Platform(Error::Unavailable(error.to_string()))
    }
}
