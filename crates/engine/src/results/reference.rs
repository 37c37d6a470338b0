//! The layout of the authors' program: a folder for each task, with its history
//! in `iteration.jsonl` and the archived test reports beside it.

use swe_ci_core::results::reference::parse;
use swe_ci_core::task::TaskId;

use super::folder::{Folder, Unread};
use super::{Detail, Evolution, Found, reports};

const MAX_BYTES: u64 = 64 << 20;

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
        Detail::Tests => reports::read(folder, task.as_str(), &record),
        Detail::Counts => Err("its test reports were not requested".into()),
    };
    Found::Evolution(Box::new(Evolution {
        record,
        tests,
        notes: Vec::new(),
    }))
}

fn missing(folder: &Folder, task: &TaskId) -> String {
    match folder.kind(task.as_str()) {
        Ok(_) => format!("there is no `{task}/iteration.jsonl`: it was never started"),
        Err(_) => format!("there is no folder `{task}`: it was never started"),
    }
}
