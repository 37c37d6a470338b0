//! Prepares one task: unpacks it, loads its image, runs its suite on both ends.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use swe_ci_base::blocking::blocking;
use swe_ci_base::code::CodeTree;
use swe_ci_base::error::{Error, Result};
use swe_ci_base::files::{self, UnpackLimits};
use swe_ci_base::machine_failure::is_machine_failure;
use swe_ci_candidates::{Change, Changes, Facts, changes, facts, unwatched};
use swe_ci_core::report::Report;
use swe_ci_core::run::Limits;
use swe_ci_core::task::TestCommand;
use swe_ci_core::wall::Wall;
use swe_ci_grading::{Graded, Grading, grade};
use swe_ci_sandbox::image_cache::ImageCache;
use swe_ci_sandbox::{ContainerSpec, Purpose, Sandbox, SandboxError, host, lost_engine};
use swe_ci_store::artifacts::Artifacts;
use swe_ci_store::{Suite, TaskRow};
use swe_ci_views::preparation::{Lines, LinesChanged, Preparation, TaskFinding};
use swe_ci_views::view::TaskState;

use super::{History, TaskFolders, TaskLine, base_report_key};

/// Maximum size of an unpacked checkout.
pub(crate) const CHECKOUT: UnpackLimits = UnpackLimits {
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
    /// How often to run the suite on each end.
    pub repeats: u32,
    /// Instead of what the metadata file says.
    pub test_command: Option<TestCommand>,
    /// The limits of each run of the suite.
    pub limits: Limits,
    pub folder: &'a Path,
    /// Told each step.
    pub say: &'a (dyn Fn(String) + Send + Sync),
}

/// Both ends of a task, and data about the history between them.
pub(crate) struct Ends {
    base: Arc<CodeTree>,
    oracle: Arc<CodeTree>,
    commits: usize,
    /// The times of the two commits, in unix seconds.
    times: (i64, i64),
    lines: Option<LinesChanged>,
    licence: Option<String>,
}

