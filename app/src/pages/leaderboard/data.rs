use std::collections::BTreeSet;

use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_plots::Curves;
use swe_ci_views::leaderboard::{LeaderboardData, LeftOut, Published, Row, UnrankedRun};
use swe_ci_views::view::SplitSummary;

use crate::error::AppError;
#[cfg(feature = "ssr")]
use crate::pages::splits::{choose, splits};
use crate::query::Reading;

/// The leaderboard data of a split, from which the browser ranks.
#[server(prefix = "/api/pages", endpoint = "sheet", input = GetUrl)]
pub async fn sheet_of(split: String) -> Result<LeaderboardData, AppError> {
    let engine = crate::error::engine()?;
    Ok(engine.sheet(&split).await?.for_ranking())
}

/// The settings that determine the ranking, apart from the split.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RankingSettings {
    pub gamma: Gamma,
    pub convention: Convention,
    pub unseen: bool,
}

impl RankingSettings {
    pub(super) fn of(reading: &Reading) -> Self {
        Self {
            gamma: reading.gamma,
            convention: reading.convention,
            unseen: reading.view.unseen,
        }
    }
}

/// The data the leaderboard starts with: the rows that the server has ranked,
/// and no more than it takes to draw the page. The browser then fetches the
/// leaderboard data.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Board {
    /// Empty before the first import.
    pub splits: Vec<SplitSummary>,
    /// The shown split; empty when there is none.
    pub split: String,
    pub published: Published,
    pub settings: RankingSettings,
    /// All rows, best first.
    pub rows: Vec<Row>,
    pub scene: Scene,
    /// Runs with a score, in either convention.
    pub runs: usize,
    /// The largest N among them.
    pub most_iterations: u32,
    /// The day of the request, `YYYY-MM-DD`.
    pub today: String,
}

/// Facts about the leaderboard data that do not depend on γ.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    pub curves: Curves,
    /// Models with counts only, which have no row in this convention.
    pub counts_only: Vec<String>,
    /// Runs with scores and without a rank.
    pub unranked: Vec<UnrankedRun>,
    /// The results that counting only unseen tasks leaves out, in that mode.
    pub left_out: Option<LeftOut>,
    /// The number of repositories of the counted tasks.
    pub repositories: usize,
}

impl Scene {
    pub(super) fn of(
        sheet: &LeaderboardData,
        left_out: Option<LeftOut>,
        convention: Convention,
    ) -> Self {
        Self {
            curves: Curves::of(sheet, convention).rounded(),
            counts_only: counts_only(sheet, convention),
            unranked: sheet.unranked_runs(),
            left_out,
            repositories: Self::repositories(sheet),
        }
    }

    pub(super) fn repositories(sheet: &LeaderboardData) -> usize {
        let tasks = sheet.entries.iter().flat_map(|entry| &entry.tasks);
        tasks.map(|task| &task.repo).collect::<BTreeSet<_>>().len()
    }
}

fn counts_only(sheet: &LeaderboardData, convention: Convention) -> Vec<String> {
    let unscored = sheet.unscored(convention);
    let known = unscored.filter(|entry| entry.counts_only());
    known.map(|entry| entry.model.clone()).collect()
}

/// The board of the requested split; by default of the one with the most tasks.
#[server(prefix = "/api/pages", endpoint = "board", input = GetUrl)]
pub async fn board_of(
    split: Option<String>,
    gamma: Gamma,
    convention: Convention,
    unseen: bool,
) -> Result<Board, AppError> {
    let engine = crate::error::engine()?;
    let splits = splits().await?;
    let settings = RankingSettings {
        gamma,
        convention,
        unseen,
    };
    let mut board = Board {
        split: String::new(),
        published: engine.published().clone(),
        settings,
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
    board.rows = engine.ranked(&split, gamma, convention, unseen).await?;
    if unseen {
        let kept = engine.unseen(&split).await?;
        board.scene = Scene::of(&kept.sheet, Some(kept.left_out.clone()), convention);
    } else {
        board.scene = Scene::of(&sheet, None, convention);
    }
    let most = sheet.entries.iter().map(|entry| entry.max_iterations).max();
    board.most_iterations = most.unwrap_or(20);
    board.runs = sheet.entries.len();
    board.split = split;
    Ok(board)
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use swe_ci_plots::fixture::sheet;

    #[test]
    fn counts_alone_are_ranked_in_the_other_convention() {
        let mut sheet = sheet(&[("known", &[0.5]), ("counted", &[0.5])]);
        assert_eq!(Scene::repositories(&sheet), 1);
        sheet.entries[1].tasks[0].samples[0].paper = None;
        assert_eq!(counts_only(&sheet, Convention::Paper), ["counted"]);
        assert!(counts_only(&sheet, Convention::Reference).is_empty());
        // A run without any scored task is not one with counts only.
        sheet.entries[1].tasks.clear();
        assert!(counts_only(&sheet, Convention::Paper).is_empty());
    }
}
