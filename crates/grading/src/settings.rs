//! What the bootstrap is told of a grading.

use std::collections::BTreeSet;
use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};
use swe_ci_base::digest::hex;
use swe_ci_core::task::TestCommand;
use swe_ci_core::wall::Wall;
use swe_ci_sandbox::CODE_FOLDER;

use crate::files::{Files, Header};
use crate::pytest_settings::Placed;
use crate::{Grading, Staging, TESTS, python};

/// The code's own versions of settings files wait here.
pub(crate) const ASIDE_FOLDER: &str = "/app/aside";
/// The line with which the bootstrap ends its other output. The two streams
/// arrive independently: the last frame may come before the last line of text.
pub(crate) const END_OF_OUTPUT: &str = "<swe-ci: the tests have ended>";

/// What the bootstrap is told, in one line.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Settings {
    /// Seals the frames; in hex.
    pub key: String,
    /// The files whose contents follow.
    pub files: Vec<Header>,
    pub code: String,
    pub tests: String,
    pub aside: String,
    /// Top-level modules of base or oracle.
    pub own: Vec<String>,
    /// Top-level modules that only the code has.
    pub added: Vec<String>,
    /// Settings files to be put back, and those to be removed.
    pub put_back: Vec<String>,
    pub absent: Vec<String>,
    pub arguments: Vec<String>,
    /// Whether options of the settings that nothing installed knows are left out.
    pub drop_unknown_options: bool,
    /// Seconds that each stage of a test may take.
    pub test_seconds: Option<NonZeroU16>,
    /// The session tells whether the package gets one of these words.
    pub traced: BTreeSet<String>,
    /// Whether the code gets other clues of its callers than the tests have.
    pub move_clues: bool,
    /// Seed of a random order of the tests.
    pub shuffle: Option<u64>,
    pub left_away: BTreeSet<Wall>,
    pub end_of_output: String,
}

impl Settings {
    pub fn new(
        key: &[u8],
        placed: &Placed,
        files: &Files,
        grading: &Grading,
        staging: &Staging,
    ) -> Self {
        let Grading {
            code, base, oracle, ..
        } = grading;
        let mut own = python::top_level_names(base);
        own.extend(python::top_level_names(oracle));
        let added = python::top_level_names(code);
        Self {
            key: hex(key),
            files: files.headers(),
            code: CODE_FOLDER.into(),
            tests: TESTS.into(),
            aside: ASIDE_FOLDER.into(),
            added: added.difference(&own).cloned().collect(),
            own: own.into_iter().collect(),
            put_back: placed.aside.paths().map(str::to_owned).collect(),
            absent: placed.absent.clone(),
            arguments: arguments(&grading.command, staging),
            drop_unknown_options: matches!(grading.command, TestCommand::Platform { .. }),
            test_seconds: match staging {
                Staging::Bounded { test_seconds, .. } => Some(*test_seconds),
                _ => grading.command.test_seconds(),
            },
            traced: match staging {
                Staging::Bounded { traced, .. } => traced.clone(),
                _ => BTreeSet::new(),
            },
            move_clues: *staging == Staging::CluesMoved,
            shuffle: match staging {
                Staging::Shuffled { seed } => Some(*seed),
                _ => None,
            },
            left_away: grading.left_away.clone(),
            end_of_output: END_OF_OUTPUT.into(),
        }
    }
}

/// pytest's arguments.
fn arguments(command: &TestCommand, staging: &Staging) -> Vec<String> {
    let root = format!("--rootdir={CODE_FOLDER}");
    let arguments: &[&str] = match command {
        // A plan's tests do not come here.
        TestCommand::Bare | TestCommand::Plan(_) => &["-o", "addopts=", TESTS],
        TestCommand::Platform { .. } => &[TESTS, &root],
        TestCommand::Reference => &[
            TESTS,
            "--color=no",
            "--tb=short",
            "--disable-warnings",
            "-rfE",
            &root,
        ],
    };
    let of_staging: &[&str] = match staging {
        // This plugin has an order of its own.
        Staging::Shuffled { .. } => &["-p", "no:randomly"],
        // For any other traceback pytest reads the whole file of a test that fails, and
        // here most tests fail.
        Staging::Bounded { .. } => &["--tb=native"],
        Staging::AsWritten | Staging::CluesMoved => &[],
    };
    let arguments = arguments.iter().chain(of_staging);
    arguments.copied().map(str::to_owned).collect()
}
