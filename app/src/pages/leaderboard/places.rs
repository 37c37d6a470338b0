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

/// With fewer neighbours, each says whether it is tied.
const MANY: usize = 20;

/// Where nearly all of many rows are tied with the next one: a sentence that says
/// so. Then only the others say it of themselves.
pub(super) fn mostly_tied(places: &mut [Place]) -> Option<String> {
    let pairs = places.iter().filter_map(|place| place.next);
    let (tied, real): (Vec<Next>, Vec<Next>) = pairs.partition(|next| next.tied);
    let all = tied.len() + real.len();
    if all < MANY || tied.len() * 10 < all * 9 {
        return None;
    }
    for place in places {
        place.next = place.next.filter(|next| !next.tied);
    }
    Some(match real.len() {
        0 => format!("All {all} rows are tied with the next one."),
        _ => format!(
            "{} of {all} rows are tied with the next one; the others say by how much they lead.",
            tied.len()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::metrics::{Convention, Gamma};
    use swe_ci_plots::fixture::leaderboard;

    #[test]
    fn many_ties_are_said_once() {
        let row = leaderboard(&[("m", &[0.5])]).rank(Gamma::ONE, Convention::Paper)[0].clone();
        let check = |tied: usize, real: usize, expect: Option<&str>, left: usize| {
            let next = |tied| Some(Next { by: 0.01, tied });
            let pairs = (0..tied).map(|_| next(true));
            let pairs = pairs.chain((0..real).map(|_| next(false))).chain([None]);
            let places = pairs.map(|next| Place {
                at: 0,
                row: row.clone(),
                next,
            });
            let mut places: Vec<Place> = places.collect();
            assert_eq!(mostly_tied(&mut places).as_deref(), expect);
            let shown = places.iter().filter(|place| place.next.is_some()).count();
            assert_eq!(shown, left);
        };
        check(0, 0, None, 0);
        check(19, 0, None, 19);
        check(17, 3, None, 20);
        check(99, 0, Some("All 99 rows are tied with the next one."), 0);
        let some =
            "97 of 99 rows are tied with the next one; the others say by how much they lead.";
        check(97, 2, Some(some), 2);
    }

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
