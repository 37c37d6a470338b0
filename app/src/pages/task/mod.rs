//! One task: its history, its tests, and the models' results on it.

mod data;
mod gap;
mod prepared;
mod results;

use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};
use swe_ci_views::view::{Commit, TaskState, TaskTest};

use self::data::{PageData, Reading, whole_task};
use self::gap::GapByFile;
use self::prepared::Prepared;
use self::results::ModelResults;
use crate::components::{Choice, Choices, PageHead, Tag, Term, Tone, loaded};
use crate::fetched::fetched;
use crate::format;
use crate::glossary::Word;
use crate::pages::routes::tasks_href;

#[component]
pub fn TaskPage() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    let id = Memo::new(move |_| params.with(|p| p.get("id").unwrap_or_default()));
    let reading = Memo::new(move |_| query.with(Reading::of));
    let resource = fetched(move || id.get(), whole_task);
    loaded(resource, move |whole| view! { <TaskView whole reading/> })
}

/// The longest list of tests; the API has all.
const MOST_TESTS: usize = 2_000;

#[component]
fn TaskView(whole: PageData, #[prop(into)] reading: Signal<Reading>) -> impl IntoView {
    let PageData { detail, results } = whole;
    let summary = detail.summary;
    let id = summary.task_id.to_string();
    let unusable = match summary.state.clone() {
        TaskState::Ready => None,
        TaskState::Unusable { reason } => Some(view! {
            <p class="note" data-tone="warn">"This task cannot be run: "{reason}</p>
        }),
    };
    let splits = detail.splits.iter().map(|split| {
        view! { <a class="tag-link" href=tasks_href(split)><Tag text=split.clone()/></a> }
    });
    let extra = detail.extra.into_iter().map(|(name, value)| {
        view! { <div><dt>{name}</dt><dd>{value}</dd></div> }
    });
    view! {
        <PageHead
            title=id.clone()
            description=format!("{}: {} tests between base and target, {} commits of {}.", id, summary.gap, summary.commits, summary.repo)
        />
        <nav class="crumbs" aria-label="Where this is"><a href="/tasks">"Tasks"</a></nav>
        <div class="hero">
            <h1>{id.clone()}</h1>
            <p class="tags">{splits.collect_view()}</p>
            <p class="lede">{summary.repo.clone()}</p>
        </div>
        {unusable}
        <dl class="facts">
            <div><dt><Term word=Word::Base text="Base"/>" passes"</dt><dd>{format::count(summary.base_passed, "test")}</dd></div>
            <div><dt><Term word=Word::Target text="Target"/>" passes"</dt><dd>{format::count(summary.target_passed, "test")}</dd></div>
            <div><dt><Term word=Word::Gap text="Gap"/></dt><dd>{format::count(summary.gap, "test")}</dd></div>
            <div><dt>"Commits between"</dt><dd>{format::thousands(summary.commits)}</dd></div>
            <div><dt>"Time between"</dt><dd>{format::span(summary.span_days)}</dd></div>
            <div><dt>"Suite takes"</dt><dd>{format::seconds(summary.suite_seconds)}</dd></div>
        </dl>
        <History history=detail.history base=summary.base_sha.clone() target=summary.target_sha.clone()/>
        <GapByFile tests=&detail.tests/>
        <Prepared preparation=detail.preparation/>
        <Tests id=id.clone() tests=detail.tests reading/>
        <ModelResults task=id.clone() splits=detail.splits results reading/>
        <section class="recorded" aria-labelledby="recorded-title">
            <h2 id="recorded-title">"Origin"</h2>
            <dl class="record">
                <div><dt>"Base commit"</dt><dd><code>{summary.base_sha}</code></dd></div>
                <div><dt>"Target commit"</dt><dd><code>{summary.target_sha}</code></dd></div>
                <div><dt>"Image digest"</dt><dd><code>{detail.image_digest}</code></dd></div>
                {extra.collect_view()}
            </dl>
            <p><a href=format!("/api/v1/tasks/{id}") rel="external">"All data as JSON"</a></p>
        </section>
    }
}

/// The commits from base to target; the base may be known by name only.
#[component]
fn History(history: Vec<Commit>, base: String, target: String) -> impl IntoView {
    let start = (!history.iter().any(|c| c.sha == base)).then(|| Commit {
        sha: base.clone(),
        date: String::new(),
        subject: "where every evolution starts".to_owned(),
    });
    let item = |commit: Commit| {
        let ends = [("base", &base), ("target", &target)];
        let end = ends.into_iter().find(|(_, sha)| **sha == commit.sha);
        view! {
            <li>
                {(!commit.date.is_empty()).then(|| view! { <span class="commit-date">{format::day(&commit.date)}</span> })}
                <code class="commit-sha">{format::short(&commit.sha)}</code>
                <span class="commit-subject">{commit.subject}</span>
                {end.map(|(end, _)| view! { <Tag text=end.to_owned() tone=Tone::Accent/> })}
            </li>
        }
    };
    view! {
        <section aria-labelledby="history-title">
            <h2 id="history-title">"History"</h2>
            <ol class="history">{start.into_iter().chain(history).map(item).collect_view()}</ol>
        </section>
    }
}

#[component]
fn Tests(id: String, tests: Vec<TaskTest>, reading: Signal<Reading>) -> impl IntoView {
    let all = Memo::new(move |_| reading.with(|r| r.all_tests));
    let in_gap = |test: &TaskTest| test.base != "passed";
    let gap = tests.iter().filter(|t| in_gap(t)).count();
    let choice = |all_tests, label: String, hint: &str| {
        let id = id.clone();
        Choice {
            label,
            hint: hint.to_owned(),
            href: Signal::derive(move || {
                let reading = reading.get();
                Reading {
                    all_tests,
                    ..reading
                }
                .href(&id)
            }),
            chosen: Signal::derive(move || all.get() == all_tests),
        }
    };
    let of_gap = "Tests the target passes and the base does not";
    let choices = vec![
        choice(false, format!("gap · {gap}"), of_gap),
        choice(
            true,
            format!("all · {}", tests.len()),
            "Every test the target passes",
        ),
    ];
    let tests = StoredValue::new(tests);
    let shown = Memo::new(move |_| {
        let all = all.get();
        tests.with_value(|tests| {
            let wanted = tests.iter().filter(|t| all || in_gap(t));
            wanted.take(MOST_TESTS).cloned().collect::<Vec<_>>()
        })
    });
    let item = |test: TaskTest| {
        view! { <li><code>{test.node_id}</code><span class="test-base" data-base=test.base.clone()>{test.base.clone()}</span></li> }
    };
    let cut = move || {
        let is_cut = shown.with(Vec::len) == MOST_TESTS;
        is_cut.then(|| view! { <p class="quiet">{format!("The first {MOST_TESTS}; the JSON has all.")}</p> })
    };
    view! {
        <section aria-labelledby="tests-title">
            <h2 id="tests-title">"Tests"</h2>
            <p class="quiet">"The tests the target passes, and what each does on the base."</p>
            <div class="controls controls-plain"><Choices label="Show" choices/></div>
            <ul class="test-list test-list-tall" tabindex="0" aria-labelledby="tests-title">{move || shown.get().into_iter().map(item).collect_view()}</ul>
            {cut}
        </section>
    }
}
