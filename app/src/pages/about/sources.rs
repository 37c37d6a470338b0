//! Rows that no agent of this site made.

use leptos::prelude::*;

use super::{ELSEWHERE, HUMAN, Section};

#[component]
pub(super) fn Human() -> impl IntoView {
    view! {
        <Section place=HUMAN>
            <p>
                "Between base and target lies what the maintainers really did. The rows tagged “human” replay those commits, in at most as many chunks as an agent has iterations, through the same loop, containers and grading. They show what the benchmark says of people who knew the code: not a bound, but a yardstick. The last chunk is the target itself, so a replayed evolution ends solved unless its tests are flaky."
            </p>
        </Section>
    }
}

#[component]
pub(super) fn Elsewhere() -> impl IntoView {
    view! {
        <Section place=ELSEWHERE>
            <p>
                "Rows tagged “imported” were made by another program and reported by whoever ran it. They are scored here, by the same definitions, and ranked with the others; but nobody here saw the tests run. Where such files say only how many tests passed and not which, the row is tagged “counts only” and has scores in the reference convention alone."
            </p>
            <p>
                "The rows below the ranking are figures as they were published: one number for each model, at γ = 1. Without the results behind them they cannot be ranked, and they are about the tasks of their own split."
            </p>
        </Section>
    }
}
