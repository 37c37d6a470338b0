//! Rows of curations, their repositories and candidates.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_base::error::Result;
use swe_ci_views::curation::{BuildAttempt, CurationState, Fate};

use super::columns::{read_json, read_optional_json};
use super::tasks::TaskRow;
use crate::count;

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

pub(crate) fn read_curation(row: &AnyRow) -> Result<CurationRow> {
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

pub(crate) fn read_curated_repository(row: &AnyRow) -> Result<CuratedRepository> {
    let licence: String = row.try_get("licence")?;
    Ok(CuratedRepository {
        position: count(row.try_get("position")?),
        name: row.try_get("name")?,
        source: row.try_get("source")?,
        fate: read_json(row, "fate")?,
        licence: Some(licence).filter(|licence| !licence.is_empty()),
        commits: count(row.try_get("commits")?),
        spans: read_optional_json(row, "spans")?,
    })
}

pub(crate) fn read_candidate(row: &AnyRow) -> Result<CandidateRow> {
    Ok(CandidateRow {
        task_id: row.try_get("task_id")?,
        repository: count(row.try_get("repository")?),
        base_sha: row.try_get("base_sha")?,
        target_sha: row.try_get("target_sha")?,
        commits: count(row.try_get("commits")?),
        days: row.try_get("days")?,
        modified_lines: count(row.try_get("modified_lines")?),
        environment: read_json(row, "environment")?,
        filtered: read_json(row, "filtered")?,
        image: row.try_get("image")?,
        attempts: read_json(row, "attempts")?,
        prepared: read_optional_json(row, "prepared")?,
    })
}
