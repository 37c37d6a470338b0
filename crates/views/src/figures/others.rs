//! The runs that a figure does not show one by one.

use serde::{Deserialize, Serialize};
use swe_ci_core::uncertainty::{Interval, quantile};

use crate::format;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Others {
    pub runs: usize,
    /// One for each step of the figure.
    pub middles: Vec<Middle>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Middle {
    pub median: f64,
    /// Four of five lie within.
    pub most: Interval,
}

impl Others {
    /// Of the values of each run by step; none without a run. A run may have fewer
    /// steps than others.
    pub(super) fn of(runs: impl Iterator<Item = Vec<f64>>) -> Option<Self> {
        let runs: Vec<Vec<f64>> = runs.collect();
        let longest = runs.iter().map(Vec::len).max()?;
        let middle = |step: usize| {
            let mut values: Vec<f64> = runs
                .iter()
                .filter_map(|run| run.get(step).copied())
                .collect();
            Some(Middle {
                median: quantile(&mut values, 0.5)?,
                most: Interval {
                    low: quantile(&mut values, 0.1)?,
                    high: quantile(&mut values, 0.9)?,
                },
            })
        };
        Some(Self {
            runs: runs.len(),
            middles: (0..longest).map_while(middle).collect(),
        })
    }

    /// "median of 70 others".
    pub fn name(&self) -> String {
        match self.runs {
            1 => "the other run".to_owned(),
            runs => format!("median of {runs} others"),
        }
    }

    /// "median of 70 others: 0.41, four of five 0.20 to 0.60".
    pub fn in_words(&self, middle: Middle, places: usize) -> String {
        let number = |value| format::decimals(value, places);
        let Interval { low, high } = middle.most;
        format!(
            "{}: {}, four of five {} to {}",
            self.name(),
            number(middle.median),
            number(low),
            number(high)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_the_others() {
        assert_eq!(Others::of(std::iter::empty()), None);
        let runs = (0..=10).map(|i| vec![f64::from(i) / 10.0; if i == 0 { 2 } else { 1 }]);
        let others = Others::of(runs).unwrap();
        assert_eq!((others.runs, others.middles.len()), (11, 2));
        let words = others.in_words(others.middles[0], 2);
        assert_eq!(
            words,
            "median of 11 others: 0.50, four of five 0.10 to 0.90"
        );
        assert_eq!(others.middles[1].median, 0.0);
    }
}
