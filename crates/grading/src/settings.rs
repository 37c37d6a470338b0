//! What the bootstrap is told of a grading.

use serde::{Deserialize, Serialize};
use swe_ci_base::digest::hex;
use swe_ci_core::task::TestCommand;
use swe_ci_sandbox::CODE_FOLDER;

use crate::clues::Clues;
use crate::files::{Files, Header};
use crate::pytest_settings::Placed;
use crate::{Grading, TESTS, constructs, python};

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
    /// Python files that neither base nor oracle has so.
    pub changed: Vec<String>,
    /// Whether options of the settings that nothing installed knows are left out.
    pub drop_unknown_options: bool,
    /// Whether the code gets other clues of its callers than the tests have.
    pub move_clues: bool,
    pub end_of_output: String,
}

impl Settings {
    pub fn new(
        key: &[u8],
        placed: &Placed,
        files: &Files,
        grading: &Grading,
        clues: Clues,
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
            arguments: arguments(grading.command),
            changed: constructs::changed_files(code, base, oracle)
                .filter(|(path, _)| path.ends_with(".py"))
                .map(|(path, _)| path.to_owned())
                .collect(),
            drop_unknown_options: grading.command == TestCommand::Platform,
            move_clues: clues == Clues::Moved,
            end_of_output: END_OF_OUTPUT.into(),
        }
    }
}

/// pytest's arguments.
fn arguments(command: TestCommand) -> Vec<String> {
    let root = format!("--rootdir={CODE_FOLDER}");
    let arguments: &[&str] = match command {
        TestCommand::Bare => &["-o", "addopts=", TESTS],
        TestCommand::Platform => &[TESTS, &root],
        TestCommand::Reference => &[
            TESTS,
            "--color=no",
            "--tb=short",
            "--disable-warnings",
            "-rfE",
            &root,
        ],
    };
    arguments.iter().copied().map(str::to_owned).collect()
}
