//! Who accounts are at other sites: one more way in.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_core::account::{AccountRole, Actor, Identity, LinkedIdentity, WaysIn};

use super::Store;
use super::accounts::{NewAccount, insert_account, read_identity};
use super::audit::note;
use crate::clock::{now_ms, rfc3339};
use crate::error::{Error, Result};

/// Who somebody is at another site, once that has been proven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvenIdentity {
    /// Id of the provider that says so.
    pub provider: String,
    /// What it calls them, for good.
    pub subject: String,
    /// Their login or address there.
    pub shown_as: String,
}

/// What becomes of somebody who comes from another site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// No account is linked to who they are there.
    Unknown,
    /// The account of this name is, and is shut out.
    Disabled(String),
    In(Identity),
}

impl Store {
    /// Lets in whoever is linked to an account.
    pub async fn enter(&self, who: &ProvenIdentity) -> Result<Entry> {
        let now = now_ms();
        let mut tx = self.pool.begin().await?;
        let linked = sqlx::query(
            "UPDATE identities SET last_used = $3, shown_as = $4 WHERE provider = $1 AND subject = $2
             RETURNING account_id",
        )
        .bind(&who.provider)
        .bind(&who.subject)
        .bind(now)
        .bind(&who.shown_as)
        .fetch_optional(&mut *tx)
        .await?;
        let Some(linked) = linked else {
            return Ok(Entry::Unknown);
        };
        let account: String = linked.try_get("account_id")?;
        let row = sqlx::query(
            "UPDATE accounts SET signed_in_at = CASE WHEN disabled_at IS NULL THEN $2 ELSE signed_in_at END
             WHERE id = $1 RETURNING id, name, role, disabled_at",
        )
        .bind(&account)
        .bind(now)
        .fetch_one(&mut *tx)
        .await?;
        let found = read_identity(&row)?;
        if row.try_get::<Option<i64>, _>("disabled_at")?.is_some() {
            return Ok(Entry::Disabled(found.name));
        }
        let by = Actor::Account(found.clone());
        note(&mut tx, &by, "account.sign_in", &found.name, &as_who(who)).await?;
        tx.commit().await?;
        Ok(Entry::In(found))
    }

    /// Makes an account for somebody who comes from another site, uninvited.
    ///
    /// # Errors
    /// [`Error::Conflict`] when all names are taken, or they have been linked to
    /// an account meanwhile.
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

    /// Makes who somebody is elsewhere a way into an account, which has `most`
    /// of them at most. Where it is one already, nothing changes.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it is a way into another account, or there are
    /// too many.
    pub async fn link(
        &self,
        account_id: &str,
        who: &ProvenIdentity,
        most: usize,
        by: &Actor,
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        let name = hold(&mut tx, account_id).await?;
        let owner =
            sqlx::query("SELECT account_id FROM identities WHERE provider = $1 AND subject = $2")
                .bind(&who.provider)
                .bind(&who.subject)
                .fetch_optional(&mut *tx)
                .await?;
        let owner = owner.map(|row| row.try_get::<String, _>("account_id"));
        if owner.transpose()?.is_some_and(|owner| owner == account_id) {
            return Ok(());
        }
        if of_account(&mut tx, account_id).await?.len() >= most {
            return Err(Error::Conflict(format!(
                "the account has {most} ways in already; unlink one first"
            )));
        }
        insert(&mut tx, account_id, who).await?;
        note(&mut tx, by, "account.link_identity", &name, &as_who(who)).await?;
        tx.commit().await?;
        Ok(())
    }

    /// By what an account can be signed in to.
    pub async fn ways_in(&self, account_id: &str) -> Result<WaysIn> {
        let mut connection = self.pool.acquire().await?;
        Ok(WaysIn {
            has_password: has_password(&mut connection, account_id).await?,
            identities: of_account(&mut connection, account_id).await?,
        })
    }

