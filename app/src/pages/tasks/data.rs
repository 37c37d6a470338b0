use leptos_router::params::ParamsMap;
use swe_ci_views::browse::{ListOrder, Spread, TaskFilter};
use swe_ci_views::dataset::Counted;
use swe_ci_views::view::{Page, SplitSummary, TaskSummary};

use crate::error::AppError;
use crate::query::{Query, named};

pub async fn tasks(
    // An empty query sends no parameter.
    asked: Vec<(String, String)>,
) -> Result<Found, AppError> {
    let query = TasksQuery::of(&asked.into_iter().collect());
    let wanted = swe_ci_engine::TasksWanted {
        split: query.split,
        filter: query.filter,
        order: query.order,
    };
    let page = swe_ci_engine::PageRequest {
        limit: Some(100),
        after: query.after,
    };
    let engine = crate::error::engine()?;
    let found = engine.tasks(&wanted, &page).await?;
    Ok(Found {
        splits: engine.splits().await?,
        page: found.page,
        found: found.found,
        all: found.all,
        spreads: found.spreads,
        repositories: found.repositories,
        licences: found.licences,
    })
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct TasksQuery {
    pub split: Option<String>,
    pub filter: TaskFilter,
    pub order: ListOrder,
    pub after: Option<String>,
}

impl TasksQuery {
    /// Invalid values count as absent.
    pub(super) fn of(query: &ParamsMap) -> Self {
        let order = query.get_str("sort").and_then(ListOrder::from_name);
        Self {
            split: named(query, "split"),
            filter: TaskFilter::read(|name| query.get(name)).0,
            order: order.unwrap_or_default(),
            after: named(query, "after"),
        }
    }

    fn pairs(&self) -> Vec<(String, String)> {
        let one = |name: &str, value: Option<String>| value.map(|value| (name.to_owned(), value));
        let sort = Some(self.order.name()).filter(|name| !name.is_empty());
        let mut pairs = self.filter.pairs();
        pairs.splice(..0, one("split", self.split.clone()));
        pairs.extend(one("sort", sort));
        pairs.extend(one("after", self.after.clone()));
        pairs
    }

    pub(super) fn href(&self) -> String {
        Query::of(self.pairs()).at("/tasks")
    }

    /// A changed query, starting at the first page.
    pub(super) fn with(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut query = Self {
            after: None,
            ..self.clone()
        };
        change(&mut query);
        query
    }
}

#[derive(Debug, Clone)]
pub struct Found {
    pub splits: Vec<SplitSummary>,
    pub page: Page<TaskSummary>,
    /// Matching tasks, on all pages.
    pub found: u32,
    /// All tasks of the split, or of all splits.
    pub all: u32,
    pub spreads: Vec<Spread>,
    pub repositories: Vec<Counted>,
    pub licences: Vec<Counted>,
}

pub(super) async fn browse(query: TasksQuery) -> Result<Found, AppError> {
    tasks(query.pairs()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let check = |pairs: &[(&'static str, &str)], expect: &str| {
            let query = pairs.iter().map(|(k, v)| (*k, (*v).to_owned())).collect();
            assert_eq!(TasksQuery::of(&query).href(), expect);
        };
        check(&[], "/tasks");
        check(
            &[
                ("after", "t-1"),
                ("sort", "-gap"),
                ("min_gap", "5"),
                ("q", "a b"),
                ("split", "demo"),
            ],
            "/tasks?split=demo&q=a%20b&min_gap=5&sort=-gap&after=t-1",
        );
        check(&[("sort", "x"), ("min_gap", "x"), ("state", "x")], "/tasks");
    }
}
