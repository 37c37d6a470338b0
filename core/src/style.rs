//! Code style: what Pylint and radon find in the source of a version of the
//! code, and that beside the oracle's (the paper, section 4.4).
//!
//! Source are the `*.py` files outside of folders named `tests` or `test`.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::diff::Diff;
use crate::metrics::SAME;
use crate::preparation::Lines;

/// What was measured with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StyleTools {
    pub pylint: String,
    pub radon: String,
    /// Version of the interpreter both ran in, which decides what parses.
    pub python: String,
}

/// Pylint's messages by category, and the statements they are held against.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PylintCounts {
    pub fatal: u32,
    pub error: u32,
    pub warning: u32,
    pub refactor: u32,
    pub convention: u32,
    pub statements: u32,
}

impl PylintCounts {
    /// Pylint's own evaluation, 0 to 10; none without statements.
    #[must_use]
    pub fn score(self) -> Option<f64> {
        if self.statements == 0 {
            return None;
        }
        if self.fatal > 0 {
            return Some(0.0);
        }
        let light = [self.warning, self.refactor, self.convention];
        let weighed = 5.0 * f64::from(self.error) + light.map(f64::from).iter().sum::<f64>();
        Some((10.0 - weighed / f64::from(self.statements) * 10.0).max(0.0))
    }

    /// Messages of all categories.
    #[must_use]
    pub fn messages(self) -> u32 {
        self.fatal + self.error + self.warning + self.refactor + self.convention
    }
}

/// What radon finds in one file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RadonCounts {
    /// Maintainability index with doc strings as comments, 0 to 100.
    pub mi: f64,
    /// Lines of source code.
    pub sloc: u32,
    /// Lines with a comment.
    pub comments: u32,
    /// Functions, methods and classes.
    pub blocks: u32,
    /// Sum of their cyclomatic complexities.
    pub complexity: u32,
    /// The largest of them.
    pub complexity_most: u32,
    /// Halstead volume.
    pub volume: f64,
}

/// One file of the source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FileStyle {
    pub path: String,
    /// SHA-256 of its content: equal files have equal counts of radon.
    pub digest: String,
    /// Absent where radon cannot parse it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radon: Option<RadonCounts>,
    /// Why it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Absent where Pylint did not come to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pylint: Option<PylintCounts>,
}

/// All of one version's source together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CodeStyle {
    pub files: u32,
    /// Files radon cannot parse: they are left out of all but Pylint's counts.
    pub unparsed: u32,
    /// Mean of the files' maintainability indexes weighted by their lines of
    /// source, 0 to 100; absent without any such line.
    pub mi: Option<f64>,
    /// Absent where Pylint did not come to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pylint: Option<PylintCounts>,
    /// Why it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    pub sloc: u32,
    pub comments: u32,
    pub blocks: u32,
    /// Sum over all functions, methods and classes.
    pub complexity: u32,
    pub complexity_most: u32,
    /// Halstead volume, summed over files.
    pub volume: f64,
}

impl CodeStyle {
    /// `problem` is why Pylint did not come to its end.
    #[must_use]
    pub fn of(files: &[FileStyle], problem: Option<String>) -> Self {
        let mut all = Self {
            problem,
            pylint: Some(PylintCounts::default()),
            ..Self::default()
        };
        let mut weighted = 0.0;
        for file in files {
            all.files += 1;
            all.pylint = all.pylint.zip(file.pylint).map(|(a, b)| a.plus(b));
            let Some(radon) = file.radon else {
                all.unparsed += 1;
                continue;
            };
            weighted += radon.mi * f64::from(radon.sloc);
            all.sloc = all.sloc.saturating_add(radon.sloc);
            all.comments = all.comments.saturating_add(radon.comments);
            all.blocks = all.blocks.saturating_add(radon.blocks);
            all.complexity = all.complexity.saturating_add(radon.complexity);
            all.complexity_most = all.complexity_most.max(radon.complexity_most);
            all.volume += radon.volume;
        }
        if all.problem.is_some() {
            all.pylint = None;
        }
        all.mi = (all.sloc > 0).then(|| weighted / f64::from(all.sloc));
        all
    }

    /// Pylint's score, 0 to 10.
    #[must_use]
    pub fn pylint_score(&self) -> Option<f64> {
        self.pylint.and_then(PylintCounts::score)
    }

    /// Mean cyclomatic complexity of functions, methods and classes.
    #[must_use]
    pub fn mean_complexity(&self) -> Option<f64> {
        (self.blocks > 0).then(|| f64::from(self.complexity) / f64::from(self.blocks))
    }

    /// Lines with a comment for each line of source.
    #[must_use]
    pub fn comment_ratio(&self) -> Option<f64> {
        (self.sloc > 0).then(|| f64::from(self.comments) / f64::from(self.sloc))
    }

    #[must_use]
    pub fn point(&self) -> StylePoint {
        StylePoint {
            mi: self.mi,
            pylint: self.pylint_score(),
            complexity: self.mean_complexity(),
        }
    }
}

