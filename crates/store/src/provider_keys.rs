//! API keys of model providers, sealed with one master key.

use sqlx::{Any, Transaction};
use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::permissions::{Keyring, RunPermissions};
use swe_ci_core::provider_key::KeyView;
use swe_ci_core::run::RunConfig;
use swe_ci_views::account::Actor;

use super::Store;
use super::audit::{note, note_and_commit};
use super::rows::columns::{Columns, from_row};
use super::rows::runs::read_permissions;
use super::sql::{Tx, only, query};

/// A sealed key and the master key that opens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedKey {
    pub sealed: String,
    /// Id of the master key.
    pub master: String,
}

/// Exclusive access to the keys: other writers wait until this is committed or
/// dropped. Dropping it discards the changes.
#[derive(Debug)]
pub struct KeysAlone {
    tx: Transaction<'static, Any>,
    master: Option<String>,
}

impl Store {
    /// The keys of one keyring, by name, as its owner sees them.
    pub async fn keys(&self, ring: &Keyring) -> Result<Vec<KeyView>> {
        query(
            "SELECT name, created_at, changed_at, used_at FROM keys WHERE owner = $1 ORDER BY name",
        )
        .with(ring.owner())
        .all(&self.pool, |row| {
            Ok(from_row!(row => KeyView {
                name;
                own: true,
                created_at: row.time("created_at")?,
                changed_at: row.time("changed_at")?,
                used_at: row.optional_time("used_at")?
            }))
        })
        .await
    }

    /// A key and its master key, read consistently.
    pub async fn sealed_key(&self, ring: &Keyring, name: &str) -> Result<Option<SealedKey>> {
        query(
            "SELECT k.sealed, m.id FROM keys k CROSS JOIN master_key m WHERE k.owner = $1 AND k.name = $2",
        )
        .with((ring.owner(), name))
        .first(&self.pool, |row| {
            Ok(SealedKey {
                sealed: row.read("sealed")?,
                master: row.read("id")?,
            })
        })
        .await
    }

    /// Records that a key was used now.
    pub async fn note_key_use(&self, ring: &Keyring, name: &str) -> Result<()> {
        query("UPDATE keys SET used_at = $3 WHERE owner = $1 AND name = $2")
            .with((ring.owner(), name, now_ms()))
            .run(&self.pool)
            .await
    }

    pub async fn remove_key(&self, ring: &Keyring, name: &str, by: &Actor) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        query("DELETE FROM keys WHERE owner = $1 AND name = $2")
            .with((ring.owner(), name))
            .run_or(&mut *tx, || Error::not_found("key", name))
            .await?;
        note_and_commit(tx, by, "key.remove", name, "").await
    }

    /// The permissions of a run: its keys and its network reach.
    pub async fn permissions(&self, run_id: &str) -> Result<RunPermissions> {
        query("SELECT keys_of, reach FROM runs WHERE id = $1")
            .with(run_id)
            .first(&self.pool, read_permissions)
            .await?
            .ok_or_else(|| Error::not_found("run", run_id))
    }

    /// Unfinished runs that use keys of this keyring, oldest first.
    pub async fn unfinished_runs_with(&self, ring: &Keyring) -> Result<Vec<(String, RunConfig)>> {
        unfinished_runs_with(&mut *self.pool.acquire().await?, ring).await
    }

    pub async fn keys_alone(&self) -> Result<KeysAlone> {
        let mut tx = self.pool.begin().await?;
        query("UPDATE master_key SET id = id").run(&mut *tx).await?;
        // Without keys, any master key is accepted.
        let master = query("SELECT id FROM master_key WHERE EXISTS (SELECT 1 FROM keys)")
            .first(&mut *tx, only)
            .await?;
        Ok(KeysAlone { tx, master })
    }
}

impl KeysAlone {
    /// The transaction, for rows written together with a key.
    pub(super) fn tx(&mut self) -> &mut Tx {
        &mut self.tx
    }

    /// Id of the master key that seals them; `None` without keys.
    pub fn master(&self) -> Option<&str> {
        self.master.as_deref()
    }

    /// Keyring, name and sealed value of every key.
    pub async fn all(&mut self) -> Result<Vec<(Keyring, String, String)>> {
        query("SELECT owner, name, sealed FROM keys ORDER BY owner, name")
            .all(&mut *self.tx, |row| {
                let ring = Keyring::of_owner(row.read("owner")?);
                Ok((ring, row.read("name")?, row.read("sealed")?))
            })
            .await
    }

    /// Inserts a key or replaces its value.
    pub async fn put(&mut self, ring: &Keyring, name: &str, sealed: &str) -> Result<()> {
        query(
            "INSERT INTO keys (owner, name, sealed, created_at, changed_at) VALUES ($1, $2, $3, $4, $4)
             ON CONFLICT (owner, name) DO UPDATE SET sealed = excluded.sealed, changed_at = excluded.changed_at",
        )
        .with((ring.owner(), name, sealed, now_ms()))
        .run(&mut *self.tx)
        .await
    }

    /// Replaces the sealed form of an unchanged value.
    pub async fn reseal(&mut self, ring: &Keyring, name: &str, sealed: &str) -> Result<()> {
        query("UPDATE keys SET sealed = $3 WHERE owner = $1 AND name = $2")
            .with((ring.owner(), name, sealed))
            .run(&mut *self.tx)
            .await
    }

    /// Logs a change to one key, or to all by the id of their master key.
    pub async fn note(&mut self, by: &Actor, action: &str, subject: &str) -> Result<()> {
        note(&mut self.tx, by, action, subject, "").await
    }

    /// `master` is the id of the master key that now seals all keys.
    pub async fn commit(mut self, master: &str) -> Result<()> {
        query("UPDATE master_key SET id = $1")
            .with(master)
            .run(&mut *self.tx)
            .await?;
        self.tx.commit().await?;
        Ok(())
    }
}

/// Removes the keys meant for this run alone, if they belong to its owner and
/// no unfinished run uses them.
pub(super) async fn forget_keys(tx: &mut Tx, run_id: &str) -> Result<()> {
    let row = query(
        "SELECT keys_of, config FROM runs
         WHERE id = $1 AND forget_keys = 1 AND keys_of = coalesce(owner, '')",
    )
    .with(run_id)
    .row(&mut *tx)
    .await?;
    let Some(row) = row else { return Ok(()) };
    let ring = Keyring::of_owner(row.read("keys_of")?);
    let mut names = row.read::<RunConfig>("config")?.keys();
    for (_, config) in unfinished_runs_with(&mut *tx, &ring).await? {
        let needed = config.keys();
        names.retain(|name| !needed.contains(name));
    }
    for name in names {
        let removed = query("DELETE FROM keys WHERE owner = $1 AND name = $2")
            .with((ring.owner(), &name))
            .changed(&mut *tx)
            .await?;
        if removed > 0 {
            let why = format!("run {run_id} is over");
            note(&mut *tx, &Actor::Operator, "key.remove", &name, &why).await?;
        }
    }
    Ok(())
}

/// Unfinished runs that use keys of this keyring, oldest first.
async fn unfinished_runs_with(tx: &mut Tx, ring: &Keyring) -> Result<Vec<(String, RunConfig)>> {
    query(
        "SELECT id, config FROM runs
         WHERE progress IN ('queued', 'running') AND keys_of = $1 ORDER BY id",
    )
    .with(ring.owner())
    .all(tx, |row| Ok((row.read("id")?, row.read("config")?)))
    .await
}
