//! Curations, their repositories and candidates.

use serde::Serialize;
use sqlx::any::AnyRow;
use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_views::account::Actor;
use swe_ci_views::curation::{BuildAttempt, CurationState, Fate, Stage, StageCount, funnel};

use super::audit::{note, note_and_commit};
use super::rows::columns::{Columns, from_row};
use super::rows::tasks::TaskRow;
use super::sql::{Tx, query};
use super::{Store, to_json};

/// A curation.
#[derive(Debug, Clone, PartialEq)]
pub struct CurationRow {
    pub id: String,
    pub split: String,
    /// As TOML.
    pub plan: String,
    pub state: CurationState,
    /// In unix milliseconds.
    pub created_at: i64,
    pub finished_at: Option<i64>,
    /// When a person decided about its tasks, in unix milliseconds.
    pub reviewed_at: Option<i64>,
}

/// A repository of a curation.
#[derive(Debug, Clone, PartialEq)]
pub struct CuratedRepository {
    pub position: u32,
    pub name: String,
    /// Its origin, as JSON.
    pub source: String,
    pub fate: Fate,
    pub licence: Option<String>,
    pub commits: u32,
    /// Why parts of its history yielded no candidates, with counts; `None`
    /// before the search.
    pub spans: Option<Vec<(String, u32)>>,
}

/// A candidate of a curation.
#[derive(Debug, Clone)]
pub struct CandidateRow {
    pub task_id: String,
    /// Position of its repository.
    pub repository: u32,
    pub base_sha: String,
    pub target_sha: String,
    pub commits: u32,
    pub days: f64,
    pub modified_lines: u32,
    pub environment: Fate,
    pub filtered: Fate,
    /// Content digest; empty before it is built.
    pub image: String,
    pub attempts: Vec<BuildAttempt>,
    /// The task as it was tested.
    pub prepared: Option<TaskRow>,
}

