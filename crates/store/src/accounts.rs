//! Accounts: roles, passwords and sign-in.

use std::fmt;

use sqlx::{Any, Transaction};
use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_views::account::{AccountRole, AccountView, Actor, Identity};
use swe_ci_views::credentials::lock_seconds;

use super::audit::{note, note_and_commit};
use super::identities::{ProvenIdentity, insert_identity};
use super::rows::accounts::{read_account, read_identity};
use super::rows::columns::Columns;
use super::sql::{Tx, only, query};
use super::{Store, new_id};

/// The stored credentials that a password is checked against.
#[derive(Clone)]
pub struct Credentials {
    pub identity: Identity,
    /// A hash in the PHC string format; empty when no password is set.
    pub password: String,
    pub disabled: bool,
    /// Seconds for which a wrong password locks the account.
    pub locks_for: u64,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("identity", &self.identity)
            .field("disabled", &self.disabled)
            .finish_non_exhaustive()
    }
}

/// An account to create.
#[derive(Debug)]
pub struct NewAccount<'a> {
    /// At least one name; the first free one becomes the account's name.
    pub names: &'a [String],
    /// A hash in the PHC string format; empty for none.
    pub password: &'a str,
    /// The identity at another site that signs in to this account.
    pub identity: Option<&'a ProvenIdentity>,
}

/// The response to a sign-in attempt.
#[derive(Debug, Clone)]
pub enum Attempt {
    /// No account has this name.
    Unknown,
    /// Passwords are refused until this moment, in unix milliseconds.
    Locked { until: i64 },
    /// The password may be checked.
    Open(Credentials),
}

impl Store {
    /// All accounts, by name.
    pub async fn accounts(&self) -> Result<Vec<AccountView>> {
        query(
            "SELECT id, name, role, created_at, signed_in_at, disabled_at FROM accounts ORDER BY name",
        )
        .all(&self.pool, read_account)
        .await
    }

    /// The identity of an account; `None` if it is deleted or disabled.
    pub async fn identity(&self, account_id: &str) -> Result<Option<Identity>> {
        query("SELECT id, name, role FROM accounts WHERE id = $1 AND disabled_at IS NULL")
            .with(account_id)
            .first(&self.pool, read_identity)
            .await
    }

    /// Creates an account for somebody who signs in from another site without
    /// an invitation.
    ///
    /// # Errors
    /// [`Error::Conflict`] when all names are taken, or the identity was linked
    /// to an account meanwhile.
    pub async fn insert_account(
        &self,
        new: &NewAccount<'_>,
        role: AccountRole,
        how: &str,
    ) -> Result<Identity> {
        let mut tx = self.pool.begin().await?;
        let who = insert_account(&mut tx, new, role, how).await?;
        tx.commit().await?;
        Ok(who)
    }

    /// Counts a failure before the password is checked, so that parallel
    /// attempts get no more checks than sequential ones. [`Store::let_in`] and
    /// [`Store::set_password`] reset the count.
    pub async fn attempt(&self, name: &str) -> Result<Attempt> {
        let now = now_ms();
        let mut tx = self.pool.begin().await?;
        let row = query(
            "UPDATE accounts SET failures = failures + 1 WHERE name = $1 AND locked_until <= $2
             RETURNING id, name, role, password, disabled_at, failures",
        )
        .with((name, now))
        .row(&mut *tx)
        .await?;
        let Some(row) = row else {
            tx.rollback().await?;
            return self.refused_attempt(name).await;
        };
        let locks_for = lock_seconds(row.read("failures")?);
        let credentials = Credentials {
            identity: read_identity(&row)?,
            password: row.read("password")?,
            disabled: row.is_set("disabled_at")?,
            locks_for,
        };
        if locks_for > 0 {
            let until = now + i64::try_from(locks_for * 1_000).unwrap_or(i64::MAX);
            query("UPDATE accounts SET locked_until = $2 WHERE id = $1")
                .with((&credentials.identity.account_id, until))
                .run(&mut *tx)
                .await?;
        }
        tx.commit().await?;
        Ok(Attempt::Open(credentials))
    }

    async fn refused_attempt(&self, name: &str) -> Result<Attempt> {
        let until = query("SELECT locked_until FROM accounts WHERE name = $1")
            .with(name)
            .first(&self.pool, only)
            .await?;
        Ok(until.map_or(Attempt::Unknown, |until| Attempt::Locked { until }))
    }

    /// Records a sign-in with the right password; `false` if the password
    /// changed or the account was disabled meanwhile.
    pub async fn let_in(&self, credentials: &Credentials) -> Result<bool> {
        let who = &credentials.identity;
        let mut tx = self.pool.begin().await?;
        let changed = query(
            "UPDATE accounts SET failures = 0, locked_until = 0, signed_in_at = $3
             WHERE id = $1 AND password = $2 AND disabled_at IS NULL",
        )
        .with((&who.account_id, &credentials.password, now_ms()))
        .changed(&mut *tx)
        .await?;
        if changed == 0 {
            tx.rollback().await?;
            return Ok(false);
        }
        let by = Actor::Account(who.clone());
        note_and_commit(tx, &by, "account.sign_in", &who.name, "").await?;
        Ok(true)
    }

    /// Records a failed sign-in; `name` is an account's, or empty.
    pub async fn note_refusal(&self, name: &str, why: &str, by: &Actor) -> Result<()> {
        let tx = self.pool.begin().await?;
        note_and_commit(tx, by, "account.sign_in_failed", name, why).await
    }

