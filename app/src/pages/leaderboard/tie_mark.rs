//! Rows that the data cannot tell apart.

use std::collections::HashMap;

use swe_ci_views::leaderboard::{Row, View};

/// The position of a row in a group of tied rows. They are consecutive, so that
/// the style sheet can join them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tie {
    Alone,
    First,
    Middle,
    Last,
}

impl Tie {
    fn new(above: bool, below: bool) -> Self {
        match (above, below) {
            (false, false) => Self::Alone,
            (false, true) => Self::First,
            (true, true) => Self::Middle,
            (true, false) => Self::Last,
        }
    }

    /// The value for the style sheet.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Self::Alone => None,
            Self::First => Some("first"),
            Self::Middle => Some("middle"),
            Self::Last => Some("last"),
        }
    }

    /// Whether it is tied with the row above.
    pub(super) fn with_above(self) -> bool {
        matches!(self, Self::Middle | Self::Last)
    }
}

/// A shown row, and how it joins its neighbours.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    /// Its position in the whole ranking, from 0.
    pub at: usize,
    pub row: Row,
    pub tie: Tie,
}

/// A tie holds between a row and the one above it in the ranking, so rows are
/// joined only where those two are neighbours in the view too.
pub(super) fn places(all: &[Row], view: &View) -> Vec<Place> {
    let rows = view.apply(all);
    let at: HashMap<&str, usize> = all.iter().map(|r| r.run_id.as_str()).zip(0..).collect();
    let at = |row: &Row| at.get(row.run_id.as_str()).copied().unwrap_or_default();
    // Whether a row is joined with the one below.
    let joined = |above: usize| {
        let Some([above, below]) = rows.get(above..=above + 1) else {
            return false;
        };
        view.is_ranking() && above.tie_group == below.tie_group && at(below) == at(above) + 1
    };
    let place = |(i, row): (usize, &Row)| Place {
        at: at(row),
        row: row.clone(),
        tie: Tie::new(i.checked_sub(1).is_some_and(joined), joined(i)),
    };
    rows.iter().enumerate().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::metrics::{Convention, Gamma};
    use swe_ci_plots::fixture::leaderboard;

    fn rows(groups: [u32; 3]) -> Vec<Row> {
        let models: [(&str, &[f64]); 3] = [("a", &[0.3]), ("b", &[0.2]), ("c", &[0.1])];
        let mut rows = leaderboard(&models).rank(Gamma::ONE, Convention::Paper);
        for (row, group) in rows.iter_mut().zip(groups) {
            row.tie_group = group;
        }
        rows
    }

    #[test]
    fn neighbours_of_one_group_are_joined() {
        let check = |groups: [u32; 3], expect: [Tie; 3]| {
            let found = places(&rows(groups), &View::default());
            let ties: Vec<Tie> = found.iter().map(|place| place.tie).collect();
            assert_eq!(ties, expect);
        };
        check([1, 2, 3], [Tie::Alone, Tie::Alone, Tie::Alone]);
        check([1, 1, 3], [Tie::First, Tie::Last, Tie::Alone]);
        check([1, 2, 2], [Tie::Alone, Tie::First, Tie::Last]);
        check([1, 1, 1], [Tie::First, Tie::Middle, Tie::Last]);
        assert!(Tie::Middle.with_above() && !Tie::First.with_above());
    }

    #[test]
    fn a_view_joins_only_what_the_ranking_has_side_by_side() {
        let rows = rows([1, 1, 1]);
        let check = |change: fn(&mut View), expect: &[(&str, Tie)]| {
            let mut view = View::default();
            change(&mut view);
            let found = places(&rows, &view);
            let seen = found.iter().map(|p| (&*p.row.model, p.tie));
            assert_eq!(seen.collect::<Vec<_>>(), expect);
        };
        let alone = Tie::Alone;
        let turned = [("c", alone), ("b", alone), ("a", alone)];
        check(|v| v.sort = "-model".parse().unwrap(), &turned);
        check(|v| v.text = "b".into(), &[("b", alone)]);
        assert!(places(&[], &View::default()).is_empty());
        // Without the middle one, the others are no neighbours.
        let mut ends = rows.clone();
        for (row, provider) in ends.iter_mut().zip(["other", "acme", "other"]) {
            row.provider = provider.into();
        }
        let view = View {
            provider: Some("other".into()),
            ..View::default()
        };
        let found = places(&ends, &view);
        assert!(found.iter().all(|place| place.tie == alone));
    }
}
