//! What opening a database would change in its schema, found without changing
//! anything.

use std::collections::BTreeMap;

use anyhow::Context;
use serde::Serialize;
use sqlx::{AnyConnection, Connection, Row};
use swe_ci_base::error::Result;

use super::migrations;
use super::sql::{self, Dialect, query};

/// A database's schema, compared with this program's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SchemaCheck {
    /// The version of the database's schema; none of a database that is yet to
    /// be created.
    pub found: Option<i64>,
    /// The version of this program's schema.
    pub own: i64,
    /// The migrations that opening the database would carry out, in order.
    pub pending: Vec<SchemaStep>,
    /// The migrations that a newer program has carried out.
    pub unknown: Vec<SchemaStep>,
    /// The migrations that were carried out with another text, or only in part.
    pub broken: Vec<SchemaStep>,
}

/// Why a program cannot open a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaObstacle {
    pub what: String,
    pub next: &'static str,
}

/// A migration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SchemaStep {
    pub version: i64,
    pub name: String,
    /// What it does; empty where this program does not know it.
    pub purpose: String,
}

impl SchemaCheck {
    /// Compares the database at this address, which may not exist yet.
    ///
    /// # Errors
    /// When the database exists and cannot be read.
    pub async fn of(url: &str) -> Result<Self> {
        let applied = match is_there(url)? {
            true => applied(url).await?,
            false => BTreeMap::new(),
        };
        let migrator = migrations::migrator();
        let mut check = Self {
            found: applied.keys().last().copied(),
            own: migrations::LATEST,
            pending: Vec::new(),
            unknown: Vec::new(),
            broken: Vec::new(),
        };
        for migration in migrator.iter() {
            let step = || SchemaStep {
                version: migration.version,
                name: migration.description.to_string(),
                purpose: migrations::purpose(migration.sql.as_str()),
            };
            match applied.get(&migration.version) {
                None => check.pending.push(step()),
                Some(row) if row.whole && row.checksum == *migration.checksum => {}
                Some(_) => check.broken.push(step()),
            }
        }
        let newer = applied
            .into_iter()
            .filter(|(version, _)| *version > check.own);
        check.unknown = newer
            .map(|(version, row)| SchemaStep {
                version,
                name: row.name,
                purpose: String::new(),
            })
            .collect();
        Ok(check)
    }

    /// Why this program cannot open the database, and what to do about it.
    pub fn obstacle(&self) -> Option<SchemaObstacle> {
        if !self.unknown.is_empty() {
            return Some(SchemaObstacle {
                what: format!(
                    "the database has schema {} and this program schema {}: it is the older one",
                    self.found.unwrap_or_default(),
                    self.own
                ),
                next: "install the program that has migrated the database, or restore the dump from before",
            });
        }
        (!self.broken.is_empty()).then(|| SchemaObstacle {
            what: "a migration of the database is not whole, or was made from another text".into(),
            next: "restore the dump from before the migration, and migrate again with a released program",
        })
    }

    /// Whether this program can open the database, after the pending migrations.
    pub fn can_open(&self) -> bool {
        self.unknown.is_empty() && self.broken.is_empty()
    }
}

/// A row of the table in which sqlx keeps what it has carried out.
struct Applied {
    name: String,
    checksum: Vec<u8>,
    whole: bool,
}

/// Whether there may be a database: a file of SQLite is not created by a look.
fn is_there(url: &str) -> Result<bool> {
    if Dialect::of(url) == Dialect::Postgres {
        return Ok(true);
    }
    let options: sqlx::sqlite::SqliteConnectOptions = url
        .parse()
        .context("the database's address cannot be read")?;
    Ok(options.get_filename().exists())
}

async fn applied(url: &str) -> Result<BTreeMap<i64, Applied>> {
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(url)
        .await
        .context("cannot open the database; check its address and that it is readable")?;
    let exists = match Dialect::of(url) {
        Dialect::Sqlite => "SELECT count(*) FROM sqlite_master WHERE name = '_sqlx_migrations'",
        Dialect::Postgres => "SELECT count(to_regclass('_sqlx_migrations'))",
    };
    let mut applied = BTreeMap::new();
    if query(exists).one(&mut connection, sql::only::<i64>).await? > 0 {
        // sqlx's own table has a BOOLEAN, which `Any` does not read on SQLite.
        let rows = query(
            "SELECT version, description, checksum,
                    CAST(CASE WHEN success THEN 1 ELSE 0 END AS BIGINT) AS whole
             FROM _sqlx_migrations",
        );
        let read = |row: &sqlx::any::AnyRow| {
            let columns = Applied {
                name: row.try_get("description")?,
                checksum: row.try_get("checksum")?,
                whole: row.try_get::<i64, _>("whole")? == 1,
            };
            Ok((row.try_get::<i64, _>("version")?, columns))
        };
        applied = rows.all(&mut connection, read).await?.into_iter().collect();
    }
    connection.close().await?;
    Ok(applied)
}
