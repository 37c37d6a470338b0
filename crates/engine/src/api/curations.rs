//! Curations: submitting, listing, cancelling.

use std::time::Duration;

use swe_ci_base::clock::rfc3339;
use swe_ci_base::error::{Error, Result};
use swe_ci_sandbox::{Sandbox, SweepScope};
use swe_ci_store::{CandidateRow, CuratedRepository, CurationRow, TaskRow, funnel_of};
use swe_ci_views::account::AccountRole;
use swe_ci_views::curation::{
    CandidateView, CurationDetail, CurationState, CurationSummary, DroppedByReview, Fate,
    PreparedCandidate, RepositoryView, Stage,
};

use swe_ci_curation::{Curations, Origin, Plan, Settings, Source, repository_name, tip};
use tokio_util::sync::CancellationToken;

use crate::api::worker::CURATIONS;
use crate::{Engine, Say, as_u32};

const MAX_CANDIDATES: usize = 500;
const MAX_REASON_CHARS: usize = 500;
/// How often a command looks whether it may carry out a curation.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

#[swe_ci_boxed::boxed]
impl Engine {
    /// Queues a plan; a working server executes it. Returns its id.
    ///
    /// # Errors
    /// [`Error::Forbidden`] for all but administrators: it builds images from
    /// foreign code. [`Error::Invalid`] with the plan's problems;
    /// [`Error::Conflict`] when the split exists.
    pub async fn submit_curation(&self, toml: &str) -> Result<String> {
        self.require(AccountRole::Admin)?;
        let plan = Plan::read(toml).map_err(Error::Invalid)?;
        let (split, store) = (plan.split, &self.store);
        let exists = self.splits().await?.iter().any(|s| s.name == split);
        let planned = |c: &CurationRow| c.split == split && !c.state.is_over();
        if exists || store.curations().await?.iter().any(planned) {
            return Err(Error::Conflict(format!(
                "there is a split `{split}` already; give the plan another name"
            )));
        }
        let id = uuid::Uuid::now_v7().to_string();
        store.put_curation(&id, &split, toml, self.by()).await?;
        Ok(id)
    }

    /// The curation that is a first look at a repository as it is now
    /// ([`Plan::first_look`]): the one that goes on or has made its split, or a new
    /// one. For administrators.
    ///
    /// # Errors
    /// [`Error::Invalid`] when there is no such repository, or why its server cannot
    /// be asked.
    pub async fn first_look(&self, address: &str, branch: Option<&str>) -> Result<String> {
        self.require(AccountRole::Admin)?;
        let source = Source {
            git: Some(address.to_owned()),
            branch: branch.map(str::to_owned),
            ..Source::default()
        };
        let name = repository_name(address);
        let draft = Plan::first_look(&format!("try-{name}"), source);
        let toml = draft.to_toml()?;
        Plan::read(&toml).map_err(Error::Invalid)?;
        let tip = tip(address, branch, &self.curation_settings()).await;
        let tip = tip.map_err(|why| Error::Invalid(format!("cannot read {address}: {why:#}")))?;
        let split = format!("try-{name}-{}", &tip[..tip.len().min(7)]);
        let exists = self.splits().await?.iter().any(|s| s.name == split);
        let mut earlier = self.store.curations().await?.into_iter();
        let goes_on = |row: &CurationRow| match row.state {
            CurationState::Finished => exists,
            _ => !row.state.is_over(),
        };
        if let Some(row) = earlier.find(|row| row.split == split && goes_on(row)) {
            return Ok(row.id);
        }
        self.submit_curation(&Plan { split, ..draft }.to_toml()?)
            .await
    }

    /// All curations, the newest first; for administrators.
    pub async fn curations(&self) -> Result<Vec<CurationSummary>> {
        self.require(AccountRole::Admin)?;
        let mut all = Vec::new();
        for row in self.store.curations().await? {
            all.push(self.curation_summary(row).await?.0);
        }
        Ok(all)
    }

