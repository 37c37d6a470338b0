//! Where the rows come from: the server has ranked the first ones, and the
//! browser ranks all others once it has the sheet.

use std::sync::{Arc, OnceLock};

use leptos::prelude::*;
use swe_ci_core::leaderboard::{Judge, LeftOut, Row, Sheet};
use swe_ci_core::metrics::{Convention, Gamma};

use super::data::{Asked, Board, Scene, sheet_of};
use super::looking::Looking;
use crate::error::AppError;

/// With at most so many runs times repositories, intervals are drawn anew at
/// every movement of the slider. With more, a movement would take longer than
/// a frame, and they are left away until it rests.
const QUICK: usize = 150;

/// A sheet with what is made of it once.
struct Counted {
    sheet: Sheet,
    left_out: Option<LeftOut>,
    repositories: usize,
    judge: OnceLock<Judge>,
}

impl Counted {
    fn of(sheet: &Sheet, unseen: bool) -> Self {
        let (sheet, left_out) = if unseen {
            let unseen = sheet.unseen();
            (unseen.sheet, Some(unseen.left_out))
        } else {
            (sheet.clone(), None)
        };
        let repositories = Scene::repositories(&sheet);
        Self {
            sheet,
            left_out,
            repositories,
            judge: OnceLock::new(),
        }
    }

    fn rank(&self, gamma: Gamma, convention: Convention, rests: bool) -> Vec<Arc<Row>> {
        let rows = if rests || self.sheet.entries.len() * self.repositories <= QUICK {
            let judge = self.judge.get_or_init(|| Judge::new(&self.sheet));
            judge.rank(&self.sheet, gamma, convention)
        } else {
            self.sheet.rank(gamma, convention)
        };
        shared(rows)
    }
}

/// Rows are handed on to whatever shows a part of them, many times a second.
fn shared(rows: Vec<Row>) -> Vec<Arc<Row>> {
    rows.into_iter().map(Arc::new).collect()
}

/// All rows of the board, best first, and what there is to say of them.
#[derive(Clone, Copy)]
pub(super) struct Ranks {
    pub rows: Memo<Vec<Arc<Row>>>,
    pub scene: Memo<Scene>,
    /// What kept the sheet from coming.
    pub failed: RwSignal<Option<AppError>>,
}

impl Ranks {
    pub(super) fn new(board: &Board, looking: Looking) -> Self {
        let sheet = RwSignal::new(None::<Arc<Sheet>>);
        let failed = RwSignal::new(None);
        if board.runs > 0 {
            fetch(board.split.clone(), sheet, failed);
        }
        let asked = Memo::new(move |_| Asked::of(&looking.get()));
        let unseen = Memo::new(move |_| asked.get().unseen);
        let convention = Memo::new(move |_| asked.get().convention);
        let counted = Memo::new_with_compare(
            move |_| sheet.with(|s| s.as_deref().map(|s| Arc::new(Counted::of(s, unseen.get())))),
            |_, _| true,
        );
        let sent = board.asked;
        let rows_sent = StoredValue::new(shared(board.rows.clone()));
        let scene_sent = StoredValue::new(board.scene.clone());
        let rows = Memo::new(move |_| {
            let asked = asked.get();
            let rests = looking.rested.get() == asked.gamma;
            let counted = counted.get().filter(|_| asked != sent);
            counted.map_or_else(
                || rows_sent.with_value(Clone::clone),
                |counted| counted.rank(asked.gamma, asked.convention, rests),
            )
        });
        let scene = Memo::new(move |_| {
            let (convention, unseen) = (convention.get(), unseen.get());
            let sent = (convention, unseen) == (sent.convention, sent.unseen);
            let counted = counted.get().filter(|_| !sent);
            counted.map_or_else(
                || scene_sent.with_value(Clone::clone),
                |counted| Scene::of(&counted.sheet, counted.left_out.clone(), convention),
            )
        });
        Self {
            rows,
            scene,
            failed,
        }
    }
}

/// Only the browser does: effects do not run on the server.
fn fetch(split: String, sheet: RwSignal<Option<Arc<Sheet>>>, failed: RwSignal<Option<AppError>>) {
    Effect::new(move || {
        let asking = sheet_of(split.clone());
        leptos::task::spawn_local(async move {
            // Whoever has left the page needs it no more.
            match asking.await {
                Ok(came) => drop(sheet.try_set(Some(Arc::new(came)))),
                Err(error) => drop(failed.try_set(Some(error))),
            }
        });
    });
}
