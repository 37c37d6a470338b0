//! A view of a leaderboard: its rows, their order and the columns. Ranks, ties
//! and intervals always stay those of the whole ranking.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use swe_ci_core::run::Kind;

use super::{Row, Unit};
use crate::verification::Mark;
use crate::{has_words, missing_last};

swe_ci_core::named! {
    /// A column of the table, in its order, and the name in URLs. Rank and model
    /// are always visible.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Column {
        #[default]
        Rank = "rank",
        Model = "model",
        EvoScore = "evoscore",
        ZeroRegression = "zero-regression",
        /// The rate of the reference convention, which nets gains against losses.
        NetZeroRegression = "net-zero-regression",
        Solved = "solved",
        /// Zero-regression resolution.
        Zrr = "zrr",
        Turns = "turns",
        /// The share of tasks with a better maintainability index than the
        /// oracle's.
        MiWins = "mi-wins",
        PylintWins = "pylint-wins",
        Generalisation = "generalisation",
        Cheating = "cheating",
        Tokens = "tokens",
        Cost = "cost",
        TokensPerTask = "tokens-per-task",
        CostPerTask = "cost-per-task",
        /// Of each test that it closed.
        TokensPerTest = "tokens-per-test",
        CostPerTest = "cost-per-test",
        /// Of each iteration.
        AgentTime = "agent-time",
        WallTime = "wall-time",
        Findings = "findings",
        Tasks = "tasks",
        Released = "released",
        Finished = "finished",
    }
}

impl Column {
    pub fn is_optional(self) -> bool {
        !matches!(self, Self::Rank | Self::Model)
    }

    fn largest_first(self) -> bool {
        match self.measure() {
            Some(measure) => matches!(measure.unit, Unit::Score | Unit::Share),
            None => !matches!(self, Self::Rank | Self::Model | Self::Findings),
        }
    }

    /// Compares two rows by this column; rows without a value always come
    /// last.
    fn compare(self, a: &Row, b: &Row, descending: bool) -> Ordering {
        let directed = |order: Ordering| if descending { order.reverse() } else { order };
        let amounts = |amount: fn(&Row) -> Option<u64>| {
            missing_last(amount(a), amount(b), |a, b| directed(a.cmp(&b)))
        };
        let times = |time: fn(&Row) -> Option<&String>| {
            missing_last(time(a), time(b), |a, b| directed(a.cmp(b)))
        };
        if let Some(measure) = self.measure() {
            let [a, b] = [a, b].map(|row| measure.value(row));
            return missing_last(a, b, |a, b| directed(a.total_cmp(&b)));
        }
        match self {
            Self::Rank => directed(a.rank.cmp(&b.rank)),
            Self::Model => directed(a.model.to_lowercase().cmp(&b.model.to_lowercase())),
            Self::Tokens => amounts(Row::tokens),
            Self::Cost => amounts(|row| row.micro_usd),
            Self::Findings => directed(a.findings.cmp(&b.findings)),
            Self::Tasks => directed(a.tasks.cmp(&b.tasks)),
            Self::Released => times(|row| row.release_date.as_ref()),
            Self::Finished => times(|row| row.finished_at.as_ref()),
            _ => Ordering::Equal,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Columns(u32);

impl Columns {
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self(u32::MAX);
    /// The name of an empty selection in URLs.
    pub const NONE_NAME: &'static str = "none";

    pub fn has(self, column: Column) -> bool {
        !column.is_optional() || self.0 & bit(column) != 0
    }

    pub fn with(self, column: Column, shown: bool) -> Self {
        match shown {
            true => Self(self.0 | bit(column)),
            false => Self(self.0 & !bit(column)),
        }
    }

    /// The visible columns after rank and model, in the order of the table.
    pub fn shown(self) -> impl Iterator<Item = Column> {
        let shown = move |column: &Column| column.is_optional() && self.has(*column);
        Column::ALL.into_iter().filter(shown)
    }

    /// The columns with these names.
    ///
    /// # Errors
    /// The first unknown name.
    pub fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, &'a str> {
        let names = names.into_iter().filter(|name| *name != Self::NONE_NAME);
        names.into_iter().try_fold(Self::NONE, |chosen, name| {
            Ok(chosen.with(Column::from_name(name).ok_or(name)?, true))
        })
    }
}

impl Default for Columns {
    fn default() -> Self {
        [
            Column::EvoScore,
            Column::ZeroRegression,
            Column::Solved,
            Column::Turns,
            Column::Tasks,
        ]
        .into_iter()
        .fold(Self::NONE, |chosen, column| chosen.with(column, true))
    }
}

/// `evoscore,solved`, or `none`.
impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.shown().map(Column::name).collect();
        if names.is_empty() {
            return f.write_str(Self::NONE_NAME);
        }
        f.write_str(&names.join(","))
    }
}