    /// Takes a way into an account away, unless it is the last: without a
    /// password, one by a provider that is `offered` stays.
    ///
    /// # Errors
    /// [`Error::NotFound`] where it is none; [`Error::Conflict`] for the last.
    pub async fn unlink(
        &self,
        account_id: &str,
        provider: &str,
        subject: &str,
        offered: &[String],
        by: &Actor,
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        // Of two that are taken away at the same time, each would find the other.
        let name = hold(&mut tx, account_id).await?;
        let gone = sqlx::query(
            "DELETE FROM identities WHERE account_id = $1 AND provider = $2 AND subject = $3
             RETURNING shown_as",
        )
        .bind(account_id)
        .bind(provider)
        .bind(subject)
        .fetch_optional(&mut *tx)
        .await?;
        let gone = gone.ok_or_else(|| Error::not_found("linked identity", subject))?;
        let left = of_account(&mut tx, account_id).await?;
        let leads_in = left.iter().any(|left| offered.contains(&left.provider));
        if !leads_in && !has_password(&mut tx, account_id).await? {
            return Err(Error::Conflict(
                "this is the last way into your account; set a password or link another one first"
                    .into(),
            ));
        }
        let detail = format!("{provider}: {}", gone.try_get::<String, _>("shown_as")?);
        note(&mut tx, by, "account.unlink_identity", &name, &detail).await?;
        tx.commit().await?;
        Ok(())
    }
}

/// Links who somebody is to an account that is being made, or is held.
pub(super) async fn insert(
    tx: &mut sqlx::AnyConnection,
    account_id: &str,
    who: &ProvenIdentity,
) -> Result<()> {
    let inserted = sqlx::query(
        "INSERT INTO identities (provider, subject, account_id, shown_as, linked_at)
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (provider, subject) DO NOTHING",
    )
    .bind(&who.provider)
    .bind(&who.subject)
    .bind(account_id)
    .bind(&who.shown_as)
    .bind(now_ms())
    .execute(tx)
    .await?;
    match inserted.rows_affected() {
        0 => Err(Error::Conflict(format!(
            "`{}` is linked to another account already",
            who.shown_as
        ))),
        _ => Ok(()),
    }
}

/// Keeps others from changing the ways into an account until the transaction
/// ends; its name.
async fn hold(tx: &mut sqlx::AnyConnection, account_id: &str) -> Result<String> {
    let row = sqlx::query("UPDATE accounts SET name = name WHERE id = $1 RETURNING name")
        .bind(account_id)
        .fetch_optional(tx)
        .await?;
    let row = row.ok_or_else(|| Error::not_found("account", account_id))?;
    Ok(row.try_get("name")?)
}

async fn has_password(connection: &mut sqlx::AnyConnection, account_id: &str) -> Result<bool> {
    let found = sqlx::query("SELECT 1 FROM accounts WHERE id = $1 AND password <> ''")
        .bind(account_id)
        .fetch_optional(connection)
        .await?;
    Ok(found.is_some())
}

async fn of_account(
    connection: &mut sqlx::AnyConnection,
    account_id: &str,
) -> Result<Vec<LinkedIdentity>> {
    let rows = sqlx::query(
        "SELECT provider, subject, shown_as, linked_at, last_used FROM identities
         WHERE account_id = $1 ORDER BY linked_at, provider, subject",
    )
    .bind(account_id)
    .fetch_all(connection)
    .await?;
    rows.iter().map(read_linked).collect()
}

fn read_linked(row: &AnyRow) -> Result<LinkedIdentity> {
    Ok(LinkedIdentity {
        provider: row.try_get("provider")?,
        subject: row.try_get("subject")?,
        shown_as: row.try_get("shown_as")?,
        linked_at: rfc3339(row.try_get("linked_at")?),
        last_used: row.try_get::<Option<i64>, _>("last_used")?.map(rfc3339),
    })
}

/// For the audit log.
fn as_who(who: &ProvenIdentity) -> String {
    format!("{}: {}", who.provider, who.shown_as)
}
