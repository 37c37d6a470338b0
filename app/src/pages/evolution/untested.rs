//! The iteration an evolution did not get to test, attempt by attempt: where it
//! ended, or what runs now.

use leptos::prelude::*;
use swe_ci_views::view::EvolutionView;

use super::data::Effort;
use crate::pages::iteration::{Logs, Steps};
use crate::words;

#[component]
pub(super) fn Untested(
    run_id: String,
    evolution: EvolutionView,
    effort: Effort,
    imported: bool,
) -> impl IntoView {
    let Effort { untested, logs, .. } = effort;
    let iteration = untested.last().map(|step| step.iteration);
    let heading = iteration.and_then(|n| Some((n, words::untested(evolution.ending, n)?)));
    let evolution_id = evolution.evolution_id;
    heading.map(|(iteration, (title, says))| {
        let steps = evolution_id.clone();
        view! {
            <section class="untested" aria-labelledby="untested-title">
                <h2 id="untested-title">{title}</h2>
                <p class="quiet evolution-words">{says}</p>
                <Steps steps=untested run_id evolution_id=steps imported/>
                <Logs logs evolution_id iteration imported/>
            </section>
        }
    })
}
