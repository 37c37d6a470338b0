//! The tasks of one split or all: filtered, sorted, and their distributions.

mod data;
mod filters;

use leptos::either::{Either, EitherOf3};
use leptos::prelude::*;
use swe_ci_views::browse::{Between, ListOrder, Size, Spread};
use swe_ci_views::task_results::{Difficulty, RunOnTask};
use swe_ci_views::view::{SplitSummary, TaskState, TaskSummary};

use self::data::{Found, TasksQuery, browse};
use self::filters::Filters;
use crate::components::CollectAny;
use crate::components::split_choices;
use crate::components::{
    CardTable, Choice, Choices, Empty, InPlace, Key, NextPage, PageTop, SpreadChart, Tag, Term,
    Tone, fetched, loaded,
};
use crate::format;
use crate::glossary::Word;
use crate::pages::routes::{dataset_href, evolution_href, matrix_href, task_href};
use crate::query::of_query;

#[component]
pub fn TasksPage() -> impl IntoView {
    let query = of_query(TasksQuery::of);
    let resource = fetched(move || query.get(), browse);
    view! {
        <PageTop
            title="Tasks"
            description="The tasks of the benchmark: real repositories between two commits, and the tests that tell them apart."
            lede="A task is a real repository at two points of its history, the base and the target. The gap, which an agent has to close, is the tests that pass on the target but not on the base."
        />
        <InPlace/>
        {loaded(resource, move |found| view! { <TaskList query=query.get_untracked() found/> })}
    }
}

