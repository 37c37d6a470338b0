//! The review queue of runs that others submitted.

use leptos::prelude::*;
use swe_ci_core::text::visible;
use swe_ci_views::account::AccountRole;
use swe_ci_views::submitted::{ReviewState, SubmittedRun};

use crate::components::{
    CollectAny, Confirmation, Field, Form, FormAnswer, ItemTable, OneOf, PageTop, PostForm, Time,
    fetched, loaded,
};
use crate::context::Reader;
use crate::error::AppError;
use crate::pages::routes::run_href;

/// The values of `done=` and their messages.
const DONE: [(&str, &str); 2] = [
    ("published", "The run is published, and takes its rank."),
    ("refused", "The run is refused; its submitter sees why."),
];

async fn submissions() -> Result<Vec<SubmittedRun>, AppError> {
    Ok(crate::error::engine()?.submitted_runs().await?)
}

#[component]
pub fn SubmissionsPage() -> impl IntoView {
    let form = Form::new("publish", FormAnswer::of_page());
    let resource = fetched(|| (), |()| submissions());
    view! {
        <PageTop
            title="Submissions"
            description="Runs that others submitted, with what the checks of this site say about them."
            lede="Runs made elsewhere, sent here by “swe-ci submit”. The site tests a sample again and audits the code; a run has a rank only when an administrator has published it."
            missing=true
        />
        <Confirmation known=&DONE/>
        {loaded(resource, move |runs| view! { <Queue runs form/> })}
    }
}

#[component]
fn Queue(runs: Vec<SubmittedRun>, form: Form) -> impl IntoView {
    let admin = Reader::at_hand().is(AccountRole::Admin);
    let options = |wanted: &dyn Fn(&SubmittedRun) -> bool| {
        let shown = runs
            .iter()
            .filter(|run| admin && run.decision.is_none() && wanted(run));
        let option = |run: &SubmittedRun| {
            let text = format!("{} by {}, {}", run.model, run.account, run.run_id);
            (run.run_id.clone(), text)
        };
        shown.map(option).collect::<Vec<_>>()
    };
    let passed = options(&|run| run.state == ReviewState::InReview);
    let undecided = options(&|_| true);
    let publish = (!passed.is_empty()).then(|| {
        view! {
            <PostForm form action="/submissions" button="Publish">
                <OneOf form name="run" label="Run that passed its checks" options=passed hint="It takes its rank, marked as verified."/>
            </PostForm>
        }
    });
    let refuse = (!undecided.is_empty()).then(|| {
        let form = form.named("refuse");
        view! {
            <PostForm form action="/submissions" button="Refuse">
                <OneOf form name="refused" label="Run to refuse" options=undecided hint="It stays private."/>
                <Field form name="reason" label="Reason" hint="1 to 500 characters, for its submitter."/>
            </PostForm>
        }
    });
    view! {
        <ItemTable
            caption="Submitted runs, the latest first"
            columns=&["Run", "Split", "By", "Received", "State", "Checks"]
            items=runs
            row=row
            none="Nothing was submitted yet. “swe-ci submit” sends a finished run of another installation here."
        />
        {publish}
        {refuse}
    }
}

fn row(run: SubmittedRun) -> impl IntoView {
    let state = match run.refusal() {
        Some(why) => format!("{}: {}", run.state.name(), visible(&why)),
        None => run.state.name().to_owned(),
    };
    let checks = run.verdicts.iter().map(|verdict| {
        let (check, state) = (verdict.check.name(), verdict.state.name());
        let text = format!("{check} {state}: {}", visible(&verdict.text));
        view! { <li>{text}</li> }
    });
    let checks = checks.collect_any();
    view! {
        <tr role="row">
            <th role="rowheader" scope="row"><a href=run_href(&run.run_id)>{run.model}</a></th>
            <td role="cell" data-label="Split">{run.split}</td>
            <td role="cell" data-label="By">{run.account}</td>
            <td role="cell" data-label="Received"><Time at=Some(run.received_at)/></td>
            <td role="cell" data-label="State">{state}</td>
            <td role="cell" data-label="Checks"><ul>{checks}</ul></td>
        </tr>
    }
}
