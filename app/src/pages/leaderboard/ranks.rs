//! The source of the rows: the server ranks the first ones, and the browser all
//! later ones, once it has the data.

use std::sync::Arc;

use leptos::prelude::*;
use swe_ci_views::leaderboard::Row;

use super::board_state::BoardState;
use super::data::{Board, RankingSettings, Scene};
use super::ranker::{Ranker, ranker_of};
use crate::error::AppError;

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
