//! A database for one benchmark, of either kind.

use std::path::{Path, PathBuf};

use sqlx::{AnyConnection, AssertSqlSafe, Connection, Row};
use swe_ci_engine::{Config, Engine};

use crate::fixture;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    Postgres,
}

pub struct Database {
    pub kind: Kind,
    url: String,
    data: PathBuf,
}

impl Database {
    /// An empty one with the schema; `None` for Postgres where there is no server.
    pub async fn create(kind: Kind, folder: &Path) -> anyhow::Result<Option<Self>> {
        let data = folder.join("data");
        let url = match (kind, server()) {
            (Kind::Sqlite, _) => format!("sqlite:{}", data.join("swe-ci.sqlite").display()),
            (Kind::Postgres, None) => return Ok(None),
            (Kind::Postgres, Some(server)) => {
                let name = format!("bench_{}", uuid::Uuid::now_v7().simple());
                run(&server, &format!("CREATE DATABASE {name}")).await?;
                let (address, query) = server.split_once('?').unwrap_or((&server, ""));
                let host = &address[..address.rfind('/').unwrap_or(address.len())];
                format!("{host}/{name}?{query}")
            }
        };
        let database = Self { kind, url, data };
        Engine::open(database.config()).await?;
        Ok(Some(database))
    }

    pub fn config(&self) -> Config {
        Config {
            database_url: (self.kind == Kind::Postgres).then(|| self.url.clone()),
            ..fixture::config(&self.data)
        }
    }

    pub async fn execute(&self, sql: &str) -> anyhow::Result<()> {
        run(&self.url, sql).await?;
        if self.kind == Kind::Postgres {
            // Soon it would do so by itself.
            run(&self.url, "VACUUM ANALYZE").await?;
        }
        Ok(())
    }

    pub async fn bytes(&self) -> anyhow::Result<i64> {
        let sql = match self.kind {
            Kind::Sqlite => {
                "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
            }
            Kind::Postgres => "SELECT pg_database_size(current_database())",
        };
        let mut connection = AnyConnection::connect(&self.url).await?;
        Ok(sqlx::query(sql)
            .fetch_one(&mut connection)
            .await?
            .try_get(0)?)
    }

    /// How often Postgres read the large tables from one end to the other.
    pub async fn scans(&self) -> anyhow::Result<Vec<String>> {
        if self.kind == Kind::Sqlite {
            return Ok(Vec::new());
        }
        let mut connection = AnyConnection::connect(&self.url).await?;
        let rows = sqlx::query(
            "SELECT CAST(relname AS TEXT), coalesce(seq_scan, 0), coalesce(idx_scan, 0) FROM pg_stat_user_tables
             WHERE relname IN ('iterations', 'steps', 'evolutions', 'run_counts', 'runs') ORDER BY relname",
        );
        let rows = rows.fetch_all(&mut connection).await?;
        let line = |row: &sqlx::any::AnyRow| {
            let (table, all, by_index): (String, i64, i64) =
                (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            Ok(format!(
                "{table}: read whole {all} times, by an index {by_index} times"
            ))
        };
        rows.iter().map(line).collect()
    }

    pub async fn remove(self) -> anyhow::Result<()> {
        if let (Kind::Postgres, Some(server)) = (self.kind, server()) {
            let name = self
                .url
                .rsplit('/')
                .find_map(|part| part.strip_prefix("bench_"));
            let name = name
                .and_then(|name| name.split('?').next())
                .unwrap_or_default();
            run(&server, &format!("DROP DATABASE bench_{name} WITH (FORCE)")).await?;
        }
        Ok(())
    }
}

async fn run(url: &str, sql: &str) -> anyhow::Result<()> {
    let mut connection = AnyConnection::connect(url).await?;
    sqlx::raw_sql(AssertSqlSafe(sql))
        .execute(&mut connection)
        .await?;
    Ok(connection.close().await?)
}

/// The address of the Postgres server.
#[allow(
    clippy::disallowed_methods,
    reason = "a benchmark reads the database's address from the environment, as tests do"
)]
fn server() -> Option<String> {
    std::env::var("DATABASE_URL_POSTGRES").ok()
}