    /// A curation with the result of every stage; for administrators, because
    /// the plan may name folders of the server.
    pub async fn curation(&self, id: &str) -> Result<CurationDetail> {
        self.require(AccountRole::Admin)?;
        let row = self.store.curation(id).await?;
        let plan = row.plan.clone();
        let (summary, repositories, candidates) = self.curation_summary(row).await?;
        let of = |position| candidates.iter().filter(move |c| c.repository == position);
        let shown = |repository: &CuratedRepository| RepositoryView {
            name: repository.name.clone(),
            source: source_in_words(&repository.source),
            fate: repository.fate.clone(),
            licence: repository.licence.clone(),
            commits: repository.commits,
            candidates: as_u32(of(repository.position).count()),
        };
        let name = |position: u32| {
            let found = repositories.iter().find(|r| r.position == position);
            found.map_or_else(String::new, |repository| repository.name.clone())
        };
        let mut views: Vec<CandidateView> = candidates
            .iter()
            .map(|candidate| view(candidate, name(candidate.repository)))
            .collect();
        // The furthest first; within a stage, dropped candidates last.
        let is_dropped = |view: &CandidateView| matches!(view.fate, Fate::Dropped { .. });
        views.sort_by_key(|view| (std::cmp::Reverse(view.stage), is_dropped(view)));
        views.truncate(MAX_CANDIDATES);
        Ok(CurationDetail {
            repositories: repositories.iter().map(shown).collect(),
            candidates: views,
            plan,
            summary,
        })
    }

    /// Cancels a curation; its results stay visible.
    ///
    /// # Errors
    /// [`Error::Forbidden`] for all but administrators; [`Error::Conflict`]
    /// when it is over.
    pub async fn cancel_curation(&self, id: &str) -> Result<()> {
        self.require(AccountRole::Admin)?;
        let row = self.store.curation(id).await?;
        match self.store.cancel_curation(&row.id, self.by()).await? {
            true => Ok(()),
            false => Err(Error::Conflict("the curation is over".into())),
        }
    }

    /// Publishes the tasks of a curation in review but those to be dropped; for
    /// administrators. A worker, or [`Self::curate`], writes the split.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a task that is not in review, or a drop without a
    /// reason; [`Error::Conflict`] when the curation is not in review.
    pub async fn publish_curation(&self, id: &str, dropped: &[DroppedByReview]) -> Result<()> {
        self.require(AccountRole::Admin)?;
        let row = self.store.curation(id).await?;
        let not_in_review = || {
            let state = row.state.name();
            Error::Conflict(format!("the curation is {state}, not in review"))
        };
        if row.state != CurationState::InReview {
            return Err(not_in_review());
        }
        let mut candidates = self.store.candidates(id).await?;
        candidates.retain(|c| c.prepared.is_some() && c.filtered == Fate::Waiting);
        for drop in dropped {
            let (task, reason) = (&drop.task, drop.reason.trim());
            if reason.is_empty() || reason.chars().count() > MAX_REASON_CHARS {
                return Err(Error::Invalid(format!(
                    "say why `{task}` is dropped, in 1 to {MAX_REASON_CHARS} characters"
                )));
            }
            let candidate = candidates.iter_mut().find(|c| c.task_id == *task);
            let candidate = candidate
                .ok_or_else(|| Error::Invalid(format!("no task `{task}` is in review")))?;
            candidate.filtered = Fate::dropped("dropped in review", reason);
        }
        for candidate in &mut candidates {
            if candidate.filtered == Fate::Waiting {
                candidate.filtered = Fate::Survived;
            }
        }
        let decided = self
            .store
            .decide_curation(id, &candidates, self.by())
            .await?;
        decided.then_some(()).ok_or_else(not_in_review)
    }

    /// Carries out a curation in this process until `stop`, or waits while
    /// another process does; for administrators. Returns its final state.
    ///
    /// # Errors
    /// The failure that interrupts it; another call resumes it.
    pub async fn curate(
        &self,
        id: &str,
        say: Say<'_>,
        stop: &CancellationToken,
    ) -> Result<CurationState> {
        self.require(AccountRole::Admin)?;
        let holder = format!("{}/{}", self.instance, uuid::Uuid::now_v7().simple());
        let mut reported = false;
        while !stop.is_cancelled() && !self.take_lease(CURATIONS, &holder).await? {
            let state = self.store.curation(id).await?.state;
            if state.rests() {
                return Ok(state);
            }
            if !reported {
                say("a worker carries it out; `/datasets` shows its progress".into());
                reported = true;
            }
            stop.run_until_cancelled(tokio::time::sleep(POLL_INTERVAL))
                .await;
        }
        let (settings, sandbox) = (self.curation_settings(), self.sandbox());
        let curations = self.carried_out_with(&settings, &*sandbox);
        let held = stop.child_token();
        let (ended, ()) = tokio::join!(
            async {
                let ended = curations.finish(id, say, &held).await;
                held.cancel();
                ended
            },
            self.keep_lease(CURATIONS, &holder, &held)
        );
        self.store.end_lease(CURATIONS, &holder).await?;
        if stop.is_cancelled()
            && let Err(error) = self.docker.sweep(SweepScope::ByAnyone).await
        {
            tracing::debug!("containers not removed at shutdown: {error:#}");
        }
        ended
    }

