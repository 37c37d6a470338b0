//! Wakes idle workers: the transaction that queues evolutions, puts them back or
//! lets a run go on sends a signal. Postgres delivers it as the transaction
//! commits, several of one transaction as one. SQLite sends none.

use anyhow::Context;
use sqlx::AnyExecutor;
use sqlx::postgres::PgListener;
use swe_ci_base::error::{Error, Result};

use super::Store;
use super::sql::{Dialect, query};

/// The channel of the signals.
const CHANNEL: &str = "swe_ci_queued";

/// Signals that there may be something to claim.
pub(super) async fn signal_workers<'c>(on: impl AnyExecutor<'c>, dialect: Dialect) -> Result<()> {
    match dialect {
        Dialect::Sqlite => Ok(()),
        Dialect::Postgres => query("NOTIFY swe_ci_queued").run(on).await,
    }
}

/// Hears the signals of all processes, on a connection of its own.
#[derive(Debug)]
pub struct QueueListener(PgListener);

impl Store {
    /// A listener; `None` if this database sends no signals.
    pub async fn queue_listener(&self) -> Result<Option<QueueListener>> {
        if self.dialect == Dialect::Sqlite {
            return Ok(None);
        }
        let options = self.pool.connect_options();
        let mut listener = PgListener::connect(options.database_url.as_str())
            .await
            .context("cannot open a connection that listens")?;
        // What was signalled while there was no connection is lost: the caller
        // has to know.
        listener.eager_reconnect(false);
        listener.listen(CHANNEL).await?;
        Ok(Some(QueueListener(listener)))
    }
}

impl QueueListener {
    /// Waits for the next signal.
    ///
    /// # Errors
    /// When the connection is lost; signals may be lost with it.
    pub async fn signalled(&mut self) -> Result<()> {
        match self.0.try_recv().await? {
            Some(_) => Ok(()),
            None => Err(Error::Unavailable(
                "the connection that listens is lost".into(),
            )),
        }
    }
}