impl PylintCounts {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            fatal: self.fatal.saturating_add(other.fatal),
            error: self.error.saturating_add(other.error),
            warning: self.warning.saturating_add(other.warning),
            refactor: self.refactor.saturating_add(other.refactor),
            convention: self.convention.saturating_add(other.convention),
            statements: self.statements.saturating_add(other.statements),
        }
    }
}

/// The three numbers that are followed over iterations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StylePoint {
    /// Maintainability index, 0 to 100.
    pub mi: Option<f64>,
    /// Pylint's score, 0 to 10.
    pub pylint: Option<f64>,
    /// Mean cyclomatic complexity.
    pub complexity: Option<f64>,
}

/// Which code of an evolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CodeVersion {
    Base,
    Oracle,
    /// As it was tested in this iteration, from 1.
    Iteration(u32),
}

impl CodeVersion {
    /// Its name in addresses: `base`, `oracle`, or the number of an iteration.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Base => "base".to_owned(),
            Self::Oracle => "oracle".to_owned(),
            Self::Iteration(n) => n.to_string(),
        }
    }

    /// Back from [`CodeVersion::name`].
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "base" => Some(Self::Base),
            "oracle" => Some(Self::Oracle),
            n => n.parse().ok().filter(|n| *n > 0).map(Self::Iteration),
        }
    }
}

/// One version of an evolution's code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VersionStyle {
    pub version: CodeVersion,
    /// Digest of its source files: versions of the same are measured once.
    pub source: String,
    pub style: CodeStyle,
    /// Lines of source that differ from the base.
    pub lines: Lines,
}

/// The style of an evolution beside the oracle's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EvolutionStyle {
    pub tools: StyleTools,
    /// Content digest of the image it was measured in, whose packages decide
    /// which imports resolve.
    pub image: String,
    /// Base, oracle, and the scored iterations in order.
    pub versions: Vec<VersionStyle>,
}

impl EvolutionStyle {
    #[must_use]
    pub fn version(&self, version: CodeVersion) -> Option<&VersionStyle> {
        self.versions.iter().find(|found| found.version == version)
    }

    /// The code of the last scored iteration.
    #[must_use]
    pub fn last(&self) -> Option<&VersionStyle> {
        let scored = |v: &&VersionStyle| matches!(v.version, CodeVersion::Iteration(_));
        self.versions.iter().rev().find(scored)
    }

    /// What a leaderboard needs of it.
    #[must_use]
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

/// The style of one evolution's last code beside the oracle's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    pub base: StylePoint,
    pub own: StylePoint,
    pub oracle: StylePoint,
    /// Lines of source added and deleted since the base (Figure 9).
    pub own_lines: u32,
    pub oracle_lines: u32,
    /// Scored iterations and what was measured after them.
    pub course: Vec<(u32, StylePoint)>,
}

/// What is compared with the oracle (Figure 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StyleMetric {
    Mi,
    Pylint,
}

impl StyleMetric {
    pub const ALL: [Self; 2] = [Self::Mi, Self::Pylint];

    fn of(self, point: StylePoint) -> Option<f64> {
        match self {
            Self::Mi => point.mi,
            Self::Pylint => point.pylint,
        }
    }
}

impl Beside {
    /// Greater wins against the oracle, smaller loses; what only rounding
    /// tells apart is a tie. `None` where either was not measured.
    #[must_use]
    pub fn against(&self, metric: StyleMetric) -> Option<Ordering> {
        let (own, oracle) = (metric.of(self.own)?, metric.of(self.oracle)?);
        Some(match own - oracle {
            difference if difference > SAME => Ordering::Greater,
            difference if difference < -SAME => Ordering::Less,
            _ => Ordering::Equal,
        })
    }
}

/// One file of an evolution's last code beside the oracle's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FileBeside {
    pub path: String,
    /// Absent where one of them does not have the file.
    pub own: Option<FileStyle>,
    pub oracle: Option<FileStyle>,
    /// Lines added and deleted since the base.
    pub own_lines: u32,
    pub oracle_lines: u32,
}

impl FileBeside {
    /// How much lower the maintainability index is than the oracle's; absent
    /// where either has none.
    #[must_use]
    pub fn mi_lost(&self) -> Option<f64> {
        let mi = |file: &Option<FileStyle>| Some(file.as_ref()?.radon?.mi);
        Some(mi(&self.oracle)? - mi(&self.own)?)
    }

    /// How many more messages Pylint has than on the oracle's.
    #[must_use]
    pub fn messages_gained(&self) -> Option<i64> {
        let messages = |file: &Option<FileStyle>| {
            let counts = file.as_ref()?.pylint?;
            Some(i64::from(counts.messages()))
        };
        Some(messages(&self.own)? - messages(&self.oracle)?)
    }
}

/// The last code of an evolution beside the oracle's, file by file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StyleBeside {
    pub style: EvolutionStyle,
    /// The files that differ, those that lost most first.
    pub files: Vec<FileBeside>,
    /// From the oracle's version to the evolution's, of the first of them;
    /// absent where the code is not there to be compared.
    pub diff: Option<Diff>,
}

