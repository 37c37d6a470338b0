//! Reads the environment that a commit's tests need from its files. It runs
//! none of them, not even `setup.py`.
//!
//! The first of these sources with test dependencies is used:
//! 1. extras and dependency groups (PEP 621, `setup.cfg`, `setup.py`; PEP 735)
//!    with a name of [`TEST_NAMES`], in the order of that list;
//! 2. explicit requirements of one kind: Poetry, PDM, uv, Hatch,
//!    `tests_require`, `tox.ini`, requirements files for tests, `Pipfile`;
//! 3. extras, groups and requirements files with a name of [`DEV_NAMES`];
//! 4. a plain `requirements.txt`;
//! 5. all other extras except those for documentation and the like: tests of
//!    optional features need their dependencies.
//!
//! [`Hints`] are what the project's automation installs beyond that.

mod hints;
mod plugins;
mod pyproject;
mod requirements;
mod setup_cfg;
mod setup_py;
mod test_requirements;
mod tox;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::environment::compilation;
use crate::environment::project_files::text;

pub use crate::environment::project_files::{BuildSystem, Files, is_project_file, project_files};
pub use hints::Hints;
pub use plugins::{Plugin, plugin_of_fixture, plugin_of_marker, plugin_of_option};
pub use test_requirements::{DEV_NAMES, TEST_NAMES};

/// The configuration of a project. Most lists are usually empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// The project's name as written.
    pub name: Option<String>,
    /// A list of version specifiers (PEP 440), such as `>=3.8,<4`.
    pub requires_python: Option<String>,
    /// `3.11` from `Programming Language :: Python :: 3.11`; only versions with
    /// a minor.
    pub python_classifiers: Vec<String>,
    pub build_system: BuildSystem,
    /// Runtime dependencies, for projects that cannot be installed.
    pub dependencies: Vec<String>,
    pub extras_for_tests: Vec<String>,
    /// Names of dependency groups (PEP 735) the tests need.
    pub groups_for_tests: Vec<String>,
    /// Test requirements from those groups, or else from other sources.
    pub test_requirements: Vec<TestRequirement>,
    /// Whether it has a build system, a `[project]` table or a `setup.py`.
    pub installable: bool,
    /// Variables `tox.ini` sets for tests, without those that use
    /// substitutions.
    pub env_vars: Vec<(String, String)>,
    pub pytest_plugins: Vec<Plugin>,
    /// Whether the version comes from version control, which is absent when the
    /// environment is built.
    pub version_from_vcs: bool,
    pub hints: Hints,
    /// Why its own modules must be compiled, if they must.
    pub compiled: Option<String>,
    /// Files that could not be parsed, and why.
    pub unread: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRequirement {
    pub spec: String,
    /// The file and the position in it.
    pub place: String,
}

/// Named lists of requirements, from which the test requirements are chosen.
#[derive(Debug, Default)]
struct RequirementLists {
    extras: BTreeMap<String, Vec<String>>,
    groups: BTreeMap<String, Vec<String>>,
    /// Lists of tools under names unknown to pip: `(place, name,
    /// requirements)`, in order of preference.
    tools: Vec<(String, String, Vec<String>)>,
    /// Extras and groups `tox.ini` installs for tests.
    tox_extras: Vec<String>,
}

impl RequirementLists {
    fn add_tool(&mut self, place: &str, name: &str, requirements: Vec<String>) {
        let tool = (place.to_owned(), name.to_owned(), requirements);
        self.tools.push(tool);
    }
}

impl Configuration {
    /// Reads the known files. Absent files are ignored;
    /// [`Configuration::unread`] names malformed ones.
    #[must_use]
    pub fn read(files: &Files) -> Self {
        let mut read = Self::default();
        let mut lists = RequirementLists::default();
        let text = |path: &str| text(files, path);
        if let Some(pyproject) = text("pyproject.toml") {
            pyproject::read(&pyproject, &mut read, &mut lists);
        }
        if let Some(cfg) = text("setup.cfg") {
            setup_cfg::read(&cfg, &mut read, &mut lists);
        }
        if let Some(setup) = text("setup.py") {
            setup_py::read(&setup, &mut read, &mut lists);
        }
        for path in ["tox.ini", "setup.cfg", "pyproject.toml"] {
            if let Some(found) = text(path).and_then(|text| tox::ini_text(path, &text)) {
                tox::read(path, &found, files, &mut read, &mut lists);
            }
        }
        if let Some(pipfile) = text("Pipfile") {
            pyproject::pipfile(&pipfile, &mut read, &mut lists);
        }
        plugins::read(files, &mut read);
        test_requirements::choose(files, &lists, &mut read);
        if !read.installable && read.dependencies.is_empty() {
            read.dependencies = requirements::read(files, "requirements.txt");
        }
        read.version_from_vcs |= setup_py::takes_version_from_vcs(&read.build_system.requires);
        // A source distribution contains its version.
        read.version_from_vcs &= !files.contains_key("PKG-INFO");
        read.hints = Hints::read(files);
        read.compiled = compilation::reason(&read.build_system, files);
        read
    }

    fn classified(&mut self, classifiers: impl Iterator<Item = impl AsRef<str>>) {
        for classifier in classifiers {
            let version = classifier
                .as_ref()
                .trim()
                .strip_prefix("Programming Language :: Python :: ")
                .filter(|version| version.contains('.'));
            let new = version.filter(|v| !self.python_classifiers.iter().any(|c| c == v));
            self.python_classifiers.extend(new.map(str::to_owned));
        }
    }
}

#[cfg(test)]
mod tests;
