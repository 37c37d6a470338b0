//! The files a configuration is read from, and the build system they name.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::text::decoded;

/// Files of a repository by their path from its root. Files longer than
/// [`bounds::BLOB`] are not read.
pub type Files = BTreeMap<String, Vec<u8>>;

/// The text of a file; none if it is absent or too long.
pub(super) fn text<'f>(files: &'f Files, path: &str) -> Option<Cow<'f, str>> {
    let bytes = files.get(path);
    let bytes = bytes.filter(|bytes| bytes.len() <= bounds::BLOB)?;
    Some(decoded(bytes))
}

/// The `[build-system]` table of PEP 518; empty for legacy setuptools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildSystem {
    pub requires: Vec<String>,
    pub backend: Option<String>,
}
