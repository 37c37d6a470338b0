//! The data of the page of a run.

use std::collections::HashMap;

use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::run::Progress;
use swe_ci_views::account::Visibility;
use swe_ci_views::finding::RunFinding;
use swe_ci_views::leaderboard::{Scores, Standing};
use swe_ci_views::regrade::Regrade;
use swe_ci_views::trajectories::{FailedSteps, LostByClass};
use swe_ci_views::view::RunDetail;

use crate::error::AppError;

pub(super) struct PageData {
    pub detail: RunDetail,
    /// At γ = 1, in each convention that has any.
    pub scores: Vec<Scores>,
    /// Absent for a run without a rank.
    pub standing: Option<Standing>,
    /// Millionths of a US dollar by evolution, where they are known.
    pub costs: HashMap<String, u64>,
    /// By task, sample and iteration.
    pub findings: Vec<RunFinding>,
    pub failures: FailedSteps,
    /// Why it lost tests, as far as that was read.
    pub lost: Vec<LostByClass>,
    /// Against the run whose code it graded again, if it is such a run.
    pub regrade: Option<Regrade>,
    /// The reproducibility card, as text.
    pub card: String,
}

pub(super) async fn whole_run(id: String) -> Result<PageData, AppError> {
    let engine = crate::error::engine()?;
    let detail = engine.run(&id).await?;
    let mut scores = Vec::new();
    for convention in Convention::ALL {
        scores.push(engine.scores(&id, Gamma::ONE, convention).await?);
    }
    scores.retain(|scores| scores.evoscore.is_some());
    let summary = &detail.summary;
    let may_rank =
        summary.progress == Progress::Finished && summary.visibility == Visibility::Public;
    let standing = match may_rank {
        true => engine.standing(summary).await?,
        false => None,
    };
    let regrade = match detail.summary.regraded_from {
        Some(_) => Some(engine.moved_verdicts(&id).await?),
        None => None,
    };
    let card = engine.card(&id).await?.to_text();
    Ok(PageData {
        detail,
        scores,
        standing,
        costs: engine.costs(&id).await?,
        findings: engine.findings(&id).await?,
        failures: engine.failed_steps(&id).await?,
        lost: engine.lost_by_class(&id).await?,
        regrade,
        card,
    })
}
