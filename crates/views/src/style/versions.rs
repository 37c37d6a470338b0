//! The versions of an evolution's code: their style and their differences.

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::Series;

use super::{Beside, CodeStyle, Erosion, FileStyle, StylePoint, StyleTools};
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
    pub erosion: Erosion,
    /// Why numbers of its erosion are absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

impl VersionStyle {
    pub fn point(&self) -> StylePoint {
        StylePoint {
            erosion: self.erosion,
            ..self.style.point()
        }
    }
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

    /// Counts the lines added per test gained, from the tests that each version
    /// passes.
    #[must_use]
    pub fn with_tests(mut self, series: &Series) -> Self {
        for version in &mut self.versions {
            let passing = match version.version {
                CodeVersion::Base => None,
                CodeVersion::Oracle => Some(series.target()),
                CodeVersion::Iteration(n) => {
                    let index = n.checked_sub(1).and_then(|n| usize::try_from(n).ok());
                    index.and_then(|index| series.passes().get(index).copied())
                }
            };
            let gained = passing.and_then(|passing| passing.checked_sub(series.base()));
            let gained = gained.filter(|gained| *gained > 0);
            let added = f64::from(version.lines.added);
            version.erosion.lines_per_test = gained.map(|gained| added / f64::from(gained));
        }
        self
    }

    pub fn beside(&self) -> Option<Beside> {
        let (last, oracle) = (self.last()?, self.version(CodeVersion::Oracle)?);
        let course = self.versions.iter().filter_map(|v| match v.version {
            CodeVersion::Iteration(n) => Some((n, v.point())),
            CodeVersion::Base | CodeVersion::Oracle => None,
        });
        Some(Beside {
            base: self.version(CodeVersion::Base)?.point(),
            own: last.point(),
            oracle: oracle.point(),
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

    /// The base passes 100 tests, the oracle 200.
    #[test]
    fn lines_count_by_the_tests_they_gained() {
        let version = |version, added| VersionStyle {
            version,
            source: String::new(),
            style: CodeStyle::default(),
            lines: Lines {
                added,
                ..Lines::default()
            },
            erosion: Erosion::default(),
            problems: Vec::new(),
        };
        let style = EvolutionStyle {
            tools: StyleTools::default(),
            image: String::new(),
            versions: vec![
                version(CodeVersion::Base, 0),
                version(CodeVersion::Oracle, 50),
                version(CodeVersion::Iteration(1), 30),
                version(CodeVersion::Iteration(2), 40),
                version(CodeVersion::Iteration(3), 60),
                version(CodeVersion::Iteration(9), 60),
            ],
        };
        let style = style.with_tests(&crate::testing::series(&[0.2, -0.1, 0.0]));
        let ratios = style.versions.iter().map(|v| v.erosion.lines_per_test);
        let expect = [None, Some(0.5), Some(1.5), None, None, None];
        assert_eq!(ratios.collect::<Vec<_>>(), expect);
    }

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
