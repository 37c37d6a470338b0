//! Accounts: who may do what, and the way in.

use std::fmt;

use sqlx::any::AnyRow;
use sqlx::{Any, Row, Transaction};
use swe_ci_core::account::{AccountRole, AccountView, Actor, Identity};
use swe_ci_core::credentials::lock_seconds;

use super::audit::note;
use super::identities::{self, ProvenIdentity};
use super::{Store, count};
use crate::clock::{now_ms, rfc3339};
use crate::error::{Error, Result};

/// What a password is held against.
#[derive(Clone)]
pub struct Credentials {
    pub identity: Identity,
    /// A hash in the PHC string format; empty where no password was set.
    pub password: String,
    pub disabled: bool,
    /// For how many seconds the account is locked if the password is wrong.
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

/// An account to be made.
#[derive(Debug)]
pub struct NewAccount<'a> {
    /// The first that nobody has becomes its name; there is one at least.
    pub names: &'a [String],
    /// A hash in the PHC string format; empty for none.
    pub password: &'a str,
    /// Who they are at another site, where that is a way in.
    pub identity: Option<&'a ProvenIdentity>,
}

/// What becomes of somebody who gives a name and a password.
#[derive(Debug, Clone)]
pub enum Attempt {
    /// There is no such account.
    Unknown,
    /// No password is looked at before this moment, in unix milliseconds.
    Locked { until: i64 },
    /// The password may be looked at.
    Open(Credentials),
}

impl Store {
    /// All accounts, by name.
    pub async fn accounts(&self) -> Result<Vec<AccountView>> {
        let rows = sqlx::query(
            "SELECT id, name, role, created_at, signed_in_at, disabled_at FROM accounts ORDER BY name",
        )
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(read_account).collect()
    }

    /// Who an account is; none where it is gone or disabled.
    pub async fn identity(&self, account_id: &str) -> Result<Option<Identity>> {
        let row = sqlx::query(
            "SELECT id, name, role FROM accounts WHERE id = $1 AND disabled_at IS NULL",
        )
        .bind(account_id)
        .fetch_optional(&self.pool)
        .await?;
        row.as_ref().map(read_identity).transpose()
    }

    /// Counts a wrong password before one is looked at, so that of many that
    /// come at the same time no more are looked at than of a few;
    /// [`Store::let_in`] and [`Store::set_password`] forget what was counted.
    pub async fn attempt(&self, name: &str) -> Result<Attempt> {
        let now = now_ms();
        let mut tx = self.pool.begin().await?;
        let row = sqlx::query(
            "UPDATE accounts SET failures = failures + 1 WHERE name = $1 AND locked_until <= $2
             RETURNING id, name, role, password, disabled_at, failures",
        )
        .bind(name)
        .bind(now)
        .fetch_optional(&mut *tx)
        .await?;
        let Some(row) = row else {
            tx.rollback().await?;
            return self.shut_out(name).await;
        };
        let locks_for = lock_seconds(count(row.try_get("failures")?));
        let found = Credentials {
            identity: read_identity(&row)?,
            password: row.try_get("password")?,
            disabled: row.try_get::<Option<i64>, _>("disabled_at")?.is_some(),
            locks_for,
        };
        if locks_for > 0 {
            let until = now + i64::try_from(locks_for * 1_000).unwrap_or(i64::MAX);
            sqlx::query("UPDATE accounts SET locked_until = $2 WHERE id = $1")
                .bind(&found.identity.account_id)
                .bind(until)
                .execute(&mut *tx)
                .await?;
        }
        tx.commit().await?;
        Ok(Attempt::Open(found))
    }

    async fn shut_out(&self, name: &str) -> Result<Attempt> {
        let row = sqlx::query("SELECT locked_until FROM accounts WHERE name = $1")
            .bind(name)
            .fetch_optional(&self.pool)
            .await?;
        Ok(match row {
            Some(row) => Attempt::Locked {
                until: row.try_get("locked_until")?,
            },
            None => Attempt::Unknown,
        })
    }

