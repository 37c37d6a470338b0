//! The suspicious findings of all runs that wait for a decision, for
//! administrators.

use leptos::prelude::*;
use swe_ci_core::text::visible;
use swe_ci_views::finding::RunFinding;

use crate::components::{ItemTable, PageTop, fetched, loaded};
use crate::error::AppError;
use crate::labels;
use crate::pages::routes::{FINDINGS, iteration_href, run_href};

pub async fn open_findings() -> Result<Vec<RunFinding>, AppError> {
    Ok(crate::error::engine()?.open_findings().await?)
}

#[component]
pub fn OpenFindingsPage() -> impl IntoView {
    let resource = fetched(|| (), |()| open_findings());
    view! {
        <PageTop
            title="Open findings"
            description="The suspicious findings of this site that wait for a decision."
            lede="Suspicious findings that wait for a decision. A run has no rank until an administrator has cleared each of them; its page has the forms."
            missing=true
        />
        {loaded(resource, |findings| view! {
            <ItemTable
                caption="Open findings, by run"
                columns=&["Run", "Kind", "Finding", "Iteration"]
                items=findings
                row=finding_row
                none="No finding waits for a decision."
            />
        })}
    }
}

fn finding_row(found: RunFinding) -> impl IntoView {
    let run = format!("{}#{FINDINGS}", run_href(&found.run_id));
    let iteration = iteration_href(&found.run_id, &found.evolution_id, found.iteration);
    let place = format!("{}, iteration {}", found.task_id, found.iteration);
    let text = visible(&found.finding.text).into_owned();
    view! {
        <tr role="row">
            <th role="rowheader" scope="row"><a href=run>{found.model}</a></th>
            <td role="cell" data-label="Kind">{labels::finding_kind(found.finding.kind)}</td>
            <td role="cell" data-label="Finding">{text}</td>
            <td role="cell" data-label="Iteration"><a href=iteration>{place}</a></td>
        </tr>
    }
}
