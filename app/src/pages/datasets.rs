//! All splits.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_views::account::AccountRole;
use swe_ci_views::dataset::{SplitListed, SplitSource};

use crate::components::CollectAny;
use crate::components::{Empty, ListTable, PageTop, fetched, loaded};
use crate::context::Reader;
use crate::error::AppError;
use crate::format;
use crate::pages::routes::{dataset_href, tasks_href};

#[component]
pub fn DatasetsPage() -> impl IntoView {
    let resource = fetched(|| (), |()| listed());
    let new = Reader::at_hand().is(AccountRole::Admin).then(|| {
        view! {
            <p class="deeds">
                <a class="button" href="/datasets/import">"Import a dataset"</a>
                " "
                <a class="button" href="/datasets/new">"New dataset"</a>
            </p>
        }
    });
    view! {
        <PageTop
            title="Datasets"
            description="The splits of this site: which tasks they hold, where they come from, and their datasheets."
            lede="A split is a named list of tasks. A run uses one split, and runs are compared within it."
        >
            {new}
        </PageTop>
        {loaded(resource, |splits| view! { <Splits splits/> })}
    }
}

async fn listed() -> Result<Vec<SplitListed>, AppError> {
    Ok(crate::error::engine()?.listed_splits().await?)
}

#[component]
fn Splits(splits: Vec<SplitListed>) -> impl IntoView {
    if splits.is_empty() {
        return Either::Left(view! {
            <Empty title="No datasets yet" command="swe-ci dataset demo">
                <p>
                    "This command makes a split of four small tasks from the releases of real packages; "
                    <code>"swe-ci dataset import"</code>
                    " takes others."
                </p>
            </Empty>
        });
    }
    let row = |listed: SplitListed| {
        let split = listed.summary;
        let (page, tasks) = (dataset_href(&split.name), tasks_href(&split.name));
        view! {
            <tr role="row">
                <th role="rowheader" scope="row"><a href=page>{split.name}</a></th>
                <td role="cell" data-label="Tasks"><a href=tasks>{format::thousands(split.tasks)}</a></td>
                <td role="cell" data-label="Can be run">{format::thousands(split.ready)}</td>
                <td role="cell" data-label="Repositories">{format::thousands(listed.repositories)}</td>
                <td role="cell" data-label="First imported">{format::day(&listed.created_at)}</td>
                <td role="cell" data-label="Source">{SplitSource::text(listed.source.as_ref())}</td>
            </tr>
        }
    };
    Either::Right(view! {
        <ListTable caption="Splits" columns=&["Split", "Tasks", "Can be run", "Repositories", "First imported", "Source"]>
            {splits.into_iter().map(row).collect_any()}
        </ListTable>
    })
}
