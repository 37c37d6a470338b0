use leptos_router::params::ParamsMap;
use swe_ci_core::metrics::Convention;
use swe_ci_views::dataset::SplitListed;
use swe_ci_views::leaderboard::TaskResult;
use swe_ci_views::view::TaskDetail;

use crate::error::AppError;
use crate::query::{Query, encode, parsed};

#[derive(Debug, Clone)]
pub struct PageData {
    pub detail: TaskDetail,
    pub results: Vec<TaskResult>,
    /// Its splits with their origins.
    pub splits: Vec<SplitListed>,
}

pub async fn whole_task((id, split): (String, Option<String>)) -> Result<PageData, AppError> {
    let engine = crate::error::engine()?;
    let id = crate::error::task_id(id)?;
    let detail = engine.task_in(&id, split.as_deref()).await?;
    let mut splits = engine.listed_splits().await?;
    splits.retain(|split| detail.splits.contains(&split.summary.name));
    Ok(PageData {
        detail,
        splits,
        results: engine.results_of_task(&id, split.as_deref()).await?,
    })
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// Shows the revision that this split lists.
    pub split: Option<String>,
    /// All tests, not only those of the gap.
    pub all_tests: bool,
    pub convention: Convention,
}

impl Reading {
    pub(super) fn of(query: &ParamsMap) -> Self {
        Self {
            split: query.get("split").filter(|split| !split.is_empty()),
            all_tests: query.get_str("tests") == Some("all"),
            convention: parsed(query, "convention").unwrap_or_default(),
        }
    }

    /// The address, without defaults.
    pub(super) fn href(&self, task: &str) -> String {
        let mut query = Query::default();
        query.add("split", self.split.as_deref());
        query.add("tests", self.all_tests.then_some("all"));
        query.add_convention(self.convention);
        format!("/tasks/{}{}", encode(task), query.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let check = |pairs: &[(&'static str, &str)], expect: &str| {
            let query = pairs.iter().map(|(k, v)| (*k, (*v).to_owned())).collect();
            assert_eq!(Reading::of(&query).href("t"), expect);
        };
        check(&[], "/tasks/t");
        check(&[("tests", "all")], "/tasks/t?tests=all");
        let all = [("tests", "all"), ("split", "a b")];
        check(&all, "/tasks/t?split=a%20b&tests=all");
        let both = [("convention", "reference"), ("tests", "all")];
        check(&both, "/tasks/t?tests=all&convention=reference");
        check(&[("convention", "x"), ("tests", "x")], "/tasks/t");
    }
}