impl Store {
    pub async fn put_curation(&self, id: &str, split: &str, plan: &str, by: &Actor) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        let account = by.identity().map(|who| who.account_id.as_str());
        query(
            "INSERT INTO curations (id, split, plan, state, reason, account_id, created_at)
             VALUES ($1, $2, $3, 'queued', '', $4, $5)",
        )
        .with((id, split, plan, account, now_ms()))
        .run(&mut *tx)
        .await?;
        note_and_commit(tx, by, "dataset.curate", id, &format!("split {split}")).await
    }

    /// Cancels a curation that is not over; returns whether there was one.
    pub async fn cancel_curation(&self, id: &str, by: &Actor) -> Result<bool> {
        let mut tx = self.pool.begin().await?;
        let ended = query(
            "UPDATE curations SET state = 'cancelled', finished_at = $1
             WHERE id = $2 AND state IN ('queued', 'running', 'in_review')",
        )
        .with((now_ms(), id))
        .changed(&mut *tx)
        .await?;
        if ended > 0 {
            note(&mut tx, by, "dataset.curate.cancel", id, "").await?;
        }
        tx.commit().await?;
        Ok(ended > 0)
    }

    pub async fn curation(&self, id: &str) -> Result<CurationRow> {
        query("SELECT * FROM curations WHERE id = $1")
            .with(id)
            .first(&self.pool, read_curation)
            .await?
            .ok_or_else(|| Error::not_found("curation", id))
    }

    /// All curations, newest first.
    pub async fn curations(&self) -> Result<Vec<CurationRow>> {
        query("SELECT * FROM curations ORDER BY created_at DESC, id DESC")
            .all(&self.pool, read_curation)
            .await
    }

    /// The oldest curation that is not over.
    pub async fn next_curation(&self) -> Result<Option<CurationRow>> {
        query(
            "SELECT * FROM curations WHERE state IN ('queued', 'running') ORDER BY created_at, id LIMIT 1",
        )
        .first(&self.pool, read_curation)
        .await
    }

    /// Records a person's decision about the tasks of a curation in review: drops
    /// some, with the reasons, accepts the others, and queues it to be published.
    /// Returns whether it was in review.
    pub async fn decide_curation(
        &self,
        id: &str,
        decided: &[CandidateRow],
        by: &Actor,
    ) -> Result<bool> {
        let mut tx = self.pool.begin().await?;
        let moved = query(
            "UPDATE curations SET state = 'queued', reviewed_at = $1
             WHERE id = $2 AND state = 'in_review'",
        )
        .with((now_ms(), id))
        .changed(&mut *tx)
        .await?;
        if moved == 0 {
            return Ok(false);
        }
        for candidate in decided {
            query(
                "UPDATE curation_candidates SET filtered = $1
                 WHERE curation_id = $2 AND task_id = $3",
            )
            .with((to_json(&candidate.filtered)?, id, &candidate.task_id))
            .run(&mut *tx)
            .await?;
        }
        let accepted = decided.iter().filter(|c| c.filtered == Fate::Survived);
        let detail = format!("{} of {} tasks accepted", accepted.count(), decided.len());
        note_and_commit(tx, by, "dataset.curate.review", id, &detail).await?;
        Ok(true)
    }

    /// Changes the state of a curation unless it is over or in review; returns
    /// whether it did.
    pub async fn move_curation(&self, id: &str, state: &CurationState) -> Result<bool> {
        let reason = match state {
            CurationState::Failed { reason } => reason.as_str(),
            _ => "",
        };
        let moved = query(
            "UPDATE curations SET state = $1, reason = $2, finished_at = $3
             WHERE id = $4 AND state IN ('queued', 'running')",
        )
        .with((state.name(), reason, state.is_over().then(now_ms), id))
        .unprepared()
        .changed(&self.pool)
        .await?;
        Ok(moved > 0)
    }

    /// Records the repositories of a curation; those already recorded stay.
    pub async fn put_curated_repositories(
        &self,
        curation: &str,
        repositories: &[(String, String)],
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        for (position, (name, source)) in (0i64..).zip(repositories) {
            query(
                "INSERT INTO curation_repositories (curation_id, position, name, source, fate, licence, commits, spans)
                 VALUES ($1, $2, $3, $4, $5, '', 0, '') ON CONFLICT (curation_id, position) DO NOTHING",
            )
            .with((curation, position, name, source, to_json(&Fate::Waiting)?))
            .run(&mut *tx)
            .await?;
        }
        tx.commit().await?;
        Ok(())
    }

    pub async fn curated_repositories(&self, curation: &str) -> Result<Vec<CuratedRepository>> {
        query("SELECT * FROM curation_repositories WHERE curation_id = $1 ORDER BY position")
            .with(curation)
            .all(&self.pool, read_curated_repository)
            .await
    }

    /// Records the findings for a repository, and its candidates, in one
    /// transaction.
    pub async fn put_found(
        &self,
        curation: &str,
        repository: &CuratedRepository,
        candidates: &[CandidateRow],
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        query(
            "UPDATE curation_repositories SET fate = $1, licence = $2, commits = $3, spans = $4
             WHERE curation_id = $5 AND position = $6",
        )
        .with(to_json(&repository.fate)?)
        .with(repository.licence.as_deref().unwrap_or_default())
        .with((repository.commits, to_text(repository.spans.as_ref())?))
        .with((curation, repository.position))
        .run(&mut *tx)
        .await?;
        for candidate in candidates {
            insert_candidate(&mut tx, curation, candidate).await?;
        }
        tx.commit().await?;
        Ok(())
    }

    pub async fn candidates(&self, curation: &str) -> Result<Vec<CandidateRow>> {
        query(
            "SELECT * FROM curation_candidates WHERE curation_id = $1
             ORDER BY modified_lines DESC, task_id",
        )
        .with(curation)
        .all(&self.pool, read_candidate)
        .await
    }

    /// Records the progress of a candidate.
    pub async fn put_candidate(&self, curation: &str, candidate: &CandidateRow) -> Result<()> {
        query(
            "UPDATE curation_candidates SET environment = $1, filtered = $2, image = $3, attempts = $4, prepared = $5
             WHERE curation_id = $6 AND task_id = $7",
        )
        .with(to_json(&candidate.environment)?)
        .with((to_json(&candidate.filtered)?, &candidate.image))
        .with(to_json(&candidate.attempts)?)
        .with((to_text(candidate.prepared.as_ref())?, curation))
        .with(&candidate.task_id)
        .run(&self.pool)
        .await
    }
}