/// The files that differ, those whose maintainability index lost most first;
/// after them those that only one of both has.
#[must_use]
pub fn beside(own: &[FileStyle], oracle: &[FileStyle]) -> Vec<FileBeside> {
    let mut files: BTreeMap<&str, FileBeside> = BTreeMap::new();
    let empty = |path: &str| FileBeside {
        path: path.to_owned(),
        own: None,
        oracle: None,
        own_lines: 0,
        oracle_lines: 0,
    };
    for file in own {
        let entry = files.entry(&file.path);
        entry.or_insert_with(|| empty(&file.path)).own = Some(file.clone());
    }
    for file in oracle {
        let entry = files.entry(&file.path);
        entry.or_insert_with(|| empty(&file.path)).oracle = Some(file.clone());
    }
    let digest = |file: &Option<FileStyle>| file.as_ref().map(|file| file.digest.clone());
    let mut files: Vec<FileBeside> = files
        .into_values()
        .filter(|file| digest(&file.own) != digest(&file.oracle))
        .collect();
    let lost = |file: &FileBeside| file.mi_lost().unwrap_or(f64::NEG_INFINITY);
    files.sort_by(|a, b| lost(b).total_cmp(&lost(a)));
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, mi: f64, sloc: u32) -> FileStyle {
        FileStyle {
            path: path.into(),
            digest: path.into(),
            radon: Some(RadonCounts {
                mi,
                sloc,
                comments: 1,
                blocks: 2,
                complexity: 6,
                complexity_most: sloc,
                volume: 1.5,
            }),
            problem: None,
            pylint: Some(PylintCounts {
                warning: 1,
                statements: 10,
                ..PylintCounts::default()
            }),
        }
    }

    #[test]
    fn scores_are_pylints() {
        let check = |fatal, error, light, statements, expect| {
            let counts = PylintCounts {
                fatal,
                error,
                convention: light,
                statements,
                ..PylintCounts::default()
            };
            assert_eq!(counts.score(), expect, "{counts:?}");
        };
        check(0, 0, 0, 0, None);
        check(0, 0, 0, 7, Some(10.0));
        check(0, 1, 2, 14, Some(5.0));
        check(0, 9, 0, 2, Some(0.0));
        check(1, 0, 0, 9, Some(0.0));
    }

    #[test]
    fn long_files_weigh_more() {
        let mut broken = file("c.py", 0.0, 0);
        broken.radon = None;
        broken.problem = Some("line 1: invalid syntax".into());
        let files = [file("a.py", 90.0, 30), file("b.py", 50.0, 10), broken];
        let all = CodeStyle::of(&files, None);
        assert_eq!((all.files, all.unparsed, all.sloc), (3, 1, 40));
        assert_eq!(all.mi, Some(80.0));
        assert_eq!(all.pylint_score(), Some(9.0));
        assert_eq!(
            (all.mean_complexity(), all.complexity_most),
            (Some(3.0), 30)
        );
        assert_eq!(all.comment_ratio(), Some(0.05));
        let cut = CodeStyle::of(&files, Some("it took over 60 s".into()));
        assert_eq!((cut.mi, cut.pylint), (Some(80.0), None));
        let nothing = CodeStyle::of(&[], None);
        assert_eq!(nothing.point(), StylePoint::default());
    }

    #[test]
    fn what_only_rounding_tells_apart_is_a_tie() {
        let beside = |own: f64, oracle: f64| Beside {
            base: StylePoint::default(),
            own: StylePoint {
                mi: Some(own),
                ..StylePoint::default()
            },
            oracle: StylePoint {
                mi: Some(oracle),
                ..StylePoint::default()
            },
            own_lines: 0,
            oracle_lines: 0,
            course: Vec::new(),
        };
        let check = |own, oracle, expect| {
            assert_eq!(beside(own, oracle).against(StyleMetric::Mi), Some(expect));
        };
        check(0.1 + 0.2, 0.3, Ordering::Equal);
        check(80.0, 79.999, Ordering::Greater);
        check(79.999, 80.0, Ordering::Less);
        assert_eq!(beside(1.0, 1.0).against(StyleMetric::Pylint), None);
    }
    #[test]
    fn names_of_versions_lead_back() {
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

    #[test]
    fn what_lost_most_comes_first() {
        let own = [
            file("same.py", 80.0, 9),
            file("b.py", 70.0, 9),
            file("c.py", 40.0, 9),
        ];
        let mut oracle = own.clone();
        for (file, mi) in oracle.iter_mut().skip(1).zip([75.0, 60.0]) {
            file.radon.as_mut().unwrap().mi = mi;
            file.digest = format!("oracle's {}", file.path);
        }
        let oracle = [&oracle[..], &[file("new.py", 90.0, 9)]].concat();
        let files = beside(&own, &oracle);
        let told: Vec<(&str, Option<f64>)> = files
            .iter()
            .map(|f| (f.path.as_str(), f.mi_lost()))
            .collect();
        assert_eq!(
            told,
            [("c.py", Some(20.0)), ("b.py", Some(5.0)), ("new.py", None)]
        );
        assert_eq!(files[0].messages_gained(), Some(0));
    }
}
