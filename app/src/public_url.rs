use serde::{Deserialize, Serialize};

/// Where readers reach this site: a scheme, a host and, where it is not the
/// usual one, a port. It is configured, and never taken from a request.
///
/// Pages find it as `Option<PublicUrl>` in their context, on the server and in
/// the browser alike. Without it they have no address to give to others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublicUrl(String);

impl PublicUrl {
    /// `origin` has no slash at its end.
    #[must_use]
    pub fn new(origin: String) -> Self {
        Self(origin)
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The absolute address of what begins with a slash.
    #[must_use]
    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }
}
