//! The figures: what the paper plots, and three of ours, as plain data. Each is
//! a pure function of a [`Study`]; the same data is drawn, listed below the
//! picture and given away as CSV, so that none of them can disagree. Pages are
//! sent this data, which is far less than the sheet it is made of.

mod bars;

mod budget;

mod change;

mod correlation;

mod gamma;

mod ranks;

mod release;

mod study;

mod table;

mod tokens;

use serde::{Deserialize, Serialize};

pub use bars::{Bar, Bars, Measure};
pub use budget::budget;
pub use change::best_change;
pub use correlation::{Correlated, Correlations, correlations};
pub use gamma::{Curve, Curves, ScoredCurve, curves};
pub use ranks::{RankLine, Ranks, ranks};
pub use release::{Released, Releases, day_number, releases};
pub use study::{Basis, LeftOut, Line, Lines, Study, Subject};
pub use table::{Cell, Column, Table};
pub use tokens::{Spending, Spent, spending};

/// A figure, by what it shows. Figures 8 and 9 of the paper are about code
/// style, of which nothing is counted yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Figure {
    EvoscoreByRelease,
    RankByGamma,
    ZeroRegression,
    RegressionCorrelation,
    Solved,
    Turns,
    BestChange,
    EvoscoreGamma,
    ScoreByTokens,
    ScoreByBudget,
}

/// What a figure shows, by its shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Data {
    Releases(Releases),
    Curves(Curves),
    Ranks(Ranks),
    Bars(Bars),
    Correlations(Correlations),
    Lines(Lines),
    Spending(Spending),
}

/// Asked for by a name that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no figure `{0}`; there are {known}", known = Figure::slugs())]
pub struct NoSuchFigure(pub String);

impl Figure {
    /// In the order of the paper, ours after them.
    pub const ALL: [Self; 10] = [
        Self::EvoscoreByRelease,
        Self::RankByGamma,
        Self::ZeroRegression,
        Self::RegressionCorrelation,
        Self::Solved,
        Self::Turns,
        Self::BestChange,
        Self::EvoscoreGamma,
        Self::ScoreByTokens,
        Self::ScoreByBudget,
    ];

    /// Its name in addresses.
    #[must_use]
    pub fn slug(self) -> &'static str {
        match self {
            Self::EvoscoreByRelease => "evoscore-by-release",
            Self::RankByGamma => "rank-by-gamma",
            Self::ZeroRegression => "zero-regression",
            Self::RegressionCorrelation => "regression-correlation",
            Self::Solved => "solved",
            Self::Turns => "turns",
            Self::BestChange => "best-change",
            Self::EvoscoreGamma => "evoscore-gamma",
            Self::ScoreByTokens => "score-by-tokens",
            Self::ScoreByBudget => "score-by-budget",
        }
    }

    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::EvoscoreByRelease => "EvoScore by release date",
            Self::RankByGamma => "Rank against γ",
            Self::ZeroRegression => "Zero-regression rate",
            Self::RegressionCorrelation => "Do regressions grow with time?",
            Self::Solved => "Solved rate",
            Self::Turns => "Iterations used",
            Self::BestChange => "Best change so far",
            Self::EvoscoreGamma => "EvoScore against γ",
            Self::ScoreByTokens => "EvoScore against tokens",
            Self::ScoreByBudget => "EvoScore by iterations",
        }
    }

    /// One sentence on how to read it.
    #[must_use]
    pub fn reading(self) -> &'static str {
        match self {
            Self::EvoscoreByRelease => {
                "Further right is a later release, further up a better score; a line joins the releases of one provider, so its slope is how fast that provider's models learn to maintain code."
            }
            Self::RankByGamma => {
                "Where lines cross, the order depends on how much later iterations weigh; each mark says which ranks the run holds in 95 % of the resamples at the γ looked at, drawn as bars where there is room."
            }
            Self::ZeroRegression => {
                "The share of tasks in which no iteration broke a test that passed; thin lines are 95 % intervals."
            }
            Self::RegressionCorrelation => {
                "Right of 0, regressions become more frequent (first panel) or larger (second panel) as the work goes on; a dash means that too few iterations have any."
            }
            Self::Solved => {
                "The share of tasks whose every test passes in the end, the limit of EvoScore for large γ; thin lines are 95 % intervals."
            }
            Self::Turns => {
                "The mean number of iterations a task took; few may mean that it was solved early, or given up early."
            }
            Self::BestChange => {
                "The best normalized change reached by the end of each interval of turns, averaged over tasks: a line that flattens early belongs to a run that gains little from more turns."
            }
            Self::EvoscoreGamma => {
                "Further right, later iterations weigh more: a line that falls belongs to a run whose code gets harder to change, one that rises catches up, and where lines cross, the ranking depends on what you value."
            }
            Self::ScoreByTokens => {
                "Further left costs less, further up scores better; no run beats those on the front in both."
            }
            Self::ScoreByBudget => {
                "What EvoScore would be if only the first so many iterations counted: where lines cross, the order depends on how long one lets an agent work."
            }
        }
    }

    /// Said in its place when it has nothing to show.
    #[must_use]
    pub fn nothing(self) -> &'static str {
        match self {
            Self::EvoscoreByRelease => "No scored run has a release date",
            Self::RegressionCorrelation => "Too few iterations have regressions to compare",
            Self::ScoreByTokens => "No scored run has its tokens counted",
            _ => "No run has a score yet",
        }
    }

    /// Its number in the paper; none for ours.
    #[must_use]
    pub fn number(self) -> Option<u8> {
        match self {
            Self::EvoscoreByRelease => Some(4),
            Self::RankByGamma => Some(5),
            Self::ZeroRegression => Some(6),
            Self::RegressionCorrelation => Some(7),
            Self::Solved => Some(10),
            Self::Turns => Some(11),
            Self::BestChange => Some(12),
            Self::EvoscoreGamma | Self::ScoreByTokens | Self::ScoreByBudget => None,
        }
    }

    /// Whether γ changes what it shows.
    #[must_use]
    pub fn weighs(self) -> bool {
        matches!(
            self,
            Self::EvoscoreByRelease
                | Self::RankByGamma
                | Self::EvoscoreGamma
                | Self::ScoreByTokens
                | Self::ScoreByBudget
        )
    }

    #[must_use]
    pub fn data(self, study: &Study<'_>) -> Data {
        match self {
            Self::EvoscoreByRelease => Data::Releases(releases(study)),
            Self::RankByGamma => Data::Ranks(ranks(study)),
            Self::ZeroRegression => Data::Bars(Bars::of(study, Measure::ZeroRegression)),
            Self::RegressionCorrelation => Data::Correlations(correlations(study)),
            Self::Solved => Data::Bars(Bars::of(study, Measure::Solved)),
            Self::Turns => Data::Bars(Bars::of(study, Measure::Turns)),
            Self::BestChange => Data::Lines(best_change(study)),
            Self::EvoscoreGamma => Data::Curves(curves(study)),
            Self::ScoreByTokens => Data::Spending(spending(study)),
            Self::ScoreByBudget => Data::Lines(budget(study)),
        }
    }

    fn slugs() -> String {
        Self::ALL.map(Self::slug).join(", ")
    }
}

