//! The versions of an evolution's code: their style and their differences.

use serde::{Deserialize, Serialize};

use super::{Beside, CodeStyle, FileStyle, StyleTools};
use crate::preparation::Lines;

/// A version of an evolution's code.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CodeVersion {
    Base,
    Oracle,
    /// The tested code of this iteration, from 1.
    Iteration(u32),
}

impl CodeVersion {
    /// Its name in URLs: `base`, `oracle`, or the number of an iteration.
    pub fn name(self) -> String {
        match self {
            Self::Base => "base".to_owned(),
            Self::Oracle => "oracle".to_owned(),
            Self::Iteration(n) => n.to_string(),
        }
    }

    /// The inverse of [`CodeVersion::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "base" => Some(Self::Base),
            "oracle" => Some(Self::Oracle),
            n => n.parse().ok().filter(|n| *n > 0).map(Self::Iteration),
        }
    }
}

/// The style of one version of an evolution's code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct VersionStyle {
    pub version: CodeVersion,
    /// Digest of its source files: equal versions are measured once.
    pub source: String,
    pub style: CodeStyle,
    /// Lines of source that differ from the base.
    pub lines: Lines,
}

/// The style of an evolution's versions and of the oracle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct EvolutionStyle {
    pub tools: StyleTools,
    /// Content digest of the image of the measurement; its packages determine
    /// which imports resolve.
    pub image: String,
    /// Base, oracle, and the scored iterations in order.
    pub versions: Vec<VersionStyle>,
}

impl EvolutionStyle {
    pub fn version(&self, version: CodeVersion) -> Option<&VersionStyle> {
        self.versions.iter().find(|v| v.version == version)
    }

    pub fn last(&self) -> Option<&VersionStyle> {
        let scored = |v: &&VersionStyle| matches!(v.version, CodeVersion::Iteration(_));
        self.versions.iter().rev().find(scored)
    }

    pub fn beside(&self) -> Option<Beside> {
        let (last, oracle) = (self.last()?, self.version(CodeVersion::Oracle)?);
        let course = self.versions.iter().filter_map(|v| match v.version {
            CodeVersion::Iteration(n) => Some((n, v.style.point())),
            CodeVersion::Base | CodeVersion::Oracle => None,
        });
        Some(Beside {
            base: self.version(CodeVersion::Base)?.style.point(),
            own: last.style.point(),
            oracle: oracle.style.point(),
            own_lines: last.lines.modified(),
            oracle_lines: oracle.lines.modified(),
            course: course.collect(),
        })
    }
}

/// Lines of one file that differ from the base's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct FileLines {
    pub path: String,
    pub added: u32,
    pub deleted: u32,
}

/// One version of an evolution's code, file by file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct VersionFiles {
    /// The style of each file, in the order of their paths.
    pub files: Vec<FileStyle>,
    /// The source files that differ from the base, including deleted ones, in
    /// the order of their paths.
    pub changed: Vec<FileLines>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_versions_round_trip() {
        let all = [
            CodeVersion::Base,
            CodeVersion::Oracle,
            CodeVersion::Iteration(12),
        ];
        for version in all {
            assert_eq!(CodeVersion::from_name(&version.name()), Some(version));
        }
        for name in ["", "0", "-1", "Base", "1.5"] {
            assert_eq!(CodeVersion::from_name(name), None, "{name}");
        }
    }
}