fn bit(column: Column) -> u32 {
    1 << column as u16
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sort {
    pub column: Column,
    pub descending: bool,
}

impl Sort {
    pub fn natural(column: Column) -> Self {
        Self {
            column,
            descending: column.largest_first(),
        }
    }

    /// The order after a click on a column's header: the other direction if it
    /// is the current column, else its natural order.
    pub fn toggled(self, column: Column) -> Self {
        if self.column == column {
            Self {
                descending: !self.descending,
                ..self
            }
        } else {
            Self::natural(column)
        }
    }
}

/// `model`, or `-solved` in descending order.
impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.descending { "-" } else { "" };
        write!(f, "{sign}{}", self.column.name())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadSort;

impl FromStr for Sort {
    type Err = BadSort;

    fn from_str(text: &str) -> Result<Self, BadSort> {
        let name = text.strip_prefix('-');
        let descending = name.is_some();
        let column = Column::from_name(name.unwrap_or(text)).ok_or(BadSort)?;
        Ok(Self { column, descending })
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Only runs of these kinds; all when empty.
    pub kinds: Vec<Kind>,
    pub provider: Option<String>,
    pub mark: Option<Mark>,
    /// Every word must occur in the name of model, provider or harness.
    pub text: String,
    /// Only tasks that a model cannot have seen count; see [`super::LeaderboardData::unseen`].
    pub unseen: bool,
    pub sort: Sort,
    pub columns: Columns,
}

impl View {
    /// The selected rows in their order. They keep their ranks.
    pub fn apply<R: Borrow<Row> + Clone>(&self, rows: &[R]) -> Vec<R> {
        let wanted = rows.iter().filter(|row| self.wants((*row).borrow()));
        let mut selected: Vec<R> = wanted.cloned().collect();
        let Sort { column, descending } = self.sort;
        // The sort is stable, so that equal rows stay in order of rank.
        selected.sort_by(|a, b| column.compare(a.borrow(), b.borrow(), descending));
        selected
    }

    pub fn filters(&self) -> bool {
        !self.kinds.is_empty()
            || self.provider.is_some()
            || self.mark.is_some()
            || !self.text.trim().is_empty()
    }

    pub fn of_all(&self) -> Self {
        Self {
            kinds: Vec::new(),
            provider: None,
            mark: None,
            text: String::new(),
            ..self.clone()
        }
    }

    /// Whether rows are in the order of their ranks, so that neighbours are
    /// neighbours in the ranking.
    pub fn is_ranking(&self) -> bool {
        self.sort == Sort::default()
    }

    fn wants(&self, row: &Row) -> bool {
        let names = format!("{} {} {}", row.model, row.provider, row.harness);
        (self.kinds.is_empty() || self.kinds.contains(&row.kind))
            && self.provider.as_ref().is_none_or(|p| *p == row.provider)
            && self.mark.is_none_or(|mark| row.mark == Some(mark))
            && has_words(&names, &self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leaderboard::{EffortRates, StyleRates, WinRates};
    use crate::testing::{entry, leaderboard};
    use swe_ci_core::metrics::{Convention, Gamma};
    use swe_ci_core::usage::Usage;

    /// b 0.9, C 0.5 (imported, of acme), a 0.1 (human).
    fn rows() -> Vec<Row> {
        let runs = [("b", 0.9), ("C", 0.5), ("a", 0.1)];
        let runs = runs.map(|(model, score)| entry(model, &[("r", &[&[score]])]));
        let mut rows = leaderboard(runs.to_vec()).rank(Gamma::ONE, Convention::Paper);
        rows[0].mark = Some(Mark::Verified);
        rows[1].mark = Some(Mark::SelfReported);
        rows[1].kind = Kind::Imported;
        rows[1].provider = "Acme Cloud".into();
        rows[1].usage = Some(Usage {
            input_tokens: 5,
            output_tokens: 1,
            ..Usage::default()
        });
        rows[1].micro_usd = Some(9);
        rows[2].micro_usd = Some(10);
        for (row, dollars) in [(1, 0.5), (2, 2.0)] {
            rows[row].effort = Some(EffortRates {
                usd_per_task: Some(dollars),
                ..EffortRates::default()
            });
        }
        for (row, win) in [(1, 0.25), (2, 0.75)] {
            let rates = WinRates {
                tasks: 4,
                win,
                tie: 0.25,
                loss: 0.75 - win,
            };
            rows[row].style = Some(StyleRates {
                mi: Some(rates),
                ..StyleRates::default()
            });
        }
        rows[2].kind = Kind::Human;
        rows[2].release_date = Some("2026-01-31".into());
        rows
    }

    fn names(view: &View) -> String {
        let shown = view.apply(&rows());
        shown.iter().map(|row| row.model.as_str()).collect()
    }

    #[test]
    fn filters() {
        let check = |change: fn(&mut View), expect: &str| {
            let mut view = View::default();
            change(&mut view);
            assert_eq!(names(&view), expect, "{view:?}");
            assert_eq!(view.filters(), expect != "bCa", "{view:?}");
            assert_eq!(names(&view.of_all()), "bCa");
        };
        check(|_| (), "bCa");
        check(|v| v.text = "  ".into(), "bCa");
        check(|v| v.text = "acme c".into(), "C");
        check(|v| v.text = "C REPLAY".into(), "C");
        check(|v| v.text = "nothing".into(), "");
        check(|v| v.kinds = vec![Kind::Human], "a");
        check(|v| v.kinds = vec![Kind::Human, Kind::Measured], "ba");
        check(|v| v.provider = Some("Acme Cloud".into()), "C");
        check(|v| v.provider = Some("acme".into()), "");
        check(|v| v.mark = Some(Mark::Verified), "b");
        check(|v| v.mark = Some(Mark::SelfReported), "C");
    }

    #[test]
    fn ranks_do_not_depend_on_the_order() {
        let check = |sort: &str, expect: &str| {
            let view = View {
                sort: sort.parse().unwrap(),
                ..View::default()
            };
            assert_eq!(names(&view), expect, "{sort}");
            assert_eq!(view.is_ranking(), sort == "rank");
            assert_eq!(view.sort.to_string(), sort);
            assert!(view.apply(&rows()).iter().all(|row| match &*row.model {
                "b" => row.rank == 1,
                "C" => row.rank == 2,
                _ => row.rank == 3,
            }));
        };
        check("rank", "bCa");
        check("-rank", "aCb");
        check("model", "abC");
        check("-model", "Cba");
        check("evoscore", "aCb");
        // Unknown values come last in either direction.
        check("tokens", "Cba");
        check("-tokens", "Cba");
        check("cost", "Cab");
        check("-cost", "aCb");
        check("zrr", "bCa");
        // Of a and C the cost of a task is known.
        check("cost-per-task", "Cab");
        check("-cost-per-task", "aCb");
        check("wall-time", "bCa");
        check("mi-wins", "Cab");
        check("-mi-wins", "aCb");
        check("pylint-wins", "bCa");
        check("released", "abC");
        check("-released", "abC");
        // Equal rows keep the order of the ranks.
        check("-tasks", "bCa");
        for wrong in ["", "-", "--model", "Model", "rank "] {
            assert_eq!(wrong.parse::<Sort>(), Err(BadSort), "{wrong}");
        }
    }

    #[test]
    fn toggling_reverses_the_current_column() {
        let sort = Sort::default().toggled(Column::Solved);
        assert_eq!(sort.to_string(), "-solved");
        assert_eq!(sort.toggled(Column::Solved).to_string(), "solved");
        assert_eq!(sort.toggled(Column::Turns).to_string(), "turns");
        assert_eq!(
            sort.toggled(Column::CostPerTest).to_string(),
            "cost-per-test"
        );
        assert_eq!(sort.toggled(Column::Rank), Sort::default());
    }

    #[test]
    fn columns_by_name() {
        let check = |names: &[&str], expect: Result<&str, &str>| {
            let columns = Columns::of_names(names.iter().copied());
            let text = columns.map(|c| c.to_string());
            assert_eq!(text, expect.map(str::to_owned));
        };
        check(&[], Ok("none"));
        check(&["none"], Ok("none"));
        check(&["solved", "evoscore", "rank"], Ok("evoscore,solved"));
        check(&["solved", "no", "nor"], Err("no"));
        let default = "evoscore,zero-regression,solved,turns,tasks";
        assert_eq!(Columns::default().to_string(), default);
        assert!(Columns::NONE.has(Column::Model) && !Columns::NONE.has(Column::Turns));
        assert_eq!(Columns::ALL.shown().count(), 22);
        for column in Column::ALL {
            assert_eq!(Column::from_name(column.name()), Some(column));
        }
    }
}
