//! The content of an environment, and the lines of a Dockerfile that build it.
//!
//! **The project is not in it.** Tests run with `PYTHONPATH=src:.` in
//! `/app/code`, whose content changes with every iteration. An installed copy
//! would provide modules that the code lacks, and shadow code in other folders.
//! Yet tests read the project's version (`importlib.metadata`), start its
//! commands and use its entry points as plugins. So the project's wheel is
//! installed with its dependencies in one resolution, and then `metadata.py`
//! removes its modules. `.dist-info` and the commands of entry points stay, a
//! `.pth` file names the folders of `/app/code` that will contain the modules,
//! and a module that only the build makes (`_version.py`) is found if the code
//! has none of that name. Data files and scripts of the wheel are removed with
//! the modules. A compiled wheel is refused.
//!
//! **Packages are as of the target's day.** Pip from 26.0 on supports
//! `PIP_UPLOADED_PRIOR_TO`, in isolated builds too, so that `setuptools` is as
//! of that day as well. It needs an index with upload times (PEP 700). If an
//! index publishes them in its JSON API only, `index.py` converts them; if they
//! are missing there too, pip ends with an error that says so. Packages from an
//! address or a folder have no upload time: such requirements are skipped, and
//! `PIP_FIND_LINKS` is unset. A `pip.conf` in the base image remains in effect.
//! The reporter (`pytest-json-report`, and a `pytest-metadata` that fits the
//! installed pytest) is installed afterwards, from any day, and may not change
//! installed packages.
//!
//! **Layers** are in order of change: tools and Debian packages, the project's
//! wheel, then requirements. A repair that adds a requirement rebuilds only the
//! last layer. The target's code is in a lower layer, hidden from containers
//! but not from holders of the image archive.

mod lines;

use anyhow::bail;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::dependencies::{project_name, required_project};
use crate::environment::configuration::{Configuration, Hints};
use crate::environment::python::Interpreter;
use crate::environment::system::{SystemPackage, for_distribution};

pub use lines::CODE;

/// The version to build a project with if its own comes from tags, and neither
/// they nor the index tell it. Nothing on the index can require another version
/// of it then.
pub const NO_VERSION: &str = "0.0.1";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    /// In pip's syntax (PEP 508).
    pub spec: String,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProjectInstall {
    /// Its metadata, commands and dependencies, including those of these
    /// extras.
    Metadata { extras: Vec<String> },
    /// Nothing: the requirements include its dependencies.
    Nothing,
}

/// An environment to build. Equal recipes make equal lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    /// The image for `FROM`.
    pub base_image: String,
    /// The project's normalized name. The index's distribution of that name
    /// would be the project's code, so it is never required.
    pub project: Option<String>,
    /// Sorted by name.
    pub system_packages: Vec<SystemPackage>,
    pub requirements: Vec<Requirement>,
    pub project_install: ProjectInstall,
    /// The project's dependencies, for when it cannot be installed.
    pub dependencies: Vec<String>,
    /// Pip installs only files uploaded before this time.
    pub cut_off: Timestamp,
    /// The index's address, if only its JSON API publishes upload times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_without_times: Option<String>,
    /// The version to build the project with, if it comes from tags.
    pub version: Option<String>,
    /// The version to build it with once a build finds that it comes from tags.
    pub known_version: Option<String>,
    /// Variables set during tests and while the image is built.
    pub env: Vec<(String, String)>,
}

