//! How runs look: the same in every figure.

use swe_ci_core::run::Kind;
use swe_ci_views::leaderboard::{Entry, LeaderboardData, Row, featured};

use crate::paint::{Look, Paint, SERIES_COLOURS};

/// The look of each entry of the leaderboard data.
#[derive(Debug, Clone, Default)]
pub struct Series(Vec<RunLook>);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunLook {
    /// Its colour, dashes and marker; no two entries share one.
    pub number: usize,
    /// Whether it has a colour and a name; others are grey.
    pub featured: bool,
}

impl Series {
    /// Of these ranked rows, some have a colour.
    pub fn new(data: &LeaderboardData, rows: &[Row]) -> Self {
        let featured = featured(rows);
        let look = |(entry, number): (&Entry, usize)| RunLook {
            number,
            featured: featured.iter().any(|row| row.run_id == entry.run_id),
        };
        Self(
            data.entries
                .iter()
                .zip(numbers(&data.entries))
                .map(look)
                .collect(),
        )
    }

    /// Every run has a colour.
    pub fn all(numbers: impl IntoIterator<Item = usize>) -> Self {
        let look = |number| RunLook {
            number,
            featured: true,
        };
        Self(numbers.into_iter().map(look).collect())
    }

    /// Of the entry with this index.
    pub fn of(&self, index: usize) -> RunLook {
        self.0.get(index).copied().unwrap_or_default()
    }
}

impl RunLook {
    /// The number of its colour in the style sheet, from 1; none for a grey one.
    pub fn colour(self) -> Option<usize> {
        self.featured.then_some(self.number % SERIES_COLOURS + 1)
    }

    pub(crate) fn line(self) -> Paint {
        let look = if self.featured {
            Look::Line
        } else {
            Look::Faint
        };
        Paint::Run(self.number, look)
    }

    pub(crate) fn solid(self) -> Paint {
        let look = if self.featured {
            Look::Solid
        } else {
            Look::Grey
        };
        Paint::Run(self.number, look)
    }
}

/// Human baselines have the first colour. Models take the others in the order of
/// the leaderboard data, and then again with dashes.
fn numbers(entries: &[Entry]) -> Vec<usize> {
    let others = SERIES_COLOURS - 1;
    let (mut humans, mut models) = (0, 0);
    let next = |entry: &Entry| {
        if entry.kind == Kind::Human {
            humans += 1;
            return SERIES_COLOURS * (humans - 1);
        }
        models += 1;
        1 + (models - 1) % others + SERIES_COLOURS * ((models - 1) / others)
    };
    entries.iter().map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::leaderboard;

    #[test]
    fn colours_are_handed_out_in_order_and_dashed_when_they_run_out() {
        let mut data = leaderboard(&[("a", &[0.1]), ("h", &[0.1]), ("b", &[0.1])]);
        data.entries[1].kind = Kind::Human;
        assert_eq!(numbers(&data.entries), [1, 0, 2]);
        let many = vec![data.entries[0].clone(); 9];
        assert_eq!(numbers(&many), [1, 2, 3, 4, 5, 6, 7, 9, 10]);
        assert_eq!(numbers(&vec![data.entries[1].clone(); 2]), [0, 8]);
    }
}
