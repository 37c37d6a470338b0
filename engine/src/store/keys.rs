//! The keys of providers as they are kept: sealed, all with one master key.

use sqlx::any::AnyRow;
use sqlx::{Any, Row, Transaction};
use swe_ci_core::account::Actor;
use swe_ci_core::run::RunConfig;

use super::audit::note;
use super::{Store, from_json};
use crate::clock::now_ms;
use crate::error::{Error, Result};
use crate::grant::{Grant, Keyring, Reach};

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
    /// The keys of one keyring, by name.
    pub async fn keys(&self, ring: &Keyring) -> Result<Vec<KeyRow>> {
        let rows = sqlx::query(
            "SELECT name, created_at, changed_at, used_at FROM keys WHERE owner = $1 ORDER BY name",
        )
        .bind(ring.owner())
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(read_key).collect()
    }

    /// A key and its master key as they are in one moment.
    pub async fn sealed_key(&self, ring: &Keyring, name: &str) -> Result<Option<SealedKey>> {
        let row = sqlx::query(
            "SELECT k.sealed, m.id FROM keys k CROSS JOIN master_key m WHERE k.owner = $1 AND k.name = $2",
        )
        .bind(ring.owner())
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
    pub async fn note_key_use(&self, ring: &Keyring, name: &str) -> Result<()> {
        sqlx::query("UPDATE keys SET used_at = $3 WHERE owner = $1 AND name = $2")
            .bind(ring.owner())
            .bind(name)
            .bind(now_ms())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    pub async fn remove_key(&self, ring: &Keyring, name: &str, by: &Actor) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        let removed = sqlx::query("DELETE FROM keys WHERE owner = $1 AND name = $2")
            .bind(ring.owner())
            .bind(name)
            .execute(&mut *tx)
            .await?;
        if removed.rows_affected() == 0 {
            return Err(Error::not_found("key", name));
        }
        note(&mut tx, by, "key.remove", name, "").await?;
        tx.commit().await?;
        Ok(())
    }

    /// What a run may use of the world outside.
    pub async fn grant(&self, run_id: &str) -> Result<Grant> {
        let row = sqlx::query("SELECT keys_of, reach FROM runs WHERE id = $1")
            .bind(run_id)
            .fetch_optional(&self.pool)
            .await?;
        let row = row.ok_or_else(|| Error::not_found("run", run_id))?;
        let reach: String = row.try_get("reach")?;
        Ok(Grant {
            keyring: Keyring::of_owner(row.try_get("keys_of")?),
            reach: Reach::from_name(&reach)
                .ok_or_else(|| anyhow::anyhow!("the database holds the reach `{reach}`"))?,
        })
    }

    /// Runs that are not over and use keys of this keyring, oldest first.
    pub async fn unfinished_runs_with(&self, ring: &Keyring) -> Result<Vec<(String, RunConfig)>> {
        unfinished_runs_with(&mut *self.pool.acquire().await?, ring).await
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
    /// For what is kept together with a key.
    pub(super) fn tx(&mut self) -> &mut sqlx::AnyConnection {
        &mut self.tx
    }

    /// Id of the master key they are sealed with; none when there are none.
    #[must_use]
    pub fn master(&self) -> Option<&str> {
        self.master.as_deref()
    }

    /// Every key's keyring, name and seal.
    pub async fn all(&mut self) -> Result<Vec<(Keyring, String, String)>> {
        let rows = sqlx::query("SELECT owner, name, sealed FROM keys ORDER BY owner, name")
            .fetch_all(&mut *self.tx)
            .await?;
        let key = |row: &AnyRow| {
            let ring = Keyring::of_owner(row.try_get("owner")?);
            Ok((ring, row.try_get("name")?, row.try_get("sealed")?))
        };
        rows.iter().map(key).collect()
    }

    /// A new key, or a new value of one.
    pub async fn put(&mut self, ring: &Keyring, name: &str, sealed: &str) -> Result<()> {
        sqlx::query(
            "INSERT INTO keys (owner, name, sealed, created_at, changed_at) VALUES ($1, $2, $3, $4, $4)
             ON CONFLICT (owner, name) DO UPDATE SET sealed = excluded.sealed, changed_at = excluded.changed_at",
        )
        .bind(ring.owner())
        .bind(name)
        .bind(sealed)
        .bind(now_ms())
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }

    /// The same value under a new seal.
    pub async fn reseal(&mut self, ring: &Keyring, name: &str, sealed: &str) -> Result<()> {
        sqlx::query("UPDATE keys SET sealed = $3 WHERE owner = $1 AND name = $2")
            .bind(ring.owner())
            .bind(name)
            .bind(sealed)
            .execute(&mut *self.tx)
            .await?;
        Ok(())
    }

    /// Writes down what is done to them: to one key, or to all by the id of
    /// their master key.
    pub async fn note(&mut self, by: &Actor, action: &str, subject: &str) -> Result<()> {
        note(&mut self.tx, by, action, subject, "").await
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

/// Removes the keys that a run was to be the only one to use, as far as they
/// are its owner's and no run that is not over names them.
pub(super) async fn forget_keys(tx: &mut sqlx::AnyConnection, run_id: &str) -> Result<()> {
    let row = sqlx::query(
        "SELECT keys_of, config FROM runs
         WHERE id = $1 AND forget_keys = 1 AND keys_of = coalesce(owner, '')",
    )
    .bind(run_id)
    .fetch_optional(&mut *tx)
    .await?;
    let Some(row) = row else { return Ok(()) };
    let ring = Keyring::of_owner(row.try_get("keys_of")?);
    let mut names = read_config(&row)?.keys();
    for (_, config) in unfinished_runs_with(&mut *tx, &ring).await? {
        let needed = config.keys();
        names.retain(|name| !needed.contains(name));
    }
    for name in names {
        let removed = sqlx::query("DELETE FROM keys WHERE owner = $1 AND name = $2")
            .bind(ring.owner())
            .bind(&name)
            .execute(&mut *tx)
            .await?;
        if removed.rows_affected() > 0 {
            let why = format!("run {run_id} is over");
            note(&mut *tx, &Actor::Operator, "key.remove", &name, &why).await?;
        }
    }
    Ok(())
}

/// Runs that are not over and use keys of this keyring, oldest first.
async fn unfinished_runs_with(
    tx: &mut sqlx::AnyConnection,
    ring: &Keyring,
) -> Result<Vec<(String, RunConfig)>> {
    let rows = sqlx::query(
        "SELECT id, config FROM runs
         WHERE progress IN ('queued', 'running') AND keys_of = $1 ORDER BY id",
    )
    .bind(ring.owner())
    .fetch_all(tx)
    .await?;
    let run = |row: &AnyRow| Ok((row.try_get("id")?, read_config(row)?));
    rows.iter().map(run).collect()
}

fn read_config(row: &AnyRow) -> Result<RunConfig> {
    let config: String = row.try_get("config")?;
    from_json("a run's configuration", &config)
}

fn read_key(row: &AnyRow) -> Result<KeyRow> {
    Ok(KeyRow {
        name: row.try_get("name")?,
        created_at: row.try_get("created_at")?,
        changed_at: row.try_get("changed_at")?,
        used_at: row.try_get("used_at")?,
    })
}
