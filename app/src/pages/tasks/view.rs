use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::view::{SplitSummary, TaskState, TaskSummary};

use super::data::Found;
use crate::components::{Choice, Choices, Empty, Key, NextPage, Tag, Term, Tone};
use crate::format;
use crate::glossary::Word;
use crate::pages::matrix::matrix_href;
use crate::query::Query;

#[component]
pub fn TaskList(found: Found) -> impl IntoView {
    if found.page.items.is_empty() {
        return Either::Left(view! {
            <Empty title="No tasks yet" command="swe-ci dataset demo">
                <p>
                    "Tasks will be listed here with the tests that tell base and target apart. This command makes four small ones from the release histories of real packages; "
                    <code>"swe-ci dataset import"</code>
                    " takes a dataset in the official layout."
                </p>
            </Empty>
        });
    }
    let next = found
        .page
        .next
        .as_ref()
        .map(|after| href(found.split.as_deref(), Some(after)));
    let matrix = matrix_href(found.split.as_deref());
    let choices = choices(&found.splits, found.split.as_deref());
    let rows = found
        .page
        .items
        .into_iter()
        .map(|task| view! { <TaskRow task/> })
        .collect_view();
    Either::Right(view! {
        <div class="controls controls-plain">
            <Choices label="Split" choices/>
            <a class="controls-link" href=matrix>"How hard they are, and for whom"</a>
        </div>
        <Key words=Signal::stored(vec![Word::Task, Word::Base, Word::Target, Word::Gap])/>
        <div class="table-frame">
            <table class="list cards" role="table">
                <caption class="visually-hidden">"Tasks"</caption>
                <thead role="rowgroup">
                    <tr role="row">
                        <th role="columnheader" scope="col"><Term word=Word::Task text="Task"/></th>
                        <th role="columnheader" scope="col" class="number"><Term word=Word::Base text="Base"/></th>
                        <th role="columnheader" scope="col" class="number"><Term word=Word::Target text="Target"/></th>
                        <th role="columnheader" scope="col" class="number"><Term word=Word::Gap text="Gap"/></th>
                        <th role="columnheader" scope="col" class="number">"Commits"</th>
                        <th role="columnheader" scope="col" class="number">"Time between"</th>
                        <th role="columnheader" scope="col" class="number" title="How long the target's suite takes">"Suite"</th>
                    </tr>
                </thead>
                <tbody role="rowgroup">{rows}</tbody>
            </table>
        </div>
        <p class="footnote">"Base, target and gap are numbers of tests: those that pass, and those to be won."</p>
        <NextPage href=next/>
    })
}

fn href(split: Option<&str>, after: Option<&str>) -> String {
    let mut query = Query::default();
    query.add("split", split);
    query.add("after", after);
    format!("/tasks{}", query.0)
}

fn choices(splits: &[SplitSummary], chosen: Option<&str>) -> Vec<Choice> {
    let all = Choice {
        label: "all".into(),
        hint: "Tasks of every split".into(),
        href: Signal::stored(href(None, None)),
        chosen: Signal::stored(chosen.is_none()),
    };
    let one = |split: &SplitSummary| Choice {
        label: format!("{} · {}", split.name, split.tasks),
        hint: format!("{} of {} tasks can be run", split.ready, split.tasks),
        href: Signal::stored(href(Some(&split.name), None)),
        chosen: Signal::stored(chosen == Some(split.name.as_str())),
    };
    std::iter::once(all).chain(splits.iter().map(one)).collect()
}

#[component]
fn TaskRow(task: TaskSummary) -> impl IntoView {
    let unusable = match &task.state {
        TaskState::Ready => None,
        TaskState::Unusable { reason } => Some(view! {
            <Tag text="unusable".to_owned() tone=Tone::Warn/>
            <small>{reason.clone()}</small>
        }),
    };
    view! {
        <tr role="row">
            <th role="rowheader" scope="row" class="col-model">
                <a href=format!("/tasks/{}", task.task_id)>{task.task_id.to_string()}</a>
                <small>{task.repo}</small>
                {unusable}
            </th>
            <td role="cell" class="number" data-label="Base">{format::thousands(task.base_passed)}</td>
            <td role="cell" class="number" data-label="Target">{format::thousands(task.target_passed)}</td>
            <td role="cell" class="number strong" data-label="Gap">{format::thousands(task.gap)}</td>
            <td role="cell" class="number" data-label="Commits">{format::thousands(task.commits)}</td>
            <td role="cell" class="number" data-label="Time between">{format::span(task.span_days)}</td>
            <td role="cell" class="number" data-label="Suite">{format::seconds(task.suite_seconds)}</td>
        </tr>
    }
}
