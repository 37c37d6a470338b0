//! Steps without a result of the runs, by their causes.

use leptos::prelude::*;
use swe_ci_views::trajectories::{FailedSteps, FailureClass, Selection, Subject};

use super::names::{Name, heads};
use crate::components::CollectAny;
use crate::components::PlainTable;
use crate::pages::routes::trajectories_href;
use crate::{format, labels};

/// Empty where every step has a result.
#[component]
pub(super) fn Failures(failures: Vec<FailedSteps>, names: Vec<Name>) -> impl IntoView {
    let runs: Vec<String> = names.iter().map(|name| name.run_id.clone()).collect();
    let occurs = |class: &FailureClass| failures.iter().any(|of| of.count(*class) > 0);
    let row = |class: FailureClass| {
        let cell = |(run, of): (&String, &FailedSteps)| {
            let shown = match of.count(class) {
                0 => "0".into_any(),
                steps => {
                    let selection = Selection {
                        subject: Subject::Failure,
                        name: class.name().to_owned(),
                        marked: false,
                    };
                    let href = trajectories_href(run, None, Some(&selection), 0);
                    view! { <a href=href rel="nofollow">{format::thousands(steps)}</a> }.into_any()
                }
            };
            view! { <td>{shown}</td> }
        };
        let cells = runs.iter().zip(&failures).map(cell).collect_any();
        let name = format::capital(labels::failure(class.name()));
        view! { <tr><th scope="row">{name}</th>{cells}</tr> }
    };
    let rows: Vec<_> = FailureClass::ALL
        .into_iter()
        .filter(occurs)
        .map(row)
        .collect();
    (!rows.is_empty()).then(|| {
        view! {
            <section aria-labelledby="failures-title">
                <h2 id="failures-title">"Steps without a result"</h2>
                <p class="quiet">"One cause for each attempt, by rules. Where the recordings of a run were not read yet, the outcome of the step decides: open its number."</p>
                <PlainTable class="measures" caption="Steps without a result, by cause" scrolls="Steps without a result" heads=heads(names)>
                    {rows}
                </PlainTable>
            </section>
        }
    })
}
