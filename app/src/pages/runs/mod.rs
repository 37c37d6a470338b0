//! All runs, newest first, with filters.

mod filters;

use leptos::either::EitherOf3;
use leptos::prelude::*;
use swe_ci_core::run::Progress;
use swe_ci_views::account::AccountRole;
use swe_ci_views::run_list::ListedRun;
use swe_ci_views::view::{Page, SplitSummary};

use self::filters::{Filters, RunsQuery};
use crate::components::CollectAny;
use crate::components::{
    CardTable, Empty, Ended, InPlace, Key, MarkKey, Meter, NextPage, PageTop, Tag, Term, Time,
    Tone, fetched, loaded,
};
use crate::context::Reader;
use crate::error::AppError;
use crate::glossary::Word;
use crate::pages::result_table::{
    ArmTag, HandoverTag, HostedToolsTag, MarkTag, ModeTag, UnrankedTag, VisibilityTag,
};
use crate::pages::routes::{run_href, tasks_href};
use crate::query::of_query;
use crate::{format, labels};

/// A page of the list, and the splits to choose from.
#[derive(Debug, Clone)]
struct Found {
    page: Page<ListedRun>,
    splits: Vec<SplitSummary>,
}

async fn runs(query: RunsQuery) -> Result<Found, AppError> {
    let engine = crate::error::engine()?;
    let page = swe_ci_engine::PageRequest {
        limit: Some(50),
        after: query.after,
    };
    Ok(Found {
        page: engine.runs(&query.filter, &page).await?,
        splits: engine.splits().await?,
    })
}

#[component]
pub fn RunsPage() -> impl IntoView {
    let query = of_query(RunsQuery::of);
    let resource = fetched(move || query.get(), runs);
    let new_run = Reader::at_hand()
        .is(AccountRole::Submitter)
        .then(|| view! { <p><a class="button" href="/runs/new">"New run"</a></p> });
    view! {
        <PageTop
            title="Runs"
            description="Runs of model configurations over splits: queued, running and finished."
            lede="A run applies one model configuration to every task of a split. Open one to follow it live, or to inspect each iteration afterwards."
        >
            {new_run}
        </PageTop>
        <InPlace/>
        {loaded(resource, move |found| view! { <RunList query=query.get_untracked() found/> })}
    }
}

#[component]
fn RunList(query: RunsQuery, found: Found) -> impl IntoView {
    let Found { page, splits } = found;
    if page.items.is_empty() && !query.filters() {
        return EitherOf3::A(view! {
            <Empty title="No runs yet" command="swe-ci run submit --human --split demo">
                <p>
                    "Every run will be listed here with its progress. This command queues the human baseline on the demo split; it needs no API key."
                </p>
            </Empty>
        });
    }
    let filters = view! { <Filters query=&query splits/> };
    if page.items.is_empty() {
        return EitherOf3::B(view! {
            {filters}
            <p class="note" role="status">"No runs match these filters. "<a href="/runs">"Clear the filters"</a></p>
        });
    }
    let next = page.next.map(|after| query.href(Some(after)));
    let marks = labels::marks(page.items.iter().map(|run| run.summary.mark));
    let rows = page.items.into_iter().map(run_row).collect_any();
    let heads = view! {
        <th role="columnheader" scope="col"><Term word=Word::Run text="Run"/></th>
        <th role="columnheader" scope="col"><Term word=Word::Split text="Split"/></th>
        <th role="columnheader" scope="col" class="number"><Term word=Word::EvoScore text="EvoScore"/></th>
        <th role="columnheader" scope="col">"Tasks"</th>
        <th role="columnheader" scope="col" class="number"><Term word=Word::Iteration text="Iterations"/></th>
        <th role="columnheader" scope="col">"Submitted"</th>
        <th role="columnheader" scope="col">"Finished"</th>
    }
    .into_any();
    EitherOf3::C(view! {
        {filters}
        <Key words=Signal::stored(vec![Word::Run, Word::Split, Word::EvoScore, Word::Iteration])/>
        <MarkKey words=Signal::stored(marks)/>
        <CardTable class="list cards" caption="Runs, newest first" heads>{rows}</CardTable>
        <p class="footnote">"EvoScore is always at γ = 1 in the paper's convention. Runs have one once they are finished, unless they take no rank; that of a run over some tasks is of those alone."</p>
        <NextPage href=next/>
    })
}

