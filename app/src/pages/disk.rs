//! Disk usage, and eviction of cached images.

use leptos::either::{Either, EitherOf3};
use leptos::prelude::*;
use swe_ci_engine::Error;
use swe_ci_views::background::BackgroundWork;
use swe_ci_views::disk::{
    DiskPart, DiskUse, Evicted, EvictionPlan, ImageUse, RunUse, SplitUse, size_read, size_shown,
};

use crate::components::CollectAny;
use crate::components::{
    ActionButton, Form, FormAnswer, ItemTable, ListTable, PageTop, Refusal, Time, WorkNote,
    fetched, loaded,
};
use crate::error::AppError;
use crate::format;
use crate::pages::routes::{dataset_href, run_href};
use crate::query::{named, of_query};

/// How much to keep when nobody has said it: nothing that is not needed.
const KEEP: &str = "0 B";

struct Found {
    disk: DiskUse,
    /// As typed.
    keep: Option<String>,
    /// What would be evicted to keep this much, or why nobody can say.
    plan: Option<Result<EvictionPlan, AppError>>,
    eviction: Option<BackgroundWork>,
}

async fn found(keep: Option<String>) -> Result<Found, AppError> {
    let engine = crate::error::engine()?;
    let disk = engine.disk_use().await?;
    let plan = match keep.as_deref().map(size_read) {
        None => None,
        Some(Err(wrong)) => Some(Err(Error::Invalid(wrong))),
        Some(Ok(bytes)) => Some(engine.eviction_plan(bytes).await),
    };
    Ok(Found {
        disk,
        keep,
        plan: plan.map(|plan| plan.map_err(AppError::from)),
        eviction: engine.eviction()?,
    })
}

#[component]
pub fn DiskPage() -> impl IntoView {
    let form = Form::new("evict", FormAnswer::of_page());
    let keep = of_query(|query| named(query, "keep"));
    let resource = fetched(move || keep.get(), found);
    view! {
        <PageTop
            title="Disk"
            description="The disk usage of this site."
            lede="The disk usage of this site, by kind. Images of other programs are not counted."
            missing=true
        />
        <Refusal why=form.problem("keep")/>
        {loaded(resource, |found| view! { <Disk found/> })}
    }
}

#[component]
fn Disk(found: Found) -> impl IntoView {
    let Found {
        disk,
        keep,
        plan,
        eviction,
    } = found;
    let images = disk.images.map(images);
    let silent = disk.images.is_none();
    let parts = disk.parts.into_iter().chain(images).map(part_row);
    let quota = match disk.image_quota {
        Some(quota) => format!(
            "Task images and harness layers have a quota of {}; the least recently used are evicted.",
            size_shown(quota)
        ),
        None => "Images have no quota; --image-quota sets one.".into(),
    };
    view! {
        {disk.free_bytes.map(|free| view! { <dl class="facts"><div><dt>"Free"</dt><dd>{size_shown(free)}</dd></div></dl> })}
        <ListTable caption="Disk usage" columns=&["Part", "Size", "Files", "Holds", "What to do"]>{parts.collect_any()}</ListTable>
        {silent.then(|| view! { <p class="note" data-tone="warn">"The container engine does not respond, so images are not counted."</p> })}
        <p class="footnote">{quota}</p>
        <p class="taken"><a href="/api/v1/disk">"In bytes, as JSON"</a></p>
        <section aria-labelledby="splits-title">
            <h2 id="splits-title">"Splits and runs"</h2>
            <p class="quiet">"By files of their own: code comes on top, which runs share."</p>
            <ItemTable
                caption="Splits, the largest first"
                columns=&["Split", "Tasks", "Runs", "What to do"]
                items=disk.splits
                row=split_row
                none="There is no split."
            />
            <ItemTable
                caption="The largest runs"
                columns=&["Run", "Split", "Size", "What to do"]
                items=disk.runs
                row=run_row
                none="No run has files here."
            />
        </section>
        <CleanUp keep plan eviction/>
    }
}

fn split_row(of: SplitUse) -> impl IntoView {
    let sizes = [
        ("Tasks", size_shown(of.task_bytes)),
        ("Runs", size_shown(of.run_bytes)),
    ];
    let label = format!("Delete {}", of.split);
    row_with_deletion(dataset_href(&of.split), of.split, sizes, label)
}

fn run_row(of: RunUse) -> impl IntoView {
    let cells = [("Split", of.split), ("Size", size_shown(of.bytes))];
    let label = format!("Delete the run of {}", of.model);
    row_with_deletion(run_href(&of.run_id), of.model, cells, label)
}