    /// Changes the role of an account.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] when no administrator would
    /// remain.
    pub async fn set_role(&self, name: &str, role: AccountRole, by: &Actor) -> Result<()> {
        let mut tx = self.lock_admins().await?;
        let account = account_by_name(&mut tx, name).await?;
        if account.role == role {
            return Ok(());
        }
        if !account.disabled {
            ensure_not_last_admin(&mut tx, &account).await?;
        }
        query("UPDATE accounts SET role = $2 WHERE id = $1")
            .with((&account.account_id, role.name()))
            .run(&mut *tx)
            .await?;
        let detail = format!("from {} to {}", account.role.name(), role.name());
        note_and_commit(tx, by, "account.set_role", name, &detail).await
    }

    /// Disables an account and ends its sessions, or enables it again.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] when no administrator would
    /// remain.
    pub async fn set_disabled(&self, name: &str, disabled: bool, by: &Actor) -> Result<()> {
        let mut tx = self.lock_admins().await?;
        let account = account_by_name(&mut tx, name).await?;
        if account.disabled == disabled {
            return Ok(());
        }
        if disabled {
            ensure_not_last_admin(&mut tx, &account).await?;
        }
        query("UPDATE accounts SET disabled_at = CASE WHEN $2 = 1 THEN $3 END WHERE id = $1")
            .with((&account.account_id, disabled, now_ms()))
            .run(&mut *tx)
            .await?;
        let action = if disabled {
            end_sessions(&mut tx, &account.account_id).await?;
            "account.disable"
        } else {
            "account.enable"
        };
        note_and_commit(tx, by, action, name, "").await
    }

    /// Changes the password of an account, ends its sessions, and resets its
    /// failures. `action` is the name for the audit log.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn set_password(
        &self,
        name: &str,
        password: &str,
        action: &str,
        by: &Actor,
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        let id: Option<String> = query(
            "UPDATE accounts SET password = $2, failures = 0, locked_until = 0 WHERE name = $1
             RETURNING id",
        )
        .with((name, password))
        .first(&mut *tx, only)
        .await?;
        let id = id.ok_or_else(|| Error::not_found("account", name))?;
        end_sessions(&mut tx, &id).await?;
        note_and_commit(tx, by, action, name, "").await
    }

    /// Sets the password of an account that has none, and ends its sessions.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it has one.
    pub async fn set_first_password(
        &self,
        account_id: &str,
        password: &str,
        by: &Actor,
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        let name: Option<String> = query(
            "UPDATE accounts SET password = $2, failures = 0, locked_until = 0
             WHERE id = $1 AND password = '' RETURNING name",
        )
        .with((account_id, password))
        .first(&mut *tx, only)
        .await?;
        let name = name.ok_or_else(|| {
            Error::Conflict(
                "the account already has a password; send the old one to change it".into(),
            )
        })?;
        end_sessions(&mut tx, account_id).await?;
        note_and_commit(tx, by, "account.set_password", &name, "").await
    }

    /// A transaction that locks all administrators: otherwise two of them could
    /// each remove the other, and none would remain.
    async fn lock_admins(&self) -> Result<Transaction<'static, Any>> {
        let mut tx = self.pool.begin().await?;
        query("UPDATE accounts SET role = role WHERE role = 'admin'")
            .run(&mut *tx)
            .await?;
        Ok(tx)
    }
}

/// Creates an account within a transaction; `how` says in the audit log how it
/// came about.
///
/// # Errors
/// [`Error::Conflict`] when all its names are taken, or its identity is linked
/// to another account.
pub(super) async fn insert_account(
    tx: &mut Tx,
    new: &NewAccount<'_>,
    role: AccountRole,
    how: &str,
) -> Result<Identity> {
    let account_id = new_id();
    let now = now_ms();
    for name in new.names {
        let inserted = query(
            "INSERT INTO accounts (id, name, password, role, created_at, failures, locked_until)
             VALUES ($1, $2, $3, $4, $5, 0, 0) ON CONFLICT (name) DO NOTHING",
        )
        .with((&account_id, name, new.password, role.name(), now))
        .changed(&mut *tx)
        .await?;
        if inserted == 0 {
            continue;
        }
        let who = Identity {
            account_id,
            name: name.clone(),
            role,
            until: None,
            reads_metrics: false,
        };
        if let Some(identity) = new.identity {
            insert_identity(&mut *tx, &who.account_id, identity).await?;
        }
        let detail = format!("as {} by {how}", role.name());
        let by = Actor::Account(who.clone());
        note(tx, &by, "account.make", &who.name, &detail).await?;
        return Ok(who);
    }
    let name = new.names.first().map_or("", String::as_str);
    Err(Error::Conflict(format!(
        "the name `{name}` is taken; choose another"
    )))
}

async fn account_by_name(tx: &mut Tx, name: &str) -> Result<AccountView> {
    query(
        "SELECT id, name, role, created_at, signed_in_at, disabled_at FROM accounts WHERE name = $1",
    )
    .with(name)
    .first(tx, read_account)
    .await?
    .ok_or_else(|| Error::not_found("account", name))
}

/// Fails if this is the only administrator that can sign in.
async fn ensure_not_last_admin(tx: &mut Tx, account: &AccountView) -> Result<()> {
    if account.role != AccountRole::Admin {
        return Ok(());
    }
    let others = query(
        "SELECT 1 FROM accounts WHERE role = 'admin' AND disabled_at IS NULL AND id <> $1 LIMIT 1",
    )
    .with(&account.account_id)
    .row(tx)
    .await?;
    others.map(|_| ()).ok_or_else(|| {
        Error::Conflict(format!(
            "`{}` is the last administrator; make another account one first",
            account.name
        ))
    })
}

async fn end_sessions(tx: &mut Tx, account_id: &str) -> Result<()> {
    query("DELETE FROM sessions WHERE account_id = $1")
        .with(account_id)
        .run(tx)
        .await
}
