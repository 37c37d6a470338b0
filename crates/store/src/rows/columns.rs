//! The kinds of columns that tables have.

use anyhow::Context;
use serde::de::DeserializeOwned;
use sqlx::any::AnyRow;
use sqlx::{Any, Decode, Row, Type};
use swe_ci_base::clock::rfc3339;
use swe_ci_base::error::Result;
use swe_ci_core::run::{Progress, RunConfig};
use swe_ci_core::task::TaskId;

/// Reads columns by their names.
pub(crate) trait Columns {
    fn read<'r, T: Decode<'r, Any> + Type<Any>>(&'r self, column: &str) -> Result<T>;

    fn count(&self, column: &str) -> Result<u32> {
        Ok(crate::count(self.read(column)?))
    }

    /// 0 when it is negative.
    fn number(&self, column: &str) -> Result<u64> {
        Ok(u64::try_from(self.read::<i64>(column)?).unwrap_or(0))
    }

    fn optional_number(&self, column: &str) -> Result<Option<u64>> {
        let number: Option<i64> = self.read(column)?;
        Ok(number.and_then(|number| u64::try_from(number).ok()))
    }

    /// Whether it has a value, a number.
    fn is_set(&self, column: &str) -> Result<bool> {
        Ok(self.read::<Option<i64>>(column)?.is_some())
    }

    /// A moment in RFC 3339.
    fn time(&self, column: &str) -> Result<String> {
        Ok(rfc3339(self.read(column)?))
    }

    fn optional_time(&self, column: &str) -> Result<Option<String>> {
        Ok(self.read::<Option<i64>>(column)?.map(rfc3339))
    }

    /// `None` for NULL and the empty string.
    fn optional_text(&self, column: &str) -> Result<Option<String>> {
        let text: Option<String> = self.read(column)?;
        Ok(text.filter(|text| !text.is_empty()))
    }

    /// JSON that holds `what`.
    fn json<T: DeserializeOwned>(&self, column: &str, what: &str) -> Result<T> {
        from_json(what, &self.read::<String>(column)?)
    }

    /// JSON that holds `what`; `None` for NULL and the empty string.
    fn optional_json<T: DeserializeOwned>(&self, column: &str, what: &str) -> Result<Option<T>> {
        let json = self.optional_text(column)?;
        json.map(|json| from_json(what, &json)).transpose()
    }

    /// The name of `what`.
    fn named<T>(
        &self,
        column: &str,
        what: &str,
        from_name: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T> {
        let name: String = self.read(column)?;
        from_name(&name)
            .ok_or_else(|| anyhow::anyhow!("the database holds the {what} `{name}`").into())
    }
}

impl Columns for AnyRow {
    fn read<'r, T: Decode<'r, Any> + Type<Any>>(&'r self, column: &str) -> Result<T> {
        Ok(self.try_get(column)?)
    }
}

fn from_json<T: DeserializeOwned>(what: &str, text: &str) -> Result<T> {
    Ok(serde_json::from_str(text)
        .with_context(|| format!("the database holds {what} that cannot be read"))?)
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