fn run_row(listed: ListedRun) -> impl IntoView {
    let ListedRun {
        summary: run,
        unranked,
        evoscore,
    } = listed;
    let state = (run.progress != Progress::Finished).then(|| {
        let (text, tone) = labels::run_state(&run, false);
        view! { <Tag text tone/> }
    });
    // With several samples of a task, its evolutions are counted.
    let units = match run.unit() {
        "task" => "",
        _ => " evolutions",
    };
    let done = format!(
        "{} scored of {}{units}",
        run.evolutions_scored, run.evolutions
    );
    let meter_tone = match run.progress {
        Progress::Finished => "good",
        Progress::Running => "live",
        Progress::Queued | Progress::Cancelled => "plain",
    };
    let config = run.config;
    let kind = labels::kind(config.kind).map(|(word, ..)| format!("{word} · "));
    let origin = labels::origin(config.harness.name(), &config.provider);
    let partial = (!config.tasks.is_empty()).then(|| {
        view! { <Tag text="some tasks" hint="It works on some tasks of its split only, so it takes no rank"/> }
    });
    let blocked = (run.evolutions_blocked > 0).then(|| {
        let text = format!("{} blocked", run.evolutions_blocked);
        view! { <Tag text tone=Tone::Warn hint="Could not be run for reasons outside the agent; not scored"/> }
    });
    let endings = [
        (run.evolutions_solved, "solved", Tone::Good),
        (run.evolutions_gave_up, "gave up", Tone::Bad),
    ];
    let endings = endings.into_iter().filter(|(count, ..)| *count > 0);
    let endings = endings.map(|(count, what, tone)| {
        let text = format!("{} {what}", format::thousands(count));
        view! { <Ended text tone/>" " }
    });
    let endings = endings.collect_any();
    let why = run
        .withdrawn
        .map(|why| view! { <small>{format!("Withdrawn: {why}")}</small> });
    view! {
        <tr role="row">
            <th role="rowheader" scope="row" class="col-model">
                <a href=run_href(&run.run_id)>{config.model}</a>
                <span class="tags">
                    {state}
                    <ModeTag mode=config.mode/>
                    <ArmTag arm=config.arm/>
                    <HostedToolsTag allowed=config.allow_hosted_tools/>
                    <HandoverTag handover=config.handover.is_some()/>
                    <MarkTag mark=run.mark/>
                    <UnrankedTag unranked/>
                    {partial}
                    <VisibilityTag visibility=run.visibility/>
                    {blocked}
                </span>
                <small>{kind}{origin}</small>
                {why}
            </th>
            <td role="cell" data-label="Split">
                <a href=tasks_href(&config.split)>{config.split.clone()}</a>
            </td>
            <td role="cell" class="number strong" data-label="EvoScore">{format::or_dash(evoscore.map(format::score))}</td>
            <td role="cell" data-label="Tasks">
                <span class="measure">
                    <span class="measure-number">{done}</span>
                    <Meter value=run.evolutions_over most=run.evolutions label="Finished" tone=meter_tone/>
                </span>
                {endings}
            </td>
            <td role="cell" class="number" data-label="Iterations">{format::thousands(run.iterations)}</td>
            <td role="cell" data-label="Submitted"><Time at=Some(run.created_at)/></td>
            <td role="cell" data-label="Finished"><Time at=run.finished_at/></td>
        </tr>
    }
}
