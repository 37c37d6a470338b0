//! Tests the public functions on real repositories made by the test.

mod environment;
mod facts;
mod histories;
mod hostile;
mod partition;
mod spans;

use swe_ci_candidates::testing::History;
use swe_ci_candidates::{SpanReport, SpanRules, unwatched};
use tempfile::TempDir;

pub const PYPROJECT: &str = "[project]\nname='p'\nversion='1'\ndependencies=['a>=1']\n";
pub const MIT: &str = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software … the above copyright notice and this permission notice";

/// An acceptable project, not committed yet.
pub fn project() -> (TempDir, History) {
    let folder = tempfile::tempdir().unwrap();
    let mut history = History::new(&folder.path().join("repository")).unwrap();
    history.write("pyproject.toml", PYPROJECT).unwrap();
    history.write("LICENSE", MIT).unwrap();
    history
        .write("tests/test_p.py", "def test(): pass\n")
        .unwrap();
    history.write("p/core.py", lines(10, "v")).unwrap();
    (folder, history)
}

/// Distinct lines.
pub fn lines(count: usize, word: &str) -> String {
    (0..count).map(|n| format!("{word}{n} = {n}\n")).collect()
}

/// Rules that keep every possible task.
pub fn any() -> SpanRules {
    SpanRules {
        min_modified_lines: 0,
        min_source_lines: 0,
        min_commits: 1,
        ..SpanRules::default()
    }
}

pub fn report(history: &History) -> SpanReport {
    swe_ci_candidates::spans(history.folder(), None, &any(), &unwatched).unwrap()
}
