//! Every task against every run: which tasks are hard, and for whom.

mod query;
mod table;

use leptos::either::EitherOf3;
use leptos::prelude::*;
use swe_ci_core::metrics::Convention;
use swe_ci_core::run::Kind;
use swe_ci_views::leaderboard::{Absence, Board, Matrix, MatrixRun, Snapshot, TaskKey};
use swe_ci_views::view::SplitSummary;

use self::query::MatrixQuery;
use self::table::{CALM, SOLVED, absence, rows};
use crate::components::CollectAny;
use crate::components::{
    Choices, GammaForm, InPlace, NoTasks, PageTop, Part, PartLinks, SnapshotNote, crumb, fetched,
    loaded,
};
use crate::components::{convention_choices, mode_choices, split_choices, unseen_choices};
use crate::error::AppError;
use crate::pages::result_table::KnownByCounts;
use crate::pages::routes::{model_href, run_href};
use crate::pages::splits::splits_on;
use crate::query::of_query;
use crate::{format, labels};

#[component]
pub fn MatrixPage() -> impl IntoView {
    let query = of_query(MatrixQuery::of);
    let resource = fetched(move || query.get(), find);
    view! {
        <PageTop
            title="Tasks × runs"
            description="Every task of the benchmark against every run: which tasks are hard, and for whom."
            crumbs=vec![crumb("/tasks", "Tasks")]
            lede="Which tasks are hard, and for whom: a row for each task, a column for each run in the order of the leaderboard. A cell is the EvoScore of the run on the task, and links to its evolution."
        />
        <InPlace/>
        {loaded(resource, move |found| view! { <MatrixView found query/> })}
    }
}

#[derive(Debug, Clone, Default)]
pub struct Found {
    pub splits: Vec<SplitSummary>,
    /// The shown split; empty when there is none.
    pub split: String,
    pub matrix: Matrix,
    /// The snapshot that it is of; absent for the present.
    pub snapshot: Option<Snapshot>,
}

/// The matrix of the requested split; by default of the one with the most
/// tasks.
async fn find(query: MatrixQuery) -> Result<Found, AppError> {
    let engine = crate::error::engine()?;
    let splits = splits_on(query.snapshot.as_deref()).await?;
    let largest = || SplitSummary::largest(&splits).map(|split| split.name.clone());
    let Some(split) = query.split.or_else(largest) else {
        return Ok(Found::default());
    };
    let board = Board::new(&split, query.mode).on(query.snapshot);
    let data = engine.leaderboard_data(board.clone()).await?;
    let matrix = engine.matrix(
        board,
        query.gamma,
        query.convention,
        query.order,
        query.unseen,
    );
    Ok(Found {
        matrix: matrix.await?,
        snapshot: data.snapshot.clone(),
        splits,
        split,
    })
}

/// Runs on one page.
const MOST_RUNS: usize = 50;

/// The definition of zero-regression resolution.
const ZRR: &str = "/about#term-zero-regression-resolution";

/// With more runs, their names are vertical.
const FEW_RUNS: usize = 6;

#[component]
fn MatrixView(found: Found, #[prop(into)] query: Signal<MatrixQuery>) -> impl IntoView {
    let Found {
        splits,
        matrix,
        snapshot,
        ..
    } = found;
    if splits.is_empty() {
        return EitherOf3::A(view! { <NoTasks will="This page will compare tasks and runs."/> });
    }
    let runs = matrix.left_out as usize;
    let left_out = view! { <KnownByCounts runs/> };
    let now = MatrixQuery {
        snapshot: None,
        ..query.get_untracked()
    };
    let how =
        view! { <SnapshotNote snapshot now=now.href()/><How splits split=found.split query/> };
    if matrix.rows.is_empty() {
        return EitherOf3::B(view! {
            {how}
            {left_out}
            <p class="note">
                "No run has a score on this split in this convention yet. "
                <a href="/runs">"See what is running"</a>
            </p>
        });
    }
    let part = Part::new(
        query.with_untracked(|q| q.from),
        MOST_RUNS,
        matrix.columns.len(),
    );
    let imported = imported(&matrix.columns);
    let here = move |from| query.with_untracked(|query| query.href_from(from));
    EitherOf3::C(view! {
        {how}
        {left_out}
        <Legend/>
        {imported.map(|words| view! { <p class="quiet">{words}</p> })}
        <Table matrix part query/>
        <p class="parts">{part.here()}<PartLinks part items="runs" href=here/></p>
        <p class="footnote">
            "Mean, spread and solved are over the models; the human baseline counts only where it is alone. Solved means in every sample, "<a href=ZRR>"ZRR"</a>" solved in every sample without any regression. Tasks without a scored run are not listed: "
            <a href="/tasks">"all tasks"</a>
            "."
        </p>
    })
}

/// The controls, and links to the same matrix elsewhere.
#[component]
fn How(splits: Vec<SplitSummary>, split: String, query: Signal<MatrixQuery>) -> impl IntoView {
    let gamma = Signal::derive(move || query.with(|a| a.gamma));
    let mut by_split = split_choices(&splits, &split, move |name| {
        let mut query = query.get();
        query.split = Some(name.to_owned());
        query.href()
    });
    for (choice, split) in by_split.iter_mut().zip(splits) {
        choice.label = split.name;
    }
    let now = query.get_untracked();
    let by_mode = mode_choices(now.mode, |mode| {
        MatrixQuery {
            mode,
            ..now.clone()
        }
        .href()
    });
    let by_age = unseen_choices(now.unseen, |unseen| {
        MatrixQuery {
            unseen,
            ..now.clone()
        }
        .href()
    });
    let by_convention = convention_choices(
        move || query.with(|a| a.convention),
        move |convention| {
            let mut query = query.get();
            query.convention = convention;
            query.href()
        },
    );
    view! {
        <section class="controls" aria-label="How to read the matrix">
            <GammaForm gamma/>
            <div class="controls-choices">
                <Choices label="Split" choices=by_split/>
                <Choices label="Counting" choices=by_convention/>
                <Choices label="Mode" choices=by_mode/>
                <Choices label="Tasks" choices=by_age/>
                <a class="controls-link" href=move || query.with(|a| a.api("matrix.csv")) download="">"CSV"</a>
                <a class="controls-link" href=move || query.with(|a| a.api("matrix"))>"JSON"</a>
            </div>
        </section>
    }
}