impl Recipe {
    /// The first recipe for a commit. `version` is the commit's, for projects
    /// that take theirs from tags.
    ///
    /// Fails with the reason if there can be no environment.
    pub fn new(
        configuration: &Configuration,
        interpreter: &Interpreter,
        cut_off: Timestamp,
        version: Option<&str>,
    ) -> anyhow::Result<Self> {
        if let Some(why) = &configuration.compiled {
            bail!(
                "the project's own modules must be compiled ({why}), but its code changes with every \
                 iteration and nothing compiles it again. Skip this commit"
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
            known_version: version.map(str::to_owned),
            env: configuration.env_vars.clone(),
        };
        if configuration.version_from_vcs {
            recipe.version = Some(recipe.version_of_tags());
        }
        let dependencies = configuration.dependencies.iter();
        for project in dependencies.filter_map(|spec| required_project(spec)) {
            recipe.require_system_of(&project);
        }
        if configuration.installable {
            let extras = configuration.extras_for_tests.clone();
            recipe.project_install = ProjectInstall::Metadata { extras };
        } else {
            recipe.require_dependencies();
        }
        for requirement in &configuration.test_requirements {
            recipe.require(&requirement.spec, &requirement.place);
        }
        for plugin in &configuration.pytest_plugins {
            recipe.require(&plugin.distribution, &plugin.reason);
        }
        recipe.require("pytest", "runs the tests");
        Ok(recipe)
    }

    /// The version that the project would take from its tags.
    pub fn version_of_tags(&self) -> String {
        let known = self.known_version.as_deref();
        known.unwrap_or(NO_VERSION).to_owned()
    }

    /// With what the project's automation installs, one kind of hints at a time;
    /// the sentence says which. Nothing where that adds nothing.
    pub fn hinted(&self, hints: &Hints) -> Vec<(Self, String)> {
        let mut tried = Vec::new();
        let mut with = self.clone();
        let packages = hints.system_packages.iter();
        let added = packages.filter(|p| with.require_system(&p.name, &p.reason));
        let names: Vec<&str> = added.map(|package| package.name.as_str()).collect();
        if !names.is_empty() {
            let why = format!("a workflow of the project installs {}", names.join(", "));
            tried.push((with, why));
        }
        let mut with = self.clone();
        let requirements = hints.requirements.iter();
        let added = requirements.filter(|r| with.require(&r.spec, &r.place));
        let specs: Vec<&str> = added.map(|r| r.spec.as_str()).collect();
        if !specs.is_empty() {
            let why = format!(
                "single environments of the project have {}",
                specs.join(", ")
            );
            tried.push((with, why));
        }
        tried
    }

    /// Requires exactly this version of a distribution, whatever was required of
    /// it before.
    pub fn pin(&mut self, distribution: &str, version: &str, reason: &str) {
        self.drop_requirement(distribution);
        self.require(&format!("{distribution}=={version}"), reason);
    }

    /// Adds a requirement and its Debian packages, unless the project is
    /// already required. False if nothing was added, or the requirement names
    /// no project or this one.
    pub fn require(&mut self, spec: &str, reason: &str) -> bool {
        // Pip options, paths and addresses are not from an index.
        let named = required_project(spec);
        let Some(project) = named.filter(|name| Some(name) != self.project.as_ref()) else {
            return false;
        };
        let same = |r: &Requirement| required_project(&r.spec).as_ref() == Some(&project);
        // Two lines for one project may differ by their markers.
        let is_marked = spec.contains(';');
        let mut requirements = self.requirements.iter();
        if requirements.any(|r| same(r) && (!is_marked || r.spec == spec)) {
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

    /// Adds a Debian package. False if already present.
    pub fn require_system(&mut self, name: &str, reason: &str) -> bool {
        if self.system_packages.iter().any(|it| it.name == name) {
            return false;
        }
        self.system_packages.push(SystemPackage {
            name: name.to_owned(),
            reason: reason.to_owned(),
        });
        self.system_packages.sort();
        true
    }

    /// Removes the requirements for a project. False if there were none.
    pub fn drop_requirement(&mut self, project: &str) -> bool {
        let plain = project_name(project);
        let before = self.requirements.len();
        self.requirements
            .retain(|r| required_project(&r.spec).as_ref() != Some(&plain));
        before != self.requirements.len()
    }

    /// Installs only the project's dependencies.
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
