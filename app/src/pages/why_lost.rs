//! Why tests were lost, by class: of a run, or of a model over all its runs.

use leptos::prelude::*;
use swe_ci_views::trajectories::{LostByClass, Selection, Subject};

use crate::components::CollectAny;
use crate::pages::routes::trajectories_href;
use crate::{format, labels};

/// Empty where no reports were read. Each class leads to the run that lost most.
#[component]
pub(super) fn WhyLost(classes: Vec<LostByClass>) -> impl IntoView {
    let all: u32 = classes.iter().map(|class| class.tests).sum();
    let item = |LostByClass {
                    class,
                    tests,
                    run_id,
                }: LostByClass| {
        let selection = Selection {
            subject: Subject::Cause,
            name: class.name().to_owned(),
            marked: false,
        };
        let href = trajectories_href(&run_id, None, Some(&selection), 0);
        let share = format::share(f64::from(tests) / f64::from(all.max(1)));
        let words = format!("{share}: {}", labels::loss(class.name()));
        let tests = format::count(tests, "test");
        view! { <li><a href=href rel="nofollow">{words}</a>" "<span class="quiet">{tests}</span></li> }
    };
    (all > 0).then(|| {
        view! {
            <section aria-labelledby="why-lost-title">
                <h2 id="why-lost-title">"Why tests were lost"</h2>
                <p class="quiet">"By the errors of the tests, and by rules; a test counts for each iteration that lost it."</p>
                <ul class="failed-steps">{classes.into_iter().map(item).collect_any()}</ul>
            </section>
        }
    })
}
