//! The figures of the paper and our own, as plain data. Each is a pure
//! function of a [`Study`]. The picture, the table below it and the CSV all
//! use this data, so that they cannot disagree. Pages get this data, which is
//! far smaller than the leaderboard it comes from.

mod bars;
mod changed_lines;
mod correlation;
mod gamma;
mod lines;
mod others;
mod ranks;
mod release;
mod spending;
mod study;
mod style_trend;
mod style_wins;
mod table;

use serde::{Deserialize, Serialize};

use crate::format;
use crate::leaderboard::Published;

pub use bars::{Bar, Bars, Measure, PublishedBar};
pub use changed_lines::{Changed, ChangedBy, ChangedLines, changed_lines};
pub use correlation::{Correlated, Correlations, correlations};
pub use gamma::{Curve, Curves, GAMMA_MAX, GAMMA_MIN, GammaPlane, ScoredCurve, curves};
pub use lines::{Line, Lines, best_change, budget};
pub use others::{Middle, Others};
pub use ranks::{RankLine, Ranks, ranks};
pub use release::{Released, Releases, day_number, releases};
pub use spending::{Resource, Spending, Spent, spending};
pub use study::{Basis, LeftOut, Study, Subject};
pub use style_trend::{Changes, StyleStep, StyleTrend, StyleTrends, style_trends};
pub use style_wins::{StyleBars, StyleWins, style_wins};
pub use table::{Cell, Column, Table};

/// A figure shows the best runs, at most this many: nobody could tell more apart.
/// Of the others it shows the middle.
pub const MOST_RUNS: usize = 30;

