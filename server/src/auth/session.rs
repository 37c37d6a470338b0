//! Sessions: a cookie with a random id, and a row under its digest.
//!
//! A visitor has neither. The row has the account's id and the day of the
//! latest use, from which the session's lifetime counts.

use async_trait::async_trait;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use swe_ci_engine::{Engine, Error, SessionData};
use swe_ci_views::account::Identity;
use tower_sessions::cookie::SameSite;
use tower_sessions::cookie::time::{Duration, OffsetDateTime};
use tower_sessions::session::{Id, Record};
use tower_sessions::session_store::{self, Error as StoreError};
use tower_sessions::{Expiry, Session, SessionManagerLayer, SessionStore};

use crate::app::App;

/// A session expires after this long without use.
const LASTS: Duration = Duration::days(14);

const COOKIE: &str = "swe_ci_session";
/// Browsers accept a cookie with this prefix only from this host and over
/// https.
const HOST_COOKIE: &str = "__Host-swe_ci_session";

const ACCOUNT: &str = "account";
const SEEN: &str = "seen";

/// Sessions as rows of the engine.
#[derive(Debug, Clone)]
pub(super) struct Sessions(Engine);

pub(super) fn layer(app: &App) -> SessionManagerLayer<Sessions> {
    let secure = app.is_secure();
    SessionManagerLayer::new(Sessions(app.engine.clone()))
        .with_name(if secure { HOST_COOKIE } else { COOKIE })
        .with_secure(secure)
        .with_http_only(true)
        .with_same_site(SameSite::Lax)
        .with_path("/")
        .with_expiry(Expiry::OnInactivity(LASTS))
}

/// Whether a request has the cookie, valid or not.
pub(super) fn has_cookie(headers: &HeaderMap) -> bool {
    let cookies = headers.get_all(header::COOKIE).into_iter();
    let mut pairs = cookies
        .filter_map(|cookies| cookies.to_str().ok())
        .flat_map(|cookies| cookies.split(';'))
        .filter_map(|pair| pair.split_once('='));
    pairs.any(|(name, _)| [COOKIE, HOST_COOKIE].contains(&name.trim()))
}

/// Adds `Secure` to the removal of a `__Host-` cookie: browsers require it, and
/// the session layer omits it.
pub(super) async fn secure_removed_cookies(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let cookies = response.headers_mut().iter_mut();
    for (_, cookie) in cookies.filter(|(name, _)| *name == header::SET_COOKIE) {
        let text = cookie.to_str().unwrap_or_default();
        if text.starts_with(HOST_COOKIE)
            && !text.contains("; Secure")
            && let Ok(secure) = HeaderValue::from_str(&format!("{text}; Secure"))
        {
            *cookie = secure;
        }
    }
    response
}

/// The account signed in by this session.
///
/// # Errors
/// `Internal` when the sessions cannot be read.
pub(super) async fn account(session: &Session, today: &str) -> Result<Option<String>, Error> {
    let account: Option<String> = session.get(ACCOUNT).await.map_err(internal)?;
    if account.is_some() {
        // Written once a day, which also extends the session.
        session.insert(SEEN, today).await.map_err(internal)?;
    }
    Ok(account)
}

/// The identity signed in by this session, if the request acts by it and not by
/// a token, which may have fewer rights than its account.
///
/// # Errors
/// `Unauthenticated` without such a session; `Internal` when the sessions
/// cannot be read.
pub(super) async fn own_identity(session: &Session, engine: &Engine) -> Result<Identity, Error> {
    let signed_in = account(session, &engine.today()).await?;
    let acting = engine.by().identity();
    let own = acting.filter(|who| signed_in.as_ref() == Some(&who.account_id));
    own.cloned().ok_or_else(|| {
        Error::Unauthenticated(
            "sign in first: this requires a browser session, not an API token".into(),
        )
    })
}

/// Begins a session under a fresh id.
///
/// # Errors
/// `Internal` when the sessions cannot be written.
pub(super) async fn begin(session: &Session, account: &str, today: &str) -> Result<(), Error> {
    let written = async {
        session.clear().await;
        session.insert(ACCOUNT, account).await?;
        session.insert(SEEN, today).await?;
        session.cycle_id().await
    };
    written.await.map_err(internal)
}

pub(super) fn internal(error: tower_sessions::session::Error) -> Error {
    Error::Internal(error.into())
}

#[async_trait]
impl SessionStore for Sessions {
    async fn create(&self, record: &mut Record) -> session_store::Result<()> {
        let data = as_data(record)?;
        while !store_result(self.0.new_session(&record.id.to_string(), &data).await)? {
            record.id = Id::default();
        }
        Ok(())
    }

    async fn save(&self, record: &Record) -> session_store::Result<()> {
        let data = as_data(record)?;
        store_result(self.0.keep_session(&record.id.to_string(), &data).await)
    }

    async fn load(&self, id: &Id) -> session_store::Result<Option<Record>> {
        let data = store_result(self.0.session(&id.to_string()).await)?;
        data.map(|data| as_record(*id, &data)).transpose()
    }

    async fn delete(&self, id: &Id) -> session_store::Result<()> {
        store_result(self.0.end_session(&id.to_string()).await)
    }
}

fn as_data(record: &Record) -> session_store::Result<SessionData> {
    let account = record.data.get(ACCOUNT).and_then(|id| id.as_str());
    let data = serde_json::to_string(&record.data);
    Ok(SessionData {
        account_id: account.map(str::to_owned),
        data: data.map_err(|e| StoreError::Encode(e.to_string()))?,
        expires_at: record.expiry_date.unix_timestamp() * 1_000,
    })
}

fn as_record(id: Id, session: &SessionData) -> session_store::Result<Record> {
    let unreadable = |e: &dyn std::fmt::Display| StoreError::Decode(e.to_string());
    let data = serde_json::from_str(&session.data).map_err(|e| unreadable(&e))?;
    let expiry_date = OffsetDateTime::from_unix_timestamp(session.expires_at / 1_000);
    Ok(Record {
        id,
        data,
        expiry_date: expiry_date.map_err(|e| unreadable(&e))?,
    })
}

/// The session layer has no other kind of error for this.
fn store_result<T>(result: Result<T, Error>) -> session_store::Result<T> {
    result.map_err(|error| StoreError::Backend(error.chain()))
}
