//! The layout of Otter: a folder for each sample of a task,
//! `<task>#<sample>`, with `meta.json` and a folder for each turn.

use std::collections::BTreeMap;

use swe_ci_core::results::otter::{conclusion, meta};
use swe_ci_core::results::{MAX_ITERATIONS, Record, Recorded};
use swe_ci_core::task::TaskId;

use super::folder::{Folder, Unread, holds_files};
use super::{Evolution, Found};
use crate::as_u32;

const MAX_BYTES: u64 = 64 << 20;

/// Why the names of the tests are never known.
const COUNTS_ONLY: &str = "Otter's files count tests and do not name them";

/// The samples of a task, in order of their numbers. `names` are the task's
/// folders.
pub fn find(folder: &mut Folder, task: &TaskId, names: &[String]) -> Vec<Found> {
    if names.is_empty() {
        let why = format!("there is no folder `{task}#<sample>`: it was never started");
        return vec![Found::Missing(why)];
    }
    let mut samples: Vec<(Option<u32>, &String)> = names
        .iter()
        .map(|name| (numbered(name, &format!("{task}#")), name))
        .collect();
    samples.sort();
    let read = |(number, name): (Option<u32>, &String)| match number {
        Some(_) => sample(folder, name).unwrap_or_else(|found| found),
        None => Found::Bad(format!(
            "{} does not end in `#` and the number of a sample, as the folders of this layout do",
            name.escape_debug()
        )),
    };
    samples.into_iter().map(read).collect()
}

/// The number after a prefix, if it is in canonical form.
fn numbered(name: &str, prefix: &str) -> Option<u32> {
    let digits = name.strip_prefix(prefix)?;
    let number: u32 = digits.parse().ok()?;
    (number.to_string() == digits).then_some(number)
}

/// One sample; the error is the reason why there is none.
fn sample(folder: &mut Folder, name: &str) -> Result<Found, Found> {
    let numbers = turns(folder, name).map_err(Found::Bad)?;
    let path = format!("{name}/meta.json");
    let bytes = folder
        .read(&path, MAX_BYTES)
        .map_err(|unread| match unread {
            Unread::Missing if numbers == 0 => {
                Found::Missing(format!("there is no `{path}`: it was never started"))
            }
            unread => Found::Bad(unread.why(|| format!("{path} is missing, and there are turns"))),
        })?;
    let mut record = meta(&bytes).map_err(|bad| Found::Bad(format!("{path}, {bad}")))?;
    let notes = read_turns(folder, name, numbers, &mut record).map_err(Found::Bad)?;
    Ok(Found::Evolution(Box::new(Evolution {
        record,
        tests: Err(COUNTS_ONLY.into()),
        notes,
        trajectories: BTreeMap::new(),
    })))
}

/// How many turns there are, numbered from 1 without a gap.
fn turns(folder: &Folder, name: &str) -> Result<u32, String> {
    let entries = folder.list(name);
    let entries = entries.map_err(|unread| unread.why(|| format!("{name} has gone")))?;
    let mut numbers = Vec::new();
    for (entry, kind) in entries {
        if !entry.starts_with("turn_") || !holds_files(kind) {
            continue;
        }
        let number = numbered(&entry, "turn_").filter(|n| *n > 0);
        let misnamed = || format!("{name}/{}: turns are numbered from 1", entry.escape_debug());
        numbers.push(number.ok_or_else(misnamed)?);
    }
    numbers.sort_unstable();
    let gap = (1..).zip(&numbers).find(|(expect, n)| expect != *n);
    if let Some((missing, next)) = gap {
        return Err(format!(
            "{name}/turn_{missing} is missing, and there is a turn_{next}"
        ));
    }
    let count = as_u32(numbers.len());
    if count > MAX_ITERATIONS {
        return Err(format!("{name} has more than {MAX_ITERATIONS} turns"));
    }
    Ok(count)
}

/// Reads the turns into a record. An unfinished last turn is left out with a
/// note.
fn read_turns(
    folder: &mut Folder,
    name: &str,
    count: u32,
    record: &mut Record,
) -> Result<Vec<String>, String> {
    for number in 1..=count {
        match turn(folder, name, number)? {
            Some(recorded) => record.iterations.push(recorded),
            None if number == count => {
                return Ok(vec![format!(
                    "`{name}`: turn {number} has no conclusion and is left out"
                )]);
            }
            None => {
                return Err(format!(
                    "{name}/turn_{number}/conclusion.json is missing, and there are later turns"
                ));
            }
        }
    }
    Ok(Vec::new())
}

/// One turn; `None` without a conclusion.
fn turn(folder: &mut Folder, name: &str, number: u32) -> Result<Option<Recorded>, String> {
    let path = format!("{name}/turn_{number}/conclusion.json");
    match folder.read(&path, MAX_BYTES) {
        Ok(bytes) => conclusion(&bytes)
            .map(Some)
            .map_err(|bad| format!("{path}, {bad}")),
        Err(Unread::Missing) => Ok(None),
        Err(Unread::Refused(why)) => Err(why),
    }
}
