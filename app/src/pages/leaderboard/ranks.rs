//! Where the rows come from: the server has ranked the first ones, and the
//! browser ranks all others once it has the sheet.

use std::sync::Arc;

use leptos::prelude::*;
use swe_ci_core::leaderboard::Row;

use super::data::{Asked, Board, Scene};
use super::looking::Looking;
use super::ranker::{Ranker, ranker_of};
use crate::error::AppError;

/// All rows of the board, best first, and what there is to say of them.
#[derive(Clone, Copy)]
pub(super) struct Ranks {
    pub rows: Memo<Vec<Arc<Row>>>,
    pub scene: Memo<Scene>,
    /// What kept the sheet from coming.
    pub failed: RwSignal<Option<AppError>>,
}

/// Absent until it has come.
type Came = RwSignal<Option<Arc<dyn Ranker>>>;

impl Ranks {
    pub(super) fn new(board: &Board, looking: Looking) -> Self {
        let (ranker, failed) = (Came::new(None), RwSignal::new(None));
        if board.runs > 0 {
            fetch(board.split.clone(), ranker, failed);
        }
        let sent = board.asked;
        let rows_sent: Vec<Arc<Row>> = board.rows.iter().cloned().map(Arc::new).collect();
        let (rows_sent, scene_sent) = (
            StoredValue::new(rows_sent),
            StoredValue::new(board.scene.clone()),
        );
        let asked = Memo::new(move |_| Asked::of(&looking.get()));
        let rows = Memo::new(move |_| {
            let asked = asked.get();
            let rests = looking.rested.get() == asked.gamma;
            match ranker.get() {
                Some(ranker) if asked != sent => ranker.rows(asked, rests),
                _ => rows_sent.get_value(),
            }
        });
        // γ is left as it was sent, so that it is not asked for anew with it.
        let but_gamma = Memo::new(move |_| Asked {
            gamma: sent.gamma,
            ..asked.get()
        });
        let scene = Memo::new(move |_| {
            let asked = but_gamma.get();
            match ranker.get() {
                Some(ranker) if asked != sent => ranker.scene(asked),
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

/// Only the browser does: effects do not run on the server.
fn fetch(split: String, ranker: Came, failed: RwSignal<Option<AppError>>) {
    Effect::new(move || {
        let split = split.clone();
        leptos::task::spawn_local(async move {
            let came = match ranker_of(split).await {
                Ok(coming) => coming.await,
                Err(error) => Err(error),
            };
            // Whoever has left the page needs it no more.
            match came {
                Ok(came) => drop(ranker.try_set(Some(came))),
                Err(error) => drop(failed.try_set(Some(error))),
            }
        });
    });
}
