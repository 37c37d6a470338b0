//! Disk usage.

use leptos::prelude::*;
use swe_ci_views::disk::{DiskPart, DiskUse, ImageUse, size_shown};

use crate::components::{ListTable, PageTop, fetched, loaded};
use crate::error::AppError;
use crate::format;

pub async fn disk_found() -> Result<DiskUse, AppError> {
    Ok(crate::error::engine()?.disk_use().await?)
}

#[component]
pub fn DiskPage() -> impl IntoView {
    let resource = fetched(|| (), |()| disk_found());
    view! {
        <PageTop
            title="Disk"
            description="The disk usage of this site."
            lede="The disk usage of this site, by kind. Images of other programs are not counted."
            missing=true
        />
        {loaded(resource, |found| view! { <Found found/> })}
    }
}

#[component]
fn Found(found: DiskUse) -> impl IntoView {
    let images = found.images.map(images);
    let silent = found.images.is_none();
    let parts = found.parts.into_iter().chain(images).map(part_row);
    let quota = match found.image_quota {
        Some(quota) => format!(
            "Task images and harness layers have a quota of {}; the least recently used are evicted.",
            size_shown(quota)
        ),
        None => "Images have no quota; --image-quota sets one, and swe-ci disk --keep removes the least recently used.".into(),
    };
    view! {
        {found.free_bytes.map(|free| view! { <dl class="facts"><div><dt>"Free"</dt><dd>{size_shown(free)}</dd></div></dl> })}
        <ListTable caption="Disk usage" columns=&["Part", "Size", "Files", "Holds"]>{parts.collect_view()}</ListTable>
        {silent.then(|| view! { <p class="note" data-tone="warn">"The container engine does not respond, so images are not counted."</p> })}
        <p class="footnote">{quota}</p>
        <p class="taken"><a href="/api/v1/disk">"In bytes, as JSON"</a></p>
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
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">{part.name}</th>
            <td role="cell" data-label="Size">{size_shown(part.bytes)}</td>
            <td role="cell" data-label="Files">{format::thousands(part.files)}</td>
            <td role="cell" data-label="Holds">{part.holds}</td>
        </tr>
    }
}
