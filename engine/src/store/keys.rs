//! The keys of providers as they are kept: sealed, all with one master key.

use sqlx::any::AnyRow;
use sqlx::{Any, Row, Transaction};
use swe_ci_core::run::RunConfig;

use super::{Store, from_json};
use crate::clock::now_ms;
use crate::error::{Error, Result};

/// What may be shown of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRow {
    pub name: String,
    pub created_at: i64,
    pub changed_at: i64,
    pub used_at: Option<i64>,
}

/// A key, and what opens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedKey {
    pub sealed: String,
    /// Id of the master key.
    pub master: String,
}

/// The keys while nobody else seals any: other writers wait until this is
/// committed or dropped, and dropped it has changed nothing.
#[derive(Debug)]
pub struct KeysAlone {
    tx: Transaction<'static, Any>,
    master: Option<String>,
}

impl Store {
    /// All keys, by name.
    pub async fn keys(&self) -> Result<Vec<KeyRow>> {
        let rows =
            sqlx::query("SELECT name, created_at, changed_at, used_at FROM keys ORDER BY name")
                .fetch_all(&self.pool)
                .await?;
        rows.iter().map(read_key).collect()
    }

    /// A key and its master key as they are in one moment.
    pub async fn sealed_key(&self, name: &str) -> Result<Option<SealedKey>> {
        let row = sqlx::query(
            "SELECT k.sealed, m.id FROM keys k CROSS JOIN master_key m WHERE k.name = $1",
        )
        .bind(name)
        .fetch_optional(&self.pool)
        .await?;
        row.map(|row| {
            Ok(SealedKey {
                sealed: row.try_get("sealed")?,
                master: row.try_get("id")?,
            })
        })
        .transpose()
    }

    /// Notes that a key was used now.
    pub async fn note_key_use(&self, name: &str) -> Result<()> {
        sqlx::query("UPDATE keys SET used_at = $2 WHERE name = $1")
            .bind(name)
            .bind(now_ms())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    pub async fn remove_key(&self, name: &str) -> Result<()> {
        let removed = sqlx::query("DELETE FROM keys WHERE name = $1")
            .bind(name)
            .execute(&self.pool)
            .await?;
        match removed.rows_affected() {
            0 => Err(Error::not_found("key", name)),
            _ => Ok(()),
        }
    }

    /// Runs that are not over, oldest first.
    pub async fn unfinished_runs(&self) -> Result<Vec<(String, RunConfig)>> {
        let rows = sqlx::query(
            "SELECT id, config FROM runs WHERE progress IN ('queued', 'running') ORDER BY id",
        )
        .fetch_all(&self.pool)
        .await?;
        let run = |row: &AnyRow| {
            let config: String = row.try_get("config")?;
            Ok((
                row.try_get("id")?,
                from_json("a run's configuration", &config)?,
            ))
        };
        rows.iter().map(run).collect()
    }

    pub async fn keys_alone(&self) -> Result<KeysAlone> {
        let mut tx = self.pool.begin().await?;
        sqlx::query("UPDATE master_key SET id = id")
            .execute(&mut *tx)
            .await?;
        // Without keys, any master key will do.
        let row = sqlx::query("SELECT id FROM master_key WHERE EXISTS (SELECT 1 FROM keys)")
            .fetch_optional(&mut *tx)
            .await?;
        let master = row.map(|row| row.try_get("id")).transpose()?;
        Ok(KeysAlone { tx, master })
    }
}

impl KeysAlone {
    /// Id of the master key they are sealed with; none when there are none.
    #[must_use]
    pub fn master(&self) -> Option<&str> {
        self.master.as_deref()
    }

    /// Every key's name and seal.
    pub async fn all(&mut self) -> Result<Vec<(String, String)>> {
        let rows = sqlx::query("SELECT name, sealed FROM keys ORDER BY name")
            .fetch_all(&mut *self.tx)
            .await?;
        let pair = |row: &AnyRow| Ok((row.try_get("name")?, row.try_get("sealed")?));
        rows.iter().map(pair).collect()
    }

    /// A new key, or a new value of one.
    pub async fn put(&mut self, name: &str, sealed: &str) -> Result<()> {
        sqlx::query(
            "INSERT INTO keys (name, sealed, created_at, changed_at) VALUES ($1, $2, $3, $3)
             ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed, changed_at = excluded.changed_at",
        )
        .bind(name)
        .bind(sealed)
        .bind(now_ms())
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }

    /// The same value under a new seal.
    pub async fn reseal(&mut self, name: &str, sealed: &str) -> Result<()> {
        sqlx::query("UPDATE keys SET sealed = $2 WHERE name = $1")
            .bind(name)
            .bind(sealed)
            .execute(&mut *self.tx)
            .await?;
        Ok(())
    }

    /// `master` is the id of the master key that all are sealed with now.
    pub async fn commit(mut self, master: &str) -> Result<()> {
        sqlx::query("UPDATE master_key SET id = $1")
            .bind(master)
            .execute(&mut *self.tx)
            .await?;
        self.tx.commit().await?;
        Ok(())
    }
}

fn read_key(row: &AnyRow) -> Result<KeyRow> {
    Ok(KeyRow {
        name: row.try_get("name")?,
        created_at: row.try_get("created_at")?,
        changed_at: row.try_get("changed_at")?,
        used_at: row.try_get("used_at")?,
    })
}
