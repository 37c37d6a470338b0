//! Identities at other sites, by which accounts sign in.

use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_views::account::{Actor, Identity, LinkedIdentity, WaysIn};

use super::Store;
use super::audit::note_and_commit;
use super::rows::accounts::{read_identity, read_linked_identity};
use super::rows::columns::Columns;
use super::sql::{Tx, only, query};

/// A proven identity at another site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvenIdentity {
    /// Id of the provider that proved it.
    pub provider: String,
    /// The provider's permanent id for the person.
    pub subject: String,
    /// Their login or email address there.
    pub shown_as: String,
}

/// The response to a sign-in from another site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// No account is linked to the identity.
    Unknown,
    /// The linked account, of this name, is disabled.
    Disabled(String),
    In(Identity),
}

impl Store {
    /// Signs in the account that is linked to an identity.
    pub async fn enter(&self, who: &ProvenIdentity) -> Result<Entry> {
        let now = now_ms();
        let mut tx = self.pool.begin().await?;
        let account: Option<String> = query(
            "UPDATE identities SET last_used = $3, shown_as = $4 WHERE provider = $1 AND subject = $2
             RETURNING account_id",
        )
        .with((&who.provider, &who.subject, now, &who.shown_as))
        .first(&mut *tx, only)
        .await?;
        let Some(account) = account else {
            return Ok(Entry::Unknown);
        };
        let (identity, disabled) = query(
            "UPDATE accounts SET signed_in_at = CASE WHEN disabled_at IS NULL THEN $2 ELSE signed_in_at END
             WHERE id = $1 RETURNING id, name, role, disabled_at",
        )
        .with((&account, now))
        .one(&mut *tx, |row| {
            Ok((read_identity(row)?, row.is_set("disabled_at")?))
        })
        .await?;
        if disabled {
            return Ok(Entry::Disabled(identity.name));
        }
        let by = Actor::Account(identity.clone());
        let detail = audit_detail(who);
        note_and_commit(tx, &by, "account.sign_in", &identity.name, &detail).await?;
        Ok(Entry::In(identity))
    }

    /// Links an identity to an account, up to `most` of them. Does nothing if
    /// it is linked already.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it is linked to another account, or the account
    /// has too many.
    pub async fn link(
        &self,
        account_id: &str,
        who: &ProvenIdentity,
        most: usize,
        by: &Actor,
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        let name = lock_account(&mut tx, account_id).await?;
        let owner: Option<String> =
            query("SELECT account_id FROM identities WHERE provider = $1 AND subject = $2")
                .with((&who.provider, &who.subject))
                .first(&mut *tx, only)
                .await?;
        if owner.is_some_and(|owner| owner == account_id) {
            return Ok(());
        }
        if linked_identities(&mut tx, account_id).await?.len() >= most {
            return Err(Error::Conflict(format!(
                "the account has {most} ways in already; unlink one first"
            )));
        }
        insert_identity(&mut tx, account_id, who).await?;
        let detail = audit_detail(who);
        note_and_commit(tx, by, "account.link_identity", &name, &detail).await
    }

    /// The sign-in methods of an account.
    pub async fn ways_in(&self, account_id: &str) -> Result<WaysIn> {
        let mut connection = self.pool.acquire().await?;
        Ok(WaysIn {
            has_password: has_password(&mut connection, account_id).await?,
            identities: linked_identities(&mut connection, account_id).await?,
        })
    }

    /// Unlinks an identity, unless it is the last sign-in method: an account
    /// without a password keeps one identity of a provider that is `offered`.
    ///
    /// # Errors
    /// [`Error::NotFound`] if it is not linked; [`Error::Conflict`] for the
    /// last.
    pub async fn unlink(
        &self,
        account_id: &str,
        provider: &str,
        subject: &str,
        offered: &[String],
        by: &Actor,
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        // Without the lock, two parallel removals would each see the other
        // identity.
        let name = lock_account(&mut tx, account_id).await?;
        let removed: Option<String> = query(
            "DELETE FROM identities WHERE account_id = $1 AND provider = $2 AND subject = $3
             RETURNING shown_as",
        )
        .with((account_id, provider, subject))
        .first(&mut *tx, only)
        .await?;
        let shown_as = removed.ok_or_else(|| Error::not_found("linked identity", subject))?;
        let remaining = linked_identities(&mut tx, account_id).await?;
        let can_sign_in = remaining
            .iter()
            .any(|identity| offered.contains(&identity.provider));
        if !can_sign_in && !has_password(&mut tx, account_id).await? {
            return Err(Error::Conflict(
                "this is the last way into your account; set a password or link another one first"
                    .into(),
            ));
        }
        let detail = format!("{provider}: {shown_as}");
        note_and_commit(tx, by, "account.unlink_identity", &name, &detail).await
    }
}

/// Links an identity to an account that is being created, or is locked.
pub(super) async fn insert_identity(
    tx: &mut Tx,
    account_id: &str,
    who: &ProvenIdentity,
) -> Result<()> {
    let shown_as = &who.shown_as;
    query(
        "INSERT INTO identities (provider, subject, account_id, shown_as, linked_at)
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (provider, subject) DO NOTHING",
    )
    .with((&who.provider, &who.subject, account_id, shown_as))
    .with(now_ms())
    .run_or(tx, || {
        Error::Conflict(format!("`{shown_as}` is linked to another account already"))
    })
    .await
}

/// Locks an account's sign-in methods until the end of the transaction; returns
/// its name.
async fn lock_account(tx: &mut Tx, account_id: &str) -> Result<String> {
    query("UPDATE accounts SET name = name WHERE id = $1 RETURNING name")
        .with(account_id)
        .first(tx, only)
        .await?
        .ok_or_else(|| Error::not_found("account", account_id))
}

async fn has_password(connection: &mut Tx, account_id: &str) -> Result<bool> {
    let row = query("SELECT 1 FROM accounts WHERE id = $1 AND password <> ''")
        .with(account_id)
        .row(connection)
        .await?;
    Ok(row.is_some())
}

async fn linked_identities(connection: &mut Tx, account_id: &str) -> Result<Vec<LinkedIdentity>> {
    query(
        "SELECT provider, subject, shown_as, linked_at, last_used FROM identities
         WHERE account_id = $1 ORDER BY linked_at, provider, subject",
    )
    .with(account_id)
    .all(connection, read_linked_identity)
    .await
}

/// The identity as text for the audit log.
fn audit_detail(who: &ProvenIdentity) -> String {
    format!("{}: {}", who.provider, who.shown_as)
}
