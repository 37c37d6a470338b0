//! The processes that execute runs, for administrators.

use leptos::prelude::*;
use swe_ci_views::workers::{NeedyRun, WorkerClaim, WorkerState, WorkerView, unmet_in_words};

use crate::components::CollectAny;
use crate::components::{ItemTable, PageTop, Tag, Time, Tone, fetched, loaded};
use crate::error::AppError;
use crate::pages::routes::{iteration_href, run_href, task_href};

/// The workers, and the runs that wait for another one.
pub async fn workers() -> Result<(Vec<WorkerView>, Vec<NeedyRun>), AppError> {
    let engine = crate::error::engine()?;
    Ok((engine.workers().await?, engine.runs_without_worker().await?))
}

#[component]
pub fn WorkersPage() -> impl IntoView {
    let resource = fetched(|| (), |()| workers());
    view! {
        <PageTop
            title="Workers"
            description="The processes that execute the runs of this site."
            lede="Each worker executes evolutions in its slots. What a lost worker held goes to others as soon as its lease ends, after a minute at most."
            missing=true
        />
        {loaded(resource, |(workers, waiting)| view! { <Waiting waiting/><WorkerTable workers/> })}
    }
}

/// The runs whose needs no worker meets.
#[component]
fn Waiting(waiting: Vec<NeedyRun>) -> impl IntoView {
    (!waiting.is_empty()).then(|| {
        let item = |run: NeedyRun| {
            let waits = unmet_in_words(&run.needs);
            view! { <li><a href=run_href(&run.run_id)>{run.model}</a>" "{waits}"."</li> }
        };
        view! {
            <ul class="note plain" data-tone="warn">
                {waiting.into_iter().map(item).collect_any()}
            </ul>
        }
    })
}

#[component]
fn WorkerTable(workers: Vec<WorkerView>) -> impl IntoView {
    view! {
        <ItemTable
            caption="Workers, by name"
            columns=&["Name", "State", "Busy", "Last heartbeat", "Since", "Version", "At hand", "Works on"]
            items=workers
            row=worker_row
            none="Nobody executes runs at the moment. Start “swe-ci work” beside this server, or give the server workers of its own."
        />
    }
}

fn worker_row(worker: WorkerView) -> impl IntoView {
    let tone = match worker.state {
        WorkerState::Working => Tone::Good,
        WorkerState::Draining => Tone::Warn,
        WorkerState::Lost => Tone::Bad,
    };
    let busy = format!("{} of {}", worker.claims.len(), worker.slots);
    let silent = format!("{:.0} s ago", worker.silent_seconds);
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">
                {worker.name}
                <span class="quiet">{worker.labels.to_string()}</span>
            </th>
            <td role="cell" data-label="State"><Tag tone text=worker.state.name()/></td>
            <td role="cell" data-label="Busy">{busy}</td>
            <td role="cell" data-label="Last heartbeat">{silent}</td>
            <td role="cell" data-label="Since"><Time at=Some(worker.started_at)/></td>
            <td role="cell" data-label="Version">{worker.version}</td>
            <td role="cell" data-label="At hand">{worker.figures.at_hand()}</td>
            <td role="cell" data-label="Works on">{worker.claims.into_iter().map(claim).collect_any()}</td>
        </tr>
    }
}

fn claim(claim: WorkerClaim) -> impl IntoView {
    let at = iteration_href(&claim.run_id, &claim.evolution_id, claim.iteration);
    let step = format!("iteration {}, {}", claim.iteration, claim.role.name());
    view! {
        <div>
            <a href=task_href(claim.task_id.as_str())>{claim.task_id.to_string()}</a>
            " "
            <a href=at>{step}</a>
        </div>
    }
}
