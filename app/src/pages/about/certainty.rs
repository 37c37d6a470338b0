//! How far the figures can be trusted.

use leptos::prelude::*;
use swe_ci_core::uncertainty::{RESAMPLES, SEED};

use super::{CERTAINTY, LIMITS, Section};
use crate::format;

#[component]
pub(super) fn Certainty() -> impl IntoView {
    let resamples = format::thousands(RESAMPLES as u64);
    view! {
        <Section place=CERTAINTY>
            <p>
                "A score comes from a limited number of tasks, and other tasks would have given another one. The bracket beside a figure is its "<dfn>"95 % interval"</dfn>": where the figure would mostly land with repositories drawn anew."
            </p>
            <ul>
                <li><strong>"How it is made. "</strong>"Tasks of one repository resemble each other, so whole repositories are drawn, with replacement, as many as there are, "{resamples}" times; the interval holds the middle 95 % of the means. The draws follow from a fixed seed ("{SEED}"), so everybody gets the same ones."</li>
                <li><strong>"The small figures below a rank "</strong>"are the ranks the row holds in 95 % of those draws."</li>
                <li><strong>"Tied "</strong>"means not told apart from the row above: the two are compared task by task on what both did, and the interval of their difference spans 0. That is sharper than looking whether two brackets overlap, because what is hard is mostly hard for both."</li>
                <li><strong>"What it leaves out. "</strong>"With fewer than about ten repositories the intervals are too narrow. With one there are none, and everything is tied. Nor do they say anything about other kinds of repositories than those of the split."</li>
            </ul>
        </Section>
    }
}

#[component]
pub(super) fn Limits() -> impl IntoView {
    view! {
        <Section place=LIMITS>
            <ul>
                <li><strong>"Tests are what is looked at. "</strong>"Scores follow from tests alone: whether code is fast or safe shows only where one breaks. "<a href="/figures#style-wins">"Code style"</a>" is measured beside them where the code is kept, by what two programs count, and decides no rank."</li>
                <li><strong>"Tasks are past work. "</strong>"A model may have read the target while it was trained. The leaderboard can count "<a href="/?seen=exclude">"unseen tasks only"</a>": those whose target is younger than the model. Where days are not known, that cannot be told."</li>
                <li><strong>"A row is one configuration. "</strong>"Model, harness, prompts and limits are measured together. Two rows of one model may differ by the harness alone."</li>
                <li><strong>"Cost rests on a price table. "</strong>"Tokens are the provider's own count, read by the gateway as answers pass. What they cost follows from the prices recorded with the run when it was submitted: discounts are not in it, and a later price changes nothing. Results imported from elsewhere have no prices, and their tokens are what their program told. No score depends on cost."</li>
                <li><strong>"Repositories are few and alike. "</strong>"They are Python packages whose suites run without a network. What holds for them need not hold for yours; a split of your own repositories says more."</li>
            </ul>
        </Section>
    }
}
