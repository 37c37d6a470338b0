//! The findings about the run's tests, by grade, and the forms with which
//! reviewers decide about what is suspicious.

use std::cmp::Reverse;

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::finding::{Decision, Grade, Unranked};
use swe_ci_core::text::visible;
use swe_ci_views::account::AccountRole;
use swe_ci_views::finding::{FindingReview, RunFinding};
use swe_ci_views::view::RunDetail;

use crate::components::CollectAny;
use crate::components::{Form, FormAnswer, GradeTag, Term};
use crate::context::Reader;
use crate::glossary::Word;
use crate::pages::routes::{FINDINGS, iteration_href, run_href};
use crate::{format, labels};

/// Why the run has no rank, if it has none for a reason of its own.
#[component]
pub(super) fn NoRank(detail: RwSignal<RunDetail>) -> impl IntoView {
    let unranked = Memo::new(move |_| detail.with(|detail| detail.unranked.clone()));
    let note = |why: Unranked| {
        let by_findings = matches!(
            why,
            Unranked::HeldForReview { .. } | Unranked::Confirmed { .. }
        );
        let findings =
            by_findings.then(|| view! { <a href=format!("#{FINDINGS}")>"Its findings"</a> });
        let why = visible(&why.to_string()).into_owned();
        view! {
            <p class="note" data-tone="warn">
                <Term word=Word::Unranked text="Not ranked"/>
                ": "
                {why}
                ". "
                {findings}
            </p>
        }
    };
    move || unranked.get().map(note)
}

/// All findings; notes are folded, because honest work has many.
#[component]
pub(super) fn Findings(
    findings: RwSignal<Vec<RunFinding>>,
    answer: StoredValue<FormAnswer>,
) -> impl IntoView {
    let reviews = Reader::at_hand().is(AccountRole::Admin);
    move || {
        let (notes, mut serious): (Vec<_>, Vec<_>) = findings
            .get()
            .into_iter()
            .partition(|found| found.grade() == Grade::Note);
        // The sort is stable: within a grade they keep their order.
        serious.sort_by_key(|found| Reverse(found.grade()));
        let any = !notes.is_empty() || !serious.is_empty();
        let item = move |found: RunFinding| {
            let form = Form::new("review", answer);
            view! { <Item found form reviews/> }
        };
        any.then(|| {
            let folded = (!notes.is_empty()).then(|| {
                let title = format::count(notes.len(), "note");
                let notes = notes.into_iter().map(item).collect_any();
                view! {
                    <details class="fold">
                        <summary>{title}</summary>
                        <ul class="found-list">{notes}</ul>
                    </details>
                }
            });
            let listed = (!serious.is_empty()).then(|| {
                let serious = serious.into_iter().map(item).collect_any();
                view! { <ul class="found-list">{serious}</ul> }
            });
            view! {
                <section id=FINDINGS aria-labelledby="findings-title">
                    <h2 id="findings-title"><Term word=Word::Finding text="Integrity findings"/></h2>
                    <p class="quiet">
                        "What was noticed about the way the tests came to their results. A note has no consequence; a suspicious finding holds the run for review; tampering collapses the iteration."
                    </p>
                    {listed}
                    {folded}
                </section>
            }
        })
    }
}

#[component]
fn Item(found: RunFinding, form: Form, reviews: bool) -> impl IntoView {
    let href = iteration_href(&found.run_id, &found.evolution_id, found.iteration);
    let place = format!("{}, iteration {}", found.task_id, found.iteration);
    let text = visible(&found.finding.text).into_owned();
    let decided = found.review.clone().map(decided);
    let review = (reviews && found.can_be_reviewed()).then(|| {
        let is_open = found.is_open();
        let form = view! { <ReviewForm found=found.clone() form/> };
        match is_open {
            true => Either::Left(form),
            false => Either::Right(view! {
                <details class="fold"><summary>"Decide again"</summary>{form}</details>
            }),
        }
    });
    view! {
        <li>
            <p>
                <GradeTag grade=found.grade()/>
                " "
                <strong>{labels::finding_kind(found.finding.kind)}</strong>
                ": "
                {text}
                " ("
                <a href=href>{place}</a>
                ")"
            </p>
            {decided}
            {review}
        </li>
    }
}

/// "Cleared by ada on 2026-11-20: the project's own plugin".
fn decided(review: FindingReview) -> impl IntoView {
    let deed = match review.decision {
        Decision::Cleared => "Cleared",
        Decision::Confirmed => "Confirmed",
    };
    let (who, day) = (review.reviewer, format::day(&review.decided_at));
    let reason = visible(&review.reason).into_owned();
    view! { <p class="quiet">{format!("{deed} by {who} on {day}: {reason}")}</p> }
}

/// Two buttons and one reason. The field is an area of text, in which the enter
/// key sends nothing: it would press the first button.
#[component]
fn ReviewForm(found: RunFinding, form: Form) -> impl IntoView {
    let id = found.finding_id.to_string();
    let sent = form.kept("finding").as_ref() == Some(&id);
    let problem = sent.then(|| form.problem("reason")).flatten();
    let typed = sent.then(|| form.kept("reason")).flatten();
    let field = format!("reason-{id}");
    let problem_id = format!("{field}-problem");
    let (invalid, described) = match problem {
        Some(_) => (Some("true"), Some(problem_id.clone())),
        None => (None, None),
    };
    let problem = problem.map(|text| view! { <p class="form-problem" id=problem_id>{text}</p> });
    let place = format!(
        "the finding in {}, iteration {}",
        found.task_id, found.iteration
    );
    let button = |decision: Decision, text: &'static str| {
        let label = format!("{text} {place}");
        view! { <button class="button" type="submit" name="decision" value=decision.name() aria-label=label>{text}</button> }
    };
    view! {
        <form class="form" method="post" action=run_href(&found.run_id)>
            <input type="hidden" name="deed" value="review"/>
            <input type="hidden" name="finding" value=id/>
            <div class="form-row">
                <label for=field.clone()>"Reason, for everybody who may see the run"</label>
                <textarea id=field name="reason" rows="2" maxlength="500" required=true aria-invalid=invalid aria-describedby=described>
                    {typed.unwrap_or_default()}
                </textarea>
                {problem}
            </div>
            <div class="steer-bar">
                {button(Decision::Cleared, "Clear")}
                {button(Decision::Confirmed, "Confirm")}
            </div>
        </form>
    }
}
