//! Code style: the measurements of Pylint and radon on a version of the
//! source, and their comparison with the oracle's (the paper, section 4.4).
//!
//! The source is all `*.py` files outside of folders named `tests` or `test`.

mod erosion;
mod oracle_comparison;
mod versions;

use serde::{Deserialize, Serialize};

pub use erosion::{Erosion, ErosionFigure, ErosionIntervals};
pub use oracle_comparison::{Beside, FileBeside, StyleBeside, StyleMetric, beside};
pub use versions::{CodeVersion, EvolutionStyle, FileLines, VersionFiles, VersionStyle};

/// Versions of the style tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StyleTools {
    pub pylint: String,
    pub radon: String,
    pub complexipy: String,
    pub vulture: String,
    pub griffe: String,
    /// Version of the Python interpreter, which determines the valid syntax.
    pub python: String,
}

/// Pylint's messages by category, and the number of statements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
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

    pub fn messages(self) -> u32 {
        self.fatal + self.error + self.warning + self.refactor + self.convention
    }

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

/// Radon's measurements of one file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
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
    /// The largest complexity.
    pub complexity_most: u32,
    /// Halstead volume.
    pub volume: f64,
}

/// One file of the source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct FileStyle {
    pub path: String,
    /// SHA-256 of its content: equal files have equal radon counts.
    pub digest: String,
    /// Absent if radon cannot parse it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radon: Option<RadonCounts>,
    /// The reason why radon cannot parse it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Absent if Pylint did not finish.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pylint: Option<PylintCounts>,
}

/// Totals of one version's source.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CodeStyle {
    pub files: u32,
    /// Files that radon cannot parse; only Pylint's counts include them.
    pub unparsed: u32,
    /// Mean of the files' maintainability indexes weighted by their lines of
    /// source, 0 to 100; absent without any such line.
    pub mi: Option<f64>,
    /// Absent if Pylint did not finish.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pylint: Option<PylintCounts>,
    /// The reason why Pylint did not finish.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Duplicated lines in percent of all lines, by Pylint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicated: Option<f64>,
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
    /// `problem` is the reason why Pylint did not finish.
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
    pub fn pylint_score(&self) -> Option<f64> {
        self.pylint.and_then(PylintCounts::score)
    }

    /// Mean cyclomatic complexity of functions, methods and classes.
    pub fn mean_complexity(&self) -> Option<f64> {
        (self.blocks > 0).then(|| f64::from(self.complexity) / f64::from(self.blocks))
    }

    /// Lines with a comment per line of source.
    pub fn comment_ratio(&self) -> Option<f64> {
        (self.sloc > 0).then(|| f64::from(self.comments) / f64::from(self.sloc))
    }

    pub fn point(&self) -> StylePoint {
        StylePoint {
            mi: self.mi,
            pylint: self.pylint_score(),
            complexity: self.mean_complexity(),
            erosion: Erosion {
                duplicated_lines: self.duplicated,
                comments_per_line: self.comment_ratio(),
                ..Erosion::default()
            },
        }
    }
}

/// The numbers that are followed over iterations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StylePoint {
    /// Maintainability index, 0 to 100.
    pub mi: Option<f64>,
    /// Pylint's score, 0 to 10.
    pub pylint: Option<f64>,
    /// Mean cyclomatic complexity.
    pub complexity: Option<f64>,
    pub erosion: Erosion,
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn file(path: &str, mi: f64, sloc: u32) -> FileStyle {
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
}
