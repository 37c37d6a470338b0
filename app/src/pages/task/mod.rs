//! One task: its history, its tests, and the models' results on it.

mod data;
mod prepared;
mod results;

use leptos::prelude::*;
use swe_ci_views::dataset::SplitSource;
use swe_ci_views::task_results::FirstRequirements;
use swe_ci_views::view::{Commit, TaskState, TaskTest};

use self::data::{PageData, Reading, whole_task};
pub(crate) use self::prepared::PreparationFacts;
use self::prepared::{GapByFile, Prepared};
use self::results::ModelResults;
use crate::components::CollectAny;
use crate::components::{
    Choice, Choices, InPlace, PageTop, Tag, Term, Tone, crumb, fact, fetched, loaded,
};
use crate::format;
use crate::glossary::Word;
use crate::pages::iteration::Requirements;
use crate::pages::routes::{evolution_href, tasks_href};
use crate::query::{of_query, path_part};

#[component]
pub fn TaskPage() -> impl IntoView {
    let (id, reading) = (path_part("id"), of_query(Reading::of));
    let resource = fetched(move || (id.get(), reading.get().split), whole_task);
    loaded(
        resource,
        move |whole| view! { <InPlace/><TaskView whole reading/> },
    )
}

/// The longest list of tests; the API has all.
const MOST_TESTS: usize = 2_000;

#[component]
fn TaskView(whole: PageData, #[prop(into)] reading: Signal<Reading>) -> impl IntoView {
    let PageData {
        detail,
        results,
        splits: listed,
    } = whole;
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
    let splits = splits.collect_any();
    let others = detail.other_revisions.into_iter().map(|other| {
        let there = Reading {
            split: Some(other.split.clone()),
            ..Reading::default()
        };
        let there = there.href(&id);
        let ends = format!(": {} → {}.", other.base_sha, other.target_sha);
        view! {
            <p class="note">
                <a href=tasks_href(&other.split)>{other.split.clone()}</a>" lists another "
                <Term word=Word::Revision text="revision"/>" (" <a href=there>"show it"</a> ")"{ends}
            </p>
        }
    });
    let others = others.collect_any();
    let (counted, known) = (summary.has_counts(), summary.is_prepared());
    let of_counted = |text: String| format::or_dash(counted.then_some(text));
    let of_known = |text: String| format::or_dash(known.then_some(text));
    let difficulty = summary.difficulty.map(|difficulty| {
        [
            fact("Solved by", format!("{} runs", difficulty.solved())),
            fact("Mean EvoScore", format::score(difficulty.evoscore)),
        ]
        .collect_any()
    });
    let from_results = summary.from_results.then(|| {
        view! {
            <p class="note">"Its tests were not counted here: base, target and gap are as results have them."</p>
        }
    });
    let sources = listed.into_iter().map(|split| {
        let source = SplitSource::text(split.source.as_ref());
        fact(format!("Split {}", split.summary.name), source)
    });
    let sources = sources.collect_any();
    let first = detail.first_requirements;
    let first = first.map(|first| view! { <FirstAsked task=id.clone() first/> });
    let extra = detail.extra.into_iter();
    let extra = extra.map(|(name, value)| fact(name, value));
    view! {
        <PageTop
            title=id.clone()
            description=format!("{}: {} tests between base and target, {} commits of {}.", id, summary.gap, summary.commits, summary.repo)
            crumbs=vec![crumb("/tasks", "Tasks")]
        >
            <p class="tags">{splits}</p>
            <p class="lede">{summary.repo}</p>
        </PageTop>
        {unusable}
        {others}
        {from_results}
        <dl class="facts">
            {difficulty}
            <div><dt><Term word=Word::Base text="Base"/>" passes"</dt><dd>{of_counted(format::count(summary.base_passed, "test"))}</dd></div>
            <div><dt><Term word=Word::Target text="Target"/>" passes"</dt><dd>{of_counted(format::count(summary.target_passed, "test"))}</dd></div>
            <div><dt><Term word=Word::Gap text="Gap"/></dt><dd>{of_counted(format::count(summary.gap, "test"))}</dd></div>
            <div><dt>"Commits between"</dt><dd>{of_known(format::thousands(summary.commits))}</dd></div>
            <div><dt>"Time between"</dt><dd>{of_known(format::span(summary.span_days))}</dd></div>
            <div><dt>"Suite takes"</dt><dd>{of_known(format::seconds(summary.suite_seconds))}</dd></div>
        </dl>
        <History history=detail.history base=summary.base_sha.clone() target=summary.target_sha.clone()/>
        <GapByFile tests=&detail.tests/>
        <Prepared preparation=detail.preparation gap=summary.gap target_passed=summary.target_passed contradictions=detail.contradictions/>
        <Tests id=id.clone() tests=detail.tests reading/>
        <ModelResults task=id.clone() splits=detail.splits results reading/>
        {first}
        <section class="recorded" aria-labelledby="recorded-title">
            <h2 id="recorded-title">"Origin"</h2>
            <dl class="record">
                <div><dt>"Base commit"</dt><dd><code>{summary.base_sha}</code></dd></div>
                <div><dt>"Target commit"</dt><dd><code>{summary.target_sha}</code></dd></div>
                <div><dt>"Test command"</dt><dd>{detail.test_command.to_string()}</dd></div>
                <div><dt>"Image digest"</dt><dd><code>{detail.image_digest}</code></dd></div>
                {sources}
                {extra.collect_any()}
            </dl>
            <p><a href=format!("/api/v1/tasks/{id}")>"All data as JSON"</a></p>
        </section>
    }
}

/// The requirements of the best run's architect in its first iteration.
#[component]
fn FirstAsked(task: String, first: FirstRequirements) -> impl IntoView {
    let evolution = evolution_href(&first.run_id, &task, first.sample);
    let nothing = Callback::new(|_| String::new());
    view! {
        <section aria-labelledby="asked-title">
            <h2 id="asked-title">"First requirements"</h2>
            <p class="quiet">
                "What the architect asked for first in the best run: "
                <a href=evolution>{first.model}</a>
            </p>
            <Requirements requirements=first.requirements gained=Vec::new() lost=Vec::new() href=nothing imported=false/>
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
            <ol class="history">{start.into_iter().chain(history).map(item).collect_any()}</ol>
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
        let href = move || {
            let mut reading = reading.get();
            reading.all_tests = all_tests;
            reading.href(&id)
        };
        Choice::new(label, hint, href, move || all.get() == all_tests)
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
            <ul class="test-list test-list-tall" tabindex="0" aria-labelledby="tests-title">{move || shown.get().into_iter().map(item).collect_any()}</ul>
            {cut}
        </section>
    }
}
