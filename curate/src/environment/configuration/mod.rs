//! What a commit's own files say of the environment its tests want. The files
//! are read and never run: `setup.py` too.
//!
//! Where tests get their dependencies from is asked in this order, and the
//! first that answers is taken:
//! 1. extras and dependency groups (PEP 621, `setup.cfg`, `setup.py`; PEP 735)
//!    under a name of [`TEST_NAMES`], in the order of that list;
//! 2. explicit requirements of one kind: Poetry, PDM, uv, Hatch, `tests_require`,
//!    `tox.ini`, requirements files for tests, `Pipfile`;
//! 3. extras, groups and requirements files under a name of [`DEV_NAMES`];
//! 4. a plain `requirements.txt`;
//! 5. all other extras but those for documents and the like: tests of what is
//!    optional want what it needs.

mod plugins;
mod pyproject;
mod requirements;
mod setup_cfg;
mod setup_py;
mod tests_from;
mod tox;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::text::decoded;

pub use plugins::{Plugin, plugin_of_fixture, plugin_of_marker, plugin_of_option};
pub use tests_from::{DEV_NAMES, TEST_NAMES};

/// Files of a repository by their path from its root. Those longer than
/// [`bounds::BLOB`] are left alone.
pub type Files = BTreeMap<String, Vec<u8>>;

/// What was read. Empty lists are the usual case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// As the project names itself.
    pub name: Option<String>,
    /// A list of comparisons (PEP 440), such as `>=3.8,<4`.
    pub requires_python: Option<String>,
    /// `3.11` of `Programming Language :: Python :: 3.11`; versions with a minor only.
    pub python_classifiers: Vec<String>,
    /// What the project's wheel is built with.
    pub build_system: BuildSystem,
    /// What the project needs to run; for projects that cannot be installed.
    pub dependencies: Vec<String>,
    /// Names of extras the tests want.
    pub extras_for_tests: Vec<String>,
    /// Names of dependency groups (PEP 735) the tests want.
    pub groups_for_tests: Vec<String>,
    /// What those groups, or else other places, name for the tests.
    pub test_requirements: Vec<Wanted>,
    /// It has a build system, a `[project]` or a `setup.py`.
    pub installable: bool,
    /// What `tox.ini` sets for tests, where it is said without substitutions.
    pub env_vars: Vec<(String, String)>,
    /// Distributions the settings of pytest speak of.
    pub pytest_plugins: Vec<Plugin>,
    /// Its version comes from a version control system that is not there when
    /// the environment is built.
    pub version_from_vcs: bool,
    /// Why its own modules have to be compiled, if they have to.
    pub compiled: Option<String>,
    /// Files that could not be read, and why.
    pub unread: Vec<String>,
}

/// A requirement and who says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// A requirement (PEP 508).
    pub spec: String,
    /// The file and the place in it.
    pub place: String,
}

/// PEP 518; the legacy of setuptools where nothing is said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildSystem {
    pub requires: Vec<String>,
    pub backend: Option<String>,
}

/// What the readers hand to those that choose: named lists of requirements.
#[derive(Debug, Default)]
struct Declared {
    extras: BTreeMap<String, Vec<String>>,
    groups: BTreeMap<String, Vec<String>>,
    /// Lists of tools with no names pip knows: `(place, name, requirements)`,
    /// in the order in which they are asked.
    tools: Vec<(String, String, Vec<String>)>,
    /// Extras and groups `tox.ini` installs for tests.
    of_tox: Vec<String>,
}

impl Configuration {
    /// Reads what there is among the files; what there is not says nothing,
    /// and what is malformed is named in [`Configuration::unread`].
    #[must_use]
    pub fn read(files: &Files) -> Self {
        let mut read = Self::default();
        let mut declared = Declared::default();
        let text = |path: &str| {
            let bytes = files
                .get(path)
                .filter(|bytes| bytes.len() <= bounds::BLOB)?;
            Some(decoded(bytes))
        };
        if let Some(pyproject) = text("pyproject.toml") {
            pyproject::read(&pyproject, &mut read, &mut declared);
        }
        if let Some(cfg) = text("setup.cfg") {
            setup_cfg::read(&cfg, &mut read, &mut declared);
        }
        if let Some(setup) = text("setup.py") {
            setup_py::read(&setup, &mut read, &mut declared);
        }
        for path in ["tox.ini", "setup.cfg", "pyproject.toml"] {
            if let Some(found) = text(path).and_then(|text| tox::text_of(path, &text)) {
                tox::read(path, &found, files, &mut read, &mut declared);
            }
        }
        if let Some(pipfile) = text("Pipfile") {
            pyproject::pipfile(&pipfile, &mut read, &mut declared);
        }
        plugins::read(files, &mut read);
        tests_from::choose(files, &declared, &mut read);
        if !read.installable && read.dependencies.is_empty() {
            read.dependencies = requirements::read(files, "requirements.txt");
        }
        read.version_from_vcs |= setup_py::takes_version_from_vcs(&read.build_system.requires);
        // A source distribution says its version itself.
        read.version_from_vcs &= !files.contains_key("PKG-INFO");
        read.compiled = crate::environment::compiled::reason(&read.build_system, files);
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