#[component]
fn TaskList(query: TasksQuery, found: Found) -> impl IntoView {
    if found.all == 0 {
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
    let matrix = matrix_href(query.split.as_deref());
    let dataset = query.split.as_deref().map(dataset_href);
    let dataset = dataset.unwrap_or_else(|| "/datasets".to_owned());
    let choices = choices(&found.splits, &query);
    let mut words = vec![Word::Task];
    if found
        .page
        .items
        .iter()
        .any(|task| Size::Gap.of(task).is_some())
    {
        words.push(Word::Gap);
    }
    Either::Right(view! {
        <div class="controls controls-plain">
            <Choices label="Split" choices/>
            <a class="controls-link" href=dataset>"About the dataset"</a>
            <a class="controls-link" href=matrix>"How hard they are, and for whom"</a>
        </div>
        <Filters query=&query found=&found/>
        <Spreads query=query.clone() spreads=found.spreads.clone()/>
        <Key words=Signal::stored(words)/>
        <Rows query found/>
    })
}

#[component]
fn Spreads(query: TasksQuery, spreads: Vec<Spread>) -> impl IntoView {
    let narrowed = Callback::new(move |(size, from, to): (Size, f64, f64)| {
        let range = Between { from, to };
        let narrowed = query.with(|query| {
            query.filter.sizes.insert(size, range);
        });
        narrowed.href()
    });
    // A single task has no distribution.
    let spreads = spreads.into_iter().filter(|spread| spread.tasks > 1);
    let charts = spreads.map(|spread| view! { <SpreadChart spread href=narrowed/> });
    view! { <div class="spreads">{charts.collect_any()}</div> }
}

#[component]
fn Rows(query: TasksQuery, found: Found) -> impl IntoView {
    if found.page.items.is_empty() {
        let everything = TasksQuery {
            split: query.split,
            ..TasksQuery::default()
        };
        let all = view! { <a href=everything.href()>"Show all of them"</a> };
        return Either::Left(view! { <p class="note">"No task matches. "{all}</p> });
    }
    let next = found.page.next;
    let next = next.map(|after| query.with(|query| query.after = Some(after)).href());
    let all = format::count(found.all, "task");
    let shown = match found.found == found.all {
        true => all,
        false => format!("{} of {all}", format::thousands(found.found)),
    };
    let sorted = match query.order {
        ListOrder::Listed => None,
        ListOrder::Smallest(size) | ListOrder::Largest(size) => Some(size),
    };
    let is_known = |size: Size| found.page.items.iter().any(|task| size.of(task).is_some());
    let columns = COLUMNS.into_iter();
    let columns: Vec<Size> = columns
        .filter(|size| is_known(*size) || sorted == Some(*size))
        .collect();
    let head = |size: &Size| view! { <Head query=&query size=*size/> };
    let heads = columns.iter().map(head).collect_any();
    let heads = view! {
        <th role="columnheader" scope="col"><Term word=Word::Task text="Task"/></th>
        {heads}
    }
    .into_any();
    let from_results = found.page.items.iter().any(|task| task.from_results);
    let scored = columns.contains(&Size::Solved);
    let reason = common_reason(&found.page.items);
    let why = reason.as_ref().map(|reason| {
        view! {
            <p class="note" data-tone="warn">
                <strong>"None of these tasks can be run. "</strong>
                {format::capital(reason)}
                "."
            </p>
        }
    });
    let explained = reason.is_some();
    let row = |task| view! { <TaskRow task columns=columns.clone() explained/> };
    let rows = found.page.items.into_iter().map(row).collect_any();
    Either::Right(view! {
        {why}
        <p class="quiet" role="status">{shown}</p>
        <CardTable class="list cards tasks" caption="Tasks" heads>{rows}</CardTable>
        <p class="footnote">
            "Base and target are numbers of passing tests, and gap of tests to gain."
            {from_results.then_some(" Of tasks that were not prepared here, these are as results have them.")}
            {scored.then_some(" Solved and EvoScore are over the runs with a rank, at γ = 1.")}
            " Lines are those added and deleted between the two."
        </p>
        <NextPage href=next/>
    })
}

/// Why none of several tasks can be run, if it is the same for all.
fn common_reason(tasks: &[TaskSummary]) -> Option<String> {
    let reason = |task: &TaskSummary| match &task.state {
        TaskState::Unusable { reason } => Some(reason.clone()),
        TaskState::Ready => None,
    };
    let (first, others) = tasks.split_first()?;
    let first = reason(first)?;
    let same = |task: &TaskSummary| reason(task).as_ref() == Some(&first);
    (!others.is_empty() && others.iter().all(same)).then_some(first)
}

/// The columns after the name, those that matter most first. One of which nothing is
/// known is left away.
const COLUMNS: [Size; 9] = [
    Size::Solved,
    Size::Score,
    Size::Gap,
    Size::Tests,
    Size::Contradicted,
    Size::Days,
    Size::Commits,
    Size::Lines,
    Size::Suite,
];

fn heading(size: Size) -> (&'static str, Option<Word>) {
    match size {
        Size::Solved => ("Solved by", Some(Word::Solved)),
        Size::Score => ("EvoScore", Some(Word::EvoScore)),
        Size::Gap => ("Gap", Some(Word::Gap)),
        Size::Tests => ("Base → target", None),
        Size::Contradicted => ("Contradicted", None),
        Size::Days => ("Time between", None),
        Size::Commits => ("Commits", None),
        Size::Lines => ("Lines", None),
        Size::Suite => ("Suite", None),
    }
}

/// Columns for which a narrow screen has no room: the page of the task has them.
fn class(size: Size) -> &'static str {
    match size {
        Size::Commits | Size::Lines | Size::Suite => "number minor",
        Size::Gap => "number strong",
        _ => "number",
    }
}

fn figure(task: &TaskSummary, size: Size) -> String {
    let words = |value: f64| match size {
        Size::Solved => {
            let solved = task.difficulty.as_ref().map(Difficulty::solved);
            format::or_dash(solved)
        }
        Size::Score => format::score(value),
        Size::Contradicted => format::percent(value),
        Size::Tests => format!(
            "{} → {}",
            format::thousands(task.base_passed),
            format::thousands(task.target_passed)
        ),
        Size::Days => format::span(value),
        Size::Suite => format::seconds(value),
        Size::Gap | Size::Commits | Size::Lines => format::thousands(value as u64),
    };
    format::or_dash(size.of(task).map(words))
}

