//! Runs that have scores and take no rank.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use swe_ci_core::finding::Unranked;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::step::Plan;
use swe_ci_core::uncertainty::RankInterval;

use super::{Board, Entry, LeaderboardData, Published, Row, ScoredTask};
use crate::count;

/// A run as the note under the table names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct UnrankedRun {
    pub run_id: String,
    pub model: String,
    pub unranked: Unranked,
}

/// What runs of a board are measured against.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Tasks of the split.
    pub tasks: u32,
    /// The N that the split declares, if it does.
    pub iterations: Option<u32>,
}

/// The share of a split's tasks that a ranked run has scores of.
const ENOUGH_TASKS: f64 = 0.95;

impl LeaderboardData {
    /// The data of a board; sets the entries with a reason to take no rank apart.
    /// Nothing else decides who takes part: rankings, figures and comparisons
    /// follow.
    pub fn new(board: Board, of: Extent, entries: Vec<Entry>, published: Published) -> Self {
        let mut data = Self {
            split: board.split,
            mode: board.mode,
            tasks: of.tasks,
            published,
            ..Self::default()
        };
        let usual = || data.longest(&entries).min(Plan::default().max_iterations);
        data.iterations = of.iterations.unwrap_or_else(usual);
        let entries = entries.into_iter().map(|entry| data.as_counted(entry));
        (data.unranked, data.entries) = entries.partition(|entry| entry.unranked.is_some());
        data
    }

    /// The greatest N of the runs that could take a rank, if any can: one that cannot
    /// must not take the others'.
    fn longest(&self, entries: &[Entry]) -> u32 {
        let iterations = |entry: &Entry| entry.max_iterations;
        let complete = entries
            .iter()
            .filter(|entry| entry.unranked.is_none() && self.incomplete(entry).is_none());
        let longest = complete.map(iterations).max();
        longest
            .or_else(|| entries.iter().map(iterations).max())
            .unwrap_or_default()
    }

    /// A run as this board counts it: over the board's iterations, and without a
    /// rank if it has done less than the others.
    fn as_counted(&self, mut entry: Entry) -> Entry {
        entry.unranked = self.why_unranked(&entry);
        entry.tasks_total = self.tasks;
        entry.first(self.iterations)
    }

    /// Why a run takes no rank here, whether it is on the board or not.
    pub fn why_unranked(&self, entry: &Entry) -> Option<Unranked> {
        let own = entry.unranked.clone();
        own.or_else(|| self.incomparable(entry))
    }

    fn incomparable(&self, entry: &Entry) -> Option<Unranked> {
        if entry.max_iterations < self.iterations {
            return Some(Unranked::FewerIterations {
                iterations: entry.max_iterations,
                of: self.iterations,
            });
        }
        if entry.out_of_budget > 0 {
            return Some(Unranked::OutOfBudget {
                evolutions: entry.out_of_budget,
            });
        }
        if entry.being_audited > 0 {
            return Some(Unranked::BeingAudited {
                evolutions: entry.being_audited,
            });
        }
        self.incomplete(entry)
    }

    /// Tasks must not be missing by the doing of a run's agent or submitter: while the run
    /// goes on, the slow ones are missing, and where it chose tasks, the hard ones.
    fn incomplete(&self, entry: &Entry) -> Option<Unranked> {
        let complete = |task: &&ScoredTask| task.samples.len() >= entry.samples as usize;
        let scored = count(entry.tasks.iter().filter(complete).count());
        let share = match entry.chosen || !entry.progress.is_over() {
            true => 1.0,
            false => ENOUGH_TASKS,
        };
        let enough = f64::from(scored) >= share * f64::from(self.tasks);
        (!enough).then_some(Unranked::Incomplete {
            scored,
            of: self.tasks,
        })
    }

    /// Takes the runs of another mode in, without a rank: for comparing them.
    pub fn add_other_mode(&mut self, other: &Self) {
        let known: HashSet<&str> = self.all().map(|entry| entry.run_id.as_str()).collect();
        let new = other
            .all()
            .filter(|entry| !known.contains(entry.run_id.as_str()));
        let new = new.map(|entry| Entry {
            unranked: entry.unranked.clone().or(Some(Unranked::OtherMode)),
            ..entry.clone()
        });
        let new: Vec<Entry> = new.collect();
        self.unranked.extend(new);
    }

