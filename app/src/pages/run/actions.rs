//! The actions on a run, for accounts that may steer it. Plain forms that post
//! to the page's own address, after which the page loads again.

use leptos::prelude::*;
use swe_ci_core::agent::Budget;
use swe_ci_core::run::{Kind, Progress};
use swe_ci_core::step::Ending;
use swe_ci_views::account::{AccountRole, Visibility};
use swe_ci_views::background::BackgroundWork;
use swe_ci_views::preflight::{Preflight, PreflightState};
use swe_ci_views::verification::Verification;
use swe_ci_views::view::RunDetail;

use crate::components::CollectAny;
use crate::components::{
    ActionButton, DeleteForm, Field, Form, FormAnswer, PostForm, Refusal, WorkNote,
};
use crate::context::Reader;
use crate::format;
use crate::pages::routes::run_href;

/// The actions available in the run's present state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Offers {
    publish: bool,
    withdraw: bool,
    /// The number of iterations whose tests can run again.
    verify: usize,
    mark: bool,
    unmark: bool,
    /// Its code can be graded again.
    regrade: bool,
    /// The number of evolutions whose agents gave up, for administrators.
    clear: usize,
    pause: bool,
    resume: bool,
    cancel: bool,
    /// The number of evolutions that can be retried.
    retry: usize,
    /// Its preflight failed.
    preflight: bool,
    /// Its preflight blocks it.
    begin: bool,
    limits: bool,
    delete: bool,
}

impl Offers {
    fn of(detail: &RunDetail, admin: bool) -> Self {
        let summary = &detail.summary;
        if !detail.may_steer {
            return Self::default();
        }
        let unmarked = detail.verified.is_none();
        let holds = detail
            .verification
            .as_ref()
            .is_some_and(Verification::holds);
        let made_here = summary.config.kind != Kind::Imported;
        let going_on = !summary.progress.is_over();
        let verifying = detail.verifying.as_ref();
        let can_verify = admin && made_here && !going_on;
        let verify = can_verify && !verifying.is_some_and(BackgroundWork::is_active);
        let iterations = || detail.evolution_list.iter().map(|e| e.iterations.len());
        let shown = Self {
            verify: if verify { iterations().sum() } else { 0 },
            publish: match summary.visibility {
                Visibility::Private => true,
                // Only administrators publish a withdrawn run again.
                Visibility::Withdrawn => admin,
                Visibility::Public => false,
            },
            withdraw: summary.visibility == Visibility::Public,
            delete: !going_on && (admin || summary.visibility == Visibility::Private),
            mark: admin && unmarked && holds,
            unmark: admin && !unmarked,
            ..Self::default()
        };
        if !made_here || summary.progress == Progress::Cancelled {
            return shown;
        }
        let ended = |wanted: fn(Ending) -> bool| {
            let evolutions = detail.evolution_list.iter();
            evolutions.filter(|e| e.ending.is_some_and(wanted)).count()
        };
        let paused = summary.steering.paused;
        let preflight = summary.preflight.as_ref();
        let tried = |state| preflight.is_some_and(|p| p.state == state);
        let held_up = preflight.is_some_and(Preflight::holds_up);
        Self {
            pause: going_on && !paused,
            resume: going_on && paused,
            cancel: going_on,
            preflight: going_on && tried(PreflightState::Failed),
            begin: going_on && held_up,
            retry: ended(Ending::can_be_retried),
            clear: match admin {
                true => ended(|ending| ending == Ending::AgentGaveUp),
                false => 0,
            },
            regrade: admin
                && summary.progress == Progress::Finished
                && summary.regraded_from.is_none()
                && ended(Ending::is_scored) > 0,
            // A budget that ended the run can be raised, for a retry.
            limits: going_on || ended(|ending| ending == Ending::BudgetSpent) > 0,
            ..shown
        }
    }
}

