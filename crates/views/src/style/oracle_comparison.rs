//! The style of an evolution's last code against the oracle's: in total
//! (Figures 8 and 9), and file by file.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use swe_ci_core::diff::Diff;
use swe_ci_core::metrics::SAME;

use super::{EvolutionStyle, FileLines, FileStyle, StylePoint, VersionFiles};

/// The style of one evolution's last code against the oracle's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    pub base: StylePoint,
    pub own: StylePoint,
    pub oracle: StylePoint,
    /// Lines of source added and deleted since the base (Figure 9).
    pub own_lines: u32,
    pub oracle_lines: u32,
    /// Scored iterations with their measurements.
    pub course: Vec<(u32, StylePoint)>,
}

swe_ci_core::named! {
    /// A metric that is compared with the oracle (Figure 8).
    pub enum StyleMetric {
        Mi = "mi",
        Pylint = "pylint",
    }
}

impl StyleMetric {
    pub(crate) fn pick<T>(self, mi: T, pylint: T) -> T {
        match self {
            Self::Mi => mi,
            Self::Pylint => pylint,
        }
    }
}

impl Beside {
    /// Greater wins against the oracle, less loses; a difference by rounding
    /// is a tie. `None` unless both were measured.
    pub fn against(&self, metric: StyleMetric) -> Option<Ordering> {
        let value = |point: StylePoint| metric.pick(point.mi, point.pylint);
        Some(match value(self.own)? - value(self.oracle)? {
            difference if difference > SAME => Ordering::Greater,
            difference if difference < -SAME => Ordering::Less,
            _ => Ordering::Equal,
        })
    }
}

/// One file of an evolution's last code against the oracle's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct FileBeside {
    pub path: String,
    /// Absent if the evolution does not have the file.
    pub own: Option<FileStyle>,
    /// Absent if the oracle does not have the file.
    pub oracle: Option<FileStyle>,
    /// Changes since the base; absent without changes.
    pub own_lines: Option<FileLines>,
    /// The same of the oracle.
    pub oracle_lines: Option<FileLines>,
}

impl FileBeside {
    /// The oracle's maintainability index minus the evolution's; absent unless
    /// both have one.
    pub fn mi_lost(&self) -> Option<f64> {
        let mi = |file: &Option<FileStyle>| Some(file.as_ref()?.radon?.mi);
        Some(mi(&self.oracle)? - mi(&self.own)?)
    }
}

/// The last code of an evolution against the oracle's, file by file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StyleBeside {
    pub style: EvolutionStyle,
    /// The first differing files, those with the largest loss first.
    pub files: Vec<FileBeside>,
    pub more_files: u32,
    /// Diff from the oracle's version to the evolution's, of the first files;
    /// absent when the code is not available.
    pub diff: Option<Diff>,
}

/// The differing files in descending order of their loss of maintainability
/// index; files that only one of the two has come last.
pub fn beside(own: &VersionFiles, oracle: &VersionFiles) -> Vec<FileBeside> {
    let mut files: BTreeMap<&str, FileBeside> = BTreeMap::new();
    let empty = |path: &str| FileBeside {
        path: path.to_owned(),
        own: None,
        oracle: None,
        own_lines: changed_lines(own, path),
        oracle_lines: changed_lines(oracle, path),
    };
    for file in &own.files {
        let entry = files.entry(&file.path);
        entry.or_insert_with(|| empty(&file.path)).own = Some(file.clone());
    }
    for file in &oracle.files {
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

fn changed_lines(version: &VersionFiles, path: &str) -> Option<FileLines> {
    let changed = &version.changed;
    let index = changed.binary_search_by(|lines| lines.path.as_str().cmp(path));
    Some(changed[index.ok()?].clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::style::tests::file;

    #[test]
    fn a_difference_by_rounding_is_a_tie() {
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
    fn the_largest_loss_comes_first() {
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
        let lines = |path: &str, added| FileLines {
            path: path.into(),
            added,
            deleted: 1,
        };
        let own = VersionFiles {
            files: own.to_vec(),
            changed: vec![lines("b.py", 3), lines("gone.py", 0)],
        };
        let oracle = VersionFiles {
            files: oracle,
            changed: Vec::new(),
        };
        let files = beside(&own, &oracle);
        let losses: Vec<(&str, Option<f64>)> = files
            .iter()
            .map(|f| (f.path.as_str(), f.mi_lost()))
            .collect();
        assert_eq!(
            losses,
            [("c.py", Some(20.0)), ("b.py", Some(5.0)), ("new.py", None)]
        );
        let own_lines: Vec<_> = files.iter().map(|f| f.own_lines.clone()).collect();
        assert_eq!(own_lines, [None, Some(lines("b.py", 3)), None]);
        assert!(files.iter().all(|file| file.oracle_lines.is_none()));
    }
}
