//! An evolution's last code beside the oracle's: in total (Figures 8 and 9),
//! and file by file.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{EvolutionStyle, FileLines, FileStyle, StylePoint, VersionFiles};
use crate::diff::Diff;
use crate::metrics::SAME;

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
    /// How it differs from the base; absent where it does not.
    pub own_lines: Option<FileLines>,
    pub oracle_lines: Option<FileLines>,
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
    /// The first of the files that differ, those that lost most first.
    pub files: Vec<FileBeside>,
    /// How many more there are.
    pub more_files: u32,
    /// From the oracle's version to the evolution's, of the first of them;
    /// absent where the code is not there to be compared.
    pub diff: Option<Diff>,
}

/// The files that differ, those whose maintainability index lost most first;
/// after them those that only one of both has.
#[must_use]
pub fn beside(own: &VersionFiles, oracle: &VersionFiles) -> Vec<FileBeside> {
    let mut files: BTreeMap<&str, FileBeside> = BTreeMap::new();
    let empty = |path: &str| FileBeside {
        path: path.to_owned(),
        own: None,
        oracle: None,
        own_lines: changed(own, path),
        oracle_lines: changed(oracle, path),
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

fn changed(version: &VersionFiles, path: &str) -> Option<FileLines> {
    let changed = &version.changed;
    let at = changed.binary_search_by(|lines| lines.path.as_str().cmp(path));
    Some(changed[at.ok()?].clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::style::tests::file;

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
        let told: Vec<(&str, Option<f64>)> = files
            .iter()
            .map(|f| (f.path.as_str(), f.mi_lost()))
            .collect();
        assert_eq!(
            told,
            [("c.py", Some(20.0)), ("b.py", Some(5.0)), ("new.py", None)]
        );
        assert_eq!(files[0].messages_gained(), Some(0));
        let own_lines: Vec<_> = files.iter().map(|f| f.own_lines.clone()).collect();
        assert_eq!(own_lines, [None, Some(lines("b.py", 3)), None]);
        assert!(files.iter().all(|file| file.oracle_lines.is_none()));
    }
}
