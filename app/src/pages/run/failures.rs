//! Steps of the run without a result, by their causes.

use leptos::prelude::*;
use swe_ci_views::trajectories::{FailedSteps, FailureClass, Selection, Subject};

use crate::pages::routes::trajectories_href;
use crate::{format, labels};

/// Empty where every step has a result.
#[component]
pub(super) fn Failures(run: String, failures: FailedSteps) -> impl IntoView {
    let item = |(class, steps): (FailureClass, u32)| {
        let selection = Selection {
            subject: Subject::Failure,
            name: class.name().to_owned(),
            marked: false,
        };
        let href = trajectories_href(&run, None, Some(&selection), 0);
        let cause = labels::failure(class.name());
        view! {
            <li>
                <a href=href rel="nofollow">{format::count(steps, "step")}</a>
                {format!(": {cause}")}
            </li>
        }
    };
    let items: Vec<_> = failures.by_count().into_iter().map(item).collect();
    (!items.is_empty()).then(|| {
        view! {
            <section aria-labelledby="failures-title">
                <h2 id="failures-title">"Steps without a result"</h2>
                <ul class="failed-steps">{items}</ul>
            </section>
        }
    })
}
