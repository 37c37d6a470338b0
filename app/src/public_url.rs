use serde::{Deserialize, Serialize};

/// The public address of this site: a scheme, a host and, unless it is the
/// default, a port. It is configured and never taken from a request.
///
/// Pages find it as `Option<PublicUrl>` in their context, on the server and in
/// the browser. Without it, pages have no absolute addresses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublicUrl(String);

impl PublicUrl {
    /// `origin` has no trailing slash.
    #[must_use]
    pub fn new(origin: String) -> Self {
        Self(origin)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The absolute address of a path, which starts with a slash.
    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }
}
