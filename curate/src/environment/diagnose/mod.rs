//! Why an image could not be built, or why tests did not start: read from the
//! output of `docker build` and of pytest.
//!
//! Only what names its cause is a finding. A test that fails is none: it may
//! fail on the target for reasons of its own (paper, section 3.1: the
//! environment is repaired when the suite fails *to launch*).

mod patterns;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// A cause, as it is named in the output.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "what")]
pub enum Finding {
    /// Nothing that is installed provides this module (with dots).
    MissingModule { module: String },
    /// A module the project itself should have: no distribution brings it.
    OwnModule { module: String },
    /// A module is there and has not this name in it: most often it is of
    /// another version than the code wants.
    MissingName { name: String, module: String },
    /// Something asks for the metadata of a distribution that is not installed.
    MissingDistribution { distribution: String },
    /// A plugin of pytest, known by what of it is used.
    MissingPlugin { distribution: String, used: String },
    /// A file such as `libGL.so.1`.
    MissingLibrary { file: String },
    /// A file such as `libxml/xmlversion.h`.
    MissingHeader { path: String },
    /// A program, or what pkg-config calls a library.
    MissingCommand { command: String },
    /// A distribution for which there was no wheel could not be built.
    NotBuilt { distribution: String },
    /// The index has nothing of the day that satisfies this requirement.
    NoVersion { requirement: String },
    /// Requirements exclude each other; these, as far as they are named.
    Conflict { requirements: Vec<String> },
    /// The project's version is in tags, and there is no repository.
    NoVersionOfProject,
    /// The project's own wheel could not be built, whatever the reason.
    ProjectNotBuilt,
    /// The project's own wheel is compiled.
    Compiled { wheel: String },
    /// The package index does not tell when files were uploaded.
    NoUploadTimes { index: String },
    /// A locale that is not installed.
    NoLocale,
    /// The table of time zones is not installed.
    NoTimeZones,
}

/// The causes an output names, each once, in the order in which they come.
///
/// `output` is the whole text, oldest line first: of a build everything Docker
/// streams with the message of the error behind it, of tests what pytest wrote
/// to standard output and standard error. A cause may stand far above the end,
/// and that the project's own wheel failed is told by the message alone. The
/// classic builder's lines are understood; BuildKit puts numbers before them.
///
/// `own` has the names of modules at the top of the target's tree (its root,
/// `src` and the like): a module of the project that cannot be found is no
/// missing distribution. [`own_modules`] makes it of the tree's paths.
#[must_use]
pub fn diagnose(output: &str, own: &BTreeSet<String>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let mut asked = Vec::new();
    let mut statement = String::new();
    for line in output.lines() {
        let line = plain(line);
        for finding in patterns::of_line(&line) {
            let finding = match finding {
                Finding::MissingModule { module } if is_own(&module, own) => {
                    Finding::OwnModule { module }
                }
                Finding::MissingModule { module } => Finding::MissingModule {
                    module: patterns::imported(&statement, &module).unwrap_or(module),
                },
                other => other,
            };
            if !found.contains(&finding) {
                found.push(finding);
            }
        }
        asked.extend(patterns::asked_by_user(&line));
        // A traceback shows the statement above the error.
        if line.starts_with("import ") || line.starts_with("from ") {
            statement = line;
        }
    }
    for finding in &mut found {
        if let Finding::Conflict { requirements } = finding {
            requirements.clone_from(&asked);
        }
    }
    found
}

/// What in the output of a build that failed may be the doing of the network or
/// of the package index, and not of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doubt {
    /// A connection failed for good, as this line says.
    Connection { line: String },
    /// pip has seen no file of this distribution at all. That an index answered
    /// with an error it does not say.
    NoFiles { distribution: String },
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Connection { line } => f.write_str(line),
            Self::NoFiles { distribution } => {
                write!(f, "the package index listed no file of {distribution}")
            }
        }
    }
}

/// The first doubt in the output of a build that failed.
#[must_use]
pub fn doubt(output: &str) -> Option<Doubt> {
    output
        .lines()
        .find_map(|line| patterns::doubt_of(&plain(line)))
}

/// The line in which a build says why it failed: the last that calls itself an
/// error, else the last one.
#[must_use]
pub fn last_error(output: &str) -> Option<String> {
    let lines = || output.lines().map(plain).filter(|line| !line.is_empty());
    let is_error = |line: &String| {
        let start: String = line.chars().take(6).collect();
        start.eq_ignore_ascii_case("error:")
    };
    lines().rfind(is_error).or_else(|| lines().next_back())
}

/// The modules a finder should be asked for.
#[must_use]
pub fn modules(findings: &[Finding]) -> Vec<&str> {
    let modules = findings.iter().filter_map(|finding| match finding {
        Finding::MissingModule { module } => Some(module.as_str()),
        _ => None,
    });
    modules.collect()
}

/// Names of modules at the top of a tree, from the paths in it: files and
/// folders with modules in the root, `src`, `lib` and `python`, and the tests.
#[must_use]
pub fn own_modules<'a>(paths: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    let mut own = BTreeSet::new();
    for path in paths.into_iter().filter(|path| path.ends_with(".py")) {
        let roots = ["", "src/", "lib/", "python/", "tests/", "test/"];
        for rest in roots.iter().filter_map(|root| path.strip_prefix(root)) {
            let top = rest.split('/').next().unwrap_or(rest);
            own.insert(top.strip_suffix(".py").unwrap_or(top).to_owned());
        }
    }
    for name in ["src", "lib", "python", "setup", "docs", "examples"] {
        own.remove(name);
    }
    own
}

fn is_own(module: &str, own: &BTreeSet<String>) -> bool {
    own.contains(module.split('.').next().unwrap_or(module))
}

/// A line without colours and what pytest puts before it.
fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once('\u{1b}') {
        text += before;
        rest = behind.split_once(['m', 'K']).map_or("", |(_, rest)| rest);
    }
    text += rest;
    let text = text.trim();
    text.strip_prefix("E  ").unwrap_or(text).trim().to_owned()
}

#[cfg(test)]
mod tests;
