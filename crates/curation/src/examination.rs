//! The first two stages of a curation: fetches repositories and reads their
//! histories.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use futures::{StreamExt, TryStreamExt};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use swe_ci_base::as_u32;
use swe_ci_base::blocking::blocking;
use swe_ci_base::error::{Error, Result};
use swe_ci_candidates::environment::configuration::{Configuration, project_files};
use swe_ci_candidates::environment::python::{self, BaseImages};
use swe_ci_candidates::{KeptSpan, facts, open_repository, spans};
use swe_ci_store::{CandidateRow, CuratedRepository};
use swe_ci_views::counted;
use swe_ci_views::curation::Fate;

use crate::curator::{Curator, unreadable};
use crate::environment::COMPILED;
use crate::fetch_failure::FetchFailure;
use crate::origin::repository_folder;
use crate::plan::Origin;
use crate::unavailable;

const REPOSITORIES_AT_A_TIME: usize = 2;
/// Before repositories that did not answer are tried again.
const PAUSES: [Duration; 3] = [
    Duration::from_mins(1),
    Duration::from_mins(5),
    Duration::from_mins(15),
];
/// The reason for dropping a repository that cannot be fetched.
const NOT_TO_BE_HAD: &str = "not to be had";

/// A repository whose server did not answer, and the message.
type Unreachable = (CuratedRepository, String);

impl Curator<'_> {
    /// Examines the repositories that are still waiting. Those that do not
    /// answer are tried again after the others.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when this machine fails, or no repository at all
    /// answers: the network fails. The repositories keep waiting then.
    pub async fn examine_repositories(&self) -> Result<()> {
        let mut unreachable = self.examine_waiting().await?;
        for pause in PAUSES {
            if unreachable.is_empty() {
                return Ok(());
            }
            self.unless_stopped(tokio::time::sleep(pause)).await?;
            unreachable = self.examine_waiting().await?;
        }
        self.drop_unreachable(unreachable).await
    }

    /// Examines the waiting repositories once; returns those that did not
    /// answer.
    async fn examine_waiting(&self) -> Result<Vec<Unreachable>> {
        let store = self.curations.store;
        let waiting = store.curated_repositories(self.id).await?.into_iter();
        let waiting = waiting.filter(|repository| repository.fate == Fate::Waiting);
        let examined: Vec<Option<Unreachable>> = futures::stream::iter(waiting)
            .map(|repository| self.examine_repository(repository))
            .buffer_unordered(REPOSITORIES_AT_A_TIME)
            .try_collect()
            .await?;
        Ok(examined.into_iter().flatten().collect())
    }

    async fn drop_unreachable(&self, unreachable: Vec<Unreachable>) -> Result<()> {
        let Some((_, first)) = unreachable.first() else {
            return Ok(());
        };
        let store = self.curations.store;
        let all = store.curated_repositories(self.id).await?;
        if !all.iter().any(was_fetched) {
            return Err(Error::Unavailable(first.clone()));
        }
        for (mut repository, why) in unreachable {
            (self.say)(format!(
                "{}: dropped, {NOT_TO_BE_HAD}: {why}",
                repository.name
            ));
            repository.fate = Fate::dropped(NOT_TO_BE_HAD, why);
            store.put_found(self.id, &repository, &[]).await?;
        }
        Ok(())
    }

    async fn examine_repository(
        &self,
        mut repository: CuratedRepository,
    ) -> Result<Option<Unreachable>> {
        self.check_not_stopped()?;
        let examined = self.examine(&mut repository).await;
        self.check_not_stopped()?;
        let candidates = match examined {
            Ok(candidates) => candidates,
            Err(Unexamined::Dropped(fate)) => {
                repository.fate = fate;
                Vec::new()
            }
            Err(Unexamined::Unreachable(why)) => {
                (self.say)(format!("{}: does not answer: {why}", repository.name));
                return Ok(Some((repository, why)));
            }
            Err(Unexamined::Machine(error)) => return Err(error),
        };
        let result = match &repository.fate {
            Fate::Dropped { reason, detail } => format!("dropped, {reason}: {detail}"),
            _ => format!(
                "{} commits, {} candidates",
                repository.commits,
                candidates.len()
            ),
        };
        (self.say)(format!("{}: {result}", repository.name));
        let store = self.curations.store;
        store.put_found(self.id, &repository, &candidates).await?;
        Ok(None)
    }

    /// The candidates of a repository, or why it has none.
    async fn examine(
        &self,
        repository: &mut CuratedRepository,
    ) -> std::result::Result<Vec<CandidateRow>, Unexamined> {
        let folder = repository_folder(&self.home, repository.position);
        let origin = serde_json::from_str(&repository.source);
        let origin: Origin = origin.map_err(|e| Unexamined::unreadable(e.into()))?;
        let fetched = self.fetcher.fetch(&origin, &folder).await;
        fetched.map_err(Unexamined::not_fetched)?;
        let branch = match &origin {
            Origin::Git { branch, .. } => branch.clone(),
            // Its first commit is checked out; the branch has all of them.
            Origin::Package { .. } => Some("main".to_owned()),
        };
        let (stop, rules) = (self.stop.clone(), self.plan.spans.clone());
        let collect = self.plan.collect.clone();
        let bases = self.bases.clone();
        let examined = blocking(move || {
            let watch = |_| match stop.is_cancelled() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            };
            let facts = facts(&folder, branch.as_deref().unwrap_or("HEAD"), &watch)?;
            let refusals = collect.refuse(&facts);
            let report = || spans(&folder, branch.as_deref(), &rules, &watch);
            let report = refusals.is_empty().then(report).transpose()?;
            let infeasible = match &report {
                Some(report) => infeasible(&folder, &report.kept, &bases)?,
                None => Vec::new(),
            };
            Ok((facts, refusals, report, infeasible))
        });
        let (facts, refusals, report, infeasible) =
            examined.await.map_err(Unexamined::unreadable)?;
        let licences = facts.licences.iter().map(|l| l.spdx.as_str());
        // Several files may carry the same one.
        let licences: Vec<&str> = licences.collect::<BTreeSet<_>>().into_iter().collect();
        repository.licence = licences.first().map(|_| licences.join(" AND "));
        repository.commits = as_u32(facts.commits);
        let Some(mut report) = report else {
            let all: Vec<String> = refusals.iter().map(ToString::to_string).collect();
            let reason = refusals.first().map_or("refused", |first| first.name());
            let dropped = Fate::dropped(reason, all.join("; "));
            return Err(Unexamined::Dropped(dropped));
        };
        let mut dropped: Vec<(String, u32)> = Vec::new();
        if report.singles > 0 {
            dropped.push(("a single commit".into(), as_u32(report.singles)));
        }
        for (reason, n) in report.reasons() {
            dropped.push((reason.replace('_', " "), as_u32(n)));
        }
        let mut reasons = infeasible.iter();
        report
            .kept
            .retain(|_| reasons.next().is_none_or(Option::is_none));
        let reasons = infeasible.iter().flatten().copied();
        dropped.extend(counted(reasons));
        let most = self.plan.limits.candidates_per_repository;
        if let Some(rest @ 1..) = report.kept.len().checked_sub(most) {
            dropped.push(("beyond the largest of its repository".into(), as_u32(rest)));
        }
        repository.spans = Some(dropped);
        repository.fate = Fate::Survived;
        let spans = report.kept.iter().take(most);
        Ok(spans.map(|found| candidate(repository, found)).collect())
    }
}

