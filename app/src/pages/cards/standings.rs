//! Cards about scores.

use std::sync::Arc;

use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_plots::card::{Bar, Card, Shown};
use swe_ci_plots::{self as plots, Figure, Layout, Series, Theme};
use swe_ci_views::figures::{Data, Figure as Which, Study};
use swe_ci_views::leaderboard::{
    Entry, LeaderboardData, ModelDetail, ModelRun, Row, Standing, Versus,
};
use swe_ci_views::view::RunSummary;

use crate::{format, labels};

/// More rows would be too small to read.
const MOST_ROWS: usize = 8;

/// The top of a leaderboard.
pub fn leaderboard(study: &Study) -> Card {
    let series = Series::new(&study.data, &study.rows);
    let bars = study.rows.iter().map(|row| {
        let of_row = |entry: &Entry| entry.run_id == row.run_id;
        let index = study.data.entries.iter().position(of_row);
        Bar::of(row, index.map_or(0, |index| series.of(index).number))
    });
    let bars: Vec<Bar> = bars.collect();
    let sentence = match bars.len() {
        0 => "No run of the whole split has a score yet.".to_owned(),
        n => format!(
            "EvoScore of {}, with 95 % intervals",
            format::count(n, "run")
        ),
    };
    Card {
        kind: kind_of("Leaderboard", study),
        title: "How well do agents maintain code?".into(),
        sentence,
        shown: Shown::Bars(bars),
        ..Card::default()
    }
}

fn kind_of(what: &str, study: &Study) -> String {
    kind(what, &study.data.split, study.gamma, study.convention)
}

/// "Leaderboard · demo · γ 1.50 · reference".
fn kind(what: &str, split: &str, gamma: Gamma, convention: Convention) -> String {
    let mut kind = what.to_owned();
    if !split.is_empty() {
        kind.push_str(&format!(" · {split}"));
    }
    if gamma != Gamma::ONE {
        kind.push_str(&format!(" · γ {}", format::gamma(gamma)));
    }
    if convention != Convention::default() {
        kind.push_str(&format!(" · {}", convention.name()));
    }
    kind
}

/// A figure, with its explanation.
pub fn figure(which: Which, study: &Study) -> Card {
    let origin = match which.number() {
        Some(number) => format!("Figure {number} of the paper"),
        None => "SWE-CI".to_owned(),
    };
    let basis = study.basis();
    let count = |n: usize, one, many| (n.to_string(), if n == 1 { one } else { many });
    Card {
        kind: kind_of(&origin, study),
        title: which.title().into(),
        sentence: which.reading().into(),
        numbers: vec![
            count(basis.runs, "run", "runs"),
            count(basis.tasks, "task", "tasks"),
        ],
        shown: Shown::Figure(drawn(which, study)),
    }
}

fn drawn(which: Which, study: &Study) -> Figure {
    let mut data = which.data(study);
    match &mut data {
        Data::Bars(bars) => bars.bars.truncate(MOST_ROWS),
        Data::Correlations(correlations) => correlations.runs.truncate(MOST_ROWS),
        Data::StyleWins(wins) => wins.runs.truncate(MOST_ROWS),
        _ => {}
    }
    let series = Series::new(&study.data, &study.rows);
    plots::figure(which, &data, &series, Layout::Narrow, Theme::Paper)
}

/// A run: its rank, and its score by iterations.
pub fn run(summary: &RunSummary, standing: Option<&Standing>, data: Arc<LeaderboardData>) -> Card {
    let config = &summary.config;
    let what = match labels::kind(config.kind) {
        Some((word, _, _)) => word,
        None => config.harness.name(),
    };
    Card {
        kind: format!("Run on {} · {what}", config.split),
        title: config.model.clone(),
        ..standing_card(summary, standing, data)
    }
}

/// A model, represented by its run with the most scored tasks.
pub fn model(
    model: &ModelDetail,
    run: &RunSummary,
    best: Option<&Standing>,
    data: Arc<LeaderboardData>,
) -> Card {
    let runs = format::count(model.runs.len(), "run");
    let kind = match run.config.provider.as_str() {
        "" => format!("Model · {runs}"),
        provider => format!("Model · {provider} · {runs}"),
    };
    Card {
        kind,
        title: model.model.clone(),
        ..standing_card(run, best, data)
    }
}

/// The run that represents a model, and its standing; in the paper's convention
/// if it has a score there.
pub fn best_run(model: &ModelDetail) -> Option<(&RunSummary, Option<&Standing>)> {
    let tasks = |run: &&ModelRun| standing(run).map(|standing| standing.row.tasks);
    // Of several with equally many tasks, the first.
    let best = model.runs.iter().rev().max_by_key(tasks)?;
    Some((&best.summary, standing(best)))
}

