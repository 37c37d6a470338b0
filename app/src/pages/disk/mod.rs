//! Disk usage.

mod data;

use leptos::prelude::*;
use swe_ci_views::disk::{DiskPart, DiskUse, ImageUse, size_shown};

use self::data::disk_found;
use crate::components::{ListTable, PageHead, loaded};
use crate::fetched::fetched;
use crate::format;

#[component]
pub fn DiskPage() -> impl IntoView {
    let resource = fetched(|| (), |()| disk_found());
    view! {
        <PageHead title="Disk" description="The disk usage of this site." missing=true/>
        <div class="hero">
            <h1>"Disk"</h1>
            <p class="lede">"The disk usage of this site, by kind. Images of other programs are not counted."</p>
        </div>
        {loaded(resource, |found| view! { <Found found/> })}
    }
}

#[component]
fn Found(found: DiskUse) -> impl IntoView {
    let images = found.images.map(images);
    let silent = found.images.is_none();
    let parts = found
        .parts
        .into_iter()
        .chain(images)
        .map(|part| view! { <Part part/> });
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
        <p class="taken"><a href="/api/v1/disk" rel="external">"In bytes, as JSON"</a></p>
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

#[component]
fn Part(part: DiskPart) -> impl IntoView {
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">{part.name}</th>
            <td role="cell" data-label="Size">{size_shown(part.bytes)}</td>
            <td role="cell" data-label="Files">{format::thousands(part.files)}</td>
            <td role="cell" data-label="Holds">{part.holds}</td>
        </tr>
    }
}
