//! What the server keeps of browsers that are signed in. `id` is what the
//! browser has; here it becomes a digest, and nothing else is kept of it.

use super::secret::digest;
use crate::Engine;
use crate::error::Result;
use crate::store::SessionData;

impl Engine {
    /// None where it is unknown, was ended or has expired.
    pub async fn session(&self, id: &str) -> Result<Option<SessionData>> {
        self.inner.store.session(&digest(id)).await
    }

    /// Keeps what has changed of a session; one that was ended stays so.
    pub async fn keep_session(&self, id: &str, session: &SessionData) -> Result<()> {
        self.inner.store.update_session(&digest(id), session).await
    }

    /// Keeps a new session; false when its id is taken.
    pub async fn new_session(&self, id: &str, session: &SessionData) -> Result<bool> {
        self.inner.store.insert_session(&digest(id), session).await
    }

    /// Ends a session; one that is not there is ended already.
    pub async fn end_session(&self, id: &str) -> Result<()> {
        self.inner.store.end_session(&digest(id)).await
    }
}
