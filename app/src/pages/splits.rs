//! The splits, for all pages that show one of them.

use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use swe_ci_core::metrics::Convention;
use swe_ci_views::view::SplitSummary;

use crate::components::Choice;
use crate::error::AppError;
use crate::labels;

#[server(prefix = "/api/pages", endpoint = "splits", input = GetUrl)]
pub async fn splits() -> Result<Vec<SplitSummary>, AppError> {
    Ok(crate::error::engine()?.splits().await?)
}

/// The split with the most tasks; of several with equally many, the first.
#[cfg(any(feature = "ssr", test))]
pub(super) fn largest(splits: &[SplitSummary]) -> Option<String> {
    let largest = splits.iter().rev().max_by_key(|split| split.tasks);
    largest.map(|split| split.name.clone())
}

/// The requested split, else the largest; none before the first import.
#[cfg(any(feature = "ssr", test))]
pub(super) fn choose(
    splits: &[SplitSummary],
    requested: Option<String>,
) -> Result<Option<String>, AppError> {
    match requested {
        None => Ok(largest(splits)),
        Some(name) if splits.iter().any(|split| split.name == name) => Ok(Some(name)),
        Some(name) => Err(AppError::not_found(format!("There is no split `{name}`."))),
    }
}

/// A link for each split.
pub(super) fn split_choices(
    splits: &[SplitSummary],
    chosen: &str,
    href: impl Fn(&str) -> String + Clone + Send + Sync + 'static,
) -> Vec<Choice> {
    let choice = |split: &SplitSummary| {
        let (href, name) = (href.clone(), split.name.clone());
        Choice {
            label: format!("{} · {}", split.name, split.tasks),
            hint: format!("{} of {} tasks can be run", split.ready, split.tasks),
            href: Signal::derive(move || href(&name)),
            chosen: Signal::stored(split.name == chosen),
        }
    };
    splits.iter().map(choice).collect()
}

/// A link for each convention of counting.
pub(super) fn convention_choices(
    chosen: impl Fn() -> Convention + Clone + Send + Sync + 'static,
    href: impl Fn(Convention) -> String + Clone + Send + Sync + 'static,
) -> Vec<Choice> {
    let choice = |convention: Convention| {
        let (chosen, href) = (chosen.clone(), href.clone());
        let (label, hint) = (convention.name(), labels::convention(convention));
        Choice::new(
            label,
            hint,
            move || href(convention),
            move || chosen() == convention,
        )
    };
    Convention::ALL.map(choice).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_split_unless_one_is_asked_for() {
        let split = |name: &str, tasks| SplitSummary {
            name: name.into(),
            tasks,
            ready: tasks,
        };
        let splits = [split("demo", 4), split("full", 100), split("other", 100)];
        let chosen = |requested: Option<&str>| choose(&splits, requested.map(str::to_owned));
        assert_eq!(chosen(None).unwrap().as_deref(), Some("full"));
        assert_eq!(chosen(Some("demo")).unwrap().as_deref(), Some("demo"));
        assert_eq!(
            chosen(Some("none")).unwrap_err().kind,
            crate::ErrorKind::NotFound
        );
        assert_eq!(choose(&[], None).unwrap(), None);
    }
}
