//! Sessions of signed-in browsers. The browser holds `id`; only its digest is
//! stored.

use swe_ci_base::error::Result;
use swe_ci_store::SessionData;

use super::secret::digest;
use crate::Engine;

impl Engine {
    /// None if it is unknown, ended or expired.
    pub async fn session(&self, id: &str) -> Result<Option<SessionData>> {
        self.store.session(&digest(id)).await
    }

    /// Stores a session's changes; an ended one stays ended.
    pub async fn keep_session(&self, id: &str, session: &SessionData) -> Result<()> {
        self.store.update_session(&digest(id), session).await
    }

    /// Stores a new session; false when its id is taken.
    pub async fn new_session(&self, id: &str, session: &SessionData) -> Result<bool> {
        self.store.insert_session(&digest(id), session).await
    }

    /// Ends a session; no effect if there is none.
    pub async fn end_session(&self, id: &str) -> Result<()> {
        self.store.end_session(&digest(id)).await
    }
}
