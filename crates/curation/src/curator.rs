//! Carries one curation through its stages. Each stage stores its results at
//! once, so that another process can resume after them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use futures::TryStreamExt;
use jiff::Timestamp;
use swe_ci_base::blocking::blocking;
use swe_ci_base::digest::sha256_hex;
use swe_ci_base::error::{Error, Result};
use swe_ci_base::machine_failure::is_machine_failure;
use swe_ci_base::{Say, files};
use swe_ci_candidates::environment::distribution::Finder;
use swe_ci_candidates::environment::python::BaseImages;
use swe_ci_core::run::Limits;
use swe_ci_core::step::Plan as StepPlan;
use swe_ci_core::task::TaskId;
use swe_ci_dataset::{History, TEST_COMMAND, TaskLine, TaskPreparation, Unusable};
use swe_ci_sandbox::host;
use swe_ci_sandbox::images::BuildNetwork;
use swe_ci_store::{CandidateRow, TaskRow};
use swe_ci_views::curation::{BuildAttempt, Fate};
use swe_ci_views::view::TaskState;
use tokio_util::sync::CancellationToken;

use crate::environment::{Builder, suite_limits};
use crate::origin::{Fetcher, checkout, repository_folder, version_of_tag};
use crate::plan::Plan;
use crate::ranking::{self, Beyond, Ranked};
use crate::{Curations, unavailable};

pub struct Curator<'a> {
    pub curations: &'a Curations<'a>,
    pub id: &'a str,
    pub plan: &'a Plan,
    /// Whether a person has decided about its tasks.
    pub reviewed: bool,
    /// Folder for everything it creates.
    pub home: PathBuf,
    pub network: &'a BuildNetwork,
    pub fetcher: Fetcher<'a>,
    pub finder: &'a Finder,
    /// See [`Builder`].
    pub index_without_times: Option<&'a str>,
    pub bases: &'a BaseImages,
    pub say: Say<'a>,
    /// Cancelled when the curation is, or when the process stops.
    pub stop: &'a CancellationToken,
}

/// The result of the last stage, with its number of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selected {
    ForReview(usize),
    Published(usize),
}

