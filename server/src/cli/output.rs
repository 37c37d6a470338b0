//! Output on stdout. When the reader closes the pipe (`| head`) the program
//! ends quietly, which is why nothing here uses `println!`.

use std::io::{ErrorKind, Write};

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use super::failure::Failure;

pub(super) fn line(text: impl std::fmt::Display) -> Result<(), Failure> {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("stdout cannot be written: {e}")))
        }
        _ => Ok(()),
    }
}

pub(super) fn json(value: &impl Serialize) -> Result<(), Failure> {
    match serde_json::to_string_pretty(value) {
        Ok(text) => line(text),
        Err(e) => Err(Failure::new(format!("it cannot be written as JSON: {e}"))),
    }
}

/// A table of columns `(title, alignment)`.
pub(super) fn table<const N: usize>(
    columns: [(&str, CellAlignment); N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> Result<(), Failure> {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY);
    table.set_header(columns.map(|(title, _)| title));
    for row in rows {
        table.add_row(row.map(|text| plain(&text)));
    }
    for (column, (_, alignment)) in table.column_iter_mut().zip(columns) {
        column.set_cell_alignment(alignment);
    }
    line(table)
}

/// Prints a note for people to stderr, separate from the output on stdout.
pub(super) fn note(text: impl std::fmt::Display) {
    eprintln!("{text}");
}

/// Names and reasons come from outside and must not move the cursor.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// `2026-11-20T10:11:12.123Z` as `2026-11-20 10:11` (UTC).
pub(super) fn minute(time: &str) -> String {
    time.get(..16).unwrap_or(time).replace('T', " ")
}

/// A long name, cut to fit a table.
pub(super) fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}