swe_ci_core::named! {
    /// A figure, and its name in URLs: those of the paper in its order, then the
    /// additional ones.
    pub enum Figure {
        EvoscoreByRelease = "evoscore-by-release",
        RankByGamma = "rank-by-gamma",
        ZeroRegression = "zero-regression",
        RegressionCorrelation = "regression-correlation",
        StyleWins = "style-wins",
        ChangedLines = "changed-lines",
        Solved = "solved",
        Turns = "turns",
        BestChange = "best-change",
        Zrr = "zrr",
        EvoscoreGamma = "evoscore-gamma",
        ScoreByTokens = "score-by-tokens",
        ScoreByCost = "score-by-cost",
        ScoreByTime = "score-by-time",
        ScoreByBudget = "score-by-budget",
        StyleTrend = "style-trend",
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Data {
    Releases(Releases),
    Curves(Curves),
    Ranks(Ranks),
    Bars(Bars),
    Correlations(Correlations),
    Lines(Lines),
    Spending(Spending),
    StyleWins(StyleWins),
    ChangedLines(ChangedLines),
    StyleTrends(StyleTrends),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no figure `{0}`; there are {known}", known = Figure::names())]
pub struct NoSuchFigure(pub String);

impl Figure {
    pub fn title(self) -> &'static str {
        match self {
            Self::EvoscoreByRelease => "EvoScore by release date",
            Self::RankByGamma => "Rank against γ",
            Self::ZeroRegression => "Zero-regression rate",
            Self::RegressionCorrelation => "Do regressions grow with time?",
            Self::StyleWins => "Code style against the reference solution",
            Self::ChangedLines => "Changed lines",
            Self::Solved => "Solved rate",
            Self::Turns => "Iterations used",
            Self::BestChange => "Best change so far",
            Self::Zrr => "Solved without a regression",
            Self::EvoscoreGamma => "EvoScore against γ",
            Self::ScoreByTokens => "EvoScore against tokens",
            Self::ScoreByCost => "EvoScore against money",
            Self::ScoreByTime => "EvoScore against the agents' time",
            Self::ScoreByBudget => "EvoScore by iterations",
            Self::StyleTrend => "Does code style decay?",
        }
    }

    /// One sentence that explains how to read it.
    pub fn reading(self) -> &'static str {
        match self {
            Self::EvoscoreByRelease => {
                "Further right is a later release, further up a better score; colour and shape stand for the provider, and a line joins the releases of one provider, so its slope is how fast that provider's models learn to maintain code."
            }
            Self::RankByGamma => {
                "Where lines cross, the order depends on the weight of later iterations; each mark gives the ranks that the run holds in 95\u{a0}% of the resamples at the selected γ, as bars where there is room."
            }
            Self::ZeroRegression => {
                "The share of tasks in which no iteration broke a test that passed; thin lines are 95\u{a0}% intervals."
            }
            Self::RegressionCorrelation => {
                "Right of 0, regressions become more frequent (first panel) or larger (second panel) as the work goes on; thin lines are 95\u{a0}% intervals, and a dash means that too few iterations have any."
            }
            Self::StyleWins => {
                "Of the tasks a run solved, how often its code has a greater (solid), equal (empty) or smaller (hatched) maintainability index and Pylint score than what people wrote; thin lines are 95\u{a0}% intervals of the wins."
            }
            Self::ChangedLines => {
                "Each mark is a solved task: further right the oracle changed more lines of source since the base, further up the run did, and above the diagonal it needed more than people."
            }
            Self::Solved => {
                "The share of tasks whose every test passes in the end, the limit of EvoScore for large γ; thin lines are 95\u{a0}% intervals."
            }
            Self::Turns => {
                "The mean number of iterations a task took; few may mean that it was solved early, or given up early."
            }
            Self::BestChange => {
                "The best normalized change at the end of every four iterations, averaged over tasks: a line that flattens early belongs to a run that gains little from more iterations."
            }
            Self::Zrr => {
                "Zero-regression resolution: the share of tasks that a run solved without ever breaking a test that passed; thin lines are 95\u{a0}% intervals."
            }
            Self::EvoscoreGamma => {
                "Further right, later iterations weigh more: a line that falls belongs to a run whose code gets harder to change, one that rises catches up, and where lines cross, the ranking depends on what you value."
            }
            Self::ScoreByTokens | Self::ScoreByCost => {
                "Further left costs less, further up scores better, and no run beats those on the front in both; the larger a mark, the more tasks without a regression; thin lines are 95\u{a0}% intervals."
            }
            Self::ScoreByTime => {
                "Further left the agents of a task are done sooner, not counting waits for the provider; further up scores better, and no run beats those on the front in both; the larger a mark, the more tasks without a regression; thin lines are 95\u{a0}% intervals."
            }
            Self::ScoreByBudget => {
                "EvoScore if only the first iterations counted, up to this number: where lines cross, the order depends on how long an agent may work."
            }
            Self::StyleTrend => {
                "The distance of the code from the base after each iteration, averaged over the evolutions that got this far, solved or not: where MI or the Pylint score falls, or complexity rises, while more tests pass, style decays; further right, fewer evolutions remain, mostly the hard ones."
            }
        }
    }

    /// The message in its place when it has no data.
    pub fn nothing(self) -> &'static str {
        match self {
            Self::EvoscoreByRelease => "No scored run has a release date",
            Self::RegressionCorrelation => "Too few iterations have regressions to compare",
            Self::ScoreByTokens => "No scored run has its tokens counted",
            Self::ScoreByCost => "No scored run has its cost recorded",
            Self::ScoreByTime => "No scored run has the time of its agents recorded",
            Self::StyleWins | Self::ChangedLines => "No solved task has its code style measured",
            Self::StyleTrend => "No evolution has its code style measured",
            _ => "No run of the whole split has a score yet",
        }
    }

    /// How to fill it when it is empty.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::EvoscoreByRelease => {
                "A run gets one from its configuration, or with --release-date when it is imported."
            }
            Self::RegressionCorrelation => {
                "A correlation needs at least three iterations, and regressions in some of them."
            }
            Self::ScoreByTokens => {
                "Harnesses that call a model count them, and imported results keep theirs."
            }
            Self::ScoreByCost => {
                "A run has a cost if its endpoint had prices when it was submitted; imported results have none."
            }
            Self::ScoreByTime => {
                "Runs that this site carried out with a model have it; imported results and the human baseline do not."
            }
            Self::StyleWins | Self::ChangedLines | Self::StyleTrend => {
                "The server measures it as evolutions end, and “swe-ci rescore --style” for earlier ones; imported results come without code."
            }
            _ => "It appears as soon as a task of a run is scored in this convention.",
        }
    }

    /// Its number in the paper, whose figures 4 to 12 come first in
    /// [`Figure::ALL`]; none for additional figures.
    pub fn number(self) -> Option<u8> {
        let number = 4 + self as u8;
        (number <= 12).then_some(number)
    }

    pub fn weighs(self) -> bool {
        matches!(
            self,
            Self::EvoscoreByRelease
                | Self::RankByGamma
                | Self::EvoscoreGamma
                | Self::ScoreByTokens
                | Self::ScoreByCost
                | Self::ScoreByTime
                | Self::ScoreByBudget
        )
    }

    pub fn data(self, study: &Study) -> Data {
        match self {
            Self::EvoscoreByRelease => Data::Releases(releases(study)),
            Self::RankByGamma => Data::Ranks(ranks(study)),
            Self::ZeroRegression => Data::Bars(Bars::new(study, Measure::ZeroRegression)),
            Self::RegressionCorrelation => Data::Correlations(correlations(study)),
            Self::StyleWins => Data::StyleWins(style_wins(study)),
            Self::ChangedLines => Data::ChangedLines(changed_lines(study)),
            Self::Solved => Data::Bars(Bars::new(study, Measure::Solved)),
            Self::Turns => Data::Bars(Bars::new(study, Measure::Turns)),
            Self::BestChange => Data::Lines(best_change(study)),
            Self::Zrr => Data::Bars(Bars::new(study, Measure::Zrr)),
            Self::EvoscoreGamma => Data::Curves(curves(study)),
            Self::ScoreByTokens => Data::Spending(spending(study, Resource::Tokens)),
            Self::ScoreByCost => Data::Spending(spending(study, Resource::Money)),
            Self::ScoreByTime => Data::Spending(spending(study, Resource::Time)),
            Self::ScoreByBudget => Data::Lines(budget(study)),
            Self::StyleTrend => Data::StyleTrends(style_trends(study)),
        }
    }

    fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl std::str::FromStr for Figure {
    type Err = NoSuchFigure;

    fn from_str(name: &str) -> Result<Self, NoSuchFigure> {
        let shown = || name.chars().take(100).collect();
        Self::from_name(name).ok_or_else(|| NoSuchFigure(shown()))
    }
}

