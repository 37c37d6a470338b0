//! Sign-ins at a provider that wait for their callback, kept in the session.

use serde::{Deserialize, Serialize};
use swe_ci_engine::{Error, FollowedInvitation};
use tower_sessions::cookie::time::{Duration, OffsetDateTime};
use tower_sessions::{Expiry, Session};

use super::session::{self, internal};
use crate::identity_providers::CallbackSecrets;

/// The time limit for signing in at the provider.
const LASTS: Duration = Duration::minutes(10);

const PENDING: &str = "elsewhere";

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Pending {
    pub provider: String,
    #[serde(rename = "kept")]
    pub secrets: CallbackSecrets,
    pub purpose: Purpose,
    /// The address to open after signing in.
    pub next: String,
    /// Unix seconds.
    pub begun: i64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Purpose {
    SignIn,
    Accept(FollowedInvitation),
    /// Link the identity to the account of this id.
    Link(String),
}

/// Stores the state in the session. A visitor's session exists only for this
/// and expires with it.
///
/// # Errors
/// `Internal` when the sessions cannot be written.
pub(super) async fn store(session: &Session, pending: &Pending, today: &str) -> Result<(), Error> {
    if session::account(session, today).await?.is_none() {
        session.set_expiry(Some(Expiry::OnInactivity(LASTS)));
    }
    session.insert(PENDING, pending).await.map_err(internal)
}

/// Removes and returns the state, if provider and state match those of the
/// callback and the state has not expired.
///
/// # Errors
/// `Internal` when the sessions cannot be read or written.
pub(super) async fn take(
    session: &Session,
    provider: &str,
    state: &str,
) -> Result<Option<Pending>, Error> {
    let pending: Option<Pending> = session.get(PENDING).await.map_err(internal)?;
    // A forged state must not end a pending sign-in.
    let matching =
        |pending: &Pending| pending.provider == provider && pending.secrets.state.secret() == state;
    let Some(pending) = pending.filter(matching) else {
        return Ok(None);
    };
    let forgotten = async {
        session.remove_value(PENDING).await?;
        // Saved before the state is used.
        session.save().await
    };
    forgotten.await.map_err(internal)?;
    let age = now().saturating_sub(pending.begun);
    let fresh = (0..=LASTS.whole_seconds()).contains(&age);
    Ok(Some(pending).filter(|_| fresh))
}

pub(super) fn now() -> i64 {
    OffsetDateTime::now_utc().unix_timestamp()
}
