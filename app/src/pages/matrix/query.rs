use leptos_router::params::ParamsMap;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::requirement::Mode;
use swe_ci_views::leaderboard::{TaskKey, TaskOrder};

use crate::format;
use crate::query::{EXCLUDE, Query, gamma_of, mode_of, named, parsed};

/// The query of the matrix; invalid values count as absent.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixQuery {
    /// The day of the snapshot; the present when absent.
    pub snapshot: Option<String>,
    /// None for the largest split.
    pub split: Option<String>,
    pub mode: Mode,
    pub gamma: Gamma,
    pub convention: Convention,
    pub order: TaskOrder,
    /// Whether only unseen tasks count.
    pub unseen: bool,
    /// How many runs come before the first one on the page.
    pub from: usize,
}

impl MatrixQuery {
    pub(super) fn of(query: &ParamsMap) -> Self {
        Self {
            snapshot: named(query, "snapshot"),
            split: named(query, "split"),
            mode: mode_of(query),
            gamma: gamma_of(query),
            convention: parsed(query, "convention").unwrap_or_default(),
            order: parsed(query, "sort").unwrap_or_default(),
            unseen: query.get_str("seen") == Some(EXCLUDE),
            from: parsed(query, "from").unwrap_or_default(),
        }
    }

    pub(super) fn href(&self) -> String {
        format!("/matrix{}", self.to_query())
    }

    /// The same with the runs from a later one on.
    pub(super) fn href_from(&self, from: usize) -> String {
        let mut query = Query::of(self.fields());
        query.add("from", (from > 0).then(|| from.to_string()));
        query.at("/matrix")
    }

    /// The same in the API.
    pub(super) fn api(&self, path: &str) -> String {
        format!("/api/v1/{path}{}", self.to_query())
    }

    /// `?split=demo&gamma=1.20&convention=reference&sort=-spread`, without
    /// defaults.
    fn to_query(&self) -> String {
        Query::of(self.fields()).0
    }

    /// The fields of the address, in order.
    pub(super) fn fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = Vec::new();
        fields.extend(self.snapshot.clone().map(|day| ("snapshot", day)));
        fields.extend(self.split.clone().map(|split| ("split", split)));
        if self.mode != Mode::default() {
            fields.push(("mode", self.mode.name().to_owned()));
        }
        if self.gamma != Gamma::ONE {
            fields.push(("gamma", format::gamma(self.gamma)));
        }
        if self.convention != Convention::default() {
            fields.push(("convention", self.convention.name().to_owned()));
        }
        if self.order != TaskOrder::default() {
            fields.push(("sort", self.order.to_string()));
        }
        if self.unseen {
            fields.push(("seen", EXCLUDE.to_owned()));
        }
        fields
    }

    /// Sorted by this key; reversed if it is the present one.
    pub(super) fn sorted(&self, key: TaskKey) -> Self {
        // Means and names start ascending, so that the hardest come first;
        // spreads and shares start descending.
        let descending = match self.order.key == key {
            true => !self.order.descending,
            false => matches!(key, TaskKey::Spread | TaskKey::Solved | TaskKey::Zrr),
        };
        Self {
            order: TaskOrder { key, descending },
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(pairs: &[(&'static str, &str)]) -> MatrixQuery {
        MatrixQuery::of(&pairs.iter().map(|(k, v)| (*k, (*v).to_owned())).collect())
    }

    #[test]
    fn there_and_back() {
        let check = |pairs: &[(&'static str, &str)], expect: &str| {
            assert_eq!(parsed(pairs).href(), expect);
        };
        check(&[], "/matrix");
        check(
            &[
                ("sort", "-spread"),
                ("convention", "reference"),
                ("gamma", "1.2"),
                ("mode", "rdd"),
                ("split", "a&b"),
                ("snapshot", "2026-11-27"),
                ("seen", "exclude"),
            ],
            "/matrix?snapshot=2026-11-27&split=a%26b&mode=rdd&gamma=1.20&convention=reference&sort=-spread&seen=exclude",
        );
        for wrong in ["", "x", "--mean", "NaN"] {
            let fields = ["split", "mode", "gamma", "convention", "sort", "view"];
            let pairs: Vec<_> = fields[1..].iter().map(|f| (*f, wrong)).collect();
            check(&pairs, "/matrix");
        }
    }

    #[test]
    fn a_head_turns_its_own_order_around() {
        let check = |sort: &str, key: TaskKey, expect: &str| {
            let sorted = parsed(&[("sort", sort)]).sorted(key);
            assert_eq!(sorted.order.to_string(), expect, "{sort}");
        };
        check("mean", TaskKey::Mean, "-mean");
        check("-mean", TaskKey::Mean, "mean");
        check("mean", TaskKey::Spread, "-spread");
        check("-spread", TaskKey::Spread, "spread");
        check("-spread", TaskKey::Task, "task");
    }
}
