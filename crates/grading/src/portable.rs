//! The parts of a grading for a program that is not this one: the bootstrap, what
//! it is told, and the files that steer it. `dataset::harbor` writes them into
//! tasks whose verifier reads the bootstrap's frames by itself.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use swe_ci_base::code::CodeTree;

use crate::files::Files;
use crate::pytest_settings::{SETTINGS, conftests, place, stands_for_tests};
use crate::settings::Settings;
use crate::{BOOTSTRAP, Grading, Staging, TESTS};

/// A grading without the code that is graded.
#[derive(Debug)]
pub struct Portable {
    /// The program that runs pytest.
    pub bootstrap: String,
    /// Tests, conftest files and settings that stand in the code's place.
    pub steering: CodeTree,
    pub plan: GradingPlan,
}

/// What the program that grades has to know beside the files.
#[derive(Debug, Serialize)]
pub struct GradingPlan {
    /// What the bootstrap is told, without the parts that depend on the code.
    settings: Value,
    /// Node ids that count.
    known_tests: BTreeSet<String>,
    /// Files at the root from which pytest takes its settings.
    settings_files: [&'static str; SETTINGS.len()],
    /// Files of base or oracle that Python could import instead of the tests.
    stand_for_tests: BTreeSet<String>,
    test_seconds: u32,
}

impl Portable {
    /// The parts to grade code as `grading` says; its own code is not part of it.
    ///
    /// # Errors
    /// The settings cannot be written as JSON.
    pub fn new(grading: &Grading) -> anyhow::Result<Self> {
        let Grading { base, oracle, .. } = grading;
        let placed = place(base, base, oracle);
        let files = Files::new(&[]);
        let settings = Settings::new(&[], &placed, &files, grading, &Staging::AsWritten);
        let trees = [base.as_ref(), oracle.as_ref()];
        let plan = GradingPlan {
            settings: serde_json::to_value(settings)?,
            known_tests: grading.known_tests.as_deref().cloned().unwrap_or_default(),
            settings_files: SETTINGS,
            stand_for_tests: paths(&trees)
                .filter(|path| stands_for_tests(path))
                .map(str::to_owned)
                .collect(),
            test_seconds: grading.limits.test_seconds,
        };
        Ok(Self {
            bootstrap: BOOTSTRAP.concat(),
            steering: steering(base, oracle),
            plan,
        })
    }
}

/// What [`place`] takes from base and oracle, whatever the code is.
fn steering(base: &CodeTree, oracle: &CodeTree) -> CodeTree {
    let mut tree = CodeTree::default().with_folder_of(TESTS, oracle);
    for path in conftests(&[base, oracle]) {
        if let Some(entry) = oracle.entry(&path).or_else(|| base.entry(&path)) {
            tree.set(&path, entry.clone());
        }
    }
    for path in SETTINGS {
        if let Some(entry) = oracle.entry(path) {
            tree.set(path, entry.clone());
        }
    }
    tree
}

fn paths<'a>(trees: &[&'a CodeTree]) -> impl Iterator<Item = &'a str> {
    trees.iter().flat_map(|tree| tree.paths())
}