    /// Takes in a run that has no place on the board, such as one that is private
    /// or has no scores yet: for comparing it.
    pub fn add_beside(&mut self, entry: Entry) {
        let entry = self.as_counted(entry);
        self.unranked.push(entry);
    }

    pub fn has(&self, run_id: &str) -> bool {
        self.all().any(|entry| entry.run_id == run_id)
    }

    /// All runs, ranked or not.
    pub(super) fn all(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().chain(&self.unranked)
    }

    /// The unranked runs, by model.
    pub fn unranked_runs(&self) -> Vec<UnrankedRun> {
        let runs = self.unranked.iter().filter_map(|entry| {
            Some(UnrankedRun {
                run_id: entry.run_id.clone(),
                model: entry.model.clone(),
                unranked: entry.unranked.clone()?,
            })
        });
        let mut runs: Vec<UnrankedRun> = runs.collect();
        let order = |run: &UnrankedRun| match run.unranked {
            Unranked::Incomplete { scored, of } => (1, of - scored.min(of)),
            _ => (0, 0),
        };
        runs.sort_by(|a, b| {
            let by = |run| (order(run), &run.model, &run.run_id);
            by(a).cmp(&by(b))
        });
        runs
    }

    /// The scores of the unranked runs, best first, without intervals and ranks.
    pub fn unranked_rows(&self, gamma: Gamma, convention: Convention) -> Vec<Row> {
        without_ranks(self.of_unranked().rank(gamma, convention))
    }

    /// The unranked runs as if they were the leaderboard.
    fn of_unranked(&self) -> Self {
        Self {
            split: self.split.clone(),
            mode: self.mode,
            tasks: self.tasks,
            iterations: self.iterations,
            entries: self.unranked.clone(),
            ..Self::default()
        }
    }
}

