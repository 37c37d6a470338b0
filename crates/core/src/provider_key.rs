//! The part of a stored provider key that its owner may see.

use serde::{Deserialize, Serialize};

/// A stored key without its value, which the server sends to the provider
/// only. Times are RFC 3339.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct KeyView {
    /// The name configurations use.
    pub name: String,
    /// Whether it belongs to the caller. Administrators also see the
    /// operator's keys, which they may use but not change.
    pub own: bool,
    pub created_at: String,
    /// When its value was last set.
    pub changed_at: String,
    pub used_at: Option<String>,
}