async fn insert_candidate(tx: &mut Tx, curation: &str, candidate: &CandidateRow) -> Result<()> {
    query(
        "INSERT INTO curation_candidates (curation_id, task_id, repository, base_sha, target_sha, commits, days,
                                          modified_lines, environment, filtered, image, attempts, prepared)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
         ON CONFLICT (curation_id, task_id) DO NOTHING",
    )
    .with((curation, &candidate.task_id, candidate.repository))
    .with((&candidate.base_sha, &candidate.target_sha))
    .with((candidate.commits, candidate.days))
    .with((candidate.modified_lines, to_json(&candidate.environment)?))
    .with((to_json(&candidate.filtered)?, &candidate.image))
    .with(to_json(&candidate.attempts)?)
    .with(to_text(candidate.prepared.as_ref())?)
    .run(tx)
    .await
}

/// JSON, or the empty string for `None`.
fn to_text<T: Serialize>(value: Option<&T>) -> Result<String> {
    value.map_or(Ok(String::new()), to_json)
}

fn read_curation(row: &AnyRow) -> Result<CurationRow> {
    Ok(from_row!(row => CurationRow {
        id, split, plan, created_at, finished_at, reviewed_at;
        state: match row.read::<String>("state")?.as_str() {
            "queued" => CurationState::Queued,
            "running" => CurationState::Running,
            "in_review" => CurationState::InReview,
            "finished" => CurationState::Finished,
            "cancelled" => CurationState::Cancelled,
            _ => CurationState::Failed { reason: row.read("reason")? },
        }
    }))
}

fn read_curated_repository(row: &AnyRow) -> Result<CuratedRepository> {
    Ok(from_row!(row => CuratedRepository {
        position, name, source, commits;
        fate: row.json("fate", "fate")?,
        licence: row.optional_text("licence")?,
        spans: row.optional_json("spans", "spans")?
    }))
}

fn read_candidate(row: &AnyRow) -> Result<CandidateRow> {
    Ok(from_row!(row => CandidateRow {
        task_id, repository, base_sha, target_sha, commits, days, modified_lines, image;
        environment: row.json("environment", "environment")?,
        filtered: row.json("filtered", "filtered")?,
        attempts: row.json("attempts", "attempts")?,
        prepared: row.optional_json("prepared", "prepared")?
    }))
}

/// The number of candidates at each stage, and their fates.
pub fn funnel_of(
    repositories: &[CuratedRepository],
    candidates: &[CandidateRow],
) -> Vec<StageCount> {
    let collected = repositories.iter().map(|r| (Stage::Collect, &r.fate));
    let dropped: Vec<Fate> = repositories
        .iter()
        .flat_map(|repository| repository.spans.iter().flatten())
        .flat_map(|(reason, n)| {
            let fate = Fate::dropped(reason.as_str(), "");
            std::iter::repeat_n(fate, *n as usize)
        })
        .collect();
    let survived = Fate::Survived;
    let spans = dropped.iter().chain(candidates.iter().map(|_| &survived));
    let spans = spans.map(|fate| (Stage::Spans, fate));
    let equipped = candidates
        .iter()
        .map(|c| (Stage::Environment, &c.environment));
    let filtered = candidates
        .iter()
        .filter(|c| c.environment == Fate::Survived);
    let filtered = filtered.map(|c| (Stage::Filter, &c.filtered));
    funnel(collected.chain(spans).chain(equipped).chain(filtered))
}
