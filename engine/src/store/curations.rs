//! Curations, their repositories and candidates.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_core::account::Actor;
use swe_ci_core::curation::{BuildAttempt, CurationState, Fate};

use super::audit::note;
use super::{Store, TaskRow, count, from_json, to_json};
use crate::clock::now_ms;
use crate::error::{Error, Result};

/// A curation as it stands in the store.
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
}

/// A repository that came into a curation.
#[derive(Debug, Clone, PartialEq)]
pub struct CuratedRepository {
    pub position: u32,
    pub name: String,
    /// Where it is fetched from, as JSON.
    pub source: String,
    pub fate: Fate,
    pub licence: Option<String>,
    pub commits: u32,
    /// Why stretches of its history became no candidates, with counts; `None`
    /// before they were looked for.
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
    /// Content digest; empty before there is one.
    pub image: String,
    pub attempts: Vec<BuildAttempt>,
    /// The task as it was tested.
    pub prepared: Option<TaskRow>,
}

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

    /// Ends a curation that is not over. Whether there was one.
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

    /// All of them, the newest first.
    pub async fn curations(&self) -> Result<Vec<CurationRow>> {
        let rows = sqlx::query("SELECT * FROM curations ORDER BY created_at DESC, id DESC")
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(read_curation).collect()
    }

    /// The oldest that is not over.
    pub async fn next_curation(&self) -> Result<Option<CurationRow>> {
        let row = sqlx::query(
            "SELECT * FROM curations WHERE state IN ('queued', 'running') ORDER BY created_at, id LIMIT 1",
        );
        let row = row.fetch_optional(&self.pool).await?;
        row.as_ref().map(read_curation).transpose()
    }

    /// Moves a curation on; one that is over stays as it is. Whether it moved.
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

    /// Writes down the repositories of a curation, once.
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
        let read = |row: &AnyRow| {
            let licence: String = row.try_get("licence")?;
            Ok(CuratedRepository {
                position: count(row.try_get("position")?),
                name: row.try_get("name")?,
                source: row.try_get("source")?,
                fate: json(row, "fate")?,
                licence: Some(licence).filter(|licence| !licence.is_empty()),
                commits: count(row.try_get("commits")?),
                spans: json_or_none(row, "spans")?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// Writes down what was found of a repository, and its candidates, in one
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
        let read = |row: &AnyRow| {
            Ok(CandidateRow {
                task_id: row.try_get("task_id")?,
                repository: count(row.try_get("repository")?),
                base_sha: row.try_get("base_sha")?,
                target_sha: row.try_get("target_sha")?,
                commits: count(row.try_get("commits")?),
                days: row.try_get("days")?,
                modified_lines: count(row.try_get("modified_lines")?),
                environment: json(row, "environment")?,
                filtered: json(row, "filtered")?,
                image: row.try_get("image")?,
                attempts: json(row, "attempts")?,
                prepared: json_or_none(row, "prepared")?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// Writes down how far a candidate is.
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

fn read_curation(row: &AnyRow) -> Result<CurationRow> {
    let state: String = row.try_get("state")?;
    Ok(CurationRow {
        id: row.try_get("id")?,
        split: row.try_get("split")?,
        plan: row.try_get("plan")?,
        state: match state.as_str() {
            "queued" => CurationState::Queued,
            "running" => CurationState::Running,
            "finished" => CurationState::Finished,
            "cancelled" => CurationState::Cancelled,
            _ => CurationState::Failed {
                reason: row.try_get("reason")?,
            },
        },
        created_at: row.try_get("created_at")?,
        finished_at: row.try_get("finished_at")?,
    })
}

fn json<T: DeserializeOwned>(row: &AnyRow, column: &'static str) -> Result<T> {
    from_json(column, &row.try_get::<String, _>(column)?)
}

fn json_or_none<T: DeserializeOwned>(row: &AnyRow, column: &'static str) -> Result<Option<T>> {
    match row.try_get::<String, _>(column)?.as_str() {
        "" => Ok(None),
        text => Ok(Some(from_json(column, text)?)),
    }
}

/// What is not there is an empty text.
fn to_text<T: Serialize>(value: Option<&T>) -> Result<String> {
    value.map_or(Ok(String::new()), to_json)
}
