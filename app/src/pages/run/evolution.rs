//! The card of one evolution on the page of its run.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::run::Progress;
use swe_ci_plots::{Size, Theme, passing};
use swe_ci_views::leaderboard::EvolutionScore;
use swe_ci_views::view::EvolutionView;

use super::status::{Stopped, Waiting};
use crate::components::{Ended, Iterations, Meter, Picture, Tag};
use crate::pages::result_table::NotAuditedTag;
use crate::pages::routes::{evolution_href, iteration_href, task_href};
use crate::{format, labels};

#[component]
pub fn EvolutionCard(evolution: EvolutionView, run_id: String) -> impl IntoView {
    let standing = standing(&evolution);
    let score = score(&evolution).map(|score| format!("EvoScore {}", format::score(score)));
    let step = labels::current_step(&evolution);
    let figure = passing(&evolution, Size::SMALL, Theme::Page);
    let suite = evolution.suite;
    let closed = closed(&evolution);
    let (run, id) = (run_id.clone(), evolution.evolution_id.clone());
    let href = Callback::new(move |n: u32| iteration_href(&run, &id, n));
    let task = evolution.task_id.to_string();
    let whole = evolution_href(&run_id, &task, evolution.sample);
    let sample = (evolution.sample > 1).then(|| format!(" · sample {}", evolution.sample));
    let meter = meter_tone(&evolution);
    let evolution = Memo::new(move |_| evolution.clone());
    view! {
        <details class="evolution" open=true>
            <summary>
                <span class="evolution-name">{task.clone()}{sample}</span>
                <span class="evolution-standing">
                    {standing}
                    <span class="evolution-step">{score}{step}</span>
                </span>
                <span class="measure">
                    <span class="measure-number">{format!("{closed} / {}", suite.gap())}</span>
                    <Meter value=closed most=suite.gap() label="Tests of the gap closed" tone=meter/>
                </span>
            </summary>
            <Waiting evolution/>
            <Stopped evolution run_id/>
            <div class="evolution-body">
                <div class="evolution-chart">
                    <Picture figure/>
                    <p class="quiet">
                        <a href=whole>"Test by test"</a>
                        " · "
                        <a href=task_href(&task)>"About this task"</a>
                        {format!(" · {} missing on the base", format::count(suite.gap(), "target test"))}
                    </p>
                </div>
                <Iterations evolution target=suite.target href/>
            </div>
        </details>
    }
}

/// How it ended, or its state while it goes on.
pub(super) fn standing(evolution: &EvolutionView) -> impl IntoView + use<> {
    let (text, tone) = labels::standing(evolution);
    let standing = match evolution.ending {
        Some(_) => Either::Left(view! { <Ended text tone/> }),
        None => Either::Right(view! { <Tag text tone/> }),
    };
    view! { {standing}" "<NotAuditedTag why=evolution.not_audited.clone()/> }
}

/// Its EvoScore at γ = 1 in the first convention that has one.
pub(super) fn score(evolution: &EvolutionView) -> Option<f64> {
    let of = |convention| EvolutionScore::of(evolution, Gamma::ONE, convention);
    Convention::ALL
        .into_iter()
        .find_map(of)
        .map(|of| of.evoscore)
}

/// Net tests of the gap that pass now; 0 below the base.
pub(super) fn closed(evolution: &EvolutionView) -> u32 {
    evolution
        .passing()
        .saturating_sub(evolution.suite.base_in_target)
}

fn meter_tone(evolution: &EvolutionView) -> &'static str {
    match evolution.progress {
        _ if closed(evolution) >= evolution.suite.gap() => "good",
        Progress::Running => "live",
        _ => "plain",
    }
}
