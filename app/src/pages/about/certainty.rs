//! How far to trust the figures.

use leptos::prelude::*;
use swe_ci_core::uncertainty::{RESAMPLES, SEED};

use crate::format;

pub(super) fn certainty() -> AnyView {
    let resamples = format::thousands(RESAMPLES as u64);
    view! {
        <p>
            "A score comes from a limited number of tasks; other tasks would have given a different one. The bracket beside a figure is its "<dfn>"95 % interval"</dfn>": the range where the figure would mostly fall if the repositories were drawn again."
        </p>
        <ul>
            <li><strong>"Method. "</strong>"Tasks of one repository resemble each other, so we draw whole repositories, with replacement, as many as there are, "{resamples}" times; the interval holds the middle 95 % of the means. The draws follow from a fixed seed ("{SEED}"), so everybody gets the same draws."</li>
            <li><strong>"The small figures below a rank "</strong>"are the ranks of the row in 95 % of those draws."</li>
            <li><strong>"Tied "</strong>"means that the data cannot tell the row from the one above: the interval of their difference, task by task on their shared tasks, spans 0. This test is sharper than comparing brackets, because hard tasks are mostly hard for both."</li>
            <li><strong>"Limits. "</strong>"With fewer than about ten repositories the intervals are too narrow. With one there are none, and everything is tied. They do not apply to other kinds of repositories than those of the split."</li>
        </ul>
    }
    .into_any()
}

pub(super) fn limits() -> AnyView {
    view! {
        <ul>
            <li><strong>"Only tests count. "</strong>"Scores follow from tests alone: speed and safety matter only where a test covers them. "<a href="/figures#style-wins">"Code style"</a>" is measured by two programs where the code is stored, and affects no rank."</li>
            <li><strong>"Tasks are past work. "</strong>"A model may have read the target while it was trained. The leaderboard can count "<a href="/?seen=exclude">"unseen tasks only"</a>": those whose target is newer than the model. Without the dates, this cannot be determined."</li>
            <li><strong>"A row is one configuration. "</strong>"Model, harness, prompts and limits are measured together. Two rows of one model may differ only in the harness."</li>
            <li><strong>"Cost rests on a price table. "</strong>"Tokens are the provider's own count, which the gateway reads from the responses. Their cost follows from the prices recorded with the run at submission: it excludes discounts, and later prices do not change it. Imported results have no prices, and their tokens are those their program reported. No score depends on cost."</li>
            <li><strong>"Repositories are few and alike. "</strong>"They are Python packages whose suites run without a network. The results may not apply to your repositories; a split of your own says more."</li>
        </ul>
    }
    .into_any()
}
