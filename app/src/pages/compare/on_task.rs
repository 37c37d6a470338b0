//! Two runs on one task: both courses in one chart, then an iteration of each,
//! one beside the other.

use leptos::either::Either;
use leptos::prelude::*;
use leptos_router::params::ParamsMap;
use swe_ci_core::run::Kind;
use swe_ci_core::text::visible;
use swe_ci_views::inspection::{CodeChange, Inspection};
use swe_ci_views::leaderboard::TaskCourses;
use swe_ci_views::view::{EvolutionDetail, EvolutionView};

use super::data::{compare, looks_of};
use super::names::{Letter, Name};
use super::query::CompareQuery;
use super::task_curves::CourseOfTask;
use super::title;
use crate::components::{CollectAny, InPlace, PageTop, Tag, crumb, fetched, loaded};
use crate::error::AppError;
use crate::format;
use crate::labels;
use crate::pages::evolution::{evolution, inspect};
use crate::pages::iteration::{ChangedTests, Requirements, Strip, summary};
use crate::pages::routes::{evolution_href, iteration_href, task_href, test_href};
use crate::query::{encode, of_address};

/// How many changed files of an iteration are listed; its own page has all.
const FILES: u32 = 8;

#[component]
pub fn TaskComparisonPage() -> impl IntoView {
    let address = of_address(Address::of);
    let resource = fetched(move || address.get(), find);
    loaded(resource, |found| view! { <InPlace/><OnTask found/> })
}

#[derive(Debug, Clone, PartialEq)]
struct Address {
    task: String,
    query: CompareQuery,
    /// By default the first that lost tests.
    iteration: Option<u32>,
}

impl Address {
    fn of(params: &ParamsMap, query: &ParamsMap) -> Self {
        let task = params.get("task").unwrap_or_default();
        Self {
            iteration: query.get_str("iteration").and_then(|n| n.parse().ok()),
            query: CompareQuery {
                task: Some(task.clone()),
                snapshot: None,
                ..CompareQuery::of(query)
            },
            task,
        }
    }

    fn href(&self, iteration: u32) -> String {
        on_task_href(&self.task, &self.query) + &format!("&iteration={iteration}#iteration")
    }
}

/// The page of two runs on a task.
pub(super) fn on_task_href(task: &str, query: &CompareQuery) -> String {
    let query = CompareQuery {
        task: None,
        baseline: None,
        snapshot: None,
        only_significant: false,
        ..query.clone()
    };
    query
        .href()
        .replacen("/compare", &format!("/compare/{}", encode(task)), 1)
}

struct Found {
    address: Address,
    courses: TaskCourses,
    runs: Vec<(Name, EvolutionDetail, Option<Inspection>)>,
    iteration: u32,
}

async fn find(address: Address) -> Result<Found, AppError> {
    if address.query.runs.len() != 2 {
        return Err(AppError::not_found(
            "This page takes two runs of one split.",
        ));
    }
    let mut versus = compare(&address.query).await?;
    let missing = || AppError::not_found("These two runs have no scored evolution of this task.");
    let courses = versus.task.take().ok_or_else(missing)?;
    let looks = looks_of(&versus, None).await?;
    let names = Name::all(&versus.runs, &looks);
    let mut details = Vec::new();
    for name in &names {
        details.push(evolution(name.run_id.clone(), address.task.clone(), 1).await?);
    }
    let all = details.iter().flat_map(|detail| &detail.view.iterations);
    let losses = all.filter(|one| one.verdict.lost() > 0);
    let first = losses.map(|one| one.iteration).min();
    let iteration = address.iteration.or(first).unwrap_or(1);
    let mut runs = Vec::new();
    for (name, detail) in names.into_iter().zip(details) {
        let (run, task) = (name.run_id.clone(), address.task.clone());
        let inspection = inspect(run, task, 1, iteration).await?;
        runs.push((name, detail, inspection));
    }
    Ok(Found {
        address,
        courses,
        runs,
        iteration,
    })
}

