//! The snapshots of leaderboards, and the button that makes one.

use leptos::prelude::*;
use swe_ci_views::account::AccountRole;
use swe_ci_views::leaderboard::Snapshot;
use swe_ci_views::view::SplitSummary;

use crate::components::{
    Form, FormAnswer, ItemTable, OneOf, PageTop, PostForm, Refusal, Time, fetched, loaded,
};
use crate::error::AppError;
use crate::format;
use crate::pages::routes::snapshot_content_href;

struct Found {
    snapshots: Vec<Snapshot>,
    /// Those that the visitor can make one of today.
    splits: Vec<SplitSummary>,
}

async fn found() -> Result<Found, AppError> {
    let engine = crate::error::engine()?;
    let snapshots = engine.snapshots().await?;
    let mut splits = match engine.by().is(AccountRole::Admin) {
        true => engine.splits().await?,
        false => Vec::new(),
    };
    let today = engine.today();
    splits.retain(|split| {
        let made = |of: &Snapshot| of.day == today && of.split == split.name;
        !snapshots.iter().any(made)
    });
    Ok(Found { snapshots, splits })
}

#[component]
pub fn SnapshotsPage() -> impl IntoView {
    let form = Form::new("make", FormAnswer::of_page());
    let resource = fetched(|| (), |()| found());
    view! {
        <PageTop
            title="Snapshots"
            description="Leaderboards as they were on a day, under permanent addresses with a digest."
            lede="Leaderboards as they were on a day, with their figures and data. A snapshot never changes, so cite it for numbers that others can look up."
        />
        {loaded(resource, move |found| view! { <Snapshots found form/> })}
    }
}

#[component]
fn Snapshots(found: Found, form: Form) -> impl IntoView {
    let Found { snapshots, splits } = found;
    let make = (!splits.is_empty()).then(|| {
        let option = |split: SplitSummary| (split.name.clone(), split.name);
        let options = splits.into_iter().map(option).collect::<Vec<_>>();
        view! {
            <PostForm form action="/snapshots" button="Make today’s snapshot">
                <OneOf form name="split" label="Split" options hint="It cannot be removed or made again."/>
            </PostForm>
        }
    });
    // The field shows it where there is one.
    let why = form.problem("split").filter(|_| make.is_none());
    view! {
        <ItemTable
            caption="Snapshots, the latest first"
            columns=&["Day", "Split", "Runs", "Tasks", "SHA-256", "Made"]
            items=snapshots
            row=snapshot_row
            none="There is no snapshot yet. Administrators make them here, by “swe-ci snapshot make”, or by a schedule."
        />
        {why.map(|why| view! { <Refusal why/> })}
        {make}
    }
}

fn snapshot_row(snapshot: Snapshot) -> impl IntoView {
    let (path, content) = (snapshot.path(), snapshot_content_href(&snapshot));
    let digest = format::short(&snapshot.digest);
    let label = format!(
        "Content of the snapshot of {}, {}",
        snapshot.day, snapshot.split
    );
    view! {
        <tr role="row">
            <th role="rowheader" scope="row"><a href=path>{snapshot.day}</a></th>
            <td role="cell" data-label="Split">{snapshot.split}</td>
            <td role="cell" data-label="Runs">{format::thousands(snapshot.runs)}</td>
            <td role="cell" data-label="Tasks">{format::thousands(snapshot.tasks)}</td>
            <td role="cell" data-label="SHA-256"><a href=content aria-label=label title=snapshot.digest><code>{digest}</code></a></td>
            <td role="cell" data-label="Made"><Time at=Some(snapshot.made_at)/>" by "{snapshot.made_by}</td>
        </tr>
    }
}