impl Data {
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Releases(data) => data.points.is_empty() && data.published.is_empty(),
            Self::Curves(data) => data.curves.is_empty(),
            Self::Ranks(data) => data.lines.is_empty(),
            Self::Bars(data) => data.bars.is_empty(),
            Self::Correlations(data) => data
                .runs
                .iter()
                .all(|run| run.rate.is_none() && run.magnitude.is_none()),
            Self::Lines(data) => data.lines.is_empty(),
            Self::Spending(data) => data.points.is_empty(),
            Self::StyleWins(data) => data.runs.is_empty(),
            Self::ChangedLines(data) => data.runs.is_empty(),
            Self::StyleTrends(data) => data.runs.is_empty(),
        }
    }

    /// Sentences that a picture needs beside it: about published results, and the
    /// runs that it does not show one by one.
    pub fn notes(&self, published: &Published) -> Vec<String> {
        let (others, what, count) = match self {
            Self::Releases(data) => (None, "", data.published.len()),
            Self::Bars(data) => (data.others.as_ref(), "row", data.published.len()),
            Self::Curves(data) => (data.others.as_ref(), "band", 0),
            Self::Lines(data) => (data.others.as_ref(), "band", 0),
            _ => (None, "", 0),
        };
        let others = others.map(|others| {
            format!(
                "The grey {what} holds four of five of the other {}, around their median.",
                format::count(crate::count(others.runs), "run")
            )
        });
        let published = (count > 0).then(|| {
            format!(
                "Small hollow marks: {} as published, read off a figure, on the {} tasks of the split {}; runs on other splits have other tasks.",
                format::count(crate::count(count), "model"),
                published.tasks,
                published.split
            )
        });
        others.into_iter().chain(published).collect()
    }

    pub fn left_out(&self) -> Option<&LeftOut> {
        let left_out = match self {
            Self::Releases(data) => &data.left_out,
            Self::Spending(data) => &data.left_out,
            Self::StyleWins(data) => &data.left_out,
            Self::ChangedLines(data) => &data.left_out,
            Self::StyleTrends(data) => &data.left_out,
            _ => return None,
        };
        (!left_out.models.is_empty()).then_some(left_out)
    }

    pub fn table(&self) -> Table {
        match self {
            Self::Releases(data) => data.table(),
            Self::Curves(data) => data.table(),
            Self::Ranks(data) => data.table(),
            Self::Bars(data) => data.table(),
            Self::Correlations(data) => data.table(),
            Self::Lines(data) => data.table(),
            Self::Spending(data) => data.table(),
            Self::StyleWins(data) => data.table(),
            Self::ChangedLines(data) => data.table(),
            Self::StyleTrends(data) => data.table(),
        }
    }
}

#[cfg(test)]
mod fixture;

#[cfg(test)]
mod tests {
    use super::fixture::{RunSpec, leaderboard, with_study};
    use super::*;

    #[test]
    fn slugs_round_trip() {
        for figure in Figure::ALL {
            assert_eq!(figure.name().parse(), Ok(figure));
            assert!(figure.reading().ends_with('.') && !figure.title().is_empty());
        }
        let wrong = "evoscore".parse::<Figure>().unwrap_err().to_string();
        assert!(wrong.contains("`evoscore`") && wrong.contains("rank-by-gamma"));
        let numbers: Vec<u8> = Figure::ALL.iter().filter_map(|f| f.number()).collect();
        assert_eq!(numbers, [4, 5, 6, 7, 8, 9, 10, 11, 12]);
    }

    #[test]
    fn empty_leaderboards_have_empty_figures() {
        let empty = leaderboard(&[]);
        with_study(&empty, 1.0, |study| {
            for figure in Figure::ALL {
                let data = figure.data(study);
                assert!(data.is_empty(), "{figure:?}");
                assert!(data.table().rows.is_empty(), "{figure:?}");
            }
        });
    }

    /// Every row has as many cells as there are columns; the run comes first.
    #[test]
    fn tables_are_rectangular() {
        let spec = RunSpec {
            date: Some("2026-01-02"),
            tokens: Some(1_000),
            styled: true,
            ..RunSpec::new("a", &[&[0.5, 1.0], &[0.0, -0.5]])
        };
        let data = leaderboard(&[spec, RunSpec::new("b", &[&[1.0], &[0.5]])]);
        with_study(&data, 1.2, |study| {
            for figure in Figure::ALL {
                let table = figure.data(study).table();
                assert!(!table.rows.is_empty(), "{figure:?}");
                assert_eq!(table.columns[0].name, "model");
                let width = table.columns.len();
                assert!(table.rows.iter().all(|r| r.len() == width), "{figure:?}");
            }
        });
    }
}
