use leptos_router::params::ParamsMap;
use swe_ci_core::handover::HandoverTarget;
use swe_ci_views::handover::{After, Wanted};

use crate::query::{Query, named, parsed};

/// The query of the handovers; invalid values count as absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HandoverQuery {
    /// None for the largest split.
    pub split: Option<String>,
    pub target: Option<HandoverTarget>,
    pub after: Option<After>,
    /// The iteration since the handover; None for the last.
    pub at: Option<u32>,
}

impl HandoverQuery {
    pub(super) fn of(query: &ParamsMap) -> Self {
        Self {
            split: named(query, "split"),
            target: query.get_str("target").and_then(HandoverTarget::from_name),
            after: parsed(query, "after"),
            at: parsed(query, "at"),
        }
    }

    pub(super) fn href(&self) -> String {
        let mut query = self.data();
        query.add("at", self.at.map(|at| at.to_string()));
        query.at("/handover")
    }

    /// The same in the API, which has all iterations.
    pub(super) fn api(&self, path: &str) -> String {
        self.data().at(&format!("/api/v1/{path}"))
    }

    pub(super) fn wanted(&self) -> Wanted {
        Wanted {
            target: self.target,
            after: self.after,
        }
    }

    fn data(&self) -> Query {
        Query::default()
            .with("split", self.split.as_deref())
            .with("target", self.target.map(HandoverTarget::name))
            .with("after", self.after.map(|after| after.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let check = |pairs: &[(&'static str, &str)], expect: &str| {
            let query = pairs.iter().map(|(k, v)| (*k, (*v).to_owned())).collect();
            assert_eq!(HandoverQuery::of(&query).href(), expect);
        };
        check(&[], "/handover");
        let all = [
            ("split", "a&b"),
            ("target", "moved"),
            ("after", "last"),
            ("at", "3"),
        ];
        check(&all, "/handover?split=a%26b&target=moved&after=last&at=3");
        let bad = [("target", "x"), ("after", "0"), ("at", "x")];
        check(&bad, "/handover");
    }
}
