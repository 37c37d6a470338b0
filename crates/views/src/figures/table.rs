//! The numbers of a figure, for a data table and for CSV.

use swe_ci_core::csv;
use swe_ci_core::uncertainty::Interval;

#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Cell>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The name in CSV: one ASCII word.
    pub name: String,
    pub title: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Text(String),
    Number {
        value: f64,
        /// Decimals for readers; CSV has full precision.
        places: usize,
    },
    Whole(u64),
    /// Undefined or unknown, which is not 0.
    Nothing,
}

impl Column {
    pub fn new(name: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: title.into(),
        }
    }

    /// The columns of a value and its interval.
    pub(super) fn with_interval(name: &str, title: impl Into<String>) -> [Self; 3] {
        [
            Self::new(name, title),
            Self::new("low", "95\u{a0}% from"),
            Self::new("high", "95\u{a0}% to"),
        ]
    }
}

impl Cell {
    pub fn number(value: Option<f64>, places: usize) -> Self {
        value.map_or(Self::Nothing, |value| Self::Number { value, places })
    }

    /// The cells under [`Column::with_interval`].
    pub(super) fn with_interval(
        value: Option<f64>,
        interval: Option<Interval>,
        places: usize,
    ) -> [Self; 3] {
        let ends = [value, interval.map(|i| i.low), interval.map(|i| i.high)];
        ends.map(|value| Self::number(value, places))
    }

    pub fn whole(value: Option<impl Into<u64>>) -> Self {
        value.map_or(Self::Nothing, |value| Self::Whole(value.into()))
    }

    fn csv(&self) -> String {
        match self {
            Self::Text(text) => csv::text(text),
            // Adding 0 turns −0 into 0.
            Self::Number { value, .. } => (value + 0.0).to_string(),
            Self::Whole(value) => value.to_string(),
            Self::Nothing => String::new(),
        }
    }
}

impl Table {
    /// With further columns, the same in every row.
    #[must_use]
    pub fn with_everywhere(mut self, further: Vec<(Column, Cell)>) -> Self {
        let (columns, cells): (Vec<_>, Vec<_>) = further.into_iter().unzip();
        self.columns.extend(columns);
        for row in &mut self.rows {
            row.extend(cells.iter().cloned());
        }
        self
    }

    /// The table in the form of RFC 4180, with a header and CRLF line ends.
    pub fn csv(&self) -> String {
        let head = self.columns.iter().map(|c| csv::text(&c.name));
        csv::table(head, self.rows.iter().map(|row| row.iter().map(Cell::csv)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        let check = |cell: Cell, expect: &str| assert_eq!(cell.csv(), expect);
        check(Cell::Text("plain".into()), "plain");
        check(Cell::Text("=1+1".into()), "'=1+1");
        check(Cell::number(Some(-0.5), 1), "-0.5");
        check(Cell::number(Some(0.1 + 0.2), 1), "0.30000000000000004");
        check(Cell::number(Some(-0.0), 1), "0");
        check(Cell::number(None, 1), "");
        check(Cell::whole(Some(3u32)), "3");
    }

    #[test]
    fn lines() {
        let table = Table {
            columns: vec![Column::new("a", "A"), Column::new("b", "B")],
            rows: vec![vec![Cell::Whole(1), Cell::Nothing]],
        };
        assert_eq!(table.csv(), "a,b\r\n1,\r\n");
        let everywhere = vec![(Column::new("c", "C"), Cell::Text("x".into()))];
        assert_eq!(table.with_everywhere(everywhere).csv(), "a,b,c\r\n1,,x\r\n");
    }
}
