//! Invitations: links that make an account, once.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_core::account::{AccountRole, Actor, Identity, InvitationView};

use super::Store;
use super::accounts::{NewAccount, insert_account, read_role};
use super::audit::note;
use crate::clock::{now_ms, rfc3339};
use crate::error::{Error, Result};

/// A link to be given to somebody.
#[derive(Debug, Clone)]
pub struct NewInvitation {
    /// Of the secret in the link.
    pub digest: String,
    pub role: AccountRole,
    /// Whom it is for.
    pub note: String,
    /// Unix milliseconds.
    pub expires_at: i64,
}

/// Who made the link of the first start. Only without accounts it leads
/// somewhere: it stands in a log.
const FIRST_START: &str = "";

/// The condition for a link that can still be followed at the moment `$1`.
const OPEN: &str = "used_at IS NULL AND expires_at > $1
    AND (made_by <> '' OR NOT EXISTS (SELECT 1 FROM accounts))";

impl Store {
    /// The link that makes the first administrator, in the place of the one
    /// before; false once there is an account.
    pub async fn put_first_invitation(&self, new: &NewInvitation) -> Result<bool> {
        let mut tx = self.pool.begin().await?;
        sqlx::query("DELETE FROM invitations WHERE made_by = $1 AND used_at IS NULL")
            .bind(FIRST_START)
            .execute(&mut *tx)
            .await?;
        let some = sqlx::query("SELECT 1 FROM accounts LIMIT 1")
            .fetch_optional(&mut *tx)
            .await?;
        if some.is_none() {
            insert(&mut tx, new, FIRST_START).await?;
        }
        tx.commit().await?;
        Ok(some.is_none())
    }

    pub async fn insert_invitation(
        &self,
        new: &NewInvitation,
        by: &Actor,
    ) -> Result<InvitationView> {
        let mut tx = self.pool.begin().await?;
        let view = insert(&mut tx, new, by.name()).await?;
        let detail = format!("as {}: {}", new.role.name(), new.note);
        note(&mut tx, by, "invitation.make", &view.invitation_id, &detail).await?;
        tx.commit().await?;
        Ok(view)
    }

    /// Those that can still be followed, the newest first.
    pub async fn invitations(&self) -> Result<Vec<InvitationView>> {
        let sql = format!(
            "SELECT id, role, note, created_at, expires_at FROM invitations WHERE {OPEN} ORDER BY id DESC"
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(now_ms())
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(read_invitation).collect()
    }

    /// None where it was used, withdrawn, expired or never was.
    pub async fn invitation(&self, digest: &str) -> Result<Option<InvitationView>> {
        let sql = format!(
            "SELECT id, role, note, created_at, expires_at FROM invitations WHERE digest = $2 AND {OPEN}"
        );
        let row = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(now_ms())
            .bind(digest)
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(read_invitation).transpose()
    }

    /// # Errors
    /// [`Error::NotFound`] where it cannot be followed any more.
    pub async fn withdraw_invitation(&self, id: &str, by: &Actor) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        let gone = sqlx::query("DELETE FROM invitations WHERE id = $1 AND used_at IS NULL")
            .bind(id)
            .execute(&mut *tx)
            .await?;
        if gone.rows_affected() == 0 {
            return Err(Error::not_found("open invitation", id));
        }
        note(&mut tx, by, "invitation.withdraw", id, "").await?;
        tx.commit().await?;
        Ok(())
    }

    /// Makes the account an invitation is for. Of several who follow it at the
    /// same time one gets it; none where it cannot be followed any more.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the name is taken, or who it is elsewhere is
    /// linked to another account; the invitation stays open.
    pub async fn accept_invitation(
        &self,
        digest: &str,
        new: &NewAccount<'_>,
    ) -> Result<Option<Identity>> {
        let mut tx = self.pool.begin().await?;
        let sql = format!(
            "UPDATE invitations SET used_at = $1 WHERE digest = $2 AND {OPEN} RETURNING id, role"
        );
        let row = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(now_ms())
            .bind(digest)
            .fetch_optional(&mut *tx)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let how = format!("the invitation {}", row.try_get::<String, _>("id")?);
        let who = insert_account(&mut tx, new, read_role(&row, "role")?, &how).await?;
        tx.commit().await?;
        Ok(Some(who))
    }
}

async fn insert(
    tx: &mut sqlx::AnyConnection,
    new: &NewInvitation,
    made_by: &str,
) -> Result<InvitationView> {
    let id = uuid::Uuid::now_v7().to_string();
    let now = now_ms();
    sqlx::query(
        "INSERT INTO invitations (id, digest, role, note, made_by, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(&id)
    .bind(&new.digest)
    .bind(new.role.name())
    .bind(&new.note)
    .bind(made_by)
    .bind(now)
    .bind(new.expires_at)
    .execute(tx)
    .await?;
    Ok(InvitationView {
        invitation_id: id,
        role: new.role,
        note: new.note.clone(),
        created_at: rfc3339(now),
        expires_at: rfc3339(new.expires_at),
    })
}

fn read_invitation(row: &AnyRow) -> Result<InvitationView> {
    Ok(InvitationView {
        invitation_id: row.try_get("id")?,
        role: read_role(row, "role")?,
        note: row.try_get("note")?,
        created_at: rfc3339(row.try_get("created_at")?),
        expires_at: rfc3339(row.try_get("expires_at")?),
    })
}
