//! Keys of providers, as far as anybody is ever shown them.

use serde::{Deserialize, Serialize};

/// A stored key; its value leaves the server in requests to its provider
/// alone. Times are RFC 3339.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KeyView {
    /// What configurations call it.
    pub name: String,
    /// Whether it belongs to who asked. Administrators are shown the
    /// operator's keys too, which they may use and not change.
    pub own: bool,
    pub created_at: String,
    /// When its value was set last.
    pub changed_at: String,
    pub used_at: Option<String>,
}