/// Why no environment can be made for the target of each span, if none can: the
/// largest are kept of those that are left.
fn infeasible(
    folder: &Path,
    kept: &[KeptSpan],
    bases: &BaseImages,
) -> anyhow::Result<Vec<Option<&'static str>>> {
    let repository = open_repository(folder)?;
    let reason = |found: &KeptSpan| {
        let span = &found.span;
        let files = project_files(&repository, repository.commit(&span.target)?)?;
        let configuration = Configuration::read(&files);
        if configuration.compiled.is_some() {
            return Ok(Some(COMPILED));
        }
        let time = Timestamp::from_second(span.target_time);
        let time = time.context("no calendar has the time of the target")?;
        let day = time.to_zoned(TimeZone::UTC).date();
        let chosen = python::choose(&configuration, bases, day);
        Ok(chosen.err().map(|why| why.name()))
    };
    kept.iter().map(reason).collect()
}

/// Why a repository has no candidates.
enum Unexamined {
    Dropped(Fate),
    /// It waits for another try.
    Unreachable(String),
    Machine(Error),
}

impl Unexamined {
    fn not_fetched(failure: FetchFailure) -> Self {
        match failure {
            FetchFailure::Machine(why) => Self::Machine(unavailable(why)),
            FetchFailure::Unreachable(why) => Self::Unreachable(format!("{why:#}")),
            FetchFailure::Repository(why) => {
                Self::Dropped(Fate::dropped(NOT_TO_BE_HAD, format!("{why:#}")))
            }
        }
    }

    fn unreadable(error: anyhow::Error) -> Self {
        match unreadable(error) {
            Ok(fate) => Self::Dropped(fate),
            Err(error) => Self::Machine(error),
        }
    }
}

/// Whether a repository of a curation was fetched: then the network works.
fn was_fetched(repository: &CuratedRepository) -> bool {
    match &repository.fate {
        Fate::Waiting => false,
        Fate::Survived => true,
        Fate::Dropped { reason, .. } => reason != NOT_TO_BE_HAD,
    }
}

fn candidate(repository: &CuratedRepository, found: &KeptSpan) -> CandidateRow {
    let KeptSpan { span, changes } = found;
    let [base, target] = [&span.base, &span.target].map(|sha| &sha[..7.min(sha.len())]);
    CandidateRow {
        task_id: format!("{}__{base}__{target}", repository.name),
        repository: repository.position,
        base_sha: span.base.clone(),
        target_sha: span.target.clone(),
        commits: as_u32(span.commits),
        days: span.days,
        modified_lines: as_u32(changes.total().modified()),
        environment: Fate::Waiting,
        filtered: Fate::Waiting,
        image: String::new(),
        attempts: Vec::new(),
        prepared: None,
    }
}
