//! The store: tasks, suites, splits, runs, evolutions, steps, iterations. One
//! SQL text serves SQLite and Postgres (column types TEXT, BIGINT and DOUBLE
//! PRECISION only). Every transaction begins with a write, so that SQLite never
//! has to upgrade a read lock.

pub mod artifacts;

mod accounts;
mod audit;
mod background_work;
mod changes;
mod claims;
mod costs;
mod curations;
mod deletions;
mod evolution_audits;
mod evolution_digests;
mod evolutions;
mod findings;
mod handovers;
mod identities;
mod imports;
mod invitations;
mod judgements;
mod last_lines;
mod leases;
mod migrations;
mod notification_deliveries;
mod notification_outbox;
mod notifications;
mod preflights;
mod provider_keys;
mod queue_signals;
mod queue_state;
mod recounts;
mod regrades;
mod rows;
mod run_counts;
mod run_end;
mod run_events;
mod run_list;
mod runs;
mod schema_check;
mod sessions;
mod snapshots;
mod spending;
mod sql;
mod steering;
mod styles;
mod submitted_runs;
mod suites;
mod tasks;
#[doc(hidden)]
pub mod testing;
#[cfg(test)]
mod tests;
mod tokens;
mod verifications;
mod workers;

use anyhow::Context;
use sqlx::AnyPool;
use sqlx::any::AnyPoolOptions;

pub use accounts::{Attempt, Credentials, NewAccount};

pub use background_work::BegunWork;
pub use claims::{Claim, Lease};
pub use curations::{CandidateRow, CuratedRepository, CurationRow, funnel_of};
pub use deletions::Unnamed;
pub use evolution_audits::ContradictedSuite;
pub use evolution_digests::StoredDigest;
pub use evolutions::StepToRecord;
pub use findings::FindingDecision;
pub use handovers::{MeasuredStart, NewStart, StepCost};
pub use identities::{Entry, ProvenIdentity};
pub use imports::{ImportedEvolution, ImportedRun};
pub use invitations::NewInvitation;
pub use last_lines::LastLines;
pub use leases::answered;
pub use notification_deliveries::{AfterTry, Due};
pub use notifications::{Confirmation, NewTarget};
pub use provider_keys::{KeysAlone, SealedKey};
pub use queue_signals::QueueListener;
pub use queue_state::{QueueState, StepsDone};
pub use regrades::NewRegrade;
pub use rows::evolutions::{EvolutionRow, IterationRow, PinnedTask, Start, StepRow};
pub use rows::runs::{RunListing, RunToExecute};
pub use rows::suites::Suite;
pub use rows::tasks::{TaskRow, task_revision};
pub use run_counts::{LeaderboardRun, StoredCounts, TaskOrigin};
pub use run_events::{MOST_EVENTS, StoredEvent};
pub use run_list::Whose;
pub use runs::NewRun;
pub use schema_check::{SchemaCheck, SchemaObstacle, SchemaStep};
pub use sessions::SessionData;
pub use snapshots::NewSnapshot;
pub use spending::Spending;
pub use steering::Stuck;
pub use styles::{CodeStyleRow, Measured};
pub use submitted_runs::NewSubmission;
pub use tokens::NewToken;
pub use workers::NewWorker;

use sql::{Dialect, query};
use swe_ci_base::error::{Error, Result};
use swe_ci_base::files;

#[derive(Debug, Clone)]
pub struct Store {
    pool: AnyPool,
    dialect: Dialect,
    /// Whether evolutions are audited: a run is finished after that.
    audits: bool,
}

impl Store {
    /// Opens a database (`sqlite:<file>` or `postgres://…`) and migrates its
    /// schema.
    ///
    /// # Errors
    /// [`Error::Conflict`] when another program has migrated it, and this one
    /// cannot.
    pub async fn open(url: &str) -> Result<Self> {
        let store = Self::connect(url).await?;
        if let Err(error) = migrations::migrator().run(&store.pool).await {
            // The error names a migration, and not what to do about it.
            let check = SchemaCheck::of(url).await.ok();
            return Err(match check.and_then(|check| check.obstacle()) {
                Some(obstacle) => {
                    Error::Conflict(format!("{}; next: {}", obstacle.what, obstacle.next))
                }
                None => anyhow::Error::new(error)
                    .context("cannot migrate the database's schema")
                    .into(),
            });
        }
        Ok(store)
    }