/// Their order among themselves is no rank.
fn without_ranks(mut rows: Vec<Row>) -> Vec<Row> {
    for row in &mut rows {
        (row.rank, row.tie_group) = (0, 0);
        if let Some(intervals) = &mut row.intervals {
            intervals.rank = RankInterval { best: 0, worst: 0 };
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leaderboard::UncertaintyModel;
    use crate::testing::entry;
    use swe_ci_core::requirement::Mode;
    use swe_ci_core::run::Progress;

    fn of(tasks: u32) -> Extent {
        Extent {
            tasks,
            iterations: None,
        }
    }

    fn board() -> LeaderboardData {
        let good = entry("good", &[("p", &[&[0.5]]), ("q", &[&[0.5]])]);
        let won: &[&[f64]] = &[&[1.0]];
        let mut best = entry("best", &[("p", won), ("q", won), ("r", won)]);
        best.unranked = Some(Unranked::HeldForReview { open: 2 });
        LeaderboardData::new("s".into(), of(2), vec![best, good], Published::default())
    }

    #[test]
    fn an_unranked_run_takes_no_rank() {
        let data = board();
        let rows = UncertaintyModel::new(&data).rank(&data, Gamma::ONE, Convention::Paper);
        let ranks: Vec<(u32, &str)> = rows.iter().map(|r| (r.rank, r.model.as_str())).collect();
        assert_eq!(ranks, [(1, "good")]);
        let apart = data.unranked_rows(Gamma::ONE, Convention::Paper);
        let row = &apart[0];
        assert_eq!((apart.len(), row.rank, row.tie_group), (1, 0, 0));
        assert_eq!((row.model.as_str(), row.evoscore), ("best", 1.0));
        assert_eq!(row.unranked, Some(Unranked::HeldForReview { open: 2 }));
        let named = data.unranked_runs();
        assert_eq!(named[0].run_id, "run-best");
        // Nor does any other view of the data count it.
        let matrix = data.matrix(Gamma::ONE, Convention::Paper, Default::default());
        assert_eq!(matrix.columns.len(), 1);
        let unseen = data.unseen().data;
        assert_eq!((unseen.entries.len(), unseen.unranked.len()), (1, 1));
    }

    #[test]
    fn runs_of_both_modes_are_compared_without_a_common_rank() {
        let one = |name: &str, mode| {
            let entry = Entry {
                mode,
                ..entry(name, &[("p", &[&[0.5]])])
            };
            LeaderboardData::new(
                Board::new("s", mode),
                of(1),
                vec![entry],
                Published::default(),
            )
        };
        let mut data = one("with-tests", Mode::Tdd);
        data.add_other_mode(&one("without", Mode::Rdd));
        let again = data.clone();
        data.add_other_mode(&again);
        let ids = ["run-without".to_owned(), "run-with-tests".to_owned()];
        let versus = data.versus(&ids, Gamma::ONE, Convention::Paper, None);
        let rows = versus.unwrap().runs;
        let seen: Vec<(u32, Mode, bool)> = rows
            .iter()
            .map(|row| {
                (
                    row.rank,
                    row.mode,
                    row.unranked == Some(Unranked::OtherMode),
                )
            })
            .collect();
        assert_eq!(seen, [(0, Mode::Rdd, true), (1, Mode::Tdd, false)]);
    }

    /// The scores of a board by run, and the reasons of the others.
    fn ranked(tasks: u32, entries: Vec<Entry>) -> (Vec<(String, String)>, Vec<String>) {
        ranked_of(of(tasks), entries)
    }

    fn ranked_of(of: Extent, entries: Vec<Entry>) -> (Vec<(String, String)>, Vec<String>) {
        let data = LeaderboardData::new("s".into(), of, entries, Published::default());
        let rows = data.rank(Gamma::ONE, Convention::Paper).into_iter();
        let apart = data.unranked_runs().into_iter();
        (
            rows.map(|row| (row.model, format!("{:.3}", row.evoscore)))
                .collect(),
            apart
                .map(|run| format!("{}: {}", run.model, run.unranked))
                .collect(),
        )
    }

    fn own((model, score): (&str, &str)) -> (String, String) {
        (model.into(), score.into())
    }

    #[test]
    fn a_ranked_run_has_nearly_all_tasks_of_its_split() {
        let run = |model: &str, tasks: usize| {
            let one: (&str, &[&[f64]]) = ("r", &[&[0.5]]);
            entry(model, &vec![one; tasks])
        };
        let (rows, apart) = ranked(
            100,
            vec![
                run("all", 100),
                run("one", 1),
                run("enough", 95),
                run("most", 94),
            ],
        );
        assert_eq!(rows, [("all", "0.500"), ("enough", "0.500")].map(own));
        let most = "most: incomplete: 94 of 100 tasks have a score";
        assert_eq!(
            apart,
            [most, "one: incomplete: 1 of 100 tasks have a score"]
        );
    }

    /// The slowest evolutions are missing while a run goes on, and a submitter may
    /// choose the easy tasks.
    #[test]
    fn whoever_chooses_tasks_or_is_not_done_needs_all() {
        let one: (&str, &[&[f64]]) = ("r", &[&[0.5]]);
        let run = |model: &str, tasks: usize| entry(model, &vec![one; tasks]);
        let chosen = |model: &str, tasks| Entry {
            chosen: true,
            ..run(model, tasks)
        };
        let going_on = |model: &str, tasks| Entry {
            progress: Progress::Running,
            ..run(model, tasks)
        };
        let runs = vec![
            chosen("chose-all", 100),
            chosen("chose-most", 99),
            going_on("all-scored", 100),
            going_on("most-scored", 99),
        ];
        let (rows, apart) = ranked(100, runs);
        assert_eq!(
            rows,
            [("all-scored", "0.500"), ("chose-all", "0.500")].map(own)
        );
        assert_eq!(apart.len(), 2);
    }

    /// Neither does a run with few tasks, nor one that is held.
    #[test]
    fn a_run_without_a_rank_gives_the_others_no_iterations() {
        let run = |model: &str, iterations: u32, tasks: usize| {
            let one: (&str, &[&[f64]]) = ("r", &[&[0.5]]);
            let mut run = entry(model, &vec![one; tasks]);
            run.max_iterations = iterations;
            run
        };
        let mut held = run("held", 20, 2);
        held.unranked = Some(Unranked::HeldForReview { open: 1 });
        let (rows, apart) = ranked(2, vec![run("short", 5, 2), run("one-task", 20, 1), held]);
        assert_eq!(rows, [("short", "0.500")].map(own));
        assert_eq!(apart.len(), 2);
    }

    /// The tasks that are missing are those that cost the most.
    #[test]
    fn a_run_whose_budget_ended_evolutions_has_no_rank() {
        let one: (&str, &[&[f64]]) = ("r", &[&[0.5]]);
        let mut run = entry("m", &[one; 99]);
        run.out_of_budget = 1;
        let (rows, apart) = ranked(100, vec![run]);
        assert_eq!(rows, []);
        assert_eq!(
            apart,
            ["m: incomplete: its budget was spent before 1 evolution was over"]
        );
    }

    #[test]
    fn a_task_lacks_its_score_until_all_samples_have_one() {
        let mut run = entry("m", &[("r", &[&[0.5], &[0.5]]), ("r", &[&[0.5]])]);
        run.samples = 2;
        let (rows, apart) = ranked(2, vec![run]);
        assert_eq!(rows, []);
        assert_eq!(apart, ["m: incomplete: 1 of 2 tasks have a score"]);
    }

    /// More iterations than N change nothing: neither gains nor losses after them
    /// count.
    #[test]
    fn runs_are_scored_over_the_same_iterations() {
        let run = |model: &str, iterations: u32, changes: &[f64]| {
            let mut run = entry(model, &[("r", &[changes])]);
            run.max_iterations = iterations;
            run
        };
        let mut long = vec![0.5; 20];
        long.push(-1.0);
        let (rows, apart) = ranked(
            1,
            vec![
                run("short", 5, &[1.0]),
                run("paper", 20, &[0.5]),
                run("long", 200, &long),
            ],
        );
        assert_eq!(rows, [("long", "0.500"), ("paper", "0.500")].map(own));
        assert_eq!(
            apart,
            ["short: its evolutions had at most 5 iterations, those of the others 20"]
        );
        // A split may declare another N.
        let declared = |iterations| Extent {
            iterations: Some(iterations),
            ..of(1)
        };
        let both = || vec![run("paper", 20, &[0.5]), run("long", 200, &long)];
        let (rows, apart) = ranked_of(declared(21), both());
        assert_eq!(rows, [("long", "0.429")].map(own));
        assert_eq!(
            apart,
            ["paper: its evolutions had at most 20 iterations, those of the others 21"]
        );
        let (rows, apart) = ranked_of(declared(5), both());
        assert_eq!((rows.len(), apart.len()), (2, 0));
        // Where no run has the paper's N, the longest count.
        let (rows, apart) = ranked(1, vec![run("a", 5, &[1.0]), run("b", 3, &[1.0])]);
        assert_eq!((rows.len(), apart.len()), (1, 1));
    }

    #[test]
    fn an_unfinished_run_beside_a_board_is_measured_like_the_others() {
        let mut data = board();
        let mut beside = entry("private", &[("p", &[&[0.5, 1.0]])]);
        beside.max_iterations = 200;
        data.add_beside(beside);
        let added = data.unranked.last().unwrap();
        assert_eq!((added.max_iterations, added.tasks_total), (1, 2));
        let passes = added.tasks[0].samples[0].reference.passes();
        assert_eq!(passes.len(), 1);
        assert!(matches!(
            added.unranked,
            Some(Unranked::Incomplete { scored: 1, of: 2 })
        ));
    }

    /// Its reader wants to see why it is held.
    #[test]
    fn an_unranked_run_can_be_compared() {
        let ids = ["run-good".to_owned(), "run-best".to_owned()];
        let versus = board().versus(&ids, Gamma::ONE, Convention::Paper, None);
        let versus = versus.unwrap();
        let ranks: Vec<(u32, &str)> = versus
            .runs
            .iter()
            .map(|row| (row.rank, row.model.as_str()))
            .collect();
        assert_eq!(ranks, [(1, "good"), (0, "best")]);
        assert!(versus.runs[1].unranked.is_some());
        assert_eq!(versus.tasks.len(), 2);
    }
}
