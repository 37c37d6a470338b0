use leptos_router::params::ParamsMap;
use swe_ci_core::metrics::{Convention, Gamma};

use crate::query::{EXCLUDE, Query, encode, gamma_of, named, parsed};

/// The value of `only=` that hides pairs without a clear difference.
const SIGNIFICANT: &str = "significant";

/// The query of a comparison. Runs come in one parameter with commas or in
/// several, as forms send them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CompareQuery {
    pub runs: Vec<String>,
    /// The one of the runs that all others are compared with.
    pub baseline: Option<String>,
    /// A run to preselect, when no runs are given.
    pub with: Option<String>,
    /// The split to choose runs from, when no runs are given.
    pub split: Option<String>,
    pub gamma: Gamma,
    pub convention: Convention,
    /// The task whose evolutions the chart overlays.
    pub task: Option<String>,
    /// Whether only unseen tasks count.
    pub unseen: bool,
    /// The day of the snapshot; the present when absent.
    pub snapshot: Option<String>,
    /// Whether pairs without a clear difference are hidden.
    pub only_significant: bool,
}

impl CompareQuery {
    pub(super) fn of(query: &ParamsMap) -> Self {
        let runs = query.get_all("runs").unwrap_or_default();
        let ids = runs.iter().flat_map(|ids| ids.split(','));
        let ids = ids.map(str::trim).filter(|id| !id.is_empty());
        let runs: Vec<String> = ids.map(str::to_owned).collect();
        Self {
            baseline: named(query, "baseline").filter(|id| runs.contains(id)),
            runs,
            with: named(query, "with"),
            split: named(query, "split"),
            gamma: gamma_of(query),
            convention: parsed(query, "convention").unwrap_or_default(),
            task: named(query, "task"),
            unseen: query.get_str("seen") == Some(EXCLUDE),
            snapshot: named(query, "snapshot"),
            only_significant: query.get_str("only") == Some(SIGNIFICANT),
        }
    }

    /// The key of the data; hiding pairs loads nothing.
    pub(super) fn all_pairs(self) -> Self {
        Self {
            only_significant: false,
            ..self
        }
    }

    /// The same in another convention.
    pub(super) fn counted(self, convention: Convention) -> Self {
        Self { convention, ..self }
    }

    pub(super) fn href(&self) -> String {
        let mut query = self.counting();
        query.add("baseline", self.baseline.as_deref());
        query.add("only", self.only_significant.then_some(SIGNIFICANT));
        format!("/compare{}", query.0)
    }

    /// The same against this run, or pair by pair.
    pub(super) fn against(self, baseline: Option<String>) -> Self {
        Self { baseline, ..self }
    }

    /// The index of the baseline among the runs.
    pub(super) fn baseline_index(&self) -> Option<usize> {
        let baseline = self.baseline.as_ref()?;
        self.runs.iter().position(|id| id == baseline)
    }

    /// The same comparison in the API.
    pub(super) fn api(&self, path: &str) -> String {
        format!("/api/v1/{path}{}", self.counting().0)
    }

    /// `?runs=a,b&gamma=1.20&convention=reference&task=t`, without defaults.
    fn counting(&self) -> Query {
        let ids: Vec<String> = self.runs.iter().map(|id| encode(id)).collect();
        let mut query = Query(format!("?runs={}", ids.join(",")));
        query.add_gamma(self.gamma);
        query.add_convention(self.convention);
        query.add("task", self.task.as_deref());
        query.add("seen", self.unseen.then_some(EXCLUDE));
        query.add("snapshot", self.snapshot.as_deref());
        query
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(pairs: &[(&'static str, &str)]) -> CompareQuery {
        let mut query = ParamsMap::new();
        for (name, value) in pairs {
            query.insert(*name, (*value).to_owned());
        }
        CompareQuery::of(&query)
    }

    #[test]
    fn runs_come_in_one_parameter_or_in_several() {
        let check = |pairs: &[(&'static str, &str)], expect: &[&str]| {
            assert_eq!(parsed(pairs).runs, expect, "{pairs:?}");
        };
        check(&[], &[]);
        check(&[("runs", "")], &[]);
        check(&[("runs", "a,b")], &["a", "b"]);
        check(&[("runs", "a"), ("runs", "b")], &["a", "b"]);
        check(&[("runs", "a, ,b,")], &["a", "b"]);
        // The comparison validates this, not the address.
        check(&[("runs", "a,a")], &["a", "a"]);
    }

    #[test]
    fn there_and_back() {
        let all = parsed(&[
            ("runs", "a,ä"),
            ("gamma", "1.2"),
            ("convention", "reference"),
            ("task", "t"),
            ("seen", "exclude"),
            ("snapshot", "2026-11-27"),
            ("only", "significant"),
            ("baseline", "ä"),
        ]);
        let address = "?runs=a,%C3%A4&gamma=1.20&convention=reference&task=t&seen=exclude&snapshot=2026-11-27";
        assert_eq!(
            all.href(),
            format!("/compare{address}&baseline=%C3%A4&only=significant")
        );
        assert_eq!(all.api("compare"), format!("/api/v1/compare{address}"));
        assert_eq!(all.baseline_index(), Some(1));
        assert!(!all.against(None).href().contains("baseline"));
        let plain = parsed(&[
            ("runs", "a,b"),
            ("gamma", "x"),
            ("only", "x"),
            ("baseline", "c"),
        ]);
        assert_eq!(plain.href(), "/compare?runs=a,b");
    }
}
