//! Snapshots: the leaderboards of a split as they were on a day.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::Kind;

use super::{Board, Entry, Extent, LeaderboardData, Origin, Published, Row};
use crate::format;

/// A snapshot, without its content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Snapshot {
    pub split: String,
    /// The day it was made, `YYYY-MM-DD` in UTC.
    pub day: String,
    /// SHA-256 of its content, in hexadecimal.
    pub digest: String,
    /// RFC 3339.
    pub made_at: String,
    /// Name of the account; `operator` for the command line and the schedule.
    pub made_by: String,
    /// Runs in it, ranked or not.
    pub runs: u32,
    /// Tasks of the split that could be scored.
    pub tasks: u32,
    /// Of the program that made it; absent where only the content has it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub platform_version: String,
}

impl Snapshot {
    /// Its permanent address on the site. The name of a split needs no encoding.
    pub fn path(&self) -> String {
        format!("/snapshots/{}?split={}", self.day, self.split)
    }
}

/// The content of a snapshot: all that the views of its leaderboards follow from.
/// Its JSON is what the digest is of. Later programs read it, so a new field here or
/// in its parts needs a default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Frozen {
    pub split: String,
    /// Of the program that made it.
    pub platform_version: String,
    pub metric_version: u32,
    pub extent: Extent,
    pub published: Published,
    /// The runs of all modes, in the order of their submission.
    pub runs: Vec<Entry>,
}

impl Frozen {
    /// The leaderboard of a mode, of this snapshot of it.
    pub fn leaderboard(self, of: Snapshot, mode: Mode) -> LeaderboardData {
        let mut runs = self.runs;
        runs.retain(|run| run.kind == Kind::Human || run.mode == mode);
        share_origins(&mut runs);
        let published = match mode {
            Mode::Tdd => self.published,
            _ => Published::default(),
        };
        let board = Board::new(self.split, mode);
        LeaderboardData {
            snapshot: Some(Snapshot {
                platform_version: self.platform_version,
                ..of
            }),
            ..LeaderboardData::new(board, self.extent, runs, published)
        }
    }
}

/// Has each task once in memory, as a leaderboard of now has.
fn share_origins(runs: &mut [Entry]) {
    let mut known: HashMap<Origin, Arc<Origin>> = HashMap::new();
    for task in runs.iter_mut().flat_map(Entry::tasks_mut) {
        let own = task.origin.clone();
        task.origin = known.entry((*own).clone()).or_insert(own).clone();
    }
}

/// A run whose row differs between two rankings.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedRow {
    pub run_id: String,
    pub model: String,
    /// Rank and EvoScore before; absent for a new run.
    pub before: Option<(u32, f64)>,
    /// The same after; absent for a run that is gone.
    pub after: Option<(u32, f64)>,
}

/// The runs whose rank or EvoScore, as it is shown, differ between two rankings, in the order of the
/// second; those that are gone come last.
pub fn changed_rows(before: &[Row], after: &[Row]) -> Vec<ChangedRow> {
    let at = |row: &Row| (row.rank, row.evoscore);
    let by_run = |rows: &[Row]| -> HashMap<String, (u32, f64)> {
        rows.iter()
            .map(|row| (row.run_id.clone(), at(row)))
            .collect()
    };
    let (then, now) = (by_run(before), by_run(after));
    let gone = before.iter().filter(|row| !now.contains_key(&row.run_id));
    let rows = after.iter().chain(gone).map(|row| ChangedRow {
        run_id: row.run_id.clone(),
        model: row.model.clone(),
        before: then.get(&row.run_id).copied(),
        after: now.get(&row.run_id).copied(),
    });
    let differs = |row: &ChangedRow| match (row.before, row.after) {
        (Some((rank, score)), Some((new_rank, new_score))) => {
            rank != new_rank || format::score(score) != format::score(new_score)
        }
        _ => true,
    };
    rows.filter(differs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{entry, leaderboard};
    use swe_ci_core::metrics::{Convention, Gamma};

    fn rows(runs: &[(&str, f64)]) -> Vec<Row> {
        let runs = runs
            .iter()
            .map(|(model, score)| entry(model, &[("r", &[&[*score]])]));
        leaderboard(runs.collect()).rank(Gamma::ONE, Convention::Paper)
    }

    #[test]
    fn changes_between_two_rankings() {
        type Place = Option<(u32, f64)>;
        let check =
            |before: &[(&str, f64)], after: &[(&str, f64)], expect: &[(&str, Place, Place)]| {
                let found = changed_rows(&rows(before), &rows(after));
                let found = found.iter().map(|row| (&*row.model, row.before, row.after));
                assert_eq!(found.collect::<Vec<_>>(), expect, "{before:?} {after:?}");
            };
        let two = [("a", 0.5), ("b", 0.25)];
        check(&two, &two, &[]);
        check(&[], &[], &[]);
        let mut nearly = rows(&two);
        nearly[0].evoscore += 0.000_2;
        assert_eq!(changed_rows(&rows(&two), &nearly), []);
        nearly[0].evoscore += 0.000_4;
        assert_eq!(changed_rows(&rows(&two), &nearly).len(), 1);
        check(&two, &two[..1], &[("b", Some((2, 0.25)), None)]);
        // A better run moves the others down.
        check(
            &two,
            &[("a", 0.5), ("b", 0.25), ("c", 0.75)],
            &[
                ("c", None, Some((1, 0.75))),
                ("a", Some((1, 0.5)), Some((2, 0.5))),
                ("b", Some((2, 0.25)), Some((3, 0.25))),
            ],
        );
        let worse = [("b", Some((2, 0.25)), Some((2, 0.0)))];
        check(&two, &[("a", 0.5), ("b", 0.0)], &worse);
        // Those that are gone come last.
        check(
            &two,
            &[("b", 0.25)],
            &[
                ("b", Some((2, 0.25)), Some((1, 0.25))),
                ("a", Some((1, 0.5)), None),
            ],
        );
    }

    #[test]
    fn a_snapshot_reads_as_it_was_written() {
        let mut human = entry("h", &[("r", &[&[1.0]])]);
        human.kind = Kind::Human;
        let mut rdd = entry("other", &[("r", &[&[0.5, 0.25], &[1.0]])]);
        rdd.mode = Mode::Rdd;
        let runs = vec![human, entry("m", &[("r", &[&[0.5]])]), rdd];
        let frozen = Frozen {
            split: "s".into(),
            platform_version: "0.1.0".into(),
            metric_version: 1,
            extent: Extent {
                tasks: 1,
                iterations: Some(2),
            },
            published: Published::default(),
            runs,
        };
        let json = serde_json::to_string(&frozen).unwrap();
        let read: Frozen = serde_json::from_str(&json).unwrap();
        assert_eq!(read, frozen);
        assert_eq!(serde_json::to_string(&read).unwrap(), json);
        let models = |mode| {
            let data = frozen.clone().leaderboard(Snapshot::default(), mode);
            let snapshot = data.snapshot.as_ref().unwrap();
            assert_eq!(snapshot.platform_version, "0.1.0");
            let runs = data.entries.iter().chain(&data.unranked);
            runs.map(|run| run.model.clone()).collect::<Vec<_>>()
        };
        // The baseline asked for fewer iterations, so it stands behind.
        assert_eq!(models(Mode::Rdd), ["other", "h"]);
        assert_eq!(models(Mode::Tdd).len(), 2);
        assert!(!models(Mode::Tdd).contains(&"other".to_owned()));
    }
}