#[component]
fn Legend() -> impl IntoView {
    let levels = ["low", "0", "2", "4", "6", "8", "10"];
    let keys = levels.map(|level| view! { <span data-level=level></span> });
    let why = |why| {
        let (sign, words) = absence(why);
        view! { <li><span class="matrix-sign" aria-hidden="true">{sign}</span>{words}</li> }
    };
    view! {
        <ul class="matrix-legend" aria-label="Signs">
            <li>"below 0"<span class="matrix-scale" aria-hidden="true">{keys.collect_any()}</span>"1"</li>
            <li><span class="matrix-sign" aria-hidden="true" inner_html=SOLVED></span>"solved"</li>
            <li><span class="matrix-sign" aria-hidden="true" inner_html=CALM></span>"never regressed"</li>
            {why(Absence::NotYet)}
            {why(Absence::BlockedOrNoPart)}
        </ul>
    }
}

#[component]
fn Table(matrix: Matrix, part: Part, query: Signal<MatrixQuery>) -> impl IntoView {
    let runs = &matrix.columns[part.range()];
    let few = runs.len() <= FEW_RUNS;
    let models = runs.iter().map(model_head).collect_any();
    let scores = runs.iter().map(run_head).collect_any();
    let resolved = runs
        .iter()
        .map(|run| view! { <td>{format::share(run.zrr)}</td> });
    let resolved = resolved.collect_any();
    let head = |key, text, hint| view! { <SortHead key text hint query/> };
    view! {
        <div class="matrix-frame" tabindex="0" role="region" aria-label="Tasks by runs; scrolls in both directions">
            <table class="matrix" class:matrix-few=few>
                <caption class="visually-hidden">"EvoScore of each run on each task"</caption>
                <thead>
                    <tr>
                        {head(TaskKey::Task, "Task", "By name")}
                        {head(TaskKey::Mean, "Mean", "Mean EvoScore over the models: low is hard")}
                        {head(TaskKey::Spread, "Spread", "Difference between the best and the worst model")}
                        {head(TaskKey::Solved, "Solved", "How many of its scored models solved it")}
                        {head(TaskKey::Zrr, "ZRR", "How many of its scored models solved it without ever breaking a passing test")}
                        {models}
                    </tr>
                    <tr class="matrix-scores">
                        <th scope="row">"All tasks"</th>
                        <td></td>
                        <td></td>
                        <td></td>
                        <td></td>
                        {scores}
                    </tr>
                    <tr class="matrix-scores">
                        <th scope="row"><a href=ZRR title="Zero-regression resolution: share of its tasks that a run solved without ever breaking a passing test">"ZRR"</a></th>
                        <td></td>
                        <td></td>
                        <td></td>
                        <td></td>
                        {resolved}
                    </tr>
                </thead>
                <tbody inner_html=rows(&matrix, part.range())></tbody>
            </table>
        </div>
    }
}

/// The model; its tooltip tells human and imported runs from others.
fn model_head(run: &MatrixRun) -> impl IntoView + use<> {
    let mut title = labels::origin(&run.model, &run.provider);
    if run.kind != Kind::Measured {
        title = format!("{title}, {}", run.kind.name());
    }
    view! {
        <th scope="col">
            <a href=model_href(&run.model, Convention::default()) title=title>{run.model.clone()}</a>
        </th>
    }
}

/// "14 of 15 runs are imported."
fn imported(runs: &[MatrixRun]) -> Option<String> {
    let imported = runs.iter().filter(|run| run.kind == Kind::Imported).count();
    match (imported, runs.len()) {
        (0, _) => None,
        (some, all) if some == all => Some("All runs are imported.".to_owned()),
        (some, all) => Some(format!(
            "{some} of {} are imported.",
            format::count(all, "run")
        )),
    }
}

/// The run's score over all tasks, with a link to the run.
fn run_head(run: &MatrixRun) -> impl IntoView + use<> {
    let score = format::share(run.evoscore);
    let (model, rank) = (&run.model, run.rank);
    let label = format!("{model}: EvoScore {score} over all its tasks, rank {rank}");
    view! {
        <td><a href=run_href(&run.run_id) aria-label=label>{score}</a></td>
    }
}

#[component]
fn SortHead(
    key: TaskKey,
    text: &'static str,
    hint: &'static str,
    query: Signal<MatrixQuery>,
) -> impl IntoView {
    let sorted = move || {
        let order = query.with(|a| a.order);
        (order.key == key).then(|| labels::aria_sort(order.descending))
    };
    view! {
        <th scope="col" aria-sort=sorted class:margin=key != TaskKey::Task>
            <a class="head" href=move || query.with(|a| a.sorted(key).href()) title=hint>
                {text}
                <span class="head-mark" aria-hidden="true"></span>
            </a>
        </th>
    }
}
