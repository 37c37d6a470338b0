use std::collections::BTreeSet;

use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};
use swe_ci_core::leaderboard::{LeftOut, Published, Row, Sheet};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::view::SplitSummary;

use crate::error::AppError;
use crate::plots::Curves;
use crate::query::Reading;

#[server(prefix = "/api/pages", endpoint = "splits", input = GetUrl)]
pub async fn splits() -> Result<Vec<SplitSummary>, AppError> {
    Ok(crate::error::engine()?.splits().await?)
}

/// The sheet of a split, from which the browser ranks by itself.
#[server(prefix = "/api/pages", endpoint = "sheet", input = GetUrl)]
pub async fn sheet_of(split: String) -> Result<Sheet, AppError> {
    let engine = crate::error::engine()?;
    Ok(engine.sheet(&split).await?.for_ranking())
}

/// What decides on ranks, apart from the split.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    pub gamma: Gamma,
    pub convention: Convention,
    pub unseen: bool,
}

impl Asked {
    pub(super) fn of(reading: &Reading) -> Self {
        Self {
            gamma: reading.gamma,
            convention: reading.convention,
            unseen: reading.view.unseen,
        }
    }
}

/// What the leaderboard shows at first: the rows the server has ranked, and
/// no more than it takes to draw the page. The browser fetches the sheet when
/// the page stands.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Board {
    /// None before anything was imported.
    pub splits: Vec<SplitSummary>,
    /// The one that is shown; empty when there is none.
    pub split: String,
    pub published: Published,
    pub asked: Asked,
    /// Best first, all of them.
    pub rows: Vec<Row>,
    pub scene: Scene,
    /// Runs with something scored, in whatever convention.
    pub runs: usize,
    /// The largest N of them.
    pub most_iterations: u32,
    /// The day it was asked for, `YYYY-MM-DD`.
    pub today: String,
}

/// What there is to say of a sheet whatever γ is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    pub curves: Curves,
    /// Models that are known by counts alone and so have no row in this
    /// convention.
    pub unranked: Vec<String>,
    /// What counting only unseen tasks leaves out, when that is asked for.
    pub left_out: Option<LeftOut>,
    /// Repositories the counted tasks are of.
    pub repositories: usize,
}

impl Scene {
    pub(super) fn of(sheet: &Sheet, left_out: Option<LeftOut>, convention: Convention) -> Self {
        Self {
            curves: Curves::of(sheet, convention).rounded(),
            unranked: unranked(sheet, convention),
            left_out,
            repositories: Self::repositories(sheet),
        }
    }

    pub(super) fn repositories(sheet: &Sheet) -> usize {
        let tasks = sheet.entries.iter().flat_map(|entry| &entry.tasks);
        tasks.map(|task| &task.repo).collect::<BTreeSet<_>>().len()
    }
}

fn unranked(sheet: &Sheet, convention: Convention) -> Vec<String> {
    let known = sheet
        .unranked(convention)
        .filter(|entry| entry.counts_only());
    known.map(|entry| entry.model.clone()).collect()
}

/// The board of the split asked for, else of the one with the most tasks.
#[server(prefix = "/api/pages", endpoint = "board", input = GetUrl)]
pub async fn board_of(
    split: Option<String>,
    gamma: Gamma,
    convention: Convention,
    unseen: bool,
) -> Result<Board, AppError> {
    let engine = crate::error::engine()?;
    let splits = splits().await?;
    let asked = Asked {
        gamma,
        convention,
        unseen,
    };
    let mut board = Board {
        split: String::new(),
        published: engine.published().clone(),
        asked,
        rows: Vec::new(),
        scene: Scene::default(),
        runs: 0,
        most_iterations: 20,
        today: engine.today(),
        splits,
    };
    let Some(split) = choose(&board.splits, split)? else {
        return Ok(board);
    };
    let sheet = engine.sheet(&split).await?;
    if unseen {
        let kept = engine.unseen(&split).await?;
        board.rows = engine.ranking_of_unseen(&split, gamma, convention).await?;
        board.scene = Scene::of(&kept.sheet, Some(kept.left_out.clone()), convention);
    } else {
        board.rows = engine.ranking(&split, gamma, convention).await?;
        board.scene = Scene::of(&sheet, None, convention);
    }
    let most = sheet.entries.iter().map(|entry| entry.max_iterations).max();
    board.most_iterations = most.unwrap_or(20);
    board.runs = sheet.entries.len();
    board.split = split;
    Ok(board)
}

#[cfg(feature = "ssr")]
fn choose(splits: &[SplitSummary], asked: Option<String>) -> Result<Option<String>, AppError> {
    let Some(asked) = asked else {
        // Of several with equally many, the first.
        let largest = splits.iter().rev().max_by_key(|s| s.tasks);
        return Ok(largest.map(|s| s.name.clone()));
    };
    if splits.iter().any(|s| s.name == asked) {
        Ok(Some(asked))
    } else {
        Err(AppError::not_found(format!("There is no split `{asked}`.")))
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use crate::plots::fixture::sheet;

    #[test]
    fn the_largest_split_unless_one_is_asked_for() {
        let split = |name: &str, tasks| SplitSummary {
            name: name.into(),
            tasks,
            ready: tasks,
        };
        let splits = [split("demo", 4), split("full", 100), split("other", 100)];
        let chosen = |asked: Option<&str>| choose(&splits, asked.map(str::to_owned));
        assert_eq!(chosen(None).unwrap().as_deref(), Some("full"));
        assert_eq!(chosen(Some("demo")).unwrap().as_deref(), Some("demo"));
        assert_eq!(
            chosen(Some("none")).unwrap_err().kind,
            crate::ErrorKind::NotFound
        );
        assert_eq!(choose(&[], None).unwrap(), None);
    }

    #[test]
    fn counts_alone_are_ranked_in_the_other_convention() {
        let mut sheet = sheet(&[("known", &[0.5]), ("counted", &[0.5])]);
        assert_eq!(Scene::repositories(&sheet), 1);
        sheet.entries[1].tasks[0].samples[0].paper = None;
        assert_eq!(unranked(&sheet, Convention::Paper), ["counted"]);
        assert!(unranked(&sheet, Convention::Reference).is_empty());
        // A run without any scored task is not known by counts.
        sheet.entries[1].tasks.clear();
        assert!(unranked(&sheet, Convention::Paper).is_empty());
    }
}