/// The row of something that its own page deletes.
fn row_with_deletion(
    href: String,
    name: String,
    cells: [(&'static str, String); 2],
    label: String,
) -> impl IntoView {
    let delete = format!("{href}#delete");
    let cell = |(head, text)| view! { <td role="cell" data-label=head>{text}</td> };
    view! {
        <tr role="row">
            <th role="rowheader" scope="row"><a href=href>{name}</a></th>
            {cells.map(cell).collect_any()}
            <td role="cell" data-label="What to do"><a href=delete aria-label=label>"Delete"</a></td>
        </tr>
    }
}

/// A link to the action that makes a part smaller, or a sentence that says how.
fn what_to_do(part: &str) -> AnyView {
    let link =
        |href: &'static str, text: &'static str| view! { <a href=href>{text}</a> }.into_any();
    match part {
        "results" => link("#splits-title", "Delete runs"),
        "tasks" => link("#splits-title", "Delete splits"),
        "images" => link("#clean-up-title", "Clean up"),
        "datasets" => "Keep it: evicted images return from here".into_any(),
        "database" => "Deleted runs leave room in it for new ones".into_any(),
        _ => "–".into_any(),
    }
}

/// First what would go, then the button for it.
#[component]
fn CleanUp(
    keep: Option<String>,
    plan: Option<Result<EvictionPlan, AppError>>,
    eviction: Option<BackgroundWork>,
) -> impl IntoView {
    let working = eviction.as_ref().is_some_and(BackgroundWork::is_active);
    let typed = keep.clone().unwrap_or_else(|| KEEP.to_owned());
    let planned = match plan {
        None => EitherOf3::A(()),
        Some(Err(why)) => EitherOf3::B(view! { <Refusal why=why.message/> }),
        Some(Ok(plan)) => EitherOf3::C(view! { <Planned plan keep=typed.clone() working/> }),
    };
    view! {
        <section aria-labelledby="clean-up-title">
            <h2 id="clean-up-title">"Clean up"</h2>
            <p>
                "Task images and harness layers are a cache: an evicted one is loaded or built again when a run, a check or an import needs it. Images that are in use, were used in the last ten minutes, or could not return stay. Results, tasks and datasets are never touched."
            </p>
            {eviction.map(|work| view! { <WorkNote work what="Clean-up"/> })}
            <form class="form" method="get" action="/disk">
                <div class="form-row">
                    <label for="field-keep">"Keep at most"</label>
                    <input id="field-keep" name="keep" value=typed autocomplete="off" aria-describedby="field-keep-hint" required=true/>
                    <p class="quiet" id="field-keep-hint">"A size such as 20 GiB. The longest unused go first."</p>
                </div>
                <button class="button" type="submit">"Show what would go"</button>
            </form>
            {planned}
        </section>
    }
}

#[component]
fn Planned(plan: EvictionPlan, keep: String, working: bool) -> impl IntoView {
    let all = size_shown(plan.cached_bytes);
    if plan.evicted.is_empty() {
        let says = format!("Nothing would go: {all} are cached, and all of it fits or is needed.");
        return Either::Left(view! { <p class="note" role="status">{says}</p> });
    }
    let freed = size_shown(plan.freed());
    let count = plan.evicted.len();
    let says = format!("{count} of these would go and free {freed} of {all}.");
    let rows = plan.evicted.into_iter().map(evicted_row).collect_any();
    let button = (!working).then(|| {
        let text = format!("Evict {count}, free {freed}");
        view! { <ActionButton action="/disk" deed="evict" fields=vec![("keep", keep)] text/> }
    });
    Either::Right(view! {
        <p role="status">{says}</p>
        <ListTable caption="What would go" columns=&["Name", "Kind", "Last used", "Frees"]>{rows}</ListTable>
        {button}
    })
}

fn evicted_row(evicted: Evicted) -> impl IntoView {
    let (kind, name) = match evicted.is_layer {
        true => ("harness layer", evicted.name),
        false => ("task image", format::short(&evicted.name)),
    };
    view! {
        <tr role="row">
            <th role="rowheader" scope="row"><code>{name}</code></th>
            <td role="cell" data-label="Kind">{kind}</td>
            <td role="cell" data-label="Last used"><Time at=Some(evicted.used_at)/></td>
            <td role="cell" data-label="Frees">{size_shown(evicted.bytes)}</td>
        </tr>
    }
}

fn images(images: ImageUse) -> DiskPart {
    let lost = match images.missing {
        0 => String::new(),
        n => format!("; {n} more are not in the container engine"),
    };
    DiskPart {
        name: "images".into(),
        holds: format!(
            "what tasks are worked on in; {} if they shared no layer{lost}",
            size_shown(images.apart_bytes)
        ),
        files: images.images,
        bytes: images.bytes,
    }
}

fn part_row(part: DiskPart) -> impl IntoView {
    let to_do = what_to_do(&part.name);
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">{part.name}</th>
            <td role="cell" data-label="Size">{size_shown(part.bytes)}</td>
            <td role="cell" data-label="Files">{format::thousands(part.files)}</td>
            <td role="cell" data-label="Holds">{part.holds}</td>
            <td role="cell" data-label="What to do">{to_do}</td>
        </tr>
    }
}
