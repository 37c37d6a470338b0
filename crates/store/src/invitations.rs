//! Invitations: links that create one account each.

use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_views::account::{AccountRole, Actor, Identity, InvitationView};

use super::accounts::{NewAccount, insert_account};
use super::audit::note_and_commit;
use super::rows::accounts::read_invitation;
use super::rows::columns::Columns;
use super::sql::{Tx, composed, query};
use super::{Store, new_id};

/// An invitation to create.
#[derive(Debug, Clone)]
pub struct NewInvitation {
    /// Digest of the secret in the link.
    pub digest: String,
    pub role: AccountRole,
    /// For whom it is.
    pub note: String,
    /// Unix milliseconds.
    pub expires_at: i64,
}

/// Creator of the invitation of the first start. That link appears in a log, so
/// it works only while there are no accounts.
const FIRST_START: &str = "";

/// The condition for an invitation that is open at the moment `$1`.
const OPEN: &str = "used_at IS NULL AND expires_at > $1
    AND (made_by <> '' OR NOT EXISTS (SELECT 1 FROM accounts))";

impl Store {
    /// Replaces the invitation for the first administrator; `false` once there
    /// is an account.
    pub async fn put_first_invitation(&self, new: &NewInvitation) -> Result<bool> {
        let mut tx = self.pool.begin().await?;
        query("DELETE FROM invitations WHERE made_by = $1 AND used_at IS NULL")
            .with(FIRST_START)
            .run(&mut *tx)
            .await?;
        let any_account = query("SELECT 1 FROM accounts LIMIT 1")
            .row(&mut *tx)
            .await?;
        if any_account.is_none() {
            insert(&mut tx, new, FIRST_START).await?;
        }
        tx.commit().await?;
        Ok(any_account.is_none())
    }

    pub async fn insert_invitation(
        &self,
        new: &NewInvitation,
        by: &Actor,
    ) -> Result<InvitationView> {
        let mut tx = self.pool.begin().await?;
        let view = insert(&mut tx, new, by.name()).await?;
        let detail = format!("as {}: {}", new.role.name(), new.note);
        note_and_commit(tx, by, "invitation.make", &view.invitation_id, &detail).await?;
        Ok(view)
    }

    /// The open invitations, newest first.
    pub async fn invitations(&self) -> Result<Vec<InvitationView>> {
        composed(format!(
            "SELECT id, role, note, created_at, expires_at FROM invitations WHERE {OPEN} ORDER BY id DESC"
        ))
        .with(now_ms())
            .all(&self.pool, read_invitation)
            .await
    }

    /// `None` if it was used, withdrawn, expired or never existed.
    pub async fn invitation(&self, digest: &str) -> Result<Option<InvitationView>> {
        composed(format!(
            "SELECT id, role, note, created_at, expires_at FROM invitations WHERE digest = $2 AND {OPEN}"
        ))
        .with((now_ms(), digest))
            .first(&self.pool, read_invitation)
            .await
    }

    /// # Errors
    /// [`Error::NotFound`] when it is not open any more.
    pub async fn withdraw_invitation(&self, id: &str, by: &Actor) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        query("DELETE FROM invitations WHERE id = $1 AND used_at IS NULL")
            .with(id)
            .run_or(&mut *tx, || Error::not_found("open invitation", id))
            .await?;
        note_and_commit(tx, by, "invitation.withdraw", id, "").await
    }

    /// Creates the account an invitation is for. If several people follow it at
    /// the same time, one gets the account; `None` when it is not open any
    /// more.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the name is taken, or the identity is linked to
    /// another account; the invitation stays open.
    pub async fn accept_invitation(
        &self,
        digest: &str,
        new: &NewAccount<'_>,
    ) -> Result<Option<Identity>> {
        let mut tx = self.pool.begin().await?;
        let row = composed(format!(
            "UPDATE invitations SET used_at = $1 WHERE digest = $2 AND {OPEN} RETURNING id, role"
        ))
        .with((now_ms(), digest))
        .row(&mut *tx)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let how = format!("the invitation {}", row.read::<String>("id")?);
        let who = insert_account(&mut tx, new, row.read("role")?, &how).await?;
        tx.commit().await?;
        Ok(Some(who))
    }
}

async fn insert(tx: &mut Tx, new: &NewInvitation, made_by: &str) -> Result<InvitationView> {
    query(
        "INSERT INTO invitations (id, digest, role, note, made_by, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         RETURNING id, role, note, created_at, expires_at",
    )
    .with((new_id(), &new.digest, new.role.name(), &new.note))
    .with((made_by, now_ms(), new.expires_at))
    .one(tx, read_invitation)
    .await
}
