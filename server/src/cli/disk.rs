use clap::Args;
use comfy_table::CellAlignment::{Left, Right};

use super::failure::Failure;
use super::output;
use crate::config::GlobalOptions;

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Print JSON, sizes in bytes
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(global: &GlobalOptions, options: &Options) -> Result<(), Failure> {
    let found = super::open(global).await?.disk_use().await?;
    if options.json {
        return output::json(&found);
    }
    let columns = [
        ("part", Left),
        ("size", Right),
        ("files", Right),
        ("holds", Left),
    ];
    let rows = found.parts.iter().map(|part| {
        [
            part.name.to_owned(),
            size(part.bytes),
            part.files.to_string(),
            part.holds.to_owned(),
        ]
    });
    let images = found.images.iter().map(|images| {
        let lost = match images.missing {
            0 => String::new(),
            n => format!("; {n} more are lost, their tasks have to be imported again"),
        };
        [
            "images".to_owned(),
            size(images.bytes),
            images.images.to_string(),
            format!(
                "what tasks are worked on in; {} if they shared no layer{lost}",
                size(images.apart_bytes)
            ),
        ]
    });
    output::table(columns, rows.chain(images))?;
    if found.images.is_none() {
        output::note(format_args!(
            "the container engine does not answer, so images are not counted; `swe-ci doctor` tells more"
        ));
    }
    match found.free_bytes {
        Some(free) => output::line(format_args!("\n{} free", size(free))),
        None => Ok(()),
    }
}

/// "3.2 GiB".
fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1_023.95 && unit + 1 < UNITS.len() {
        value /= 1_024.0;
        unit += 1;
    }
    match unit {
        0 => format!("{bytes} B"),
        _ => format!("{value:.1} {}", UNITS[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes() {
        let check = |bytes, expect: &str| assert_eq!(size(bytes), expect);
        check(0, "0 B");
        check(1_023, "1023 B");
        check(1_024, "1.0 KiB");
        check((1 << 20) - 1, "1.0 MiB");
        check(3_435_973_837, "3.2 GiB");
        check(u64::MAX, "16777216.0 TiB");
    }
}
