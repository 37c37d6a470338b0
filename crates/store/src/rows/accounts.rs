//! Rows of accounts, of the identities, tokens and invitations that belong to
//! them, and of the audit log.

use super::columns::Columns;
use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_base::error::Result;
use swe_ci_views::account::{
    AccountRole, AccountView, AuditEntry, Identity, InvitationView, LinkedIdentity, TokenView,
};

pub(crate) fn read_account(row: &AnyRow) -> Result<AccountView> {
    Ok(AccountView {
        account_id: row.try_get("id")?,
        name: row.try_get("name")?,
        role: read_account_role(row, "role")?,
        created_at: row.time("created_at")?,
        signed_in_at: row.optional_time("signed_in_at")?,
        disabled: row.is_set("disabled_at")?,
    })
}

pub(crate) fn read_identity(row: &AnyRow) -> Result<Identity> {
    Ok(Identity {
        account_id: row.try_get("id")?,
        name: row.try_get("name")?,
        role: read_account_role(row, "role")?,
        until: None,
    })
}

pub(crate) fn read_account_role(row: &AnyRow, column: &str) -> Result<AccountRole> {
    row.named(column, "role", AccountRole::from_name)
}

pub(crate) fn read_linked_identity(row: &AnyRow) -> Result<LinkedIdentity> {
    Ok(LinkedIdentity {
        provider: row.try_get("provider")?,
        subject: row.try_get("subject")?,
        shown_as: row.try_get("shown_as")?,
        linked_at: row.time("linked_at")?,
        last_used: row.optional_time("last_used")?,
    })
}

pub(crate) fn read_token(row: &AnyRow) -> Result<TokenView> {
    Ok(TokenView {
        token_id: row.try_get("id")?,
        name: row.try_get("name")?,
        scope: read_account_role(row, "scope")?,
        created_at: row.time("created_at")?,
        expires_at: row.time("expires_at")?,
        used_at: row.optional_time("used_at")?,
    })
}

pub(crate) fn read_invitation(row: &AnyRow) -> Result<InvitationView> {
    Ok(InvitationView {
        invitation_id: row.try_get("id")?,
        role: read_account_role(row, "role")?,
        note: row.try_get("note")?,
        created_at: row.time("created_at")?,
        expires_at: row.time("expires_at")?,
    })
}

pub(crate) fn read_audit_entry(row: &AnyRow) -> Result<AuditEntry> {
    Ok(AuditEntry {
        entry_id: row.try_get("id")?,
        at: row.time("at")?,
        actor: row.try_get("actor")?,
        action: row.try_get("action")?,
        subject: row.try_get("subject")?,
        detail: row.try_get("detail")?,
    })
}
