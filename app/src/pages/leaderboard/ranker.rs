//! What ranks in the browser: the sheet and everything that counts on it. A
//! part of the program of its own, fetched with the sheet once the page
//! stands; until somebody moves a control nobody needs either.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use swe_ci_core::leaderboard::{Judge, LeftOut, Row, Sheet};
use wasm_split_helpers::wasm_split;

use super::data::{Asked, Scene, sheet_of};
use crate::error::AppError;

/// With at most so many runs times repositories, intervals are drawn anew at
/// every movement of the slider. With more, a movement would take longer than
/// a frame, and they are left away until it rests.
const QUICK: usize = 150;

/// Ranks a split by whatever is asked.
pub(super) trait Ranker: Send + Sync {
    /// Best first; `rests` unless γ is being moved.
    fn rows(&self, asked: Asked, rests: bool) -> Vec<Arc<Row>>;

    /// What there is to say whatever γ is.
    fn scene(&self, asked: Asked) -> Scene;
}

/// A ranker on its way, which takes until its sheet is there.
pub(super) type Coming = Pin<Box<dyn Future<Output = Result<Arc<dyn Ranker>, AppError>>>>;

/// # Errors
/// [`AppError`] when this part of the program cannot be fetched.
#[wasm_split(ranking, fallible)]
pub(super) fn ranker_of(split: String) -> Result<Coming, AppError> {
    let coming = async move {
        let all = Counted::of(sheet_of(split).await?, None);
        let unseen = OnceLock::new();
        Ok(Arc::new(OfSplit { all, unseen }) as Arc<dyn Ranker>)
    };
    Ok(Box::pin(coming))
}

struct OfSplit {
    all: Counted,
    /// Each model on the tasks that are younger than it.
    unseen: OnceLock<Counted>,
}

impl OfSplit {
    fn counted(&self, asked: Asked) -> &Counted {
        if !asked.unseen {
            return &self.all;
        }
        self.unseen.get_or_init(|| {
            let unseen = self.all.sheet.unseen();
            Counted::of(unseen.sheet, Some(unseen.left_out))
        })
    }
}

impl Ranker for OfSplit {
    fn rows(&self, asked: Asked, rests: bool) -> Vec<Arc<Row>> {
        let rows = self.counted(asked).rank(asked, rests);
        rows.into_iter().map(Arc::new).collect()
    }

    fn scene(&self, asked: Asked) -> Scene {
        let counted = self.counted(asked);
        Scene::of(&counted.sheet, counted.left_out.clone(), asked.convention)
    }
}

/// A sheet with what is made of it once.
struct Counted {
    sheet: Sheet,
    left_out: Option<LeftOut>,
    repositories: usize,
    judge: OnceLock<Judge>,
}

impl Counted {
    fn of(sheet: Sheet, left_out: Option<LeftOut>) -> Self {
        Self {
            repositories: Scene::repositories(&sheet),
            sheet,
            left_out,
            judge: OnceLock::new(),
        }
    }

    fn rank(&self, asked: Asked, rests: bool) -> Vec<Row> {
        let Asked {
            gamma, convention, ..
        } = asked;
        if rests || self.sheet.entries.len() * self.repositories <= QUICK {
            let judge = self.judge.get_or_init(|| Judge::new(&self.sheet));
            judge.rank(&self.sheet, gamma, convention)
        } else {
            self.sheet.rank(gamma, convention)
        }
    }
}
