//! Runs that differ in one thing: one model across harnesses, one harness across
//! models.

use std::collections::BTreeMap;

use swe_ci_core::requirement::Mode;
use swe_ci_core::run::Kind;

use super::Row;
use super::comparison::MAX_RUNS;

/// What the runs of a comparison have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Same {
    Model(String),
    Harness(String),
}

/// Runs worth comparing, the best first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alike {
    pub same: Same,
    pub run_ids: Vec<String>,
}

/// All such comparisons of one mode at a time; `rows` are best first. Of several
/// runs that have model and harness in common, the best one is taken, and of many
/// the best six.
pub fn alike(rows: &[Row]) -> Vec<Alike> {
    let mut groups: BTreeMap<(Same, &str), Vec<(&str, &Row)>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.kind != Kind::Human) {
        let mode = Mode::name(row.mode);
        let (model, harness) = (row.model.as_str(), row.harness.as_str());
        for (same, other) in [
            (Same::Model(model.to_owned()), harness),
            (Same::Harness(harness.to_owned()), model),
        ] {
            let group = groups.entry((same, mode)).or_default();
            if !group.iter().any(|(known, _)| *known == other) {
                group.push((other, row));
            }
        }
    }
    groups.retain(|_, group| group.len() > 1);
    let runs = |group: Vec<(&str, &Row)>| {
        let best = group.into_iter().take(MAX_RUNS);
        best.map(|(_, row)| row.run_id.clone()).collect()
    };
    let groups = groups.into_iter();
    groups
        .map(|((same, _), group)| Alike {
            same,
            run_ids: runs(group),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{entry, leaderboard};
    use swe_ci_core::metrics::{Convention, Gamma};

    fn rows(runs: &[(&str, &str, f64)]) -> Vec<Row> {
        let entries = runs
            .iter()
            .zip(0..)
            .map(|((model, harness, score), number)| {
                let mut entry = entry(model, &[("r", &[&[*score]])]);
                entry.run_id = format!("{number}");
                entry.harness = (*harness).to_owned();
                entry
            });
        leaderboard(entries.collect()).rank(Gamma::ONE, Convention::Paper)
    }

    #[test]
    fn one_thing_differs() {
        let rows = rows(&[
            ("a", "x", 0.1),
            ("a", "y", 0.5),
            ("a", "y", 0.4),
            ("b", "y", 0.3),
            ("c", "z", 0.9),
        ]);
        let group = |same, ids: &[&str]| Alike {
            same,
            run_ids: ids.iter().map(|id| (*id).to_owned()).collect(),
        };
        let expect = [
            group(Same::Model("a".into()), &["1", "0"]),
            group(Same::Harness("y".into()), &["1", "3"]),
        ];
        assert_eq!(alike(&rows), expect);
    }

    #[test]
    fn modes_and_people_stand_apart() {
        let mut rows = rows(&[("a", "x", 0.5), ("a", "y", 0.4), ("b", "x", 0.3)]);
        rows[1].mode = Mode::Rdd;
        rows[2].kind = Kind::Human;
        assert_eq!(alike(&rows), []);
    }

    #[test]
    fn the_best_of_many() {
        let names: Vec<String> = (0..9).map(|n| format!("m{n}")).collect();
        let runs: Vec<(&str, &str, f64)> =
            names.iter().map(|name| (name.as_str(), "x", 0.5)).collect();
        let found = alike(&rows(&runs));
        assert_eq!((found.len(), found[0].run_ids.len()), (1, MAX_RUNS));
    }
}