impl TaskPreparation<'_> {
    /// Prepares a task. The row is ready, or unusable with the reason, and of which
    /// kind that is. Only failures of the platform are errors.
    pub async fn prepare(&self, line: &TaskLine) -> Result<(TaskRow, Option<Unusable>)> {
        let mut row = line.row(TaskState::Ready);
        if let Some(command) = &self.test_command {
            row.test_command = command.clone();
        }
        match self.fill(line, &mut row).await {
            Ok(()) => Ok((row, None)),
            Err(PrepareError::Platform(error)) => Err(error),
            Err(PrepareError::Task(kind, reason)) => {
                let reason = self.with_processor(&row.image, reason).await?;
                row.state = TaskState::Unusable { reason };
                Ok((row, Some(kind)))
            }
        }
    }

    /// The digest of the image in a task's archive; `None` if it cannot be loaded.
    pub(crate) async fn image_at_hand(&self, line: &TaskLine) -> Result<Option<String>> {
        let data = self.folder.join("data").join(line.task_id.as_str());
        let archive = data.join("image.tar.gz");
        match self.image_cache.digest_of(&archive).await? {
            Some(digest) => Ok(Some(digest)),
            None => Ok(self.image_cache.load(&archive).await.ok()),
        }
    }

    /// Says first that the image is for another processor, if it is. The tests may
    /// have run where the machine emulates that one, so this alone is no reason.
    async fn with_processor(&self, image: &str, reason: String) -> Result<String> {
        if image.is_empty() {
            return Ok(reason);
        }
        Ok(match self.image_cache.other_processor(image).await? {
            Some([image, engine]) => format!(
                "its image is for the processor {image}, the container engine's is {engine}: {reason}"
            ),
            None => reason,
        })
    }

    async fn fill(&self, line: &TaskLine, row: &mut TaskRow) -> Prepared<()> {
        let data = self.folder.join("data").join(line.task_id.as_str());
        self.ensure_free_space(&data).await?;
        (self.say)(format!("{}: code and image", row.id));
        let ends = self.unpack(&data, row).await?;
        row.commits = u32::try_from(ends.commits).unwrap_or(u32::MAX);
        row.span_days = days_between(ends.times.0, ends.times.1);
        row.target_time = milliseconds(ends.times.1);
        row.image = self.load_image(&data.join("image.tar.gz")).await?;

        let mut left_away = LeftAway::new();
        let first = self.behind_walls(row, &ends, End::Target, &mut left_away);
        let first = Tested::of(first.await?, End::Target)?;
        // The base comes second: if it fails, the repeats are not needed.
        let base = self.behind_walls(row, &ends, End::Base, &mut left_away);
        let base = Tested::of(base.await?, End::Base)?;
        let without = left_away.keys().copied().collect();
        let mut seconds = vec![first.seconds];
        let (mut targets, mut bases) = (vec![first.report], vec![base.report]);
        for _ in 1..self.repeats {
            let again = self.run(row, &ends, End::Target, &without).await?;
            let again = Tested::of(again, End::Target)?;
            seconds.push(again.seconds);
            targets.push(again.report);
            let again = self.run(row, &ends, End::Base, &without).await?;
            bases.push(Tested::of(again, End::Base)?.report);
        }
        let (tests, mut found) = Preparation::of(&targets, &bases, line.declared_gap);
        if !first.dropped_options.is_empty() {
            found.findings.push(TaskFinding::OptionsDropped {
                options: first.dropped_options,
            });
        }
        let left_away = left_away.into_iter();
        let left_away = left_away.map(|(wall, why)| TaskFinding::WallLeftAway { wall, why });
        found.findings.extend(left_away);
        if tests.is_empty() {
            let reason = match targets.len() {
                1 => "the target passes no test".into(),
                n => format!(
                    "no test passes in each of {n} runs on the target and comes out alike in those on the base"
                ),
            };
            return Err(PrepareError::Task(Unusable::NothingPasses, reason));
        }
        row.suite_seconds = median(&seconds);
        row.preparation = Preparation {
            suite_seconds: seconds,
            lines: ends.lines,
            licence: ends.licence,
            ..found
        };
        row.suite = Suite::of(tests, &bases[0]);
        let key = base_report_key(&row.id, &base.raw);
        row.base_report = Some(self.artifacts.put(&key, base.raw).await?);
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

    async fn unpack(&self, data: &Path, row: &TaskRow) -> Prepared<Ends> {
        let (archive, checkout) = (data.join("code.zip"), self.folders.own_checkout(row));
        let known = self.folders.checkout(row);
        let (base, target) = (row.base_sha.clone(), row.target_sha.clone());
        let ends = blocking(move || {
            // A run may be reading it.
            if let Ok(ends) = ends(&known, &base, &target) {
                return Ok(ends);
            }
            if let Some(parent) = checkout.parent() {
                std::fs::create_dir_all(parent)
                    .with_context(|| format!("cannot create {}", parent.display()))?;
            }
            files::unzip(&archive, &checkout, CHECKOUT)?;
            let ends = ends(&checkout, &base, &target);
            if ends.is_err() {
                // Nothing can use it, and it may be large.
                files::remove_folder(&checkout)?;
            }
            ends
        });
        ends.await.map_err(|e| PrepareError::of(&e))
    }

    async fn load_image(&self, archive: &Path) -> Prepared<String> {
        let error = match self.image_cache.load(archive).await {
            Ok(digest) => return Ok(digest),
            Err(error) => error,
        };
        let space = self.image_cache.ensure_free_space(0).await;
        space.map_err(PrepareError::Platform)?;
        let engine_answers = self.sandbox.ping().await.is_ok();
        Err(PrepareError::of_image(&error, engine_answers))
    }

    /// Runs the suite on one end of a task, without these walls.
    pub(crate) async fn run(
        &self,
        row: &TaskRow,
        ends: &Ends,
        end: End,
        left_away: &BTreeSet<Wall>,
    ) -> Prepared<Graded> {
        let (code, command) = match end {
            End::Base => (&ends.base, row.test_command.clone()),
            End::Target => (&ends.oracle, row.test_command.clone().on_target()),
        };
        let end = end.name();
        (self.say)(format!("{}: tests on the {end}", row.id));
        let purpose = Purpose::Preparation(format!("import {} {end}", row.id));
        let limits = self.limits;
        let grading = Grading {
            code: code.clone(),
            base: ends.base.clone(),
            oracle: ends.oracle.clone(),
            command,
            known_tests: None,
            limits,
            left_away: left_away.clone(),
        };
        let spec = ContainerSpec::new(&row.image, limits, purpose);
        let sandbox = self.sandbox.open(&spec).await?;
        let mut last_lines: Vec<String> = Vec::new();
        let mut on_line = |line: &str| {
            last_lines.push(line.to_owned());
            if last_lines.len() > LAST_LINES {
                last_lines.remove(0);
            }
        };
        let mut run = grade(sandbox.as_ref(), &grading, &mut on_line).await?;
        run.result = run.result.map_err(|why| {
            let tail = last_lines.join("\n");
            format!("{why}\n{tail}").trim_end().to_owned()
        });
        Ok(run)
    }
}

