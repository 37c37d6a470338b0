//! Rows that no agent on this site produced.

use leptos::prelude::*;

pub(super) fn human() -> AnyView {
    view! {
        <p>
            "Between base and target are the maintainers' real commits. The rows tagged “human” replay them, in at most as many chunks as an agent has iterations, through the same loop, containers and grading. They show how people who knew the code score on the benchmark: a yardstick, not a bound. The last chunk is the target itself, so a replayed evolution ends solved unless its tests are flaky."
        </p>
    }
    .into_any()
}

pub(super) fn elsewhere() -> AnyView {
    view! {
        <p>
            "Rows tagged “imported” come from another program and were reported by the person who ran it. They are scored here, by the same definitions, and ranked with the others, but this site has not run their tests. If the files say only how many tests passed and not which, the row is tagged “counts only” and has scores in the reference convention only."
        </p>
        <p>
            "The rows below the ranking are published figures: one number for each model, at γ = 1. Without the underlying results they cannot be ranked, and they apply to the tasks of their own split."
        </p>
    }
    .into_any()
}
