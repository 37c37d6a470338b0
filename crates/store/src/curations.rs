//! Curations, their repositories and candidates.

use serde::Serialize;
use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_views::account::Actor;
use swe_ci_views::curation::{CurationState, Fate};

use super::audit::note;
use super::rows::curations::{
    CandidateRow, CuratedRepository, CurationRow, read_candidate, read_curated_repository,
    read_curation,
};
use super::{Store, to_json};

impl Store {
    pub async fn put_curation(&self, id: &str, split: &str, plan: &str, by: &Actor) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        let account = by.identity().map(|who| who.account_id.as_str());
        sqlx::query(
            "INSERT INTO curations (id, split, plan, state, reason, account_id, created_at)
             VALUES ($1, $2, $3, 'queued', '', $4, $5)",
        )
        .bind(id)
        .bind(split)
        .bind(plan)
        .bind(account)
        .bind(now_ms())
        .execute(&mut *tx)
        .await?;
        note(&mut tx, by, "dataset.curate", id, &format!("split {split}")).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Cancels a curation that is not over; returns whether there was one.
    pub async fn cancel_curation(&self, id: &str, by: &Actor) -> Result<bool> {
        let mut tx = self.pool.begin().await?;
        let ended = sqlx::query(
            "UPDATE curations SET state = 'cancelled', finished_at = $1
             WHERE id = $2 AND state IN ('queued', 'running')",
        )
        .bind(now_ms())
        .bind(id)
        .execute(&mut *tx)
        .await?;
        let ended = ended.rows_affected() > 0;
        if ended {
            note(&mut tx, by, "dataset.curate.cancel", id, "").await?;
        }
        tx.commit().await?;
        Ok(ended)
    }

    pub async fn curation(&self, id: &str) -> Result<CurationRow> {
        let row = sqlx::query("SELECT * FROM curations WHERE id = $1")
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
        let row = row.ok_or_else(|| Error::not_found("curation", id))?;
        read_curation(&row)
    }

    /// All curations, newest first.
    pub async fn curations(&self) -> Result<Vec<CurationRow>> {
        let rows = sqlx::query("SELECT * FROM curations ORDER BY created_at DESC, id DESC")
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(read_curation).collect()
    }

    /// The oldest curation that is not over.
    pub async fn next_curation(&self) -> Result<Option<CurationRow>> {
        let row = sqlx::query(
            "SELECT * FROM curations WHERE state IN ('queued', 'running') ORDER BY created_at, id LIMIT 1",
        );
        let row = row.fetch_optional(&self.pool).await?;
        row.as_ref().map(read_curation).transpose()
    }

    /// Changes the state of a curation unless it is over; returns whether it
    /// did.
    pub async fn move_curation(&self, id: &str, state: &CurationState) -> Result<bool> {
        let reason = match state {
            CurationState::Failed { reason } => reason.as_str(),
            _ => "",
        };
        let moved = sqlx::query(
            "UPDATE curations SET state = $1, reason = $2, finished_at = $3
             WHERE id = $4 AND state IN ('queued', 'running')",
        )
        .bind(state.name())
        .bind(reason)
        .bind(state.is_over().then(now_ms))
        .bind(id)
        .persistent(false)
        .execute(&self.pool)
        .await?;
        Ok(moved.rows_affected() > 0)
    }

    /// Records the repositories of a curation; those already recorded stay.
    pub async fn put_curated_repositories(
        &self,
        curation: &str,
        repositories: &[(String, String)],
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        for (position, (name, source)) in (0i64..).zip(repositories) {
            sqlx::query(
                "INSERT INTO curation_repositories (curation_id, position, name, source, fate, licence, commits, spans)
                 VALUES ($1, $2, $3, $4, $5, '', 0, '') ON CONFLICT (curation_id, position) DO NOTHING",
            )
            .bind(curation)
            .bind(position)
            .bind(name)
            .bind(source)
            .bind(to_json(&Fate::Waiting)?)
            .execute(&mut *tx)
            .await?;
        }
        tx.commit().await?;
        Ok(())
    }

    pub async fn curated_repositories(&self, curation: &str) -> Result<Vec<CuratedRepository>> {
        let rows = sqlx::query(
            "SELECT * FROM curation_repositories WHERE curation_id = $1 ORDER BY position",
        );
        let rows = rows.bind(curation).fetch_all(&self.pool).await?;
        rows.iter().map(read_curated_repository).collect()
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
        sqlx::query(
            "UPDATE curation_repositories SET fate = $1, licence = $2, commits = $3, spans = $4
             WHERE curation_id = $5 AND position = $6",
        )
        .bind(to_json(&repository.fate)?)
        .bind(repository.licence.as_deref().unwrap_or_default())
        .bind(i64::from(repository.commits))
        .bind(to_text(repository.spans.as_ref())?)
        .bind(curation)
        .bind(i64::from(repository.position))
        .execute(&mut *tx)
        .await?;
        for candidate in candidates {
            insert_candidate(&mut tx, curation, candidate).await?;
        }
        tx.commit().await?;
        Ok(())
    }

    pub async fn candidates(&self, curation: &str) -> Result<Vec<CandidateRow>> {
        let rows = sqlx::query(
            "SELECT * FROM curation_candidates WHERE curation_id = $1
             ORDER BY modified_lines DESC, task_id",
        );
        let rows = rows.bind(curation).fetch_all(&self.pool).await?;
        rows.iter().map(read_candidate).collect()
    }

    /// Records the progress of a candidate.
    pub async fn put_candidate(&self, curation: &str, candidate: &CandidateRow) -> Result<()> {
        sqlx::query(
            "UPDATE curation_candidates SET environment = $1, filtered = $2, image = $3, attempts = $4, prepared = $5
             WHERE curation_id = $6 AND task_id = $7",
        )
        .bind(to_json(&candidate.environment)?)
        .bind(to_json(&candidate.filtered)?)
        .bind(&candidate.image)
        .bind(to_json(&candidate.attempts)?)
        .bind(to_text(candidate.prepared.as_ref())?)
        .bind(curation)
        .bind(&candidate.task_id)
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}

async fn insert_candidate(
    tx: &mut sqlx::AnyConnection,
    curation: &str,
    candidate: &CandidateRow,
) -> Result<()> {
    sqlx::query(
        "INSERT INTO curation_candidates (curation_id, task_id, repository, base_sha, target_sha, commits, days,
                                          modified_lines, environment, filtered, image, attempts, prepared)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
         ON CONFLICT (curation_id, task_id) DO NOTHING",
    )
    .bind(curation)
    .bind(&candidate.task_id)
    .bind(i64::from(candidate.repository))
    .bind(&candidate.base_sha)
    .bind(&candidate.target_sha)
    .bind(i64::from(candidate.commits))
    .bind(candidate.days)
    .bind(i64::from(candidate.modified_lines))
    .bind(to_json(&candidate.environment)?)
    .bind(to_json(&candidate.filtered)?)
    .bind(&candidate.image)
    .bind(to_json(&candidate.attempts)?)
    .bind(to_text(candidate.prepared.as_ref())?)
    .execute(tx)
    .await?;
    Ok(())
}

/// JSON, or the empty string for `None`.
fn to_text<T: Serialize>(value: Option<&T>) -> Result<String> {
    value.map_or(Ok(String::new()), to_json)
}
