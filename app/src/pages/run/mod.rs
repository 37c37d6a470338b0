//! One run: its evolutions and scores, updated live.

mod actions;
mod data;
mod evolution;
mod evolution_table;
mod failures;
mod findings;
mod in_short;
mod profile;
mod regrade;
mod reproducibility;
mod samples;
mod scores;
mod status;
mod usage;

use std::collections::HashMap;

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::metrics::Convention;
use swe_ci_core::run::{Kind, Progress};
use swe_ci_views::view::{EvolutionView, RunDetail, RunSummary};

use self::actions::{Actions, Verifying};
use self::data::{PageData, whole_run};
use self::evolution::EvolutionCard;
use self::evolution_table::EvolutionTable;
use self::failures::Failures;
use self::findings::{Findings, NoRank};
use self::in_short::in_short;
use self::regrade::{Derived, MovedVerdicts};
use self::reproducibility::{Differences, MarkedBy, Record, ReproducibilityCard, Trust};
use self::scores::ScoresOfRun;
use self::status::{AtOnce, Machine, PreflightNotice, Remaining, Withdrawn, WithoutWorker};
use self::usage::UsageFacts;
use crate::components::CollectAny;
use crate::components::FollowRun;
use crate::components::{
    FormAnswer, InPlace, Meter, PageTop, Tag, Term, Time, crumb, fact, fetched, loaded,
};
use crate::glossary::Word;
use crate::pages::result_table::{
    ArmTag, HandoverTag, HostedToolsTag, KindTag, ModeTag, VisibilityTag,
};
use crate::pages::routes::{
    compare_with_href, evolution_href, model_href, tasks_href, trajectories_href,
};
use crate::pages::why_lost::WhyLost;
use crate::query::{named, of_query, path_part};
use crate::{format, labels};

#[component]
pub fn RunPage() -> impl IntoView {
    let id = path_part("id");
    let answer = FormAnswer::of_page();
    let only = of_query(|query| named(query, "show"));
    let resource = fetched(move || id.get(), whole_run);
    loaded(
        resource,
        move |whole| view! { <InPlace/><RunView whole answer only=only.get_untracked()/> },
    )
}

/// With more evolutions than this, they are a table.
const FEW: usize = 6;

#[component]
fn RunView(
    whole: PageData,
    answer: StoredValue<FormAnswer>,
    only: Option<String>,
) -> impl IntoView {
    let detail = whole.detail;
    let (run_id, kind) = (detail.summary.run_id.clone(), detail.summary.config.kind);
    let follow = (!detail.summary.progress.is_over()).then(|| {
        let evolutions = detail.evolution_list.iter();
        let tasks = evolutions.map(|e| (e.evolution_id.clone(), e.task_id.to_string()));
        view! { <FollowRun run_id=run_id.clone() tasks=tasks.collect()/> }
    });
    let in_short = in_short(&detail, whole.scores.first(), whole.standing.as_ref());
    let in_short = in_short.into_any();
    let (detail, scores) = (RwSignal::new(detail), RwSignal::new(whole.scores));
    let findings = RwSignal::new(whole.findings);
    let moved = whole.regrade.map(|regrade| {
        let run_id = run_id.clone();
        view! { <MovedVerdicts run_id regrade/> }
    });
    view! {
        <Head detail in_short/>
        <Overall detail/>
        {follow}
        <WithoutWorker detail/>
        <PreflightNotice detail/>
        <Verifying detail/>
        <Actions detail answer/>
        {moved}
        <ScoresOfRun scores detail/>
        <Findings findings answer/>
        <Evolutions detail only costs=whole.costs/>
        <WhyLost classes=whole.lost/>
        <Failures run=run_id.clone() failures=whole.failures/>
        <Record detail/>
        <ReproducibilityCard run_id kind text=whole.card/>
    }
}

#[component]
fn Head(detail: RwSignal<RunDetail>, in_short: AnyView) -> impl IntoView {
    let summary = detail.with_untracked(|d| d.summary.clone());
    let config = summary.config.clone();
    let (model, split) = (config.model.clone(), config.split.clone());
    let withdrawn = summary.withdrawn.clone();
    let whole = detail.get_untracked();
    let (state, tone) = labels::run_state(&summary, all_wait(&whole));
    let title = match summary.progress {
        Progress::Finished => format!("{model} on {split}"),
        _ => format!("{model} on {split}: {state}"),
    };
    let verification = whole.verification.clone();
    let run_id = summary.run_id.clone();
    // A finished run does not change, with a script or without.
    let no_script =
        (!summary.progress.is_over()).then(|| view! {
            <p class="note no-js">
                "With JavaScript this page follows the run by itself. Without it, reload the page to see updates."
            </p>
        });
    view! {
        <PageTop
            title
            description=format!("The run of {model} over the split {split}: progress, every iteration, tests gained and lost.")
            crumbs=vec![crumb("/runs", "Runs")]
            heading=&model
        >
            <p class="tags" role="status">
                <Tag text=state tone/>
                <KindTag kind=config.kind/>
                <ModeTag mode=config.mode/>
                <ArmTag arm=config.arm.clone()/>
                <HostedToolsTag allowed=config.allow_hosted_tools/>
                <HandoverTag handover=config.handover.is_some()/>
                <VisibilityTag visibility=summary.visibility/>
                <Trust detail=whole.clone()/>
            </p>
            {in_short}
            <p class="lede">
                {labels::origin(config.harness.name(), &config.provider)}
                " on "
                <a href=tasks_href(&config.split)>{config.split.clone()}</a>
                ": "
                {labels::plan(&config)}
                ". "
                <a href=model_href(&config.model, Convention::default())>"All runs of this model"</a>
                " · "
                <a href=compare_with_href(&summary.run_id)>"Compare with…"</a>
                " · "
                <a href=trajectories_href(&summary.run_id, None, None, 0)>"How its agents worked"</a>
            </p>
            <Withdrawn withdrawn/>
            <NoRank detail/>
            <Derived detail=whole.clone()/>
            <MarkedBy detail=whole/>
            <Differences verification run_id/>
            {no_script}
        </PageTop>
    }
}