fn standing(run: &ModelRun) -> Option<&Standing> {
    let mut all = run.standings.iter();
    let paper = all.find(|standing| standing.convention == Convention::Paper);
    paper.or(run.standings.first())
}

fn standing_card(
    summary: &RunSummary,
    standing: Option<&Standing>,
    data: Arc<LeaderboardData>,
) -> Card {
    let Some(standing) = standing else {
        return Card {
            sentence: without_standing(summary, &data),
            ..Card::default()
        };
    };
    let study = Study {
        data,
        gamma: Gamma::ONE,
        convention: standing.convention,
        rows: vec![standing.row.clone()],
    };
    let row = &standing.row;
    Card {
        sentence: rank_in_words(summary, row, standing.of),
        numbers: vec![
            (format::score(row.evoscore), "EvoScore"),
            (format::share(row.zero_regression_rate), "zero regression"),
            (format::share(row.solved_rate), "solved"),
            (format::decimals(row.average_turns, 1), "iterations used"),
        ],
        shown: Shown::Figure(drawn(Which::ScoreByBudget, &study)),
        ..Card::default()
    }
}

fn without_standing(summary: &RunSummary, data: &LeaderboardData) -> String {
    let mut unranked = data.unranked_runs().into_iter();
    if unranked.any(|run| run.run_id == summary.run_id) {
        // The reason would be out of date before the picture is.
        return "It has scores and no rank.".to_owned();
    }
    match summary.progress.is_over() {
        true => "None of its tasks has a score.".to_owned(),
        false => "No task of it is scored yet.".to_owned(),
    }
}

/// "Rank 2 of 12 on demo, 2–4 with 95 % certainty. 40 of 100 tasks scored."
fn rank_in_words(summary: &RunSummary, row: &Row, of: u32) -> String {
    let sure = match row.intervals.map(|intervals| intervals.rank) {
        Some(open) if open.best != open.worst => format!(", or any of {}", format::ranks(open)),
        _ => String::new(),
    };
    let total = format::count(row.tasks_total, "task");
    let tasks = match row.tasks == row.tasks_total {
        true => total,
        false => format!("{} of {total}", row.tasks),
    };
    format!(
        "Rank {} of {of} on {}{sure}; {tasks} scored.",
        row.rank, summary.config.split
    )
}

/// Runs side by side.
pub fn comparison(versus: &Versus, data: Arc<LeaderboardData>) -> Card {
    let runs = &versus.runs;
    let study = Study {
        data,
        gamma: versus.gamma,
        convention: versus.convention,
        rows: runs.clone(),
    };
    let shared = format::count(versus.tasks.len(), "shared task");
    let sentence = match versus.pairs.as_slice() {
        [pair] => {
            let interval = pair.comparison.interval.map(|i| format::interval(i, 3));
            let interval = interval.map(|interval| format!(" {interval}"));
            let difference = format::score(pair.comparison.difference);
            format!(
                "{shared}, difference {difference}{}",
                interval.unwrap_or_default()
            )
        }
        _ => format!("EvoScore with 95 % intervals; {shared}"),
    };
    Card {
        kind: kind("Compared", &versus.split, versus.gamma, versus.convention),
        title: match runs.as_slice() {
            [first, second] => format!("{} and {}", first.model, second.model),
            runs => format!("{} runs side by side", runs.len()),
        },
        sentence,
        shown: leaderboard(&study).shown,
        ..Card::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_plots::fixture;

    #[test]
    fn what_is_not_usual_is_said() {
        let check = |split, gamma, convention, expect: &str| {
            let gamma = Gamma::new(gamma).unwrap();
            assert_eq!(kind("Leaderboard", split, gamma, convention), expect);
        };
        check("", 1.0, Convention::Paper, "Leaderboard");
        check(
            "demo",
            1.5,
            Convention::Reference,
            "Leaderboard · demo · γ 1.50 · reference",
        );
    }

    #[test]
    fn a_leaderboard_has_its_rows_and_says_when_there_are_none() {
        let runs = fixture::leaderboard(&[("worse", &[0.1]), ("better", &[0.9])]);
        let study = fixture::study(&runs, 1.0);
        let Shown::Bars(bars) = leaderboard(&study).shown else {
            panic!("a leaderboard has rows")
        };
        let shown_bars: Vec<(u32, &str, usize)> = bars
            .iter()
            .map(|bar| (bar.rank, bar.name.as_str(), bar.series))
            .collect();
        assert_eq!(shown_bars, [(1, "better", 2), (2, "worse", 1)]);
        let nothing = Study {
            rows: Vec::new(),
            ..study
        };
        assert_eq!(
            leaderboard(&nothing).sentence,
            "No run of the whole split has a score yet."
        );
    }
}
