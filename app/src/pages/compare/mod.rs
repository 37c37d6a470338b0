//! Two to six runs side by side, or the form to select them.

mod arms;
mod choose;
mod data;
mod failures;
mod names;
mod on_task;
mod pairs;
mod query;
mod run_columns;
mod samples;
mod style;
mod task_curves;
mod tasks;

use std::collections::BTreeSet;

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_views::leaderboard::{GateReport, Snapshot, Versus};
use swe_ci_views::trajectories::FailedSteps;

use self::arms::Arms;
use self::choose::Choose;
use self::data::{Found, find};
use self::failures::Failures;
use self::names::Name;
pub(crate) use self::on_task::TaskComparisonPage;
use self::pairs::{Pairs, pairs_of, verdict};
use self::query::CompareQuery;
use self::run_columns::Heads;
use self::samples::SamplesOfRuns;
use self::style::Style;
use self::task_curves::CourseOfTask;
use self::tasks::Tasks;
use crate::components::{
    Choices, GammaForm, InPlace, PageTop, SnapshotNote, Term, crumb, fetched, loaded,
};
use crate::components::{convention_choices, unseen_choices};
use crate::format;
use crate::glossary::Word;
use crate::pages::routes::{compare_href, trajectories_href};
use crate::query::of_query;

#[component]
pub fn ComparePage() -> impl IntoView {
    let query = of_query(CompareQuery::of);
    let needed = Memo::new(move |_| query.get().all_pairs());
    let resource = fetched(move || needed.get(), find);
    loaded(resource, move |found| match found {
        Found::Compared {
            versus,
            looks,
            failures,
            gates,
            snapshot,
        } => Either::Left(view! {
            <InPlace/>
            <SideBySide versus=*versus looks failures gates snapshot query/>
        }),
        Found::Choosing {
            choice,
            ticked,
            refused,
        } => Either::Right(view! { <Choose choice ticked refused query/> }),
    })
}

#[component]
fn SideBySide(
    versus: Versus,
    looks: Vec<usize>,
    failures: Vec<FailedSteps>,
    gates: Vec<GateReport>,
    snapshot: Option<Snapshot>,
    #[prop(into)] query: Signal<CompareQuery>,
) -> impl IntoView {
    let names = Name::all(&versus.runs, &looks);
    let title = title(&names);
    let tab = format!("{} runs on {} compared", names.len(), versus.split);
    let basis = basis(&versus);
    let course = versus.task.clone();
    let course = course.map(|task| view! { <CourseOfTask task names=names.clone()/> });
    let baseline = query.with_untracked(CompareQuery::baseline_index);
    let pairs = pairs_of(&versus, baseline);
    let tasks = versus.tasks.clone();
    let effects = versus.arms.clone();
    let (style, samples) = (versus.style.clone(), versus.samples.clone());
    let intervals = versus.style_intervals.clone();
    let now = CompareQuery {
        snapshot: None,
        ..query.get_untracked()
    };
    let answer = verdict(&pairs, &names, baseline);
    let modes: BTreeSet<&str> = versus.runs.iter().map(|row| row.mode.name()).collect();
    let modes = (modes.len() > 1).then(|| {
        view! {
            <p class="note">
                "These runs are of different "
                <Term word=Word::Mode text="modes"/>
                ": their programmers did not see the same tests. No leaderboard ranks them together."
            </p>
        }
    });
    view! {
        <PageTop
            title=tab
            description=format!("{title} on the split {}, side by side and task by task.", versus.split)
            crumbs=vec![crumb("/compare", "Compare runs")]
            heading=title
        >
            <p class="verdict" role="status">{answer}</p>
            <p class="lede">{basis}</p>
        </PageTop>
        <SnapshotNote snapshot now=now.href()/>
        {modes}
        <How query split=versus.split.clone()/>
        <Arms effects/>
        <Pairs pairs gates names=names.clone() query/>
        <Heads versus names=names.clone() query/>
        <Style style intervals names=names.clone()/>
        <SamplesOfRuns samples names=names.clone()/>
        <Failures failures names=names.clone()/>
        {course}
        <Tasks tasks names query/>
    }
}

/// The models, as many as fit on a line.
fn title(names: &[Name]) -> String {
    if names.len() > 3 {
        return format!("{} runs", names.len());
    }
    let words: Vec<String> = names.iter().map(Name::in_words).collect();
    words.join(" · ")
}

/// "Side by side on `full`: 36 tasks of 18 repositories are shared."
fn basis(versus: &Versus) -> String {
    let repos: BTreeSet<&str> = versus.tasks.iter().map(|t| t.repo.as_str()).collect();
    let repositories = format::repositories(repos.len());
    let tasks = format::count(versus.tasks.len(), "task");
    let are = if versus.tasks.len() == 1 { "is" } else { "are" };
    let left_out = match versus.left_out.iter().all(|n| *n == 0) {
        true => " None is left out.",
        false => {
            " Tasks that not all of them were scored on are left out, and counted for each run."
        }
    };
    let iterations = format::count(versus.iterations, "iteration");
    format!(
        "Side by side on {}: {tasks} of {repositories} {are} shared.{left_out} The first {iterations} of a run count.",
        versus.split
    )
}

/// The controls, and links to the same comparison elsewhere.
#[component]
fn How(query: Signal<CompareQuery>, split: String) -> impl IntoView {
    let mut conventions = convention_choices(
        move || query.with(|a| a.convention),
        move |convention| query.get().counted(convention).href(),
    );
    for choice in &mut conventions {
        choice.hint = "How tests are counted".to_owned();
    }
    let now = query.get_untracked();
    let by_age = unseen_choices(now.unseen, |unseen| {
        CompareQuery {
            unseen,
            ..now.clone()
        }
        .href()
    });
    let gamma = Signal::derive(move || query.with(|a| a.gamma));
    let others = compare_href(&split, now.snapshot.as_deref());
    let trajectories = query.with_untracked(|query| match &*query.runs {
        [first, second] => Some(trajectories_href(first, Some(second), None, 0)),
        _ => None,
    });
    let trajectories = trajectories.map(|href| {
        view! { <a class="controls-link" href=href>"How their agents worked"</a> }
    });
    view! {
        <section class="controls" aria-label="How to compare">
            <GammaForm gamma/>
            <div class="controls-choices">
                <Choices label="Counting" choices=conventions/>
                <Choices label="Tasks" choices=by_age/>
                <a class="controls-link" href=others>"Other runs"</a>
                {trajectories}
                <a class="controls-link" href=move || query.with(|a| a.api("compare.csv")) download="">"CSV"</a>
                <a class="controls-link" href=move || query.with(|a| a.api("compare"))>"JSON"</a>
            </div>
        </section>
    }
}