impl Curator<'_> {
    pub(crate) async fn build_environment(&self, mut candidate: CandidateRow) -> Result<()> {
        self.check_not_stopped()?;
        let curations = self.curations;
        let cache = curations.image_cache;
        cache.ensure_free_space(ENVIRONMENT_BYTES).await?;
        let folder = repository_folder(&self.home, candidate.repository);
        let version = version_of_tag(&folder, &candidate.target_sha).await;
        let version = version.map_err(unavailable)?;
        let (history, sha) = (History::new(folder), candidate.target_sha.clone());
        let read = blocking(move || {
            let time = Timestamp::from_second(history.commit(&sha)?.time);
            let time = time.context("no calendar has the time of the target")?;
            Ok((history.code(&sha)?, time))
        });
        let builder = Builder {
            images: curations.images,
            sandbox: curations.sandbox,
            network: self.network,
            finder: self.finder,
            index_without_times: self.index_without_times,
            bases: self.bases,
            repairs: self.plan.environment.repairs,
            enough: self.plan.environment.enough,
            max_suite_seconds: self.plan.filter.max_suite_seconds,
            command: self.plan.filter.test_command().on_target(),
        };
        let name = candidate.task_id.clone();
        let tell = |attempt: &BuildAttempt| {
            let what = format!("{} {}", attempt.change, first_line(&attempt.outcome));
            let (what, seconds) = (what.trim_start(), attempt.seconds);
            (self.say)(format!("{name}: {what} ({seconds:.0} s)"));
        };
        match read.await {
            Ok((target, time)) => {
                (self.say)(format!("{name}: building its environment"));
                let tag = image_name(self.id, &candidate.task_id);
                let building = builder.build(&tag, &target, time, version.as_deref(), &tell);
                let built = self.unless_stopped(building).await??;
                if let Fate::Dropped { detail, .. } = &built.fate {
                    (self.say)(format!("{name}: dropped: {}", first_line(detail)));
                }
                candidate.environment = built.fate;
                candidate.image = built.image;
                candidate.attempts = built.attempts;
            }
            Err(why) => candidate.environment = unreadable(why)?,
        }
        curations.store.put_candidate(self.id, &candidate).await
    }

    pub(crate) async fn test_candidates(&self) -> Result<()> {
        let waiting = self.candidates(|candidate| {
            candidate.environment == Fate::Survived
                && candidate.filtered == Fate::Waiting
                && candidate.prepared.is_none()
        });
        let at_once = host::carries(Limits::default());
        futures::stream::iter(waiting.await?.into_iter().map(Ok))
            .try_for_each_concurrent(at_once, |candidate| self.test_candidate(candidate))
            .await
    }

    async fn test_candidate(&self, mut candidate: CandidateRow) -> Result<()> {
        self.check_not_stopped()?;
        (self.say)(format!("{}: testing both ends", candidate.task_id));
        match self.unless_stopped(self.prepare(&candidate)).await?? {
            Ok((row, unusable)) => {
                candidate.filtered = self.fate_of(&row, unusable);
                candidate.prepared = Some(row);
            }
            Err(why) => candidate.filtered = unreadable(why)?,
        }
        let gap = candidate.prepared.as_ref();
        let gap = gap.map_or(0, |row| row.suite.counts.gap());
        let result = match &candidate.filtered {
            Fate::Dropped { detail, .. } => format!("dropped: {}", first_line(detail)),
            _ => format!("gap {gap}"),
        };
        (self.say)(format!("{}: {result}", candidate.task_id));
        self.curations
            .store
            .put_candidate(self.id, &candidate)
            .await
    }

    fn fate_of(&self, row: &TaskRow, unusable: Option<Unusable>) -> Fate {
        let filter = &self.plan.filter;
        let gap = row.suite.counts.gap();
        match &row.state {
            TaskState::Unusable { reason } => {
                let cause = match unusable.unwrap_or(Unusable::Otherwise) {
                    Unusable::BaseFails => "tests do not run on the base",
                    Unusable::NothingPasses => "no test passes",
                    Unusable::Otherwise => "tests do not run on the target",
                };
                Fate::dropped(cause, reason)
            }
            TaskState::Ready if gap < filter.min_gap => {
                let least = filter.min_gap;
                let detail = format!("a gap of {gap} tests; at least {least} are required");
                Fate::dropped("small gap", detail)
            }
            TaskState::Ready if row.suite_seconds > filter.max_suite_seconds => {
                let (takes, most) = (row.suite_seconds, filter.max_suite_seconds);
                let detail =
                    format!("its suite takes {takes:.0} s; at most {most:.0} s are allowed");
                Fate::dropped("slow suite", detail)
            }
            TaskState::Ready => Fate::Waiting,
        }
    }

    /// Writes a candidate as a task, and tests it like every imported task.
    /// Inside is why git cannot provide its code.
    async fn prepare(
        &self,
        candidate: &CandidateRow,
    ) -> Result<anyhow::Result<(TaskRow, Option<Unusable>)>> {
        let line = self.line(candidate)?;
        let data = self.dataset().join("data").join(line.task_id.as_str());
        if let Err(why) = self.write_code(candidate, &data).await {
            return Ok(Err(why));
        }
        self.write_image(candidate, &data).await?;
        let dataset = self.dataset();
        self.preparation(&dataset).prepare(&line).await.map(Ok)
    }

    pub(crate) fn preparation<'a>(&'a self, dataset: &'a Path) -> TaskPreparation<'a> {
        TaskPreparation {
            artifacts: self.curations.artifacts,
            sandbox: self.curations.sandbox,
            image_cache: self.curations.image_cache,
            folders: self.curations.folders,
            repeats: self.plan.filter.repeats,
            test_command: None,
            limits: suite_limits(self.plan.filter.max_suite_seconds),
            folder: dataset,
            say: self.say,
        }
    }

    async fn write_code(&self, candidate: &CandidateRow, data: &Path) -> anyhow::Result<()> {
        let repository = repository_folder(&self.home, candidate.repository);
        let scratch = files::beside(data, "checkout");
        let (base, target) = (&candidate.base_sha, &candidate.target_sha);
        checkout(&repository, base, target, &scratch).await?;
        let zip = data.join("code.zip");
        blocking(move || {
            if let Some(data) = zip.parent() {
                std::fs::create_dir_all(data)?;
            }
            files::zip_folder(&scratch, &zip)?;
            files::remove_folder(&scratch)
        })
        .await
    }

    async fn write_image(&self, candidate: &CandidateRow, data: &Path) -> Result<()> {
        let (images, cache) = (self.curations.images, self.curations.image_cache);
        let archive = data.join("image.tar.gz");
        let saved = images.save(&candidate.image, &archive).await;
        saved.map_err(unavailable)?;
        let identity = files::identity(&archive)?;
        let remembered = cache.remember(&archive, identity, &candidate.image);
        Ok(remembered.await?)
    }

    fn line(&self, candidate: &CandidateRow) -> Result<TaskLine> {
        let column = |name: &str, value: String| (name.to_owned(), value);
        let iterations = self.plan.max_iterations;
        let iterations = iterations.map(|n| column(StepPlan::COLUMN, n.to_string()));
        Ok(TaskLine {
            task_id: TaskId::new(&candidate.task_id).map_err(anyhow::Error::new)?,
            base_sha: candidate.base_sha.clone(),
            target_sha: candidate.target_sha.clone(),
            declared_gap: None,
            extra: vec![
                column("repo_name", repository_of(&candidate.task_id).to_owned()),
                column("commits", candidate.commits.to_string()),
                column("span_days", format!("{:.1}", candidate.days)),
                column("modified_lines", candidate.modified_lines.to_string()),
                column(TEST_COMMAND, self.plan.filter.test_command().to_string()),
            ]
            .into_iter()
            .chain(iterations)
            .collect(),
        })
    }

    /// Selects the best candidates, and writes the split unless a person is to
    /// decide about them first.
    pub async fn select(&self) -> Result<Selected> {
        let store = self.curations.store;
        let ready = |candidate: &CandidateRow| {
            candidate.prepared.is_some() && !matches!(candidate.filtered, Fate::Dropped { .. })
        };
        let ready = self.candidates(ready).await?.into_iter();
        let mut ready: HashMap<String, CandidateRow> = ready
            .map(|candidate| (candidate.task_id.clone(), candidate))
            .collect();
        let ranked = ready.values().map(|candidate| Ranked {
            task: candidate.task_id.clone(),
            repository: candidate.repository,
            days: candidate.days,
            commits: candidate.commits,
            modified_lines: candidate.modified_lines,
        });
        let (selected, rejected) = ranking::choose(ranked.collect(), &self.plan.filter);
        for (task, beyond) in rejected {
            if let Some(candidate) = ready.get_mut(&task) {
                let filter = &self.plan.filter;
                let (reason, most, of) = match beyond {
                    Beyond::Repository => (
                        "beyond the best of its repository",
                        filter.most_per_repository,
                        " of a repository",
                    ),
                    Beyond::All => ("beyond the best", filter.most, ""),
                };
                candidate.filtered = Fate::dropped(reason, format!("{most}{of} are selected"));
                store.put_candidate(self.id, candidate).await?;
            }
        }
        let of_selected = ready.iter_mut().filter(|(task, _)| selected.contains(task));
        let at_once = host::carries(Limits::default());
        futures::stream::iter(of_selected.map(|(_, candidate)| Ok(candidate)))
            .try_for_each_concurrent(at_once, |candidate| self.inspect(candidate))
            .await?;
        if self.plan.filter.review && !self.reviewed && !selected.is_empty() {
            return Ok(Selected::ForReview(selected.len()));
        }
        let mut rows = Vec::new();
        for task in &selected {
            if let Some(candidate) = ready.get_mut(task) {
                candidate.filtered = Fate::Survived;
                store.put_candidate(self.id, candidate).await?;
                let line = self.line(candidate)?;
                rows.extend(candidate.prepared.clone().map(|row| (line, row)));
            }
        }
        let tasks = rows.len();
        if tasks > 0 {
            self.publish(rows).await?;
        }
        Ok(Selected::Published(tasks))
    }

    pub(crate) async fn candidates(
        &self,
        wanted: impl Fn(&CandidateRow) -> bool,
    ) -> Result<Vec<CandidateRow>> {
        let mut all = self.curations.store.candidates(self.id).await?;
        all.retain(wanted);
        Ok(all)
    }

    /// Folder with `data/<task>/…` of every task that was tried.
    pub(crate) fn dataset(&self) -> PathBuf {
        self.home.join("dataset")
    }

    pub(super) fn check_not_stopped(&self) -> Result<()> {
        match self.stop.is_cancelled() {
            true => Err(stopped()),
            false => Ok(()),
        }
    }

    pub(super) async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        let done = self.stop.run_until_cancelled(work).await;
        done.ok_or_else(stopped)
    }
}

/// The name of a candidate's image.
pub(super) fn image_name(curation: &str, task: &str) -> String {
    let key = sha256_hex(format!("{curation} {task}").as_bytes());
    format!("swe-ci/curated:{}", &key[..24])
}

pub(super) fn stopped() -> Error {
    Error::Conflict("the curation was stopped".into())
}

/// The fate of something that cannot be read.
///
/// # Errors
/// [`Error::Unavailable`] when this machine is at fault: it is read again when
/// the curation resumes.
pub(super) fn unreadable(why: anyhow::Error) -> Result<Fate> {
    if is_machine_failure(&why) {
        return Err(unavailable(why));
    }
    Ok(Fate::dropped("unreadable", format!("{why:#}")))
}

const ENVIRONMENT_BYTES: u64 = 2 << 30;

/// The repository in the name of a curated task.
fn repository_of(task: &str) -> &str {
    let mut parts = task.rsplitn(3, "__");
    parts.nth(2).unwrap_or(task)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
