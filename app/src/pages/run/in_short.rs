//! The answer of the page: the run's score and rank in a sentence, and its figures.

use leptos::prelude::*;
use swe_ci_views::leaderboard::{Scores, Standing};
use swe_ci_views::run_sentence::run_sentence;
use swe_ci_views::view::RunDetail;

use crate::components::CollectAny;
use crate::components::fact;
use crate::format;

pub(super) fn in_short(
    run: &RunDetail,
    scores: Option<&Scores>,
    standing: Option<&Standing>,
) -> impl IntoView + use<> {
    let sentence = run_sentence(run, scores, standing);
    let figures = scores.map(|scores| {
        let figures = figures(run, scores).into_iter();
        let facts = figures.map(|(name, figure)| fact(name, figure));
        view! { <dl class="facts headline" aria-label="In short">{facts.collect_any()}</dl> }
    });
    view! {
        <p class="answer">{sentence}</p>
        {figures}
    }
}

/// Those that are known.
fn figures(run: &RunDetail, scores: &Scores) -> Vec<(&'static str, String)> {
    let cost = run.spent.and_then(|spent| spent.traffic?.micro_usd);
    let figures = [
        ("EvoScore, γ 1", scores.evoscore.map(format::score)),
        (
            "zero regression",
            scores.zero_regression_rate.map(format::share),
        ),
        ("solved", scores.solved_rate.map(format::share)),
        (
            "iterations used",
            scores.average_turns.map(|turns| format::decimals(turns, 1)),
        ),
        ("cost", cost.map(format::dollars)),
        ("time", run.elapsed_seconds.map(format::seconds)),
    ];
    let known = figures
        .into_iter()
        .filter_map(|(name, figure)| Some((name, figure?)));
    known.collect()
}
