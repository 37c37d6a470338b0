//! Sessions of signed-in browsers. The store holds only the digest of a session
//! token.

use std::fmt;

use swe_ci_base::clock::now_ms;
use swe_ci_base::error::Result;

use super::Store;
use super::rows::columns::from_row;
use super::sql::query;

/// The stored state of a session.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionData {
    /// `None` before sign-in.
    pub account_id: Option<String>,
    /// The server's own data, in its own format.
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
    /// `None` if it is unknown, ended or expired.
    pub async fn session(&self, digest: &str) -> Result<Option<SessionData>> {
        query(
            "SELECT account_id, data, expires_at FROM sessions WHERE digest = $1 AND expires_at > $2",
        )
        .with((digest, now_ms()))
        .first(&self.pool, |row| {
            Ok(from_row!(row => SessionData { account_id, data, expires_at }))
        })
        .await
    }

    /// Inserts a session; `false` when the digest is taken.
    pub async fn insert_session(&self, digest: &str, session: &SessionData) -> Result<bool> {
        let inserted = query(
            "INSERT INTO sessions (digest, account_id, data, expires_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (digest) DO NOTHING",
        )
        .with((digest, session.account_id.as_deref(), &session.data))
        .with(session.expires_at)
        .changed(&self.pool)
        .await?;
        Ok(inserted == 1)
    }

    /// Updates a session only if it still exists: a request that began before
    /// the session ended must not recreate it.
    pub async fn update_session(&self, digest: &str, session: &SessionData) -> Result<()> {
        query("UPDATE sessions SET account_id = $2, data = $3, expires_at = $4 WHERE digest = $1")
            .with((digest, session.account_id.as_deref(), &session.data))
            .with(session.expires_at)
            .run(&self.pool)
            .await
    }

    pub async fn end_session(&self, digest: &str) -> Result<()> {
        query("DELETE FROM sessions WHERE digest = $1")
            .with(digest)
            .run(&self.pool)
            .await
    }

    /// Removes expired sessions, invitations and tokens; returns how many.
    pub async fn sweep_accounts(&self) -> Result<u64> {
        let now = now_ms();
        let mut swept = 0;
        for sql in [
            "DELETE FROM sessions WHERE expires_at <= $1",
            "DELETE FROM invitations WHERE expires_at <= $1",
            "DELETE FROM api_tokens WHERE expires_at <= $1",
        ] {
            swept += query(sql).with(now).changed(&self.pool).await?;
        }
        Ok(swept)
    }
}