#[component]
pub(super) fn Actions(
    detail: RwSignal<RunDetail>,
    answer: StoredValue<FormAnswer>,
) -> impl IntoView {
    let admin = Reader::at_hand().is(AccountRole::Admin);
    let offers = Memo::new(move |_| detail.with(|detail| Offers::of(detail, admin)));
    let action = detail.with_untracked(|d| run_href(&d.summary.run_id));
    let action = StoredValue::new(action);
    // Each action is shown by itself, so that an update does not close an open one.
    let deed = move |offered: fn(&Offers) -> bool, deed: &'static str, text: &'static str| {
        view! {
            <Show when=move || offers.with(offered)>
                <ActionButton action=action.get_value() deed text/>
            </Show>
        }
    };
    let retry = Memo::new(move |_| offers.get().retry);
    let retry = move || {
        let text = format!("Retry {}", format::count(retry.get(), "evolution"));
        (retry.get() > 0)
            .then(|| view! { <ActionButton action=action.get_value() deed="retry" text/> })
    };
    let limits = Memo::new(move |_| (offers.get().limits, detail.with(|d| d.summary.steering)));
    let limits = move || {
        let (offered, steering) = limits.get();
        let (action, form) = (action.get_value(), Form::new("change", answer));
        offered.then(
            || view! { <Limits action form budget=steering.budget at_once=steering.at_once/> },
        )
    };
    let verify = Memo::new(move |_| offers.get().verify);
    let verify = move || {
        let (action, form) = (action.get_value(), Form::new("verify", answer));
        let iterations = verify.get();
        (iterations > 0).then(|| view! { <Verify action form iterations/> })
    };
    let clear = Memo::new(move |_| offers.get().clear);
    let clear = move || {
        let (action, evolutions) = (action.get_value(), clear.get());
        (evolutions > 0).then(|| view! { <Clear action evolutions/> })
    };
    let name = detail.with_untracked(|d| d.summary.config.model.clone());
    let name = StoredValue::new(name);
    let goes = Memo::new(move |_| detail.with(what_goes));
    let why = Form::new("steer", answer).problem("deed");
    let nothing = Memo::new(move |_| offers.get() == Offers::default());
    view! {
        <Refusal why/>
        <section class="steer" aria-labelledby="steer-title" hidden=nothing>
            <h2 id="steer-title">"Run controls"</h2>
            <div class="steer-bar">
                {deed(|o| o.preflight, "preflight", "Repeat the preflight")}
                {deed(|o| o.begin, "begin", "Skip preflight and start")}
                {deed(|o| o.pause, "pause", "Pause")}
                {deed(|o| o.resume, "resume", "Resume")}
                {retry}
                <Show when=move || offers.with(|o| o.cancel)>
                    <Cancel action=action.get_value()/>
                </Show>
                {limits}
                <Show when=move || offers.with(|o| o.publish)>
                    <Publish action=action.get_value()/>
                </Show>
                <Show when=move || offers.with(|o| o.withdraw)>
                    <Withdraw action=action.get_value() form=Form::new("withdraw", answer)/>
                </Show>
                {verify}
                <Show when=move || offers.with(|o| o.regrade)>
                    <GradeAgain action=action.get_value()/>
                </Show>
                {clear}
                {deed(|o| o.mark, "mark-verified", "Mark as verified")}
                {deed(|o| o.unmark, "unmark", "Remove the mark")}
                <Show when=move || offers.with(|o| o.delete)>
                    <DeleteForm answer action=action.get_value() name=name.get_value() goes=goes.get()/>
                </Show>
            </div>
        </section>
    }
}

fn what_goes(detail: &RunDetail) -> String {
    let evolutions = detail.evolution_list.len();
    let iterations = detail.evolution_list.iter().map(|e| e.iterations.len());
    format!(
        "The results of {} with {} go, and with them its transcripts, logs, judgements, and the code that no other run has. Snapshots of leaderboards and the audit log stay.",
        format::count(evolutions, "evolution"),
        format::count(iterations.sum::<usize>(), "iteration")
    )
}

/// Asks for confirmation before an irreversible action.
#[component]
fn Cancel(action: String) -> impl IntoView {
    view! {
        <details class="steer-more">
            <summary class="button">"Cancel…"</summary>
            <div class="steer-box">
                <p>
                    "Cancel this run? Active evolutions stop and are not scored. This cannot be undone; to stop it for a while, pause it."
                </p>
                <ActionButton action deed="cancel" text="Cancel the run"/>
            </div>
        </details>
    }
}

