//! Rank against γ: Figure 5.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::Gamma;
use swe_ci_core::uncertainty::RankInterval;

use super::gamma::{gamma_column, gammas};
use super::{Cell, Column, Curve, GAMMA_MAX, GAMMA_MIN, Study, Subject, Table};
use crate::leaderboard::{Entry, positions};

/// The range of γ in the paper's figure.
const PAPERS: (f64, f64) = (0.8, 1.2);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranks {
    pub gamma: f64,
    /// The γs of the ranks, ascending.
    pub gammas: Vec<f64>,
    /// Best first at the selected γ.
    pub lines: Vec<RankLine>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankLine {
    pub run: Subject,
    /// One for each of the γs, from 1; equal scores share a rank.
    pub ranks: Vec<u32>,
    /// At the selected γ.
    pub rank: u32,
    /// At the selected γ, by bootstrap; absent with tasks of fewer than two
    /// repositories.
    pub interval: Option<RankInterval>,
}

pub fn ranks(study: &Study) -> Ranks {
    let entries = study.data.entries.iter();
    let curve = |entry: &'_ Entry| Some((entry.run_id.clone(), entry.curve(study.convention)?));
    let (run_ids, curves): (Vec<String>, Vec<Curve>) = entries.filter_map(curve).unzip();
    let mut by_run: HashMap<String, Vec<u32>> = HashMap::new();
    for gamma in gammas() {
        let scores: Vec<f64> = curves.iter().map(|curve| curve.at(gamma)).collect();
        for (run_id, rank) in run_ids.iter().zip(positions(&scores)) {
            by_run.entry(run_id.clone()).or_default().push(rank);
        }
    }
    let lines = study.runs().map(|(run, _, row)| RankLine {
        ranks: by_run.remove(&run.run_id).unwrap_or_default(),
        run,
        rank: row.rank,
        interval: row.intervals.map(|i| i.rank),
    });
    Ranks {
        gamma: study.gamma.get(),
        gammas: gammas().map(Gamma::get).collect(),
        lines: lines.collect(),
    }
}

impl Ranks {
    /// Shows no γ but those of the paper's figure.
    pub fn keep_the_papers(&mut self) {
        let (low, high) = PAPERS;
        let is_kept = |gamma: &f64| (low - 1e-9..=high + 1e-9).contains(gamma);
        let first = self.gammas.iter().take_while(|gamma| !is_kept(gamma));
        let (first, kept) = (first.count(), self.gammas.iter().filter(|g| is_kept(g)));
        let range = first..first + kept.count();
        self.gammas = self.gammas[range.clone()].to_vec();
        for line in &mut self.lines {
            line.ranks = line.ranks.get(range.clone()).unwrap_or_default().to_vec();
        }
    }

    /// The range of γ that it shows.
    pub fn range(&self) -> (f64, f64) {
        let ends = self.gammas.first().zip(self.gammas.last());
        ends.map_or((GAMMA_MIN, GAMMA_MAX), |(low, high)| (*low, *high))
    }

    pub(super) fn table(&self) -> Table {
        let selected = [
            Column::new("rank", format!("Rank at γ {:.2}", self.gamma)),
            Column::new("rank_best", "95\u{a0}% from"),
            Column::new("rank_worst", "95\u{a0}% to"),
        ];
        let columns = self.gammas.iter().map(|gamma| gamma_column("rank", *gamma));
        let rows = self.lines.iter().map(|line| {
            let ends = [
                line.interval.map(|i| i.best),
                line.interval.map(|i| i.worst),
            ];
            let ranks = line.ranks.iter().map(|rank| Some(*rank));
            let cells = [Some(line.rank)].into_iter().chain(ends).chain(ranks);
            (&line.run, cells.map(Cell::whole))
        });
        Table::of_runs(selected.into_iter().chain(columns), rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{RunSpec, leaderboard, with_study};
    use super::*;

    /// `early` is ahead while early iterations weigh more, `late` when later
    /// ones do; at γ = 1 they share the first rank.
    #[test]
    fn by_hand() {
        let data = leaderboard(&[
            RunSpec::new("early", &[&[1.0, 0.0], &[1.0, 0.0]]),
            RunSpec::new("late", &[&[0.0, 1.0], &[0.0, 1.0]]),
        ]);
        with_study(&data, 1.5, |study| {
            let data = ranks(study);
            let line = |model| data.lines.iter().find(|l| l.run.model == model).unwrap();
            let at = |model, gamma: f64| {
                let is_equal = |g: &f64| (g - gamma).abs() < 1e-9;
                line(model).ranks[data.gammas.iter().position(is_equal).unwrap()]
            };
            let check = |gamma, expect| assert_eq!((at("early", gamma), at("late", gamma)), expect);
            check(0.5, (1, 2));
            check(0.95, (1, 2));
            check(1.0, (1, 1));
            check(1.05, (2, 1));
            check(2.0, (2, 1));
            assert_eq!((line("late").rank, line("early").rank), (1, 2));
            let mut papers = data.clone();
            papers.keep_the_papers();
            assert_eq!((papers.gammas.len(), papers.range()), (9, (0.8, 1.2)));
            let early = papers
                .lines
                .iter()
                .find(|l| l.run.model == "early")
                .unwrap();
            assert_eq!(early.ranks, [1, 1, 1, 1, 1, 2, 2, 2, 2]);
            // All tasks agree, so every resample does.
            assert_eq!(
                line("late").interval,
                Some(RankInterval { best: 1, worst: 1 })
            );
        });
    }
}
