//! The kinds of columns that tables have.

use anyhow::{Context, anyhow};
use serde::de::DeserializeOwned;
use sqlx::any::AnyRow;
use sqlx::{ColumnIndex, Row};
use swe_ci_base::clock::rfc3339;
use swe_ci_base::error::Result;
use swe_ci_core::finding::Decision;
use swe_ci_core::outcomes::{Outcomes, TestList};
use swe_ci_core::permissions::Reach;
use swe_ci_core::run::{Progress, RunConfig};
use swe_ci_core::step::{Role, StepOutcome};
use swe_ci_core::task::TaskId;
use swe_ci_views::account::{AccountRole, TokenScope, Visibility};
use swe_ci_views::notification::{Channel, DeliveryState, Occasion};
use swe_ci_views::preflight::PreflightState;
use swe_ci_views::view::Provenance;

/// A value of a column.
pub(crate) trait Column: Sized {
    fn of(row: &AnyRow, column: impl ColumnIndex<AnyRow>) -> Result<Self>;
}

/// Implements [`Column`] for types whose columns hold another type.
macro_rules! columns {
    ($($Type:ty, from $Held:ty: |$held:ident| $value:expr;)+) => {$(
        impl Column for $Type {
            fn of(row: &AnyRow, column: impl ColumnIndex<AnyRow>) -> Result<Self> {
                let $held: $Held = row.try_get(column)?;
                Ok($value)
            }
        }
    )+};
}

/// The same for enums, by their names.
macro_rules! named {
    ($($Enum:ident: $what:literal,)+) => {
        columns! { $($Enum, from String: |name| $Enum::from_name(&name)
            .ok_or_else(|| anyhow!("the database holds the {} `{name}`", $what))?;)+ }
    };
}

columns! {
    i64, from i64: |number| number;
    Option<i64>, from Option<i64>: |number| number;
    f64, from f64: |number| number;
    Option<f64>, from Option<f64>: |number| number;
    String, from String: |text| text;
    Option<String>, from Option<String>: |text| text;
    bool, from i64: |number| number != 0;
    u32, from i64: |number| crate::count(number);
    Option<u32>, from Option<i64>: |number| number.map(crate::count);
    // 0 when it is negative.
    u64, from i64: |number| u64::try_from(number).unwrap_or(0);
    Option<u64>, from Option<i64>: |number| number.and_then(|number| u64::try_from(number).ok());
    TaskId, from String: |id| TaskId::new(id).map_err(anyhow::Error::new)?;
    Outcomes, from String: |packed| Outcomes::unpacked(&packed);
    RunConfig, from String: |json| from_json("a run's configuration", &json)?;
    Provenance, from String: |json| from_json("a run's provenance", &json)?;
    StepOutcome, from String: |json| from_json("a step's outcome", &json)?;
    TestList, from String: |json| from_json("a test list", &json)?;
    Vec<Occasion>, from String: |json| from_json("a target's events", &json)?;
}

named! {
    AccountRole: "role",
    TokenScope: "scope",
    Channel: "channel",
    Decision: "decision",
    DeliveryState: "delivery state",
    Occasion: "event",
    PreflightState: "preflight",
    Progress: "progress",
    Reach: "reach",
    Role: "role",
    Visibility: "visibility",
}

/// Reads columns by their names.
pub(crate) trait Columns {
    fn read<T: Column>(&self, column: &str) -> Result<T>;

    /// Whether it has a value, a number.
    fn is_set(&self, column: &str) -> Result<bool> {
        Ok(self.read::<Option<i64>>(column)?.is_some())
    }

    /// 0 for NULL.
    fn number(&self, column: &str) -> Result<u64> {
        Ok(self.read::<Option<u64>>(column)?.unwrap_or_default())
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
}

impl Columns for AnyRow {
    fn read<T: Column>(&self, column: &str) -> Result<T> {
        T::of(self, column)
    }
}

fn from_json<T: DeserializeOwned>(what: &str, text: &str) -> Result<T> {
    Ok(serde_json::from_str(text)
        .with_context(|| format!("the database holds {what} that cannot be read"))?)
}

/// A struct from a row: first the fields that are named like their columns,
/// then the others.
macro_rules! from_row {
    ($row:ident => $Type:ident { $($field:ident),* $(; $($other:ident: $value:expr),*)? $(,)? }) => {
        $Type {
            $($field: $crate::rows::columns::Column::of($row, stringify!($field))?,)*
            $($($other: $value,)*)?
        }
    };
}
pub(crate) use from_row;
