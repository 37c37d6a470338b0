//! Rows of accounts, of the identities, tokens and invitations that belong to
//! them, and of the audit log.

use sqlx::any::AnyRow;
use swe_ci_base::error::Result;
use swe_ci_views::account::{
    AccountView, AuditEntry, Identity, InvitationView, LinkedIdentity, TokenView,
};

use super::columns::{Columns, from_row};

pub(crate) fn read_account(row: &AnyRow) -> Result<AccountView> {
    Ok(from_row!(row => AccountView {
        name, role;
        account_id: row.read("id")?,
        created_at: row.time("created_at")?,
        signed_in_at: row.optional_time("signed_in_at")?,
        disabled: row.is_set("disabled_at")?
    }))
}

pub(crate) fn read_identity(row: &AnyRow) -> Result<Identity> {
    Ok(
        from_row!(row => Identity { name, role; account_id: row.read("id")?, until: None, reads_metrics: false }),
    )
}

pub(crate) fn read_linked_identity(row: &AnyRow) -> Result<LinkedIdentity> {
    Ok(from_row!(row => LinkedIdentity {
        provider, subject, shown_as;
        linked_at: row.time("linked_at")?,
        last_used: row.optional_time("last_used")?
    }))
}

pub(crate) fn read_token(row: &AnyRow) -> Result<TokenView> {
    Ok(from_row!(row => TokenView {
        name, scope;
        token_id: row.read("id")?,
        created_at: row.time("created_at")?,
        expires_at: row.time("expires_at")?,
        used_at: row.optional_time("used_at")?
    }))
}

pub(crate) fn read_invitation(row: &AnyRow) -> Result<InvitationView> {
    Ok(from_row!(row => InvitationView {
        role, note;
        invitation_id: row.read("id")?,
        created_at: row.time("created_at")?,
        expires_at: row.time("expires_at")?
    }))
}

pub(crate) fn read_audit_entry(row: &AnyRow) -> Result<AuditEntry> {
    Ok(from_row!(row => AuditEntry {
        actor, action, subject, detail;
        entry_id: row.read("id")?,
        at: row.time("at")?
    }))
}
