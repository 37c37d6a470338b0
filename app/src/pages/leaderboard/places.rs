//! The rows of a view, each with its distance to the next.

use std::collections::HashMap;

use swe_ci_views::leaderboard::{Row, View};

/// The distance to the next row of the ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Next {
    pub by: f64,
    /// The data does not tell the two apart.
    pub tied: bool,
}

/// A shown row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    /// Its position in the whole ranking, from 0.
    pub at: usize,
    pub row: Row,
    /// Only where the next row of the ranking is the next one in the view too.
    pub next: Option<Next>,
}

pub(super) fn places(all: &[Row], view: &View) -> Vec<Place> {
    let rows = view.apply(all);
    let at: HashMap<&str, usize> = all.iter().map(|r| r.run_id.as_str()).zip(0..).collect();
    let at = |row: &Row| at.get(row.run_id.as_str()).copied().unwrap_or_default();
    let next = |index: usize| {
        let [row, next] = rows.get(index..=index + 1)? else {
            return None;
        };
        (view.is_ranking() && at(next) == at(row) + 1).then_some(Next {
            by: row.evoscore - next.evoscore,
            tied: row.tie_group == next.tie_group,
        })
    };
    let place = |(index, row): (usize, &Row)| Place {
        at: at(row),
        row: row.clone(),
        next: next(index),
    };
    rows.iter().enumerate().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::metrics::{Convention, Gamma};
    use swe_ci_plots::fixture::leaderboard;

    #[test]
    fn only_neighbours_of_the_ranking_are_compared() {
        let models: [(&str, &[f64]); 3] = [("a", &[0.75]), ("b", &[0.5]), ("c", &[0.0])];
        let mut rows = leaderboard(&models).rank(Gamma::ONE, Convention::Paper);
        for (row, group) in rows.iter_mut().zip([1, 1, 3]) {
            row.tie_group = group;
        }
        let check =
            |rows: &[Row], change: fn(&mut View), expect: &[(&str, Option<(f64, bool)>)]| {
                let mut view = View::default();
                change(&mut view);
                let found = places(rows, &view);
                let seen = found.iter().map(|place| {
                    (
                        &*place.row.model,
                        place.next.map(|next| (next.by, next.tied)),
                    )
                });
                assert_eq!(seen.collect::<Vec<_>>(), expect);
            };
        let ranking = [
            ("a", Some((0.25, true))),
            ("b", Some((0.5, false))),
            ("c", None),
        ];
        check(&rows, |_| (), &ranking);
        let turned = [("c", None), ("b", None), ("a", None)];
        check(&rows, |v| v.sort = "-model".parse().unwrap(), &turned);
        check(&rows, |v| v.text = "b".into(), &[("b", None)]);
        check(&[], |_| (), &[]);
        // Without the middle one, the others are no neighbours.
        for (row, provider) in rows.iter_mut().zip(["other", "acme", "other"]) {
            row.provider = provider.into();
        }
        let ends = [("a", None), ("c", None)];
        check(&rows, |v| v.provider = Some("other".into()), &ends);
    }
}
