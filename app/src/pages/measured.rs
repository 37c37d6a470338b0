//! The number of a run that a column shows, as pages write it.

use swe_ci_core::uncertainty::Interval;
use swe_ci_views::leaderboard::{Column, Row, Unit};

use crate::format;

pub(super) struct Measured {
    value: Option<f64>,
    interval: Option<Interval>,
    show: fn(f64) -> String,
}

impl Measured {
    /// `None` for columns without a number of their own.
    pub(super) fn of(column: Column, row: &Row) -> Option<Self> {
        let measure = column.measure()?;
        Some(Self {
            value: measure.value(row),
            interval: measure.interval(row),
            show: match measure.unit {
                Unit::Score => format::score,
                Unit::Share => |share| format::decimals(share, 2),
                Unit::Iterations => |turns| format::decimals(turns, 1),
                Unit::Tokens => |tokens| format::compact(tokens.round() as u64),
                Unit::Dollars => format::usd,
                Unit::Seconds => format::brief,
            },
        })
    }

    /// "0.50"; none where it is unknown.
    pub(super) fn words(&self) -> Option<String> {
        self.value.map(self.show)
    }

    /// "[0.40, 0.60]".
    pub(super) fn range(&self) -> Option<String> {
        self.interval.map(|i| format::range(i, self.show))
    }

    /// "95 % interval 0.40 to 0.60".
    pub(super) fn range_in_words(&self) -> Option<String> {
        self.interval.map(|i| format::range_in_words(i, self.show))
    }
}