    /// Opens a database whose schema another process keeps up to date.
    ///
    /// # Errors
    /// [`Error::Conflict`] when its schema is not the one of this program.
    pub async fn open_migrated(url: &str) -> Result<Self> {
        let store = Self::connect(url).await?;
        store.ensure_own_schema().await?;
        Ok(store)
    }

    /// # Errors
    /// [`Error::Conflict`] when the database's schema is not the one of this
    /// program.
    pub async fn ensure_own_schema(&self) -> Result<()> {
        let found = query("SELECT coalesce(max(version), 0) FROM _sqlx_migrations")
            .one(&self.pool, sql::only::<i64>)
            .await
            .context("cannot read the schema's version; has a server opened this database?")?;
        let own = migrations::LATEST;
        let advice = match found.cmp(&own) {
            std::cmp::Ordering::Equal => return Ok(()),
            std::cmp::Ordering::Less => "start the new server first: it migrates the database",
            std::cmp::Ordering::Greater => "install the server's version here",
        };
        Err(Error::Conflict(format!(
            "the database has schema {found} and this program schema {own}; {advice}"
        )))
    }

    async fn connect(url: &str) -> Result<Self> {
        sqlx::any::install_default_drivers();
        let dialect = Dialect::of(url);
        let sqlite = dialect == Dialect::Sqlite;
        if sqlite {
            keep_from_others(url).context("cannot create the database")?;
        }
        let pool = AnyPoolOptions::new()
            .max_connections(8)
            .after_connect(move |connection, _| {
                Box::pin(async move {
                    if sqlite {
                        // Readers do not wait for the writer, and a killed
                        // process loses no committed data.
                        for pragma in [
                            "PRAGMA journal_mode = WAL",
                            "PRAGMA synchronous = NORMAL",
                            "PRAGMA foreign_keys = ON",
                            "PRAGMA busy_timeout = 10000",
                        ] {
                            sqlx::query(pragma).execute(&mut *connection).await?;
                        }
                    }
                    Ok(())
                })
            })
            .connect(url)
            .await
            .context("cannot open the database; check its address and that it is writable")?;
        Ok(Self {
            pool,
            dialect,
            audits: false,
        })
    }

    /// The store of a process whose workers audit evolutions, or not.
    #[must_use]
    pub fn with_audits(self, audits: bool) -> Self {
        Self { audits, ..self }
    }

    /// Succeeds when the database answers.
    pub async fn ping(&self) -> Result<()> {
        query("SELECT 1").run(&self.pool).await
    }
}

/// Lets only its owner read a SQLite database: it holds the digests of
/// passwords. SQLite gives the files beside it the same permissions.
fn keep_from_others(url: &str) -> anyhow::Result<()> {
    let options: sqlx::sqlite::SqliteConnectOptions = url.parse()?;
    let path = options.get_filename();
    // A database in memory has no file, and others only by a URL that wants it.
    if url.contains("mode=rwc") {
        files::new_private_file(path)?;
    }
    for suffix in ["", "-wal", "-shm"] {
        let mut path = path.as_os_str().to_owned();
        path.push(suffix);
        files::keep_from_others(path.as_ref(), 0o600);
    }
    Ok(())
}

/// An id that rises with time.
fn new_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// JSON for a TEXT column.
fn to_json<T: serde::Serialize>(value: &T) -> Result<String> {
    Ok(serde_json::to_string(value).context("cannot write JSON for the database")?)
}

/// A count from a BIGINT column.
fn count(value: i64) -> u32 {
    u32::try_from(value).unwrap_or(0)
}
