//! The kinds of columns that tables have.

use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_base::clock::rfc3339;
use swe_ci_base::error::Result;
use swe_ci_core::run::{Progress, RunConfig};
use swe_ci_core::task::TaskId;

use crate::from_json;

/// Reads a column by its name.
pub(crate) trait Columns {
    fn count(&self, column: &str) -> Result<u32>;
    /// 0 when it is negative.
    fn number(&self, column: &str) -> Result<u64>;
    fn optional_number(&self, column: &str) -> Result<Option<u64>>;
    /// Whether it has a value.
    fn is_set(&self, column: &str) -> Result<bool>;
    /// A moment in RFC 3339.
    fn time(&self, column: &str) -> Result<String>;
    fn optional_time(&self, column: &str) -> Result<Option<String>>;
    /// `None` for the empty string.
    fn optional_text(&self, column: &str) -> Result<Option<String>>;
    /// JSON that holds `what`.
    fn json<T: DeserializeOwned>(&self, column: &str, what: &str) -> Result<T>;
    /// JSON that holds `what`; `None` for NULL and the empty string.
    fn optional_json<T: DeserializeOwned>(&self, column: &str, what: &str) -> Result<Option<T>>;
    /// The name of `what`.
    fn named<T>(
        &self,
        column: &str,
        what: &str,
        from_name: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T>;
}

impl Columns for AnyRow {
    fn count(&self, column: &str) -> Result<u32> {
        Ok(u32::try_from(self.try_get::<i64, _>(column)?).unwrap_or(0))
    }

    fn number(&self, column: &str) -> Result<u64> {
        Ok(u64::try_from(self.try_get::<i64, _>(column)?).unwrap_or(0))
    }

    fn optional_number(&self, column: &str) -> Result<Option<u64>> {
        let number: Option<i64> = self.try_get(column)?;
        Ok(number.and_then(|number| u64::try_from(number).ok()))
    }

    fn is_set(&self, column: &str) -> Result<bool> {
        Ok(self.try_get::<Option<i64>, _>(column)?.is_some())
    }

    fn time(&self, column: &str) -> Result<String> {
        Ok(rfc3339(self.try_get(column)?))
    }

    fn optional_time(&self, column: &str) -> Result<Option<String>> {
        Ok(self.try_get::<Option<i64>, _>(column)?.map(rfc3339))
    }

    fn optional_text(&self, column: &str) -> Result<Option<String>> {
        let text: Option<String> = self.try_get(column)?;
        Ok(text.filter(|text| !text.is_empty()))
    }

    fn json<T: DeserializeOwned>(&self, column: &str, what: &str) -> Result<T> {
        from_json(what, &self.try_get::<String, _>(column)?)
    }

    fn optional_json<T: DeserializeOwned>(&self, column: &str, what: &str) -> Result<Option<T>> {
        let json = self.optional_text(column)?;
        json.map(|json| from_json(what, &json)).transpose()
    }

    fn named<T>(
        &self,
        column: &str,
        what: &str,
        from_name: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T> {
        let name: String = self.try_get(column)?;
        from_name(&name)
            .ok_or_else(|| anyhow::anyhow!("the database holds the {what} `{name}`").into())
    }
}

pub(crate) fn read_task_id(row: &AnyRow, column: &str) -> Result<TaskId> {
    let id: String = row.try_get(column)?;
    Ok(TaskId::new(id).map_err(anyhow::Error::new)?)
}

pub(crate) fn read_config(row: &AnyRow) -> Result<RunConfig> {
    row.json("config", "a run's configuration")
}

pub(crate) fn read_progress(row: &AnyRow) -> Result<Progress> {
    row.named("progress", "progress", Progress::from_name)
}
