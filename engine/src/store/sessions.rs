//! Who is signed in. Of what a browser keeps only the digest is here.

use std::fmt;

use sqlx::Row;

use super::Store;
use crate::clock::now_ms;
use crate::error::Result;

/// What is kept of somebody's visits.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionData {
    /// Absent before signing in.
    pub account_id: Option<String>,
    /// What the server keeps of it, in its own form.
    pub data: String,
    /// Unix milliseconds.
    pub expires_at: i64,
}

impl fmt::Debug for SessionData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionData")
            .field("account_id", &self.account_id)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// None where it is unknown, ended or expired.
    pub async fn session(&self, digest: &str) -> Result<Option<SessionData>> {
        let row = sqlx::query(
            "SELECT account_id, data, expires_at FROM sessions WHERE digest = $1 AND expires_at > $2",
        )
        .bind(digest)
        .bind(now_ms())
        .fetch_optional(&self.pool)
        .await?;
        row.map(|row| {
            Ok(SessionData {
                account_id: row.try_get("account_id")?,
                data: row.try_get("data")?,
                expires_at: row.try_get("expires_at")?,
            })
        })
        .transpose()
    }

    /// A session where there was none; false when the digest is taken.
    pub async fn insert_session(&self, digest: &str, session: &SessionData) -> Result<bool> {
        let inserted = sqlx::query(
            "INSERT INTO sessions (digest, account_id, data, expires_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (digest) DO NOTHING",
        )
        .bind(digest)
        .bind(session.account_id.as_deref())
        .bind(&session.data)
        .bind(session.expires_at)
        .execute(&self.pool)
        .await?;
        Ok(inserted.rows_affected() == 1)
    }

    /// Only where it still is: a request that began before its session was
    /// ended must not bring it back.
    pub async fn update_session(&self, digest: &str, session: &SessionData) -> Result<()> {
        sqlx::query(
            "UPDATE sessions SET account_id = $2, data = $3, expires_at = $4 WHERE digest = $1",
        )
        .bind(digest)
        .bind(session.account_id.as_deref())
        .bind(&session.data)
        .bind(session.expires_at)
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    pub async fn end_session(&self, digest: &str) -> Result<()> {
        sqlx::query("DELETE FROM sessions WHERE digest = $1")
            .bind(digest)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Removes sessions, invitations and tokens that are good for nothing any
    /// more; how many they were.
    pub async fn sweep_accounts(&self) -> Result<u64> {
        let now = now_ms();
        let mut swept = 0;
        for sql in [
            "DELETE FROM sessions WHERE expires_at <= $1",
            "DELETE FROM invitations WHERE expires_at <= $1",
            "DELETE FROM api_tokens WHERE expires_at <= $1",
        ] {
            let gone = sqlx::query(sql).bind(now).execute(&self.pool).await?;
            swept += gone.rows_affected();
        }
        Ok(swept)
    }
}
