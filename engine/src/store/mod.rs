//! Rows: tasks, suites, splits, runs, evolutions, steps, iterations. One SQL text for
//! SQLite and Postgres (columns TEXT, BIGINT, DOUBLE PRECISION only); every
//! transaction begins with a write, so that SQLite never has to upgrade a
//! read lock.

mod accounts;
mod audit;
mod changes;
mod claims;
mod curations;
mod deliveries;
mod evolutions;
mod identities;
mod imports;
mod invitations;
mod keys;
mod listing;
mod notifications;
mod precedents;
mod preflights;
mod prices;
mod recounts;
mod rows;
mod runs;
mod sessions;
mod steering;
mod styles;
mod suites;
mod tasks;
#[cfg(test)]
mod tests;
mod tokens;
mod verifications;

use anyhow::Context;
use sqlx::AnyPool;
use sqlx::any::AnyPoolOptions;

pub use accounts::{Attempt, Credentials, NewAccount};
pub use claims::Claim;
pub use curations::{CandidateRow, CuratedRepository, CurationRow};
pub use deliveries::{AfterTry, Due};
pub use evolutions::StepToRecord;
pub use identities::{Entry, ProvenIdentity};
pub use imports::{ImportedEvolution, ImportedRun, Put};
pub use invitations::NewInvitation;
pub use keys::{KeyRow, KeysAlone, SealedKey};
pub use listing::RunListing;
pub use notifications::{Confirmation, NewTarget};
pub use recounts::Recount;
pub use rows::{EvolutionRow, IterationRow, StepRow};
pub use runs::{NewRun, Whose};
pub use sessions::SessionData;
pub use steering::Stuck;
pub use styles::{CodeStyleRow, Measured};
pub use suites::Suite;
pub use tasks::TaskRow;
pub use tokens::NewToken;

use crate::error::Result;

static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!("../migrations");

#[derive(Debug, Clone)]
pub struct Store {
    pool: AnyPool,
}

impl Store {
    /// Opens a database (`sqlite:<file>` or `postgres://…`) and brings its
    /// schema up to date.
    pub async fn open(url: &str) -> Result<Self> {
        sqlx::any::install_default_drivers();
        let sqlite = url.starts_with("sqlite");
        let pool = AnyPoolOptions::new()
            .max_connections(8)
            .after_connect(move |connection, _| {
                Box::pin(async move {
                    if sqlite {
                        // Readers do not wait for the writer, and a killed
                        // process loses nothing that was committed.
                        for pragma in ["PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL", "PRAGMA foreign_keys = ON", "PRAGMA busy_timeout = 10000"] {
                            sqlx::query(pragma).execute(&mut *connection).await?;
                        }
                    }
                    Ok(())
                })
            })
            .connect(url)
            .await
            .context("cannot open the database; check that its address is right and that it can be written")?;
        MIGRATOR
            .run(&pool)
            .await
            .context("cannot bring the database's schema up to date")?;
        Ok(Self { pool })
    }

    /// Answers when the database does.
    pub async fn ping(&self) -> Result<()> {
        sqlx::query("SELECT 1").execute(&self.pool).await?;
        Ok(())
    }
}

/// JSON kept in a TEXT column.
fn to_json<T: serde::Serialize>(value: &T) -> Result<String> {
    Ok(serde_json::to_string(value).context("cannot write JSON for the database")?)
}

fn from_json<T: serde::de::DeserializeOwned>(what: &str, text: &str) -> Result<T> {
    Ok(serde_json::from_str(text)
        .with_context(|| format!("the database holds {what} that cannot be read"))?)
}

/// A count out of a BIGINT column.
fn count(value: i64) -> u32 {
    u32::try_from(value).unwrap_or(0)
}
