//! API tokens. The store holds only the digest of a token.

use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_views::account::{AccountRole, Actor, Identity, TokenScope, TokenView};

use super::audit::note_and_commit;
use super::rows::accounts::read_token;
use super::rows::columns::Columns;
use super::sql::{only, query};
use super::{Store, new_id};

/// A token to create.
#[derive(Debug, Clone)]
pub struct NewToken<'a> {
    pub account_id: &'a str,
    pub digest: &'a str,
    /// The name its owner gave it.
    pub name: &'a str,
    pub scope: TokenScope,
    /// Unix milliseconds.
    pub expires_at: i64,
}

impl Store {
    pub async fn insert_token(&self, new: &NewToken<'_>, by: &Actor) -> Result<TokenView> {
        let mut tx = self.pool.begin().await?;
        let token = query(
            "INSERT INTO api_tokens (id, account_id, digest, name, scope, created_at, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)
             RETURNING id, name, scope, created_at, expires_at, used_at",
        )
        .with((new_id(), new.account_id, new.digest, new.name))
        .with((new.scope.name(), now_ms(), new.expires_at))
        .one(&mut *tx, read_token)
        .await?;
        let detail = format!("{}, as {}", new.name, new.scope.name());
        note_and_commit(tx, by, "token.make", &token.token_id, &detail).await?;
        Ok(token)
    }

    /// The valid tokens of an account, newest first.
    pub async fn tokens(&self, account_id: &str) -> Result<Vec<TokenView>> {
        query(
            "SELECT id, name, scope, created_at, expires_at, used_at FROM api_tokens
             WHERE account_id = $1 AND expires_at > $2 ORDER BY id DESC",
        )
        .with((account_id, now_ms()))
        .all(&self.pool, read_token)
        .await
    }

    /// Revokes a token: of this account, or of any when `of` is `None`.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn remove_token(&self, id: &str, of: Option<&str>, by: &Actor) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        let name: Option<String> = query(
            "DELETE FROM api_tokens WHERE id = $1 AND ($2 = 0 OR account_id = $3) RETURNING name",
        )
        .with((id, of.is_some(), of.unwrap_or_default()))
        .first(&mut *tx, only)
        .await?;
        let name = name.ok_or_else(|| Error::not_found("token", id))?;
        note_and_commit(tx, by, "token.revoke", id, &name).await
    }

    /// The owner of a token, with the lower of the account's role and the
    /// token's scope. `None` when the token is not valid.
    pub async fn bearer(&self, digest: &str) -> Result<Option<Identity>> {
        let now = now_ms();
        let row = query(
            "SELECT t.id AS token, t.scope AS scope, t.used_at AS used_at,
                    t.expires_at AS expires_at, a.id AS id, a.name AS name, a.role AS role
             FROM api_tokens t JOIN accounts a ON a.id = t.account_id
             WHERE t.digest = $1 AND t.expires_at > $2 AND a.disabled_at IS NULL",
        )
        .with((digest, now))
        .row(&self.pool)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let used_at: Option<i64> = row.read("used_at")?;
        if used_at.is_none_or(|at| at <= now - 60_000) {
            query("UPDATE api_tokens SET used_at = $2 WHERE id = $1")
                .with((row.read::<String>("token")?, now))
                .run(&self.pool)
                .await?;
        }
        let (role, scope): (AccountRole, TokenScope) = (row.read("role")?, row.read("scope")?);
        Ok(Some(Identity {
            account_id: row.read("id")?,
            name: row.read("name")?,
            role: role.min(scope.role()),
            reads_metrics: scope == TokenScope::Metrics && role >= scope.given_by(),
            until: Some(row.time("expires_at")?),
        }))
    }
}
