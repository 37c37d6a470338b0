use serde::{Deserialize, Serialize};
use swe_ci_engine::{Error, FollowedInvitation};
use tower_sessions::cookie::time::{Duration, OffsetDateTime};
use tower_sessions::{Expiry, Session};

use super::Kept;
use crate::auth::session::{self, internal};

/// For so long somebody may be away.
const LASTS: Duration = Duration::minutes(10);

const PENDING: &str = "elsewhere";

/// What is remembered of somebody who was sent to a provider.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::auth) struct Pending {
    pub provider: String,
    pub kept: Kept,
    pub purpose: Purpose,
    /// Where signing in leads.
    pub next: String,
    /// Unix seconds.
    begun: i64,
}

/// What coming back is for.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::auth) enum Purpose {
    SignIn,
    Accept(FollowedInvitation),
    /// To be one more way into the account of this id.
    Link(String),
}

impl Pending {
    pub(in crate::auth) fn new(provider: &str, kept: Kept, purpose: Purpose, next: String) -> Self {
        Self {
            provider: provider.to_owned(),
            kept,
            purpose,
            next,
            begun: now(),
        }
    }
}

/// Remembers it in the session; one of a visitor is there for nothing else,
/// and ends with it.
///
/// # Errors
/// `Internal` when the sessions cannot be written.
pub(in crate::auth) async fn keep(
    session: &Session,
    pending: &Pending,
    today: &str,
) -> Result<(), Error> {
    if session::account(session, today).await?.is_none() {
        session.set_expiry(Some(Expiry::OnInactivity(LASTS)));
    }
    session.insert(PENDING, pending).await.map_err(internal)
}

/// What was remembered, once: for the provider and the state that somebody
/// comes back with, and not for too long.
///
/// # Errors
/// `Internal` when the sessions cannot be read or written.
pub(in crate::auth) async fn take(
    session: &Session,
    provider: &str,
    state: &str,
) -> Result<Option<Pending>, Error> {
    let pending: Option<Pending> = session.get(PENDING).await.map_err(internal)?;
    // Whoever forges a state ends nothing that was begun.
    let matching =
        |pending: &Pending| pending.provider == provider && pending.kept.state.secret() == state;
    let Some(pending) = pending.filter(matching) else {
        return Ok(None);
    };
    let forgotten = async {
        session.remove_value(PENDING).await?;
        // Before anything is done with it.
        session.save().await
    };
    forgotten.await.map_err(internal)?;
    let age = now().saturating_sub(pending.begun);
    let fresh = (0..=LASTS.whole_seconds()).contains(&age);
    Ok(Some(pending).filter(|_| fresh))
}

fn now() -> i64 {
    OffsetDateTime::now_utc().unix_timestamp()
}
