//! One run: its evolutions and scores, updated live.

mod actions;
mod event_updates;
mod evolution;
mod findings;
mod follow;
mod log;
mod pending_fetch;
mod profile;
mod reproducibility;
mod scores;
mod status;
mod usage;

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::metrics::Convention;
use swe_ci_core::run::{Kind, Progress};
use swe_ci_views::view::{EvolutionView, RunDetail, RunSummary};

use self::actions::Actions;
use self::evolution::EvolutionCard;
use self::findings::{Findings, NoRank};
pub(super) use self::follow::run;
use self::follow::{Follower, Link, PageData, whole_run};
use self::log::LogTail;
use self::reproducibility::{Differences, MarkedBy, Record, ReproducibilityCard, Trust};
use self::scores::ScoresOfRun;
use self::status::{AtOnce, Machine, Paused, PreflightNotice, Remaining, Withdrawn};
use self::usage::UsageFacts;
use crate::components::{
    FormAnswer, Meter, PageTop, Tag, Term, Time, Tone, crumb, fact, fetched, loaded,
};
use crate::glossary::Word;
use crate::pages::result_table::{HostedToolsTag, KindTag, VisibilityTag};
use crate::pages::routes::{compare_with_href, model_href, tasks_href};
use crate::query::path_part;
use crate::{format, labels};

#[component]
pub fn RunPage() -> impl IntoView {
    let id = path_part("id");
    let answer = FormAnswer::of_page();
    let resource = fetched(move || id.get(), whole_run);
    loaded(resource, move |whole| view! { <RunView whole answer/> })
}

/// With more evolutions than this, only running ones start unfolded.
const FEW: usize = 6;
/// As text, because browsers with scripts do not parse elements inside
/// `<noscript>`, and hydration would look for them.
const NO_SCRIPT: &str = "<p class=\"note\">With JavaScript this page follows the run by itself. \
    Without it, reload the page to see updates.</p>";

#[component]
fn RunView(whole: PageData, answer: StoredValue<FormAnswer>) -> impl IntoView {
    let detail = whole.detail;
    let (run_id, kind) = (detail.summary.run_id.clone(), detail.summary.config.kind);
    let was_over = detail.summary.progress.is_over();
    let (detail, scores) = (RwSignal::new(detail), RwSignal::new(whole.scores));
    let findings = RwSignal::new(whole.findings);
    let follower = Follower::new(detail, scores, findings);
    follower.start();
    let log = (!was_over).then(|| view! { <LogTail tail=follower.tail/> });
    view! {
        <Head detail link=follower.link/>
        <Overall detail/>
        <PreflightNotice detail/>
        <Actions detail answer/>
        <ScoresOfRun scores detail/>
        <Findings findings answer/>
        <Evolutions detail/>
        {log}
        <Record detail/>
        <ReproducibilityCard run_id kind text=whole.card/>
    }
}

#[component]
fn Head(detail: RwSignal<RunDetail>, link: RwSignal<Link>) -> impl IntoView {
    let summary = detail.with_untracked(|d| d.summary.clone());
    let config = summary.config;
    let (model, split) = (config.model.clone(), config.split.clone());
    let progress = Memo::new(move |_| detail.with(|d| d.summary.progress));
    let withdrawn = summary.withdrawn;
    let whole = detail.get_untracked();
    let verification = whole.verification.clone();
    let run_id = summary.run_id.clone();
    // A finished run does not change, with a script or without.
    let no_script =
        (!summary.progress.is_over()).then(|| view! { <noscript inner_html=NO_SCRIPT></noscript> });
    let connection = move || match link.get() {
        Link::Off => None,
        Link::Live => Some(view! { <Tag text="live" tone=Tone::Live/> }),
        Link::Lost => Some(view! { <Tag text="reconnecting…" tone=Tone::Warn/> }),
    };
    view! {
        <PageTop
            title=format!("{model} on {split}")
            description=format!("The run of {model} over the split {split}: progress, every iteration, tests gained and lost.")
            crumbs=vec![crumb("/runs", "Runs")]
            heading=&model
        >
            <p class="tags" role="status">
                <Tag
                    text=Signal::derive(move || progress.get().name().to_owned())
                    tone=Signal::derive(move || labels::progress_tone(progress.get()))
                />
                <Paused detail/>
                <KindTag kind=config.kind/>
                <HostedToolsTag allowed=config.allow_hosted_tools/>
                <VisibilityTag visibility=summary.visibility/>
                <Trust detail=whole.clone()/>
                {connection}
            </p>
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
            </p>
            <Withdrawn withdrawn/>
            <NoRank detail/>
            <MarkedBy detail=whole/>
            <Differences verification run_id/>
            {no_script}
        </PageTop>
    }
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
    view! {
        <section class="overall" aria-label="Progress">
            <Meter value=over most=all label="Evolutions over" tone/>
            <dl class="facts">
                {fact(view! { <Term word=Word::Evolution text="Evolutions"/>" over" }, shown)}
                {fact(view! { <Term word=Word::Iteration text="Iterations"/>" tested" }, iterations)}
                {blocked}
                <AtOnce detail/>
                <Remaining detail/>
                <Machine detail/>
                <Moments summary/>
            </dl>
            <UsageFacts detail/>
        </section>
    }
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
fn Evolutions(detail: RwSignal<RunDetail>) -> impl IntoView {
    let (run_id, few) =
        detail.with_untracked(|d| (d.summary.run_id.clone(), d.evolution_list.len() <= FEW));
    let ids = Memo::new(move |_| {
        let id = |e: &EvolutionView| e.evolution_id.clone();
        detail.with(|d| d.evolution_list.iter().map(id).collect::<Vec<_>>())
    });
    let card = move |id: String| {
        let first = detail.with_untracked(|d| evolution(d, &id));
        let run_id = run_id.clone();
        first.map(|first| {
            let unfolded = few || first.progress == Progress::Running;
            let fallback = first.clone();
            let view = Memo::new(move |_| {
                let found = detail.with(|d| evolution(d, &id));
                found.unwrap_or_else(|| fallback.clone())
            });
            view! { <EvolutionCard first evolution=view run_id unfolded/> }
        })
    };
    view! {
        <section class="evolutions" aria-labelledby="evolutions-title">
            <h2 id="evolutions-title">"Evolutions"</h2>
            <p class="quiet">
                "One per task, with the part of the gap that is closed. Charts show the target tests that pass after each iteration; the dashed line is the goal, hollow marks are regressions, crosses code that no longer runs."
            </p>
            <For each=move || ids.get() key=String::clone children=card/>
        </section>
    }
}

fn evolution(detail: &RunDetail, id: &str) -> Option<EvolutionView> {
    let mut evolutions = detail.evolution_list.iter();
    evolutions.find(|e| e.evolution_id == id).cloned()
}