/// Asks for confirmation before everybody sees the run.
#[component]
fn Publish(action: String) -> impl IntoView {
    view! {
        <details class="steer-more">
            <summary class="button">"Publish…"</summary>
            <div class="steer-box">
                <p>"Publish this run? Everybody will see it, with its requirements, code and transcripts, and it joins the rankings. It can be withdrawn, with a reason that stays visible."</p>
                <ActionButton action deed="publish" text="Publish the run"/>
            </div>
        </details>
    }
}

/// Says what grading again does, before a new run begins.
#[component]
fn GradeAgain(action: String) -> impl IntoView {
    view! {
        <details class="steer-more">
            <summary class="button">"Grade again…"</summary>
            <div class="steer-box">
                <p>
                    "The stored code of each iteration goes through the tests again, with the suites, test commands and images of today, in a new run. No agent works. The new run lists every verdict that moved. It has no rank until this run is withdrawn."
                </p>
                <ActionButton action deed="regrade" text="Grade it again"/>
            </div>
        </details>
    }
}

/// Says what it costs to run evolutions again whose agents gave up.
#[component]
fn Clear(action: String, evolutions: usize) -> impl IntoView {
    let all = format::count(evolutions, "evolution");
    view! {
        <details class="steer-more">
            <summary class="button">"Run again…"</summary>
            <div class="steer-box">
                <p>
                    {format!("The agents of {all} gave up. Run again from the step where they stopped, with all attempts at it? That is choosing results: the run says so, and has no rank from then on. This cannot be undone.")}
                </p>
                <ActionButton action deed="clear" text=format!("Run {all} again")/>
            </div>
        </details>
    }
}

/// Asks how many iterations to test again.
#[component]
fn Verify(action: String, form: Form, iterations: usize) -> impl IntoView {
    let refused = form.problem("sample").is_some();
    let all = format::count(iterations, "iteration");
    view! {
        <details class="steer-more" open=refused>
            <summary class="button">"Verify…"</summary>
            <PostForm form action button="Verify it" class="form steer-box">
                <p>
                    "The tests run again in fresh containers, on the stored code of each iteration, two at a time. The outcomes are compared with the recorded ones. It goes on when you leave this page, and stops with the server."
                </p>
                <Field
                    form
                    name="sample"
                    label="Iterations"
                    kind="number"
                    hint=format!("Empty for all {all}; otherwise this many, drawn at random.")
                />
            </PostForm>
        </details>
    }
}

/// How far the verification is that somebody started here, or how it ended.
#[component]
pub(super) fn Verifying(detail: RwSignal<RunDetail>) -> impl IntoView {
    let work = detail.with_untracked(|detail| detail.verifying.clone());
    work.map(|work| view! { <WorkNote work what="Verification"/> })
}

/// Asks for a reason before it withdraws a run.
#[component]
fn Withdraw(action: String, form: Form) -> impl IntoView {
    let refused = form.problem("reason").is_some();
    view! {
        <details class="steer-more" open=refused>
            <summary class="button">"Withdraw…"</summary>
            <PostForm form action button="Withdraw it" class="form steer-box">
                <p>
                    "It leaves the rankings and every list. You and administrators still see it, with the reason."
                </p>
                <Field form name="reason" label="Why" hint="1 to 500 characters." required=true/>
            </PostForm>
        </details>
    }
}

