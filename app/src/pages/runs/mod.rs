//! All runs, newest first, with filters.

mod filters;

use leptos::either::EitherOf3;
use leptos::prelude::*;
use swe_ci_views::account::AccountRole;
use swe_ci_views::run_list::ListedRun;
use swe_ci_views::view::{Page, SplitSummary};

use self::filters::{Filters, RunsQuery};
use crate::components::CollectAny;
use crate::components::{
    CardTable, Empty, InPlace, Key, MarkKey, Meter, NextPage, PageTop, Tag, Term, Time, Tone,
    fetched, loaded,
};
use crate::context::Reader;
use crate::error::AppError;
use crate::glossary::Word;
use crate::pages::result_table::{
    HandoverTag, HostedToolsTag, KindTag, MarkTag, ModeTag, UnrankedTag, VisibilityTag,
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
        <th role="columnheader" scope="col">"Tasks done"</th>
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
    let config = run.config;
    let partial = (!config.tasks.is_empty()).then(|| {
        view! { <Tag text="some tasks" hint="It works on some tasks of its split only, so it takes no rank"/> }
    });
    let blocked = (run.evolutions_blocked > 0).then(|| {
        let text = format!("{} blocked", run.evolutions_blocked);
        view! { <Tag text tone=Tone::Warn hint="Could not be run for reasons outside the agent; not scored"/> }
    });
    let ended = ended(run.evolutions_solved, run.evolutions_gave_up);
    let why = run
        .withdrawn
        .map(|why| view! { <small>{format!("Withdrawn: {why}")}</small> });
    let tone = labels::progress_tone(run.progress);
    view! {
        <tr role="row">
            <th role="rowheader" scope="row" class="col-model">
                <a href=run_href(&run.run_id)>{config.model}</a>
                <span class="tags">
                    <Tag text=run.progress.name() tone/>
                    <KindTag kind=config.kind/>
                    <ModeTag mode=config.mode/>
                <HostedToolsTag allowed=config.allow_hosted_tools/>
                <HandoverTag handover=config.handover.is_some()/>
                    <MarkTag mark=run.mark/>
                    <UnrankedTag unranked/>
                    {partial}
                    <VisibilityTag visibility=run.visibility/>
                    {blocked}
                </span>
                <small>{labels::origin(config.harness.name(), &config.provider)}</small>
                {why}
            </th>
            <td role="cell" data-label="Split">
                <a href=tasks_href(&config.split)>{config.split.clone()}</a>
            </td>
            <td role="cell" class="number strong" data-label="EvoScore">{format::or_dash(evoscore.map(format::score))}</td>
            <td role="cell" data-label="Tasks done">
                <span class="measure">
                    <span class="measure-number">{format!("{} / {}", run.evolutions_over, run.evolutions)}</span>
                    <Meter value=run.evolutions_over most=run.evolutions label="Evolutions finished" tone=tone.name()/>
                </span>
                {ended.map(|ended| view! { <small>{ended}</small> })}
            </td>
            <td role="cell" class="number" data-label="Iterations">{format::thousands(run.iterations)}</td>
            <td role="cell" data-label="Submitted"><Time at=Some(run.created_at)/></td>
            <td role="cell" data-label="Finished"><Time at=run.finished_at/></td>
        </tr>
    }
}

/// "3 solved, 1 gave up"; none of those without an evolution.
fn ended(solved: u32, gave_up: u32) -> Option<String> {
    let counts = [(solved, "solved"), (gave_up, "gave up")];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts = counts.map(|(count, what)| format!("{} {what}", format::thousands(*count)));
    let counts: Vec<String> = counts.collect();
    (!counts.is_empty()).then(|| counts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solved_and_gave_up_look_different() {
        assert_eq!(ended(3, 1).as_deref(), Some("3 solved, 1 gave up"));
        assert_eq!(ended(0, 2).as_deref(), Some("2 gave up"));
        assert_eq!(ended(0, 0), None);
    }
}
