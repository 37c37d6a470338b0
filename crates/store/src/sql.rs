//! Statements with their parameters, and the usual ways to run them.

use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, AnyExecutor, AssertSqlSafe, SqlSafeStr};
use swe_ci_base::error::{Error, Result};

use super::rows::columns::Column;

/// The connection of statements; in a transaction unless a caller says otherwise.
pub(crate) type Tx = sqlx::AnyConnection;

/// The few words that differ between the databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    pub fn of(url: &str) -> Self {
        match url.starts_with("sqlite") {
            true => Self::Sqlite,
            false => Self::Postgres,
        }
    }

    /// Now by the database's clock, in unix milliseconds. Leases use it: the
    /// clocks of workers may be wrong.
    pub fn now(self) -> &'static str {
        match self {
            Self::Sqlite => "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
            Self::Postgres => "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
        }
    }

    /// At the end of a subquery: locks the rows of `table`, and passes over those
    /// that another transaction has locked. SQLite has one writer at a time.
    pub fn skip_locked(self, table: &str) -> String {
        match self {
            Self::Sqlite => String::new(),
            Self::Postgres => format!("FOR UPDATE OF {table} SKIP LOCKED"),
        }
    }
}

/// A statement of this text, without parameters.
pub(crate) fn query(text: impl SqlSafeStr) -> Statement {
    Statement(sqlx::query(text))
}

/// [`query`] for a text that is put together from constants of this crate: what
/// comes from outside is a parameter.
pub(crate) fn composed(text: String) -> Statement {
    query(AssertSqlSafe(text))
}

pub(crate) struct Statement(Query<'static, Any, AnyArguments>);

impl Statement {
    /// Adds the parameters that follow the present ones: `$1`, `$2`, ….
    pub fn with(self, parameters: impl Parameters) -> Self {
        parameters.bind_to(self)
    }

    /// Has the database parse it anew each time. Otherwise Postgres would cache
    /// it with the type of a first `None`, which is not that of later values.
    pub fn unprepared(self) -> Self {
        Self(self.0.persistent(false))
    }

    pub async fn run<'c>(self, on: impl AnyExecutor<'c>) -> Result<()> {
        self.changed(on).await?;
        Ok(())
    }

    /// Runs it; fails with this error when it changes no row.
    pub async fn run_or<'c>(
        self,
        on: impl AnyExecutor<'c>,
        error: impl FnOnce() -> Error,
    ) -> Result<()> {
        match self.changed(on).await? {
            0 => Err(error()),
            _ => Ok(()),
        }
    }

    /// Runs it; returns how many rows it changed.
    pub async fn changed<'c>(self, on: impl AnyExecutor<'c>) -> Result<u64> {
        Ok(self.0.execute(on).await?.rows_affected())
    }

    /// Its first row, if there is one.
    pub async fn row<'c>(self, on: impl AnyExecutor<'c>) -> Result<Option<AnyRow>> {
        Ok(self.0.fetch_optional(on).await?)
    }

    /// [`Self::row`], read.
    pub async fn first<'c, T>(
        self,
        on: impl AnyExecutor<'c>,
        read: impl FnOnce(&AnyRow) -> Result<T>,
    ) -> Result<Option<T>> {
        self.row(on).await?.as_ref().map(read).transpose()
    }

    /// Its first row, which is always there.
    pub async fn one<'c, T>(
        self,
        on: impl AnyExecutor<'c>,
        read: impl FnOnce(&AnyRow) -> Result<T>,
    ) -> Result<T> {
        read(&self.0.fetch_one(on).await?)
    }

    pub async fn all<'c, T>(
        self,
        on: impl AnyExecutor<'c>,
        read: impl FnMut(&AnyRow) -> Result<T>,
    ) -> Result<Vec<T>> {
        let rows = self.0.fetch_all(on).await?;
        rows.iter().map(read).collect()
    }
}

/// `($1, $2, …)`, a list of the first parameters.
pub(crate) fn list_of(count: usize) -> String {
    rows_of(1, count)
}

/// `($1, $2, …), ($3, …), …`, lists of as many parameters for the rows of an
/// insert.
pub(crate) fn rows_of(rows: usize, columns: usize) -> String {
    let row = |row: usize| {
        let places: Vec<String> = (1..=columns)
            .map(|column| format!("${}", row * columns + column))
            .collect();
        format!("({})", places.join(", "))
    };
    let rows: Vec<String> = (0..rows).map(row).collect();
    rows.join(", ")
}

/// Reads the only column of a row.
pub(crate) fn only<T: Column>(row: &AnyRow) -> Result<T> {
    T::of(row, 0)
}

/// A value, or a tuple of them.
pub(crate) trait Parameters {
    fn bind_to(self, statement: Statement) -> Statement;
}

macro_rules! columns {
    ($($type:ty: $value:ident => $column:expr),* $(,)?) => {$(
        impl Parameters for $type {
            fn bind_to(self, statement: Statement) -> Statement {
                let $value = self;
                Statement(statement.0.bind($column))
            }
        }
    )*};
}

/// One after the other.
impl Parameters for &[String] {
    fn bind_to(self, statement: Statement) -> Statement {
        self.iter().fold(statement, Statement::with)
    }
}

columns! {
    &str: text => text,
    &String: text => text.as_str(),
    String: text => text,
    Option<&str>: text => text,
    &Option<String>: text => text.as_deref(),
    Option<String>: text => text,
    i64: number => number,
    Option<i64>: number => number,
    u64: number => i64::try_from(number).unwrap_or(i64::MAX),
    f64: number => number,
    Option<f64>: number => number,
    // Every integer is a BIGINT.
    u32: number => i64::from(number),
    Option<u32>: number => number.map(i64::from),
    Option<u64>: number => number.map(|n| i64::try_from(n).unwrap_or(i64::MAX)),
    bool: flag => i64::from(flag),
}

macro_rules! tuples {
    ($(($($value:ident),*))*) => {$(
        impl<$($value: Parameters),*> Parameters for ($($value),*) {
            fn bind_to(self, statement: Statement) -> Statement {
                #[allow(non_snake_case, reason = "a value is named like its type")]
                let ($($value),*) = self;
                statement$(.with($value))*
            }
        }
    )*};
}

tuples! { (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) (A, B, C, D, E, F) (A, B, C, D, E, F, G) }