    /// Carries out queued curations until `stop`.
    pub(crate) async fn curate_queued(&self, stop: &CancellationToken) {
        let (settings, sandbox) = (self.curation_settings(), self.sandbox());
        self.carried_out_with(&settings, &*sandbox).work(stop).await;
    }

    fn carried_out_with<'a>(
        &'a self,
        settings: &'a Settings,
        sandbox: &'a dyn Sandbox,
    ) -> Curations<'a> {
        Curations {
            settings,
            store: &self.store,
            artifacts: &self.artifacts,
            sandbox,
            docker: &self.docker,
            images: &self.images,
            image_cache: &self.image_cache,
            folders: &self.folders,
        }
    }

    fn curation_settings(&self) -> Settings {
        let config = self.config();
        Settings {
            data: config.data.clone(),
            base_image: config.base_image.clone(),
            package_index: config.package_index.clone(),
            github_endpoint: config.github_endpoint.clone(),
            github_token: config.github_token.clone(),
            build_env: config.build_env.clone(),
            ca_bundle: config.ca_bundle.clone(),
            build_network_name: config.build_network_name.clone(),
        }
    }

    async fn curation_summary(
        &self,
        row: CurationRow,
    ) -> Result<(CurationSummary, Vec<CuratedRepository>, Vec<CandidateRow>)> {
        let repositories = self.store.curated_repositories(&row.id).await?;
        let candidates = self.store.candidates(&row.id).await?;
        let summary = CurationSummary {
            funnel: funnel_of(&repositories, &candidates),
            curation_id: row.id,
            split: row.split,
            state: row.state,
            created_at: rfc3339(row.created_at),
            reviewed_at: row.reviewed_at.map(rfc3339),
            finished_at: row.finished_at.map(rfc3339),
        };
        Ok((summary, repositories, candidates))
    }
}

fn view(candidate: &CandidateRow, repository: String) -> CandidateView {
    let (stage, fate) = match &candidate.environment {
        Fate::Survived => (Stage::Filter, &candidate.filtered),
        environment => (Stage::Environment, environment),
    };
    CandidateView {
        task: candidate.task_id.clone(),
        repository,
        base_sha: candidate.base_sha.clone(),
        target_sha: candidate.target_sha.clone(),
        commits: candidate.commits,
        days: candidate.days,
        modified_lines: candidate.modified_lines,
        stage,
        fate: fate.clone(),
        attempts: candidate.attempts.clone(),
        prepared: match fate {
            Fate::Waiting | Fate::Survived => candidate.prepared.as_ref().map(prepared),
            Fate::Dropped { .. } => None,
        },
    }
}

fn prepared(row: &TaskRow) -> PreparedCandidate {
    PreparedCandidate {
        target_passed: row.suite.counts.target,
        gap: row.suite.counts.gap(),
        preparation: row.preparation.clone(),
    }
}

fn source_in_words(json: &str) -> String {
    match serde_json::from_str(json) {
        Ok(Origin::Git { address, .. }) => shown_address(&address),
        Ok(Origin::Package { package, .. }) => format!("releases of {package}"),
        Err(_) => String::new(),
    }
}

/// Without user and password.
fn shown_address(address: &str) -> String {
    match address.split_once("://") {
        Some((scheme, rest)) => match rest.split_once('@') {
            Some((user, place)) if !user.contains('/') => format!("{scheme}://{place}"),
            _ => address.to_owned(),
        },
        None => address.to_owned(),
    }
}