    /// Somebody gave the right password; false where it is the right one no
    /// more, or the account was disabled meanwhile.
    pub async fn let_in(&self, found: &Credentials) -> Result<bool> {
        let who = &found.identity;
        let mut tx = self.pool.begin().await?;
        let changed = sqlx::query(
            "UPDATE accounts SET failures = 0, locked_until = 0, signed_in_at = $3
             WHERE id = $1 AND password = $2 AND disabled_at IS NULL",
        )
        .bind(&who.account_id)
        .bind(&found.password)
        .bind(now_ms())
        .execute(&mut *tx)
        .await?;
        if changed.rows_affected() == 0 {
            tx.rollback().await?;
            return Ok(false);
        }
        let by = Actor::Account(who.clone());
        note(&mut tx, &by, "account.sign_in", &who.name, "").await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Somebody did not get in; `name` is an account's, or empty.
    pub async fn note_refusal(&self, name: &str, why: &str, by: &Actor) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        note(&mut tx, by, "account.sign_in_failed", name, why).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Gives an account another role.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] where no administrator would be
    /// left.
    pub async fn set_role(&self, name: &str, role: AccountRole, by: &Actor) -> Result<()> {
        let mut tx = self.alone_with_admins().await?;
        let found = found(&mut tx, name).await?;
        if found.role == role {
            return Ok(());
        }
        if !found.disabled {
            spare_last_admin(&mut tx, &found).await?;
        }
        sqlx::query("UPDATE accounts SET role = $2 WHERE id = $1")
            .bind(&found.account_id)
            .bind(role.name())
            .execute(&mut *tx)
            .await?;
        let detail = format!("from {} to {}", found.role.name(), role.name());
        note(&mut tx, by, "account.set_role", name, &detail).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Lets an account in no more, and ends its sessions; or lets it in again.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] where no administrator would be
    /// left.
    pub async fn set_disabled(&self, name: &str, disabled: bool, by: &Actor) -> Result<()> {
        let mut tx = self.alone_with_admins().await?;
        let found = found(&mut tx, name).await?;
        if found.disabled == disabled {
            return Ok(());
        }
        if disabled {
            spare_last_admin(&mut tx, &found).await?;
        }
        sqlx::query("UPDATE accounts SET disabled_at = CASE WHEN $2 = 1 THEN $3 END WHERE id = $1")
            .bind(&found.account_id)
            .bind(i64::from(disabled))
            .bind(now_ms())
            .execute(&mut *tx)
            .await?;
        let action = if disabled {
            end_sessions(&mut tx, &found.account_id).await?;
            "account.disable"
        } else {
            "account.enable"
        };
        note(&mut tx, by, action, name, "").await?;
        tx.commit().await?;
        Ok(())
    }

    /// Gives an account another password, ends its sessions, and forgets the
    /// wrong ones. `action` says how it came to that.
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
        let row = sqlx::query(
            "UPDATE accounts SET password = $2, failures = 0, locked_until = 0 WHERE name = $1
             RETURNING id",
        )
        .bind(name)
        .bind(password)
        .fetch_optional(&mut *tx)
        .await?;
        let row = row.ok_or_else(|| Error::not_found("account", name))?;
        end_sessions(&mut tx, &row.try_get::<String, _>("id")?).await?;
        note(&mut tx, by, action, name, "").await?;
        tx.commit().await?;
        Ok(())
    }

    /// Gives an account that has none a password, and ends its sessions.
    ///
    /// # Errors
    /// [`Error::Conflict`] where it has one.
    pub async fn set_first_password(
        &self,
        account_id: &str,
        password: &str,
        by: &Actor,
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        let row = sqlx::query(
            "UPDATE accounts SET password = $2, failures = 0, locked_until = 0
             WHERE id = $1 AND password = '' RETURNING name",
        )
        .bind(account_id)
        .bind(password)
        .fetch_optional(&mut *tx)
        .await?;
        let row = row.ok_or_else(|| {
            Error::Conflict("the account has a password; give it to change it".into())
        })?;
        end_sessions(&mut tx, account_id).await?;
        let name: String = row.try_get("name")?;
        note(&mut tx, by, "account.set_password", &name, "").await?;
        tx.commit().await?;
        Ok(())
    }

    /// A transaction in which nobody else makes administrators fewer: else two
    /// could each leave the other as the last one, and none would be left.
    async fn alone_with_admins(&self) -> Result<Transaction<'static, Any>> {
        let mut tx = self.pool.begin().await?;
        sqlx::query("UPDATE accounts SET role = role WHERE role = 'admin'")
            .execute(&mut *tx)
            .await?;
        Ok(tx)
    }
}

