//! Live events of runs, on their way from workers to servers.

use swe_ci_base::error::Result;

use super::rows::columns::from_row;
use super::sql::{composed, only, query};
use super::{Store, new_id};

/// The most events of one insert; a statement has a limited number of
/// parameters.
const AT_ONCE: usize = 100;
/// The most that one look returns.
pub const MOST_EVENTS: usize = 2_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    pub id: String,
    pub run_id: String,
    /// JSON.
    pub what: String,
}

impl Store {
    /// Now by the database's clock, in unix milliseconds.
    pub async fn now(&self) -> Result<i64> {
        composed(format!("SELECT {}", self.dialect.now()))
            .one(&self.pool, only)
            .await
    }

    /// Stores events, each a run's id and JSON, in their order.
    pub async fn put_events(&self, events: &[(String, String)]) -> Result<()> {
        let now = self.dialect.now();
        for part in events.chunks(AT_ONCE) {
            let rows: Vec<String> = (0..part.len())
                .map(|row| {
                    format!(
                        "(${}, ${}, {now}, ${})",
                        3 * row + 1,
                        3 * row + 2,
                        3 * row + 3
                    )
                })
                .collect();
            let text = format!(
                "INSERT INTO run_events (id, run_id, at, what) VALUES {}",
                rows.join(", ")
            );
            let statement = part.iter().fold(composed(text), |statement, (run, what)| {
                statement.with((new_id(), run, what))
            });
            statement.run(&self.pool).await?;
        }
        Ok(())
    }

    /// The events of a moment and later whose ids come after one, in their
    /// order. As many as [`MOST_EVENTS`]: there may be more.
    pub async fn events_since(&self, at: i64, after: &str) -> Result<Vec<StoredEvent>> {
        query(
            "SELECT id, run_id, what FROM run_events WHERE at >= $1 AND id > $2 ORDER BY id LIMIT $3",
        )
            .with((at, after, MOST_EVENTS as i64))
            .all(&self.pool, |row| {
                Ok(from_row!(row => StoredEvent { id, run_id, what }))
            })
            .await
    }

    /// Removes events older than a moment; returns how many.
    pub async fn remove_events_before(&self, at: i64) -> Result<u64> {
        query("DELETE FROM run_events WHERE at < $1")
            .with(at)
            .changed(&self.pool)
            .await
    }
}