/// The number of concurrent evolutions, and the budget, which can be raised.
#[component]
fn Limits(action: String, form: Form, budget: Budget, at_once: Option<u32>) -> impl IntoView {
    let refused = form
        .read(|answer| answer.problems.first().cloned())
        .is_some();
    let limit = |name, label, now: Option<String>| {
        now.map(|now| {
            let hint = format!("{now} now; it can only be raised.");
            view! { <Field form name label value=now hint/> }
        })
    };
    let usd = budget.usd.map(|n| n.to_string());
    let [tokens, requests, seconds] =
        [budget.tokens, budget.requests, budget.seconds].map(|n| n.map(|n| n.to_string()));
    let limits = [
        limit("budget.usd", "US dollars at most", usd),
        limit("budget.tokens", "Tokens at most", tokens),
        limit("budget.requests", "Requests at most", requests),
        limit(
            "budget.seconds",
            "Seconds at most, since its start",
            seconds,
        ),
    ];
    let limits = limits.collect_any();
    let unlimited = budget
        .is_unlimited()
        .then(|| view! { <p class="quiet">"It has no budget to raise."</p> });
    view! {
        <details class="steer-more" open=refused>
            <summary class="button">"Limits…"</summary>
            <PostForm form action button="Set" class="form steer-box">
                <Field
                    form
                    name="at_once"
                    label="Concurrent evolutions"
                    value=at_once.map(|n| n.to_string()).unwrap_or_default()
                    hint="1 to 256; empty for as many as there are workers. Running evolutions continue."
                />
                {limits}
                {unlimited}
            </PostForm>
        </details>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::task::TaskId;
    use swe_ci_plots::fixture::evolution;
    use swe_ci_views::testing::run_detail;
    use swe_ci_views::verification::{Difference, GradedIteration, Otherwise, Verified};

    fn detail(progress: Progress, endings: &[Option<Ending>]) -> RunDetail {
        let of = |ending: &Option<Ending>| {
            let mut evolution = evolution(&[]);
            evolution.ending = *ending;
            evolution
        };
        run_detail(progress, endings.iter().map(of).collect())
    }

    #[test]
    fn what_is_offered() {
        use Progress::{Cancelled, Finished, Running};
        let check = |seen: &RunDetail, expect: Offers| assert_eq!(Offers::of(seen, false), expect);
        let nothing = Offers {
            withdraw: true,
            ..Offers::default()
        };
        let going_on = Offers {
            pause: true,
            cancel: true,
            limits: true,
            ..nothing
        };
        let mut running = detail(Running, &[None, None]);
        check(&running, going_on);
        running.summary.steering.paused = true;
        let paused = Offers {
            pause: false,
            resume: true,
            ..going_on
        };
        check(&running, paused);
        running.may_steer = false;
        check(&running, Offers::default());
        let blocked = [Some(Ending::Blocked), None];
        check(
            &detail(Running, &blocked),
            Offers {
                retry: 1,
                ..going_on
            },
        );
        // A run that is over still offers some actions.
        check(
            &detail(Finished, &blocked),
            Offers {
                retry: 1,
                ..nothing
            },
        );
        check(&detail(Finished, &[Some(Ending::Solved)]), nothing);
        let unpaid = [Some(Ending::BudgetSpent), Some(Ending::Solved)];
        let raise = Offers {
            retry: 1,
            limits: true,
            ..nothing
        };
        check(&detail(Finished, &unpaid), raise);
        check(&detail(Cancelled, &blocked), nothing);
        let mut elsewhere = detail(Finished, &blocked);
        elsewhere.summary.config.kind = Kind::Imported;
        check(&elsewhere, nothing);
        let publish = Offers {
            publish: true,
            delete: true,
            ..Offers::default()
        };
        elsewhere.summary.visibility = Visibility::Private;
        check(&elsewhere, publish);
        elsewhere.summary.visibility = Visibility::Withdrawn;
        check(&elsewhere, Offers::default());
        assert_eq!(Offers::of(&elsewhere, true), publish);
    }

    #[test]
    fn marks_are_for_administrators_and_need_a_check() {
        let found = |differences| Verification {
            at: String::new(),
            by: "operator".into(),
            platform_version: String::new(),
            checked: 1,
            iterations: 1,
            differences,
            findings: Vec::new(),
        };
        let mut seen = detail(Progress::Finished, &[Some(Ending::Solved)]);
        let offered = |seen: &RunDetail, admin| {
            let offers = Offers::of(seen, admin);
            (offers.mark, offers.unmark)
        };
        assert_eq!(offered(&seen, true), (false, false));
        seen.verification = Some(found(Vec::new()));
        assert_eq!(offered(&seen, true), (true, false));
        assert_eq!(offered(&seen, false), (false, false));
        seen.verified = Some(Verified {
            at: String::new(),
            by: "ada".into(),
        });
        assert_eq!(offered(&seen, true), (false, true));
        assert_eq!(offered(&seen, false), (false, false));
        seen.verified = None;
        let at = GradedIteration {
            evolution_id: "e".into(),
            task_id: TaskId::new("t").unwrap(),
            sample: 1,
            iteration: 1,
        };
        let difference = Difference {
            at,
            what: Otherwise::Ran,
        };
        seen.verification = Some(found(vec![difference]));
        assert_eq!(offered(&seen, true), (false, false));
    }
}