/// The walls left away, and why.
pub(crate) type LeftAway = BTreeMap<Wall, String>;

/// How many times larger an image usually is than its archive.
const UNPACKED_IMAGE: u64 = 3;

#[derive(Clone, Copy)]
pub(crate) enum End {
    Base,
    Target,
}

impl End {
    pub fn name(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Target => "target",
        }
    }
}

struct Tested {
    report: Report,
    /// The report's bytes.
    raw: Vec<u8>,
    seconds: f64,
    dropped_options: Vec<String>,
}

impl Tested {
    fn of(run: Graded, end: End) -> Prepared<Self> {
        let report = run.result.map_err(|why| {
            let kind = match end {
                End::Base => Unusable::BaseFails,
                End::Target => Unusable::Otherwise,
            };
            let of = end.name();
            let why = format!("the target's tests do not run on the {of} code: {why}");
            PrepareError::Task(kind, why)
        })?;
        Ok(Self {
            report,
            raw: run.raw.unwrap_or_default(),
            seconds: run.seconds,
            dropped_options: run.dropped_options,
        })
    }
}

fn ends(checkout: &Path, base: &str, target: &str) -> anyhow::Result<Ends> {
    // These stay unknown on failure, for example in a shallow copy.
    let lines = changes(checkout, base, target, &unwatched).ok();
    let licence = facts(checkout, target, &unwatched).ok().and_then(licence);
    let history = History::new(checkout.to_path_buf());
    Ok(Ends {
        lines: lines.as_ref().map(lines_changed),
        licence,
        commits: history.between(base, target)?.len(),
        times: (history.commit(base)?.time, history.commit(target)?.time),
        base: Arc::new(history.code(base)?),
        oracle: Arc::new(history.code(target)?),
    })
}

/// The target's licences as one SPDX expression.
fn licence(facts: Facts) -> Option<String> {
    joined(facts.licences.into_iter().map(|l| l.spdx).collect())
}

