//! The splits, for all pages that show one of them.

use swe_ci_core::text::visible;
use swe_ci_views::view::SplitSummary;

use crate::error::AppError;

pub async fn splits() -> Result<Vec<SplitSummary>, AppError> {
    Ok(crate::error::engine()?.splits().await?)
}

/// The splits that a page can show: all, or those with a snapshot of a day.
pub(super) async fn splits_on(snapshot: Option<&str>) -> Result<Vec<SplitSummary>, AppError> {
    let Some(day) = snapshot else {
        return splits().await;
    };
    let all = crate::error::engine()?.snapshots().await?.into_iter();
    let of_day = all.filter(|snapshot| snapshot.day == day);
    let of_day = of_day.map(|snapshot| SplitSummary {
        name: snapshot.split,
        tasks: snapshot.tasks,
        ready: snapshot.tasks,
    });
    let splits: Vec<SplitSummary> = of_day.collect();
    if splits.is_empty() {
        let message = format!("There is no snapshot of {}.", visible(day));
        return Err(AppError::not_found(message));
    }
    Ok(splits)
}

/// The requested split, else the largest; none before the first import.
pub(super) fn choose(
    splits: &[SplitSummary],
    requested: Option<String>,
) -> Result<Option<String>, AppError> {
    match requested {
        None => Ok(SplitSummary::largest(splits).map(|split| split.name.clone())),
        Some(name) if splits.iter().any(|split| split.name == name) => Ok(Some(name)),
        Some(name) => Err(AppError::not_found(format!("There is no split “{name}”."))),
    }
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
