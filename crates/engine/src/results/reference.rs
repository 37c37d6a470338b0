//! The layout of the authors' program: a folder for each task, with its history
//! in `iteration.jsonl` and the archived test reports beside it.
//!
//! The program renames `current` to the time when newer code replaces it, so
//! that, sorted by name, the folders with a report are the base and then the
//! code after each scored iteration. Collapsed code is archived without one.
//!
//! Scoring by count needs no reports. After any inconsistency a task is
//! therefore known by counts alone, with the reason.

use std::collections::BTreeMap;

use swe_ci_core::outcomes::{Outcomes, TestList};
use swe_ci_core::report::Report;
use swe_ci_core::results::Record;
use swe_ci_core::results::reference::parse;
use swe_ci_core::task::TaskId;
use swe_ci_store::Suite;

use super::folder::{Folder, Unread, holds_files};
use super::{Detail, Evolution, Found};

const MAX_BYTES: u64 = 64 << 20;
const MAX_REPORT_BYTES: u64 = 256 << 20;

pub fn find(folder: &mut Folder, task: &TaskId, detail: Detail) -> Found {
    let path = format!("{task}/iteration.jsonl");
    let bytes = match folder.read(&path, MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(Unread::Refused(why)) => return Found::Bad(why),
        Err(Unread::Missing) => return Found::Missing(missing(folder, task)),
    };
    let record = match parse(&bytes) {
        Ok(record) => record,
        Err(bad) => return Found::Bad(format!("{path}, {bad}")),
    };
    let tests = match detail {
        Detail::Tests => reports(folder, task.as_str(), &record),
        Detail::Counts => Err("its test reports were not requested".into()),
    };
    Found::Evolution(Box::new(Evolution {
        record,
        tests,
        notes: Vec::new(),
        trajectories: BTreeMap::new(),
    }))
}

fn missing(folder: &Folder, task: &TaskId) -> String {
    match folder.kind(task.as_str()) {
        Ok(_) => format!("there is no `{task}/iteration.jsonl`: it was never started"),
        Err(_) => format!("there is no folder `{task}`: it was never started"),
    }
}

const REPORT: &str = "test_report.json";

#[derive(Debug)]
pub struct PerTest {
    pub suite: Suite,
    /// After each iteration; `None` where it collapsed.
    pub iterations: Vec<Option<Outcomes>>,
}

/// Reads the reports of a task; the error is the reason why they cannot be
/// used.
fn reports(folder: &mut Folder, task: &str, record: &Record) -> Result<PerTest, String> {
    let archived = archived(folder, task)?;
    let target = format!("{task}/target/{REPORT}");
    if archived.is_empty() && !folder.has_file(&target)? {
        return Err("no test reports were archived".into());
    }
    let scored = record.iterations.iter().filter(|i| i.passed.is_some());
    let expected = 1 + scored.count();
    if archived.len() != expected {
        return Err(format!(
            "{} test reports were archived, and base and scored iterations are {expected}",
            archived.len()
        ));
    }
    let mut archived = archived.into_iter();
    let base = next(folder, &mut archived, record.base_passed)?;
    let suite = Suite::of(TestList::of_target(&report(folder, &target)?), &base);
    let gap = suite.counts.gap();
    if gap != record.gap {
        return Err(format!(
            "the archived test reports give the base a gap of {gap}, iteration.jsonl {}",
            record.gap
        ));
    }
    let mut iterations = Vec::new();
    for iteration in &record.iterations {
        let report = iteration.passed.map(|n| next(folder, &mut archived, n));
        let report = report.transpose()?;
        iterations.push(report.map(|report| Outcomes::of(&suite.tests, &report)));
    }
    Ok(PerTest { suite, iterations })
}

/// The reports of the base and of each scored code, in order.
fn archived(folder: &Folder, task: &str) -> Result<Vec<String>, String> {
    let entries = folder.list(task);
    let entries = entries.map_err(|unread| unread.why(|| format!("{task} has gone")))?;
    let stamped = entries
        .iter()
        .filter(|(name, kind)| is_time(name) && holds_files(*kind))
        .map(|(name, _)| name.as_str());
    let mut reports = Vec::new();
    for name in stamped.chain(["current"]) {
        let path = format!("{task}/{name}/{REPORT}");
        if folder.has_file(&path)? {
            reports.push(path);
        }
    }
    Ok(reports)
}

/// Whether a folder's name is a time, `YYYY-mm-dd-HH-MM-SS`.
fn is_time(name: &str) -> bool {
    let shape = "0000-00-00-00-00-00";
    name.len() == shape.len()
        && name
            .bytes()
            .zip(shape.bytes())
            .all(|(byte, as_in)| match as_in {
                b'0' => byte.is_ascii_digit(),
                _ => byte == as_in,
            })
}

/// The next report, if its count agrees with iteration.jsonl.
fn next(
    folder: &mut Folder,
    archived: &mut impl Iterator<Item = String>,
    passed: u32,
) -> Result<Report, String> {
    let path = archived.next().ok_or("a test report is missing")?;
    let report = report(folder, &path)?;
    let counted = report.passed();
    if counted == passed {
        return Ok(report);
    }
    Err(format!(
        "{} counts {counted} passing tests, iteration.jsonl {passed}",
        in_task(&path)
    ))
}

fn report(folder: &mut Folder, path: &str) -> Result<Report, String> {
    let bytes = folder.read(path, MAX_REPORT_BYTES);
    let bytes = bytes.map_err(|unread| unread.why(|| format!("{} is missing", in_task(path))))?;
    Report::parse(&bytes).map_err(|error| format!("{}: {error}", in_task(path)))
}

/// A path without the task's folder: tasks with the same problem share its text,
/// and so its note.
fn in_task(path: &str) -> &str {
    path.split_once('/').map_or(path, |(_, within)| within)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_named_by_a_time() {
        assert!(is_time("2026-09-19-10-00-05"));
        for other in [
            "",
            "current",
            "2026-09-19",
            "2026-09-19-10-00-0x",
            "2026_09_19_10_00_05",
            "2026-09-19-10-00-05-1",
        ] {
            assert!(!is_time(other), "{other}");
        }
    }
}
