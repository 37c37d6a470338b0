//! What an environment is made of, and the lines of a Dockerfile that make it.
//!
//! **The project is not in it.** Tests run with `PYTHONPATH=src:.` in
//! `/app/code`, whose content changes with every iteration; an installed copy
//! would give modules to code that has none, and shadow code that stands in
//! other folders. Yet tests ask for the version of the project
//! (`importlib.metadata`), start its commands and are themselves plugins by
//! entry points. So the project's wheel is built and installed with its
//! dependencies in one resolution, and then its modules are taken out again
//! (`metadata.py`): `.dist-info` and the commands of entry points stay, a
//! `.pth` file names the folders of `/app/code` the modules will be in, and a
//! module which only the build makes (`_version.py`) is found when the code has
//! none of that name. Data files and scripts of the wheel go with the modules.
//! A wheel that is compiled is refused.
//!
//! **Packages are of the target's day.** pip from 26.0 on takes
//! `PIP_UPLOADED_PRIOR_TO`; isolated builds obey it too, so that `setuptools`
//! is of the day as well. It needs an index that tells when files were uploaded
//! (PEP 700). Of an index that tells it in its JSON API alone, `index.py` makes
//! one; where both are missing, pip ends with an error that says so.
//! Packages named by an address and those in folders have no such day:
//! requirements that are none of an index are left out, and `PIP_FIND_LINKS` is
//! taken out of the environment. What a `pip.conf` of the base image says is
//! obeyed. What
//! writes the report (`pytest-json-report`, and a `pytest-metadata` that suits
//! the pytest there is) comes afterwards and from any day, and may change
//! nothing that is there.
//!
//! **Layers** are in the order in which they change: tools and Debian packages,
//! the project's wheel, then requirements. A repair that adds a requirement
//! builds the last of them again and nothing else. The code of the target is in
//! a layer further down, hidden from containers and not from those who have
//! the archive of an image.

mod lines;

use anyhow::bail;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::dependencies::{project_name, required_project};
use crate::environment::configuration::Configuration;
use crate::environment::python::Interpreter;
use crate::environment::system::{SystemPackage, for_distribution};

pub use lines::CODE;

/// The version a project is built with when its own comes from tags and nobody
/// says what it is.
pub const NO_VERSION: &str = "0.0.1";

/// A requirement and why it is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    /// As pip reads it (PEP 508).
    pub spec: String,
    pub reason: String,
}

/// What is installed of the project itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProjectInstall {
    /// Its metadata, commands and dependencies, with those of these extras.
    Metadata { extras: Vec<String> },
    /// Nothing: what it depends on is among the requirements.
    Nothing,
}

/// An environment as it is to be built. Two recipes that are equal make the
/// same lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    /// The image that goes into `FROM`.
    pub base_image: String,
    /// The project's name as indexes compare it: what the index has under that
    /// name would be its code, and is never required.
    pub project: Option<String>,
    /// In the order of their names.
    pub system_packages: Vec<SystemPackage>,
    pub requirements: Vec<Requirement>,
    pub project_install: ProjectInstall,
    /// What the project depends on, for when it cannot be installed.
    pub dependencies: Vec<String>,
    /// Nothing uploaded at this time or later is installed.
    pub cut_off: Timestamp,
    /// Address of the index, where it tells the times of files in its JSON API
    /// alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_without_times: Option<String>,
    /// The version to build the project with, where no tag tells it.
    pub version: Option<String>,
    /// Set while tests run, and while the image is built.
    pub env: Vec<(String, String)>,
}

impl Recipe {
    /// The first recipe for a commit. `version` is what `git describe` would
    /// tell, for projects that have their version from tags.
    ///
    /// An error names the reason why there can be no environment.
    pub fn new(
        configuration: &Configuration,
        interpreter: &Interpreter,
        cut_off: Timestamp,
        version: Option<&str>,
    ) -> anyhow::Result<Self> {
        if let Some(why) = &configuration.compiled {
            bail!(
                "the project's own modules have to be compiled ({why}), and its code changes with every \
                 iteration: nothing would compile it again. Leave this commit out"
            );
        }
        let mut recipe = Self {
            base_image: interpreter.image.clone(),
            project: configuration.name.as_deref().map(project_name),
            system_packages: Vec::new(),
            requirements: Vec::new(),
            project_install: ProjectInstall::Nothing,
            dependencies: configuration.dependencies.clone(),
            cut_off,
            index_without_times: None,
            version: None,
            env: configuration.env_vars.clone(),
        };
        if configuration.version_from_vcs {
            recipe.version = Some(version.unwrap_or(NO_VERSION).to_owned());
        }
        for project in configuration
            .dependencies
            .iter()
            .filter_map(|spec| required_project(spec))
        {
            recipe.require_system_of(&project);
        }
        if configuration.installable {
            let extras = configuration.extras_for_tests.clone();
            recipe.project_install = ProjectInstall::Metadata { extras };
        } else {
            recipe.require_dependencies();
        }
        for wanted in &configuration.test_requirements {
            recipe.require(&wanted.spec, &wanted.place);
        }
        for plugin in &configuration.pytest_plugins {
            recipe.require(&plugin.distribution, &plugin.reason);
        }
        recipe.require("pytest", "runs the tests");
        Ok(recipe)
    }

    /// Adds a requirement, unless the project is named already; and what it
    /// wants of Debian. False where there was nothing to add, or it names
    /// no project but this one.
    pub fn require(&mut self, spec: &str, reason: &str) -> bool {
        // Options of pip, paths and addresses are none of an index.
        let named = required_project(spec);
        let Some(project) = named.filter(|name| Some(name) != self.project.as_ref()) else {
            return false;
        };
        let same = |r: &Requirement| required_project(&r.spec).as_ref() == Some(&project);
        // Two lines for one project differ by their markers (`; python_version…`).
        let is_marked = spec.contains(';');
        if self
            .requirements
            .iter()
            .any(|r| same(r) && (!is_marked || r.spec == spec))
        {
            return false;
        }
        self.requirements.push(Requirement {
            spec: spec.to_owned(),
            reason: reason.to_owned(),
        });
        self.require_system_of(&project);
        true
    }

    fn require_system_of(&mut self, project: &str) {
        for package in for_distribution(project) {
            self.require_system(package, &format!("{project} needs it"));
        }
    }

    /// Adds a package of Debian. False if it is there already.
    pub fn require_system(&mut self, name: &str, reason: &str) -> bool {
        if self
            .system_packages
            .iter()
            .any(|package| package.name == name)
        {
            return false;
        }
        self.system_packages.push(SystemPackage {
            name: name.to_owned(),
            reason: reason.to_owned(),
        });
        self.system_packages.sort();
        true
    }

    /// Takes out what is required of a project by name. False where nothing was.
    pub fn drop_requirement(&mut self, project: &str) -> bool {
        let plain = project_name(project);
        let before = self.requirements.len();
        self.requirements
            .retain(|r| required_project(&r.spec).as_ref() != Some(&plain));
        before != self.requirements.len()
    }

    /// Installs nothing of the project but what it depends on.
    pub fn without_project(&mut self) {
        self.project_install = ProjectInstall::Nothing;
        self.require_dependencies();
    }

    fn require_dependencies(&mut self) {
        for spec in self.dependencies.clone() {
            self.require(&spec, "the project depends on it");
        }
    }
}

#[cfg(test)]
mod tests;
