use leptos::prelude::*;
use swe_ci_core::run::Progress;
use swe_ci_core::view::{EvolutionView, RunDetail, RunSummary};

use super::evolution::EvolutionCard;
use super::follow::{Follower, Link};
use super::log::LogTail;
use crate::components::{Meter, PageHead, Tag, Time, Tone};
use crate::format;
use crate::pages::words;

/// With more evolutions than this, only those at work start unfolded.
const FEW: usize = 6;
/// As text, because a browser with scripts reads no elements inside
/// `<noscript>`, and hydration would look for them.
const NO_SCRIPT: &str = "<p class=\"note\">With JavaScript this page follows the run by itself. \
    Without, reload it to see what is new.</p>";

#[component]
pub fn RunView(detail: RunDetail) -> impl IntoView {
    let model = detail.summary.config.model.clone();
    let split = detail.summary.config.split.clone();
    let was_over = detail.summary.progress.is_over();
    let detail = RwSignal::new(detail);
    let follower = Follower::new(detail);
    follower.start();
    let log = (!was_over).then(|| view! { <LogTail tail=follower.tail/> });
    view! {
        <PageHead
            title=format!("{model} on {split}")
            description=format!("The run of {model} over the split {split}: progress, every iteration, tests gained and lost.")
        />
        <Head detail link=follower.link/>
        <Overall detail/>
        <Evolutions detail/>
        {log}
        <Recorded detail/>
    }
}

#[component]
fn Head(detail: RwSignal<RunDetail>, link: RwSignal<Link>) -> impl IntoView {
    let summary = detail.with_untracked(|d| d.summary.clone());
    let config = summary.config;
    let progress = Memo::new(move |_| detail.with(|d| d.summary.progress));
    let human = words::kind(config.kind)
        .map(|(word, hint)| view! { <Tag text=word.to_owned() tone=Tone::Accent hint/> });
    let connection = move || match link.get() {
        Link::Off => None,
        Link::Live => Some(view! { <Tag text="live".to_owned() tone=Tone::Live/> }),
        Link::Lost => Some(view! { <Tag text="reconnecting…".to_owned() tone=Tone::Warn/> }),
    };
    view! {
        <nav class="crumbs" aria-label="Where this is"><a href="/runs">"Runs"</a></nav>
        <div class="hero">
            <h1>{config.model.clone()}</h1>
            <p class="tags" role="status">
                <Tag
                    text=Signal::derive(move || progress.get().name().to_owned())
                    tone=Signal::derive(move || words::progress_tone(progress.get()))
                />
                {human}
                {connection}
            </p>
            <p class="lede">
                {words::origin(config.harness.name(), &config.provider)}
                " on "
                <a href=format!("/tasks?split={}", crate::query::encode(&config.split))>{config.split.clone()}</a>
                ": "
                {words::plan(&config)}
                "."
            </p>
            <noscript inner_html=NO_SCRIPT></noscript>
        </div>
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
        (blocked > 0).then(|| {
            view! {
                <div>
                    <dt>"Blocked"</dt>
                    <dd>{format::thousands(blocked)}</dd>
                </div>
            }
        })
    };
    let tone = Signal::derive(move || {
        if over.get() == all.get() {
            "good"
        } else {
            "live"
        }
    });
    view! {
        <section class="overall" aria-label="Progress">
            <Meter value=over most=all label="Evolutions over" tone/>
            <dl class="facts">
                <div>
                    <dt>"Evolutions over"</dt>
                    <dd>{move || format!("{} of {}", over.get(), all.get())}</dd>
                </div>
                <div>
                    <dt>"Iterations tested"</dt>
                    <dd>{move || format::thousands(summary.with(|s| s.iterations))}</dd>
                </div>
                {blocked}
                <div>
                    <dt>"Submitted"</dt>
                    <dd>{move || view! { <Time at=Some(summary.with(|s| s.created_at.clone()))/> }}</dd>
                </div>
                <div>
                    <dt>"Started"</dt>
                    <dd>{move || view! { <Time at=summary.with(|s| s.started_at.clone())/> }}</dd>
                </div>
                <div>
                    <dt>"Finished"</dt>
                    <dd>{move || view! { <Time at=summary.with(|s| s.finished_at.clone())/> }}</dd>
                </div>
            </dl>
        </section>
    }
}

#[component]
fn Evolutions(detail: RwSignal<RunDetail>) -> impl IntoView {
    let (run_id, few) =
        detail.with_untracked(|d| (d.summary.run_id.clone(), d.evolution_list.len() <= FEW));
    let ids = Memo::new(move |_| {
        detail.with(|d| {
            d.evolution_list
                .iter()
                .map(|e| e.evolution_id.clone())
                .collect::<Vec<_>>()
        })
    });
    let card = move |id: String| {
        let first = detail.with_untracked(|d| evolution(d, &id));
        let run_id = run_id.clone();
        first.map(|first| {
            let unfolded = few || first.progress == Progress::Running;
            let fallback = first.clone();
            let view = Memo::new(move |_| {
                detail
                    .with(|d| evolution(d, &id))
                    .unwrap_or_else(|| fallback.clone())
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
    detail
        .evolution_list
        .iter()
        .find(|e| e.evolution_id == id)
        .cloned()
}

/// What a result must be reproducible from.
#[component]
fn Recorded(detail: RwSignal<RunDetail>) -> impl IntoView {
    let (summary, provenance) =
        detail.with_untracked(|d| (d.summary.clone(), d.provenance.clone()));
    let config = summary.config;
    view! {
        <section class="recorded" aria-labelledby="recorded-title">
            <h2 id="recorded-title">"Recorded with this run"</h2>
            <dl class="record">
                <div><dt>"Run"</dt><dd><code>{summary.run_id.clone()}</code></dd></div>
                <div><dt>"Harness"</dt><dd>{words::harness(&config.harness)}</dd></div>
                <div><dt>"Harness version"</dt><dd><code>{provenance.harness_version}</code></dd></div>
                <div><dt>"Limits of a step"</dt><dd>{words::limits(&config.limits)}</dd></div>
                <div><dt>"Time limits"</dt><dd>{words::time_limits(&config.limits)}</dd></div>
                <div><dt>"Dataset digest"</dt><dd><code>{provenance.dataset_digest}</code></dd></div>
                <div><dt>"Metric definitions"</dt><dd>{format!("version {}", provenance.metric_version)}</dd></div>
                <div><dt>"Platform"</dt><dd><code>{provenance.platform_version}</code></dd></div>
            </dl>
            <p><a href=format!("/api/v1/runs/{}", summary.run_id) rel="external">"All of it as JSON"</a></p>
        </section>
    }
}
