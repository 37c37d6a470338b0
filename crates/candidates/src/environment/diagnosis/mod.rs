//! Finds out why an image could not be built or tests did not start, from the
//! output of `docker build` and pytest.
//!
//! Only a cause named in the output is a finding. A failing test is none: it
//! may fail on the target for other reasons (paper, section 3.1: the
//! environment is repaired when the suite fails *to launch*).

mod patterns;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// A cause of a failure, as named in the output. Displayed as the reason for a
/// repair.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case", tag = "what")]
pub enum Finding {
    /// No installed distribution provides this module (with dots).
    #[error("the module {module} is missing")]
    MissingModule { module: String },
    /// A missing module of the project itself: no distribution provides it.
    #[error("the module {module} is the project's own and cannot be imported")]
    OwnModule { module: String },
    /// A module of a distribution that fails while it is imported: usually it is
    /// too old for the interpreter or for its own dependencies.
    #[error("the module {module} is installed and cannot be imported")]
    BrokenModule { module: String },
    /// Usually the module has a different version than the code needs.
    #[error("{module} has no {name}: the code needs a different version")]
    MissingName { name: String, module: String },
    #[error("the code reads the metadata of {distribution}")]
    MissingDistribution { distribution: String },
    /// A missing pytest plugin, recognised by a feature the tests use.
    #[error("the tests use {used} of {distribution}")]
    MissingPlugin { distribution: String, used: String },
    /// A file such as `libGL.so.1`.
    #[error("the library {file} is missing")]
    MissingLibrary { file: String },
    /// A file such as `libxml/xmlversion.h`.
    #[error("the header {path} is missing")]
    MissingHeader { path: String },
    /// A program, or a library by its pkg-config name.
    #[error("the command {command} is missing")]
    MissingCommand { command: String },
    #[error("{distribution} has no wheel and could not be built")]
    NotBuilt { distribution: String },
    #[error("no release before the cut-off satisfies {requirement}")]
    NoVersion { requirement: String },
    /// Contains the requirements the output names.
    #[error("requirements conflict")]
    Conflict { requirements: Vec<String> },
    /// There is no repository to read the tags from.
    #[error("the project's version comes from tags and is unknown")]
    NoVersionOfProject,
    #[error("the project's wheel cannot be built")]
    ProjectNotBuilt,
    #[error(
        "the project's own wheel is compiled ({wheel}), but its code changes with every iteration"
    )]
    Compiled { wheel: String },
    #[error("{index} does not publish upload times: use an index that does, such as PyPI itself")]
    NoUploadTimes { index: String },
    #[error("a locale is missing")]
    NoLocale,
    #[error("the time zones are missing")]
    NoTimeZones,
}

/// The distinct causes an output names, in order of appearance.
///
/// `output` is the whole text, oldest line first: for a build, Docker's stream
/// followed by the error message; for tests, pytest's standard output and
/// standard error. A cause may appear far above the end, and only the message
/// reports that the project's own wheel failed. Understands the lines of the
/// classic builder, not BuildKit's numbered ones.
///
/// `own` contains the top-level modules of the target's tree, from
/// [`own_modules`]: a missing module of the project is not a missing
/// distribution.
pub fn diagnose(output: &str, own: &BTreeSet<String>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let mut user_requirements = Vec::new();
    let mut statement = String::new();
    let mut frame = None;
    for line in output.lines() {
        let line = plain(line);
        let broken = patterns::broken_module(&line, &mut frame).filter(|m| !is_own(m, own));
        let broken = broken.map(|module| Finding::BrokenModule { module });
        for finding in patterns::findings(&line).into_iter().chain(broken) {
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
        user_requirements.extend(patterns::user_requirement(&line));
        // A traceback shows the statement above the error.
        if line.starts_with("import ") || line.starts_with("from ") {
            statement = line;
        }
    }
    for finding in &mut found {
        if let Finding::Conflict { requirements } = finding {
            requirements.clone_from(&user_requirements);
        }
    }
    found
}

/// A sign in a failed build's output that the network or the package index
/// failed, and not the project.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SuspectedOutage {
    /// A connection failed permanently, according to this line.
    #[error("{line}")]
    Connection { line: String },
    /// pip saw no file of this distribution. It does not report that an index
    /// answered with an error.
    #[error("the package index listed no file of {distribution}")]
    NoFiles { distribution: String },
}

/// The first such sign in the output of a failed build.
pub fn suspected_outage(output: &str) -> Option<SuspectedOutage> {
    output
        .lines()
        .find_map(|line| patterns::suspected_outage(&plain(line)))
}

/// The line that explains why a build failed: the last one that starts with
/// `error:`, else the last one.
pub fn last_error(output: &str) -> Option<String> {
    let lines = || output.lines().map(plain).filter(|line| !line.is_empty());
    let is_error = |line: &String| {
        let start: String = line.chars().take(6).collect();
        start.eq_ignore_ascii_case("error:")
    };
    lines().rfind(is_error).or_else(|| lines().next_back())
}

/// The modules to look up with a finder.
pub fn missing_modules(findings: &[Finding]) -> Vec<&str> {
    let modules = findings.iter().filter_map(|finding| match finding {
        Finding::MissingModule { module } | Finding::BrokenModule { module } => {
            Some(module.as_str())
        }
        _ => None,
    });
    modules.collect()
}

/// The top-level modules of a tree, from its paths: files and folders with
/// modules in the root, `src`, `lib` and `python`, and in the tests.
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

/// A line without colours and pytest's prefix.
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
