//! Experiments in the layouts of other programs, in temporary folders.

mod harbor;

mod importing;

mod reading;

mod scoring;

use std::path::{Path, PathBuf};

use serde_json::json;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::results::Layout;

use super::{ScoreRequest, Scored, score};

/// An experiment beside the metadata file of its split.
pub struct Lab {
    folder: tempfile::TempDir,
}

/// Base 10, target 20: four iterations, solved at the end.
pub const SOLVED: (u32, u32, &[Option<u32>]) = (10, 10, &[Some(12), Some(15), Some(8), Some(20)]);

impl Lab {
    /// A split of tasks, one repository each, and an empty experiment.
    pub fn new(tasks: &[&str]) -> Self {
        let lab = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let mut csv = "task_id,current_sha,target_sha,repo\n".to_owned();
        for task in tasks {
            csv += &format!("{task},aaaaaaa,bbbbbbb,repo/{task}\n");
        }
        std::fs::write(lab.metadata(), csv).unwrap();
        std::fs::create_dir(lab.experiment()).unwrap();
        lab
    }

    pub fn experiment(&self) -> PathBuf {
        self.folder.path().join("model-x")
    }

    pub fn metadata(&self) -> PathBuf {
        self.folder.path().join("split.csv")
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.experiment().join(path)
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// `iteration.jsonl` of a task: the base, then the passing tests of each
    /// iteration, `None` where it collapsed.
    pub fn iterations(&self, task: &str, counts: (u32, u32, &[Option<u32>])) {
        self.write(&format!("{task}/iteration.jsonl"), lines(counts));
    }

    /// A report: `p` passes, anything else fails; tests are `t0`, `t1`, ….
    pub fn report(&self, path: &str, letters: &str) {
        self.write(&format!("{path}/test_report.json"), report(letters));
    }

    /// A folder of Otter's.
    pub fn sample(&self, name: &str, counts: (u32, u32, &[Option<u32>])) {
        let (base, gap, passes) = counts;
        let meta = json!({"base_passed": base, "target_passed": base + gap});
        self.write(&format!("{name}/meta.json"), meta.to_string());
        for (turn, passed) in (1..).zip(passes) {
            let path = format!("{name}/turn_{turn}/conclusion.json");
            self.write(&path, conclusion(*passed, base + gap));
        }
    }

    pub fn score(&self, max_iterations: u32, convention: Convention) -> Scored {
        self.score_as(Layout::Reference, max_iterations, convention)
    }

    pub fn score_as(&self, layout: Layout, max_iterations: u32, convention: Convention) -> Scored {
        let request = ScoreRequest {
            layout,
            max_iterations: Some(max_iterations),
            gamma: Gamma::ONE,
            convention,
        };
        score(&self.experiment(), &self.metadata(), &request).unwrap()
    }
}

pub fn lines((base, gap, passes): (u32, u32, &[Option<u32>])) -> String {
    let target = base + gap;
    let mut text = format!(
        "{}\n",
        json!({"gap": gap, "pytest": {"passed": base, "total": target}})
    );
    for passed in passes {
        let line = match passed {
            Some(n) => json!({"gap": target.saturating_sub(*n), "pytest": {"passed": n}}),
            None => json!({"gap": -1, "pytest": {}}),
        };
        text += &format!("{line}\n");
    }
    text
}

pub fn report(letters: &str) -> String {
    let outcome = |letter| if letter == 'p' { "passed" } else { "failed" };
    let tests: Vec<_> = letters
        .chars()
        .enumerate()
        .map(|(i, letter)| json!({"nodeid": format!("tests/test_a.py::t{i}"), "outcome": outcome(letter)}))
        .collect();
    let passed = letters.matches('p').count();
    json!({"exitcode": 1, "duration": 0.1, "summary": {"passed": passed}, "tests": tests})
        .to_string()
}

fn conclusion(passed: Option<u32>, target: u32) -> String {
    json!({
        "num_passed": passed.unwrap_or(0),
        "is_collapsed": passed.is_none(),
        "is_solved": passed == Some(target),
    })
    .to_string()
}

/// Every path below a folder, in order.
pub fn listing(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                waiting.push(entry.path());
            }
            all.push(entry.path());
        }
    }
    all.sort();
    all
}
