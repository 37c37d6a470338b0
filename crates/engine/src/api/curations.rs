//! Curations: submitting, listing, cancelling.

use swe_ci_base::clock::rfc3339;
use swe_ci_base::error::{Error, Result};
use swe_ci_store::{CandidateRow, CuratedRepository, CurationRow};
use swe_ci_views::account::AccountRole;
use swe_ci_views::curation::{
    CandidateView, CurationDetail, CurationSummary, Fate, RepositoryView, StageCount,
};

use crate::Engine;
use crate::curation::plan::Plan;
use crate::curation::views::{count, source_in_words, view};

/// The most candidates shown.
const MAX_CANDIDATES: usize = 500;

/// An example plan, with comments.
pub const EXAMPLE_PLAN: &str = include_str!("../curation/example.toml");

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
        let exists = self
            .splits()
            .await?
            .into_iter()
            .any(|split| split.name == plan.split);
        let planned = self.store.curations().await?;
        let planned = planned
            .iter()
            .any(|c| c.split == plan.split && !c.state.is_over());
        if exists || planned {
            return Err(Error::Conflict(format!(
                "there is a split `{}` already; give the plan another name",
                plan.split
            )));
        }
        let id = uuid::Uuid::now_v7().to_string();
        self.store
            .put_curation(&id, &plan.split, toml, self.by())
            .await?;
        Ok(id)
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
            candidates: u32::try_from(of(repository.position).count()).unwrap_or(u32::MAX),
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
        views.sort_by_key(|view| {
            (
                std::cmp::Reverse(view.stage),
                matches!(view.fate, Fate::Dropped { .. }),
            )
        });
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

    /// How many candidates of a curation passed or failed each stage.
    pub(crate) async fn funnel(&self, curation: &str) -> Result<Vec<StageCount>> {
        let store = &self.store;
        let repositories = store.curated_repositories(curation).await?;
        Ok(count(&repositories, &store.candidates(curation).await?))
    }

    async fn curation_summary(
        &self,
        row: CurationRow,
    ) -> Result<(CurationSummary, Vec<CuratedRepository>, Vec<CandidateRow>)> {
        let repositories = self.store.curated_repositories(&row.id).await?;
        let candidates = self.store.candidates(&row.id).await?;
        let summary = CurationSummary {
            funnel: count(&repositories, &candidates),
            curation_id: row.id,
            split: row.split,
            state: row.state,
            created_at: rfc3339(row.created_at),
            finished_at: row.finished_at.map(rfc3339),
        };
        Ok((summary, repositories, candidates))
    }
}
