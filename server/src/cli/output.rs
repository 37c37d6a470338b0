//! Output on stdout. When the reader closes the pipe (`| head`) the program
//! ends quietly, which is why nothing here uses `println!`.

use std::io::{ErrorKind, Write};

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use super::failure::Failure;

pub(super) fn line(text: impl std::fmt::Display) -> Result<(), Failure> {
    written(writeln!(std::io::stdout().lock(), "{text}"))
}

fn written(outcome: std::io::Result<()>) -> Result<(), Failure> {
    match outcome {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("stdout cannot be written: {e}")))
        }
        _ => Ok(()),
    }
}

pub(super) fn json(value: &(impl Serialize + ?Sized)) -> Result<(), Failure> {
    match serde_json::to_string_pretty(value) {
        Ok(text) => line(text),
        Err(e) => Err(Failure::new(format!("it cannot be written as JSON: {e}"))),
    }
}

/// Prints a value as JSON, or as people read it.
pub(super) fn show<T: Serialize + ?Sized>(
    value: &T,
    as_json: bool,
    print: impl FnOnce(&T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    match as_json {
        true => json(value),
        false => print(value),
    }
}

/// Prints a file as it is.
pub(super) fn bytes(content: &[u8]) -> Result<(), Failure> {
    written(std::io::stdout().lock().write_all(content))
}

/// A table. The header is the titles of the columns, separated by ` | `; a title
/// that ends with `:` aligns its column to the right.
pub(super) fn table<const N: usize>(
    header: &str,
    rows: impl IntoIterator<Item = [String; N]>,
) -> Result<(), Failure> {
    let titles: Vec<&str> = header.split(" | ").collect();
    debug_assert_eq!(titles.len(), N, "{header}");
    self::rows(&titles, rows)
}

/// [`table`], of titles and rows with as many cells.
pub(super) fn rows<T: AsRef<str>, R: IntoIterator<Item = String>>(
    titles: &[T],
    rows: impl IntoIterator<Item = R>,
) -> Result<(), Failure> {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY);
    let titles: Vec<&str> = titles.iter().map(AsRef::as_ref).collect();
    table.set_header(titles.iter().map(|title| title.trim_end_matches(':')));
    for row in rows {
        table.add_row(row.into_iter().map(|text| plain(&text)));
    }
    for (column, title) in table.column_iter_mut().zip(titles) {
        if title.ends_with(':') {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    line(table)
}

/// A table, or a note when it would have no row.
pub(super) fn table_or_note<const N: usize>(
    header: &str,
    rows: impl IntoIterator<Item = [String; N]>,
    none: &str,
) -> Result<(), Failure> {
    let mut rows = rows.into_iter().peekable();
    if rows.peek().is_none() {
        note(none);
        return Ok(());
    }
    table(header, rows)
}

/// Prints a note for people to stderr, separate from the output on stdout.
pub(super) fn note(text: impl std::fmt::Display) {
    eprintln!("{text}");
}

/// [`note`], of a line that the engine says while it works.
pub(super) fn say(line: String) {
    note(line);
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

/// An amount of money, given in millionths of a US dollar.
pub(super) fn dollars(micro_usd: u64) -> String {
    format!("${}.{:06}", micro_usd / 1_000_000, micro_usd % 1_000_000)
}
