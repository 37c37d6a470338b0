//! Columns that several tables share.

use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_base::error::Result;
use swe_ci_core::run::{Progress, RunConfig};
use swe_ci_core::task::TaskId;

use crate::from_json;

pub(crate) fn read_task_id(row: &AnyRow) -> Result<TaskId> {
    let id: String = row.try_get("task_id")?;
    Ok(TaskId::new(id).map_err(anyhow::Error::new)?)
}

pub(crate) fn read_config(row: &AnyRow) -> Result<RunConfig> {
    let config: String = row.try_get("config")?;
    from_json("a run's configuration", &config)
}

pub(crate) fn read_progress(row: &AnyRow) -> Result<Progress> {
    let name: String = row.try_get("progress")?;
    Progress::from_name(&name)
        .ok_or_else(|| anyhow::anyhow!("the database holds the progress `{name}`").into())
}

pub(crate) fn read_optional_count(row: &AnyRow, column: &str) -> Result<Option<u64>> {
    let count: Option<i64> = row.try_get(column)?;
    Ok(count.and_then(|n| u64::try_from(n).ok()))
}

pub(crate) fn read_json<T: DeserializeOwned>(row: &AnyRow, column: &'static str) -> Result<T> {
    from_json(column, &row.try_get::<String, _>(column)?)
}

pub(crate) fn read_optional_json<T: DeserializeOwned>(
    row: &AnyRow,
    column: &'static str,
) -> Result<Option<T>> {
    match row.try_get::<String, _>(column)?.as_str() {
        "" => Ok(None),
        text => Ok(Some(from_json(column, text)?)),
    }
}