/// Makes an account within a transaction; `how` it came to that is written down.
///
/// # Errors
/// [`Error::Conflict`] when all its names are taken, or who it is elsewhere is
/// linked to another.
pub(super) async fn insert_account(
    tx: &mut sqlx::AnyConnection,
    new: &NewAccount<'_>,
    role: AccountRole,
    how: &str,
) -> Result<Identity> {
    let account_id = uuid::Uuid::now_v7().to_string();
    let now = now_ms();
    for name in new.names {
        let inserted = sqlx::query(
            "INSERT INTO accounts (id, name, password, role, created_at, failures, locked_until)
             VALUES ($1, $2, $3, $4, $5, 0, 0) ON CONFLICT (name) DO NOTHING",
        )
        .bind(&account_id)
        .bind(name)
        .bind(new.password)
        .bind(role.name())
        .bind(now)
        .execute(&mut *tx)
        .await?;
        if inserted.rows_affected() == 0 {
            continue;
        }
        let who = Identity {
            account_id,
            name: name.clone(),
            role,
            until: None,
        };
        if let Some(identity) = new.identity {
            identities::insert(&mut *tx, &who.account_id, identity).await?;
        }
        let detail = format!("as {} by {how}", role.name());
        let by = Actor::Account(who.clone());
        note(tx, &by, "account.make", &who.name, &detail).await?;
        return Ok(who);
    }
    let taken = new.names.first().map_or("", String::as_str);
    Err(Error::Conflict(format!(
        "the name `{taken}` is taken; choose another"
    )))
}

async fn found(tx: &mut sqlx::AnyConnection, name: &str) -> Result<AccountView> {
    let row = sqlx::query(
        "SELECT id, name, role, created_at, signed_in_at, disabled_at FROM accounts WHERE name = $1",
    )
    .bind(name)
    .fetch_optional(tx)
    .await?;
    row.as_ref()
        .map(read_account)
        .transpose()?
        .ok_or_else(|| Error::not_found("account", name))
}

/// Refuses to go on where this is the only administrator that can sign in.
async fn spare_last_admin(tx: &mut sqlx::AnyConnection, found: &AccountView) -> Result<()> {
    if found.role != AccountRole::Admin {
        return Ok(());
    }
    let others = sqlx::query(
        "SELECT 1 FROM accounts WHERE role = 'admin' AND disabled_at IS NULL AND id <> $1 LIMIT 1",
    )
    .bind(&found.account_id)
    .fetch_optional(tx)
    .await?;
    others.map(|_| ()).ok_or_else(|| {
        Error::Conflict(format!(
            "`{}` is the last administrator; make another account one first",
            found.name
        ))
    })
}

async fn end_sessions(tx: &mut sqlx::AnyConnection, account_id: &str) -> Result<()> {
    sqlx::query("DELETE FROM sessions WHERE account_id = $1")
        .bind(account_id)
        .execute(tx)
        .await?;
    Ok(())
}

fn read_account(row: &AnyRow) -> Result<AccountView> {
    Ok(AccountView {
        account_id: row.try_get("id")?,
        name: row.try_get("name")?,
        role: read_role(row, "role")?,
        created_at: rfc3339(row.try_get("created_at")?),
        signed_in_at: row.try_get::<Option<i64>, _>("signed_in_at")?.map(rfc3339),
        disabled: row.try_get::<Option<i64>, _>("disabled_at")?.is_some(),
    })
}

pub(super) fn read_identity(row: &AnyRow) -> Result<Identity> {
    Ok(Identity {
        account_id: row.try_get("id")?,
        name: row.try_get("name")?,
        role: read_role(row, "role")?,
        until: None,
    })
}

pub(super) fn read_role(row: &AnyRow, column: &str) -> Result<AccountRole> {
    let name: String = row.try_get(column)?;
    AccountRole::from_name(&name)
        .ok_or_else(|| anyhow::anyhow!("the database holds the role `{name}`").into())
}
