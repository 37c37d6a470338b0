//! Rows of keys.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_base::error::Result;

/// A key without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRow {
    pub name: String,
    pub created_at: i64,
    pub changed_at: i64,
    pub used_at: Option<i64>,
}

pub(crate) fn read_key(row: &AnyRow) -> Result<KeyRow> {
    Ok(KeyRow {
        name: row.try_get("name")?,
        created_at: row.try_get("created_at")?,
        changed_at: row.try_get("changed_at")?,
        used_at: row.try_get("used_at")?,
    })
}
