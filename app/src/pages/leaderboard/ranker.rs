//! The source of the rows: the server ranks the first ones, and the browser all
//! later ones. The code that ranks is a part of the program of its own, fetched
//! with the leaderboard data after the page has loaded; nobody needs either
//! before moving a control.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use leptos::prelude::*;
use swe_ci_views::leaderboard::{LeaderboardData, LeftOut, Row, UncertaintyModel};
use wasm_split_helpers::wasm_split;

use super::board_state::BoardState;
use super::data::{Board, RankingSettings, Scene, sheet_of};
use crate::error::AppError;

/// With at most this many runs times repositories, intervals are recomputed at
/// every movement of the slider. With more, that would take longer than a
/// frame, and they are hidden until it rests.
const QUICK: usize = 150;

/// Ranks a split.
pub(super) trait Ranker: Send + Sync {
    /// Best first; `rests` unless γ is moving.
    fn rows(&self, settings: RankingSettings, rests: bool) -> Vec<Arc<Row>>;

    /// The facts that do not depend on γ.
    fn scene(&self, settings: RankingSettings) -> Scene;
}

/// A ranker whose data is loading.
pub(super) type RankerFuture = Pin<Box<dyn Future<Output = Result<Arc<dyn Ranker>, AppError>>>>;

/// # Errors
/// [`AppError`] when this part of the program cannot be fetched.
#[wasm_split(ranking, fallible)]
pub(super) fn ranker_of(split: String) -> Result<RankerFuture, AppError> {
    let coming = async move {
        let all = Counted::of(sheet_of(split).await?, None);
        let unseen = OnceLock::new();
        Ok(Arc::new(OfSplit { all, unseen }) as Arc<dyn Ranker>)
    };
    Ok(Box::pin(coming))
}

struct OfSplit {
    all: Counted,
    /// Each model on the tasks that are newer than it.
    unseen: OnceLock<Counted>,
}

impl OfSplit {
    fn counted(&self, settings: RankingSettings) -> &Counted {
        if !settings.unseen {
            return &self.all;
        }
        self.unseen.get_or_init(|| {
            let unseen = self.all.sheet.unseen();
            Counted::of(unseen.sheet, Some(unseen.left_out))
        })
    }
}

impl Ranker for OfSplit {
    fn rows(&self, settings: RankingSettings, rests: bool) -> Vec<Arc<Row>> {
        let rows = self.counted(settings).rank(settings, rests);
        rows.into_iter().map(Arc::new).collect()
    }

    fn scene(&self, settings: RankingSettings) -> Scene {
        let counted = self.counted(settings);
        Scene::of(
            &counted.sheet,
            counted.left_out.clone(),
            settings.convention,
        )
    }
}

/// Leaderboard data with values computed from it once.
struct Counted {
    sheet: LeaderboardData,
    left_out: Option<LeftOut>,
    repositories: usize,
    judge: OnceLock<UncertaintyModel>,
}

impl Counted {
    fn of(sheet: LeaderboardData, left_out: Option<LeftOut>) -> Self {
        Self {
            repositories: Scene::repositories(&sheet),
            sheet,
            left_out,
            judge: OnceLock::new(),
        }
    }

    fn rank(&self, settings: RankingSettings, rests: bool) -> Vec<Row> {
        let (sheet, gamma, convention) = (&self.sheet, settings.gamma, settings.convention);
        if rests || sheet.entries.len() * self.repositories <= QUICK {
            let judge = self.judge.get_or_init(|| UncertaintyModel::new(sheet));
            judge.rank(sheet, gamma, convention)
        } else {
            sheet.rank(gamma, convention)
        }
    }
}

/// All rows of the board, best first, and the facts about them.
#[derive(Clone, Copy)]
pub(super) struct Ranks {
    pub rows: Memo<Vec<Arc<Row>>>,
    pub scene: Memo<Scene>,
    /// Why fetching the data failed.
    pub failed: RwSignal<Option<AppError>>,
}

/// None until the data has loaded.
type LoadedRanker = RwSignal<Option<Arc<dyn Ranker>>>;

impl Ranks {
    pub(super) fn new(board: &Board, state: BoardState) -> Self {
        let (ranker, failed) = (LoadedRanker::new(None), RwSignal::new(None));
        if board.runs > 0 {
            fetch(board.split.clone(), ranker, failed);
        }
        let sent = board.settings;
        let rows_sent: Vec<Arc<Row>> = board.rows.iter().cloned().map(Arc::new).collect();
        let rows_sent = StoredValue::new(rows_sent);
        let scene_sent = StoredValue::new(board.scene.clone());
        let settings = Memo::new(move |_| RankingSettings::of(&state.get()));
        let rows = Memo::new(move |_| {
            let settings = settings.get();
            let rests = state.rested.get() == settings.gamma;
            match ranker.get() {
                Some(ranker) if settings != sent => ranker.rows(settings, rests),
                _ => rows_sent.get_value(),
            }
        });
        // Without γ, because a change of γ does not change the facts.
        let but_gamma = Memo::new(move |_| RankingSettings {
            gamma: sent.gamma,
            ..settings.get()
        });
        let scene = Memo::new(move |_| {
            let settings = but_gamma.get();
            match ranker.get() {
                Some(ranker) if settings != sent => ranker.scene(settings),
                _ => scene_sent.get_value(),
            }
        });
        Self {
            rows,
            scene,
            failed,
        }
    }
}

/// Browser only: effects do not run on the server.
fn fetch(split: String, ranker: LoadedRanker, failed: RwSignal<Option<AppError>>) {
    Effect::new(move || {
        let split = split.clone();
        leptos::task::spawn_local(async move {
            let came = match ranker_of(split).await {
                Ok(coming) => coming.await,
                Err(error) => Err(error),
            };
            // The reader may have left the page.
            match came {
                Ok(came) => drop(ranker.try_set(Some(came))),
                Err(error) => drop(failed.try_set(Some(error))),
            }
        });
    });
}
