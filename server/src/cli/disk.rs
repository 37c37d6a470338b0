//! `swe-ci disk`: disk use, and eviction of cached images.

use clap::Args;
use swe_ci_engine::Engine;
use swe_ci_views::disk::{DiskUse, Evicted, size_read, size_shown};

use super::failure::Failure;
use super::output;

pub(super) const AFTER_HELP: &str = "\
Examples:
  swe-ci disk                    show disk use
  swe-ci disk --keep 20GiB       evict the longest unused images and layers";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Evict task images and harness layers, the longest unused first, until
    /// the rest takes no more than this; they are restored when needed
    #[arg(long, value_name = "SIZE", value_parser = size_read)]
    keep: Option<u64>,
    /// Print JSON, sizes in bytes
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(engine: &Engine, options: &Options) -> Result<(), Failure> {
    if let Some(quota) = options.keep {
        for Evicted { name, bytes, .. } in engine.keep_within(quota).await? {
            output::note(format_args!("evicted: {name}, {}", size_shown(bytes)));
        }
    }
    output::show(&engine.disk_use().await?, options.json, print)
}

fn print(found: &DiskUse) -> Result<(), Failure> {
    let rows = found.parts.iter().map(|part| {
        [
            part.name.clone(),
            size_shown(part.bytes),
            part.files.to_string(),
            part.holds.clone(),
        ]
    });
    let images = found.images.iter().map(|images| {
        let lost = match images.missing {
            0 => String::new(),
            n => format!("; {n} more are not in the container engine"),
        };
        [
            "images".to_owned(),
            size_shown(images.bytes),
            images.images.to_string(),
            format!(
                "what tasks are worked on in; {} if they shared no layer{lost}",
                size_shown(images.apart_bytes)
            ),
        ]
    });
    let rows = rows.chain(images);
    output::table("part | size: | files: | holds", rows)?;
    if found.images.is_none() {
        output::note(
            "the container engine does not answer, so images are not counted; `swe-ci doctor` tells more",
        );
    }
    match found.free_bytes {
        Some(free) => output::line(format_args!("\n{} free", size_shown(free))),
        None => Ok(()),
    }
}