/// The evolutions of the best and the worst run on a task.
#[component]
fn Extremes(task: String, difficulty: Difficulty) -> impl IntoView {
    let Difficulty { best, worst, .. } = difficulty;
    let link = |text: &'static str, run: RunOnTask| {
        let score = format::score(run.evoscore);
        // Voice control matches the visible text, so the label starts with it.
        let label = format!("{text} {score}: how {} went on {task}", run.model);
        let href = evolution_href(&run.run_id, &task, 1);
        view! { <a href=href aria-label=label>{format!("{text} {score}")}</a> " " }
    };
    let worst = (worst.run_id != best.run_id).then(|| link("worst", worst));
    view! { <small class="extremes">{link("best", best)}{worst}</small> }
}

/// The heading of a column that sorts the list: descending first, reversed on
/// the second click.
#[component]
fn Head<'a>(query: &'a TasksQuery, size: Size) -> impl IntoView + use<> {
    let (text, word) = heading(size);
    let (order, sorted, mark) = match query.order {
        ListOrder::Largest(by) if by == size => {
            (ListOrder::Smallest(size), Some("descending"), "↓")
        }
        ListOrder::Smallest(by) if by == size => (ListOrder::Listed, Some("ascending"), "↑"),
        _ => (ListOrder::Largest(size), None, "↕"),
    };
    let how = match order {
        ListOrder::Largest(_) => format!("Sort by {text}, largest first"),
        ListOrder::Smallest(_) => format!("Sort by {text}, smallest first"),
        ListOrder::Listed => "In the order of the split".to_owned(),
    };
    let href = query.with(|query| query.order = order).href();
    view! {
        <th role="columnheader" scope="col" class=class(size) aria-sort=sorted>
            {match word {
                Some(word) => Either::Left(view! { <Term word text/> }),
                None => Either::Right(text),
            }}
            <a class="sort" href=href title=how.clone() aria-label=how>{mark}</a>
        </th>
    }
}

fn choices(splits: &[SplitSummary], query: &TasksQuery) -> Vec<Choice> {
    let (all, chosen) = (query.clone(), query.split.as_deref());
    let of = move |split: Option<&str>| {
        all.with(|query| query.split = split.map(str::to_owned))
            .href()
    };
    let all = Choice {
        label: "all".into(),
        hint: "Tasks of every split".into(),
        href: Signal::stored(of(None)),
        chosen: Signal::stored(chosen.is_none()),
    };
    let each = split_choices(splits, chosen.unwrap_or_default(), move |name| {
        of(Some(name))
    });
    std::iter::once(all).chain(each).collect()
}

#[component]
fn TaskRow(
    task: TaskSummary,
    columns: Vec<Size>,
    /// A sentence above all rows says why none can be run.
    explained: bool,
) -> impl IntoView {
    let state = match (&task.state, task.findings) {
        (TaskState::Unusable { .. }, _) if explained => EitherOf3::B(()),
        (TaskState::Unusable { reason }, _) => EitherOf3::A(view! {
            <Tag text="unusable".to_owned() tone=Tone::Warn/>
            <small>{reason.clone()}</small>
        }),
        (TaskState::Ready, 0) => EitherOf3::B(()),
        (TaskState::Ready, n) => EitherOf3::C(view! { <Tag text=format::count(n, "finding")/> }),
    };
    let cell = |size: Size| {
        let extremes = task.difficulty.clone().filter(|_| size == Size::Score);
        let extremes = extremes.map(|difficulty| {
            view! { <Extremes task=task.task_id.to_string() difficulty/> }
        });
        view! {
            <td role="cell" class=class(size) data-label=heading(size).0>{figure(&task, size)}{extremes}</td>
        }
    };
    let cells = columns.into_iter().map(cell).collect_any();
    view! {
        <tr role="row">
            <th role="rowheader" scope="row" class="col-model">
                <a href=task_href(task.task_id.as_str())>{task.task_id.to_string()}</a>
                <small>{task.repo}{task.licence.map(|licence| format!(" · {licence}"))}</small>
                {state}
            </th>
            {cells}
        </tr>
    }
}