impl std::str::FromStr for Figure {
    type Err = NoSuchFigure;

    fn from_str(slug: &str) -> Result<Self, NoSuchFigure> {
        let shown = || slug.chars().take(100).collect();
        Self::ALL
            .into_iter()
            .find(|figure| figure.slug() == slug)
            .ok_or_else(|| NoSuchFigure(shown()))
    }
}

impl Data {
    /// Whether there is nothing to draw.
    #[must_use]
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
        }
    }

    /// Runs it does not show, and why.
    #[must_use]
    pub fn left_out(&self) -> Option<&LeftOut> {
        let left_out = match self {
            Self::Releases(data) => &data.left_out,
            Self::Spending(data) => &data.left_out,
            _ => return None,
        };
        (!left_out.models.is_empty()).then_some(left_out)
    }

    #[must_use]
    pub fn table(&self) -> Table {
        match self {
            Self::Releases(data) => data.table(),
            Self::Curves(data) => data.table(),
            Self::Ranks(data) => data.table(),
            Self::Bars(data) => data.table(),
            Self::Correlations(data) => data.table(),
            Self::Lines(data) => data.table(),
            Self::Spending(data) => data.table(),
        }
    }
}

#[cfg(test)]
mod fixture;

#[cfg(test)]
mod tests {
    use super::fixture::{Told, look, sheet};
    use super::*;

    #[test]
    fn names_lead_back() {
        for figure in Figure::ALL {
            assert_eq!(figure.slug().parse(), Ok(figure));
            assert!(figure.reading().ends_with('.') && !figure.title().is_empty());
        }
        let wrong = "evoscore".parse::<Figure>().unwrap_err().to_string();
        assert!(wrong.contains("`evoscore`") && wrong.contains("rank-by-gamma"));
        let numbers: Vec<u8> = Figure::ALL.iter().filter_map(|f| f.number()).collect();
        assert_eq!(numbers, [4, 5, 6, 7, 10, 11, 12]);
    }

    #[test]
    fn nothing_comes_of_nothing() {
        let empty = sheet(&[]);
        look(&empty, 1.0, |study| {
            for figure in Figure::ALL {
                let data = figure.data(study);
                assert!(data.is_empty(), "{figure:?}");
                assert!(data.table().rows.is_empty(), "{figure:?}");
            }
        });
    }

    /// Every table is as wide as it says, and begins with the run.
    #[test]
    fn tables_are_rectangular() {
        let told = Told {
            date: Some("2026-01-02"),
            tokens: Some(1_000),
            ..Told::of("a", &[&[0.5, 1.0], &[0.0, -0.5]])
        };
        let sheet = sheet(&[told, Told::of("b", &[&[1.0], &[0.5]])]);
        look(&sheet, 1.2, |study| {
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