/// Whether all its steps at work wait for their model's provider.
fn all_wait(run: &RunDetail) -> bool {
    let list = run.evolution_list.iter();
    let mut at_work = list.filter(|e| e.current.is_some()).peekable();
    at_work.peek().is_some() && at_work.all(|e| e.wait().is_some())
}

#[component]
fn Overall(detail: RwSignal<RunDetail>) -> impl IntoView {
    let summary = Memo::new(move |_| detail.with(|d| d.summary.clone()));
    let figure = move |read: fn(&RunSummary) -> u32| Signal::derive(move || summary.with(read));
    let over = figure(|s| s.evolutions_over);
    let all = figure(|s| s.evolutions);
    let blocked = move || {
        let blocked = summary.with(|s| s.evolutions_blocked);
        let name = || view! { <Term word=Word::Blocked text="Blocked"/> };
        (blocked > 0).then(|| fact(name(), format::thousands(blocked)))
    };
    let tone = Signal::derive(move || match over.get() == all.get() {
        true => "good",
        false => "live",
    });
    let shown = move || format!("{} of {}", over.get(), all.get());
    let iterations = move || format::thousands(summary.with(|s| s.iterations));
    let (word, units) = match summary.with_untracked(RunSummary::unit) {
        "task" => (Word::Task, "Tasks"),
        _ => (Word::Evolution, "Evolutions"),
    };
    let label = format!("{units} finished");
    view! {
        <section class="overall" aria-label="Progress">
            <Meter value=over most=all label tone/>
            <dl class="facts">
                {fact(view! { <Term word text=units/>" finished" }, shown)}
                {fact(view! { <Term word=Word::Iteration text="Iterations"/>" tested" }, iterations)}
                {blocked}
                <AtOnce detail/>
                <Remaining detail/>
                <Machine detail/>
                <Moments summary/>
            </dl>
            <UsageFacts detail/>
            <AtWork detail/>
        </section>
    }
}

/// More steps at work than this are counted.
const MOST_AT_WORK: usize = 3;

/// The steps that are at work, each with a link to its evolution.
#[component]
fn AtWork(detail: RwSignal<RunDetail>) -> impl IntoView {
    let (run_id, list) =
        detail.with_untracked(|d| (d.summary.run_id.clone(), d.evolution_list.clone()));
    let steps = list
        .iter()
        .filter_map(|evolution| Some((evolution, labels::current_step(evolution)?)));
    let steps: Vec<_> = steps.collect();
    let more = steps.len().saturating_sub(MOST_AT_WORK);
    let more = (more > 0).then(|| view! { <li>{format!("and {more} more")}</li> });
    let item = |(evolution, step): &(&EvolutionView, String)| {
        let href = evolution_href(&run_id, evolution.task_id.as_str(), evolution.sample);
        let task = evolution.task_id.to_string();
        view! { <li><a href=href>{task}</a>": "{step.clone()}</li> }
    };
    let shown = steps.iter().take(MOST_AT_WORK).map(item).collect_any();
    (!steps.is_empty()).then(|| {
        view! {
            <div class="at-work">
                <span class="quiet" id="at-work">"At work"</span>
                <ul class="plain" aria-labelledby="at-work">{shown}{more}</ul>
            </div>
        }
    })
}

/// When it was submitted, started and finished; or only when it was imported.
#[component]
fn Moments(summary: Memo<RunSummary>) -> impl IntoView {
    let imported = summary.with_untracked(|s| s.config.kind == Kind::Imported);
    let moment = move |name: &'static str, read: fn(&RunSummary) -> Option<String>| {
        fact(name, move || view! { <Time at=summary.with(read)/> })
    };
    if imported {
        return Either::Left(moment("Imported", |s| Some(s.created_at.clone())));
    }
    Either::Right(view! {
        {moment("Submitted", |s| Some(s.created_at.clone()))}
        {moment("Started", |s| s.started_at.clone())}
        {moment("Finished", |s| s.finished_at.clone())}
    })
}

#[component]
fn Evolutions(
    detail: RwSignal<RunDetail>,
    only: Option<String>,
    costs: HashMap<String, u64>,
) -> impl IntoView {
    let (run_id, list) =
        detail.with_untracked(|d| (d.summary.run_id.clone(), d.evolution_list.clone()));
    let body = if list.len() > FEW {
        Either::Left(view! { <EvolutionTable evolutions=list run_id only costs/> })
    } else {
        let card = |evolution: EvolutionView| {
            let run_id = run_id.clone();
            view! { <EvolutionCard evolution run_id/> }
        };
        Either::Right(list.into_iter().map(card).collect_any())
    };
    view! {
        <section class="evolutions" aria-labelledby="evolutions-title">
            <h2 id="evolutions-title">"Evolutions"</h2>
            <p class="quiet">
                "One per task, with the part of the gap that is closed, and the target tests that pass after each iteration."
            </p>
            {body}
        </section>
    }
}