#[component]
fn OnTask(found: Found) -> impl IntoView {
    let Found {
        address,
        courses,
        runs,
        iteration,
    } = found;
    let names: Vec<Name> = runs.iter().map(|(name, ..)| name.clone()).collect();
    let models = title(&names);
    let task = address.task.clone();
    let whole = CompareQuery {
        task: None,
        ..address.query.clone()
    };
    let href = Callback::new(move |n: u32| address.href(n));
    let columns = runs.into_iter().map(|(name, detail, inspection)| {
        view! { <Column name detail inspection iteration href/> }
    });
    view! {
        <PageTop
            title=format!("{models} on {task}")
            description=format!("How {models} evolved {task}, iteration by iteration: requirements, changes, tests gained and lost.")
            crumbs=vec![crumb(whole.href(), "Compare runs"), crumb(task_href(&task), &task)]
            heading=models.clone()
        />
        <CourseOfTask task=courses names/>
        <section id="iteration" aria-labelledby="iteration-title">
            <h2 id="iteration-title">{format!("Iteration {iteration}")}</h2>
            <div class="two-runs">{columns.collect_any()}</div>
        </section>
    }
}

#[component]
fn Column(
    name: Name,
    detail: EvolutionDetail,
    inspection: Option<Inspection>,
    iteration: u32,
    href: Callback<u32, String>,
) -> impl IntoView {
    let EvolutionDetail { view, kind, .. } = detail;
    let task = view.task_id.to_string();
    let whole = evolution_href(&name.run_id, &task, 1);
    let label = format!("Passing tests of {} by iteration", name.labelled());
    let body = match inspection {
        Some(inspection) => Either::Left(view! {
            <Inspected inspection evolution=view.clone() run_id=name.run_id.clone() kind/>
        }),
        None => Either::Right(view! { <p class="note">{ended(&view)}</p> }),
    };
    view! {
        <section>
            <h3><Letter letter=name.letter series=name.series/>" "<a href=whole>{name.model}</a></h3>
            <Strip number=iteration iterations=view.iterations.clone() suite=view.suite href label/>
            {body}
        </section>
    }
}

/// "It had ended: solved after 7 iterations."
fn ended(evolution: &EvolutionView) -> String {
    let iterations = format::count(evolution.iterations.len(), "iteration");
    format!(
        "Nothing here: {} after {iterations}.",
        labels::standing(evolution).0
    )
}

#[component]
fn Inspected(
    inspection: Inspection,
    evolution: EvolutionView,
    run_id: String,
    kind: Kind,
) -> impl IntoView {
    let (suite, task) = (evolution.suite, evolution.task_id.to_string());
    let failures = inspection.failures();
    let iteration = inspection.iteration;
    let own = iteration_href(&run_id, &inspection.evolution_id, iteration.view.iteration);
    let (sign, word, tone) = labels::verdict(&iteration.view, suite.target);
    let collapse = iteration.view.collapse.map(|why| {
        let why = visible(&why).into_owned();
        view! { <p class="note" data-tone="bad">{why}</p> }
    });
    let test = Callback::new(move |node: String| test_href(&run_id, &task, 1, &node));
    view! {
        <p class="tags">
            <Tag text=format!("{sign} {word}") tone/>
            <a href=own>"All of this iteration"</a>
        </p>
        {collapse}
        <h4>"Requirements"</h4>
        <Requirements
            requirements=iteration.requirements
            gained=iteration.gained_tests.clone()
            lost=iteration.lost_tests
            href=test
            imported=kind == Kind::Imported
        />
        <h4>"Changes"</h4>
        {changes(inspection.code)}
        <h4>"Tests"</h4>
        <ChangedTests
            gained=iteration.gained_tests
            lost=failures
            changed=inspection.changed
            counts_only=suite.counts_only
            href=test
        />
    }
}

/// The size of a change and its files, by name.
fn changes(code: CodeChange) -> AnyView {
    let diff = match code {
        CodeChange::Known(diff) => diff,
        CodeChange::NotRecorded => return "Unknown: the results came without the code.".into_any(),
        CodeChange::Unreadable(why) => return why.into_any(),
    };
    let words = summary(&diff);
    let more = diff.changed().saturating_sub(FILES);
    let more = (more > 0)
        .then(|| view! { <li>{format!("and {}", format::count(more, "other file"))}</li> });
    let file = |file: &swe_ci_core::diff::FileDiff| {
        let counts = format!(" {}", format::added_deleted(file.added, file.removed));
        view! { <li><code>{visible(&file.path).into_owned()}</code>{counts}</li> }
    };
    let files = diff
        .files
        .iter()
        .take(FILES as usize)
        .map(file)
        .collect_any();
    view! { <p class="quiet">{words}</p><ul class="names">{files}{more}</ul> }.into_any()
}
