//! Work that a page starts and that a worker carries out. A row per object: its
//! state, or how it ended last.

use sqlx::any::AnyRow;
use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_views::account::Actor;
use swe_ci_views::background::{BackgroundWork, WorkKind, WorkState};

use super::rows::columns::Columns;
use super::sql::query;
use super::{Store, to_json};

/// Work that a worker has begun.
#[derive(Debug, Clone)]
pub struct BegunWork {
    pub kind: WorkKind,
    pub object: String,
    /// As JSON.
    pub work: String,
    /// For whom it is done.
    pub actor: Actor,
    /// How often a worker began it, this time included.
    pub tries: u32,
    /// Unix milliseconds. With `tries` it names this begin: another worker that
    /// began the work since, or who asked for it anew, changed one of them.
    pub asked_at: i64,
}

impl Store {
    /// Queues work on an object, instead of what was done there last.
    ///
    /// # Errors
    /// [`Error::Conflict`] while there is such work that has not ended.
    pub async fn queue_work(
        &self,
        kind: WorkKind,
        object: &str,
        work: &str,
        by: &Actor,
    ) -> Result<()> {
        let queued = query(
            "INSERT INTO background_work (kind, object, work, actor, state, says, asked_at, tries)
             VALUES ($1, $2, $3, $4, 'queued', '', $5, 0)
             ON CONFLICT (kind, object) DO UPDATE
                SET work = excluded.work, actor = excluded.actor, state = excluded.state,
                    says = excluded.says, asked_at = excluded.asked_at, tries = excluded.tries
              WHERE background_work.state NOT IN ('queued', 'working')",
        )
        .with((kind.name(), object, work, to_json(by)?, now_ms()))
        .changed(&self.pool)
        .await?;
        match queued {
            0 => Err(Error::Conflict(
                "this is at work already; wait until it has ended".into(),
            )),
            _ => Ok(()),
        }
    }

    /// The last work on an object.
    pub async fn background_work(
        &self,
        kind: WorkKind,
        object: &str,
    ) -> Result<Option<BackgroundWork>> {
        query(
            "SELECT actor, state, says, asked_at FROM background_work WHERE kind = $1 AND object = $2",
        )
        .with((kind.name(), object))
        .first(&self.pool, read)
        .await
    }

    /// Begins the work of a kind that has waited longest, or that nobody carries
    /// out any more. Only for the worker whose turn it is.
    pub async fn begin_work(&self, kind: WorkKind) -> Result<Option<BegunWork>> {
        query(
            "UPDATE background_work SET state = 'working', says = '', tries = tries + 1
             WHERE kind = $1 AND object = (
                SELECT object FROM background_work WHERE kind = $1 AND state IN ('queued', 'working')
                ORDER BY asked_at, object LIMIT 1)
             RETURNING object, work, actor, tries, asked_at",
        )
        .with(kind.name())
        .first(&self.pool, |row| {
            Ok(BegunWork {
                kind,
                object: row.read("object")?,
                work: row.read("work")?,
                actor: row.json("actor", "the actor of background work")?,
                tries: row.read("tries")?,
                asked_at: row.read("asked_at")?,
            })
        })
        .await
    }

    /// Says how far some work is. As with all that follows, nothing happens once
    /// another worker has begun it.
    pub async fn note_progress(&self, work: &BegunWork, says: &str) -> Result<()> {
        self.change(work, "working", says).await
    }

    /// Queues some work again that was interrupted.
    pub async fn put_back_work(&self, work: &BegunWork) -> Result<()> {
        query(
            "UPDATE background_work SET state = 'queued', says = '', tries = tries - 1
             WHERE kind = $1 AND object = $2 AND asked_at = $3 AND tries = $4 AND state = 'working'",
        )
        .with((work.kind.name(), &work.object, work.asked_at, work.tries))
        .run(&self.pool)
        .await
    }

    /// Records how some work ended: its result, or why it failed.
    pub async fn end_work(
        &self,
        work: &BegunWork,
        ended: std::result::Result<&str, &str>,
    ) -> Result<()> {
        match ended {
            Ok(result) => self.change(work, "done", result).await,
            Err(reason) => self.change(work, "failed", reason).await,
        }
    }

    async fn change(&self, work: &BegunWork, state: &str, says: &str) -> Result<()> {
        query(
            "UPDATE background_work SET state = $5, says = $6
             WHERE kind = $1 AND object = $2 AND asked_at = $3 AND tries = $4 AND state = 'working'",
        )
        .with((work.kind.name(), &work.object, work.asked_at, work.tries))
        .with((state, says))
        .run(&self.pool)
        .await
    }
}

fn read(row: &AnyRow) -> Result<BackgroundWork> {
    let actor: Actor = row.json("actor", "the actor of background work")?;
    let (state, says) = (row.read::<String>("state")?, row.read::<String>("says")?);
    let (progress, state) = match state.as_str() {
        "queued" => (says, WorkState::Queued),
        "working" => (says, WorkState::Working),
        "done" => (String::new(), WorkState::Done { result: says }),
        _ => (String::new(), WorkState::Failed { reason: says }),
    };
    Ok(BackgroundWork {
        by: actor.name().to_owned(),
        began_at: row.time("asked_at")?,
        progress,
        state,
    })
}