fn joined(mut names: Vec<String>) -> Option<String> {
    // A vague name ("some kind of BSD") adds nothing to an exact one.
    if names.iter().any(|name| !is_vague(name)) {
        names.retain(|name| !is_vague(name));
    }
    // Several files state the same one.
    names.sort();
    names.dedup();
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

/// The author of a commit decides its time, so it can be any number.
fn days_between(from: i64, to: i64) -> f64 {
    (to as f64 - from as f64) / 86_400.0
}

/// A time in unix seconds as milliseconds; `None` for one that no calendar has.
fn milliseconds(seconds: i64) -> Option<i64> {
    let time = jiff::Timestamp::from_second(seconds).ok()?;
    Some(time.as_millisecond())
}

fn median(seconds: &[f64]) -> f64 {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

/// The kinds of reasons why a task cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusable {
    /// The suite does not run on the base.
    BaseFails,
    NothingPasses,
    /// The suite does not run on the target, or a file is missing or damaged.
    Otherwise,
}

pub(crate) type Prepared<T> = std::result::Result<T, PrepareError>;

/// Why preparing a task failed: by the task's or the platform's fault.
pub(crate) enum PrepareError {
    Task(Unusable, String),
    Platform(Error),
}

impl PrepareError {
    /// Why a task's files cannot be used.
    fn of(error: &anyhow::Error) -> Self {
        let message = format!("{error:#}");
        match is_machine_failure(error) {
            true => Self::Platform(Error::Unavailable(message)),
            false => Self::Task(Unusable::Otherwise, message),
        }
    }

    /// Why an image cannot be loaded. Its archive is at fault only if the
    /// machine and the engine are well.
    fn of_image(error: &anyhow::Error, engine_answers: bool) -> Self {
        match engine_answers && !lost_engine(error) {
            true => Self::of(error),
            false => Self::Platform(Error::Unavailable(format!("{error:#}"))),
        }
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
            true => Self::Task(Unusable::Otherwise, error.to_string()),
            false => Self::Platform(Error::Unavailable(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_base::code::Excess;
    use swe_ci_base::machine_failure::told_by_program;

    #[test]
    fn a_licence_of_several_files_is_stated_once() {
        let check = |names: &[&str], expect: Option<&str>| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(joined(names).as_deref(), expect);
        };
        check(&["MIT", "MIT"], Some("MIT"));
        check(
            &["MIT", "BSD-3-Clause", "MIT"],
            Some("BSD-3-Clause AND MIT"),
        );
        check(&["LicenseRef-BSD", "MIT"], Some("MIT"));
        check(&["LicenseRef-BSD"], Some("LicenseRef-BSD"));
        check(&[], None);
    }

    #[test]
    fn absurd_times_of_commits() {
        assert!((days_between(0, 129_600) - 1.5).abs() < 1e-9);
        assert!(days_between(i64::MIN, i64::MAX).is_finite());
        assert!(days_between(i64::MAX, i64::MIN).is_finite());
        let check = |seconds, expect| assert_eq!(milliseconds(seconds), expect, "{seconds}");
        check(0, Some(0));
        check(1_700_000_000, Some(1_700_000_000_000));
        check(-1, Some(-1_000));
        check(i64::MAX / 1_000, None);
        check(i64::MAX, None);
        check(i64::MIN, None);
    }

    #[test]
    fn only_a_bad_archive_makes_a_task_unusable() {
        let check = |error: anyhow::Error, engine_answers: bool, expect_task: bool| {
            let error = error.context("a.tar.gz");
            let fault = PrepareError::of_image(&error, engine_answers);
            let is_task = matches!(fault, PrepareError::Task(..));
            assert_eq!(is_task, expect_task, "{error:#}");
        };
        let empty = || anyhow::anyhow!("a.tar.gz holds no image");
        check(empty(), true, true);
        check(empty(), false, false);
        let silent = SandboxError::Engine("it did not answer".into());
        check(silent.into(), true, false);
        let full = "write /layer.tar: no space left on device".to_owned();
        check(told_by_program(full), true, false);
    }

    #[test]
    fn a_full_disk_makes_no_task_unusable() {
        let full = anyhow::Error::new(std::io::Error::from_raw_os_error(28));
        let fault = PrepareError::of(&full.context("cannot unpack code.zip"));
        assert!(matches!(
            fault,
            PrepareError::Platform(Error::Unavailable(_))
        ));
        let damaged = anyhow::anyhow!("it is not a zip archive, or it is damaged");
        assert!(matches!(PrepareError::of(&damaged), PrepareError::Task(..)));
    }

    #[test]
    fn a_report_that_is_too_large_is_the_fault_of_the_tests() {
        let too_big = SandboxError::TooBig {
            path: "report".into(),
            excess: Excess::Bytes(1 << 20),
        };
        assert!(matches!(too_big.into(), PrepareError::Task(..)));
        assert!(matches!(
            SandboxError::Lost.into(),
            PrepareError::Platform(_)
        ));
    }
}
