//! One repair step: the actions for each kind of finding.

use std::collections::{BTreeMap, BTreeSet};

use super::Action;
use crate::dependencies::{project_name, required_project};
use crate::environment::diagnosis::Finding;
use crate::environment::distribution::Provider;
use crate::environment::recipe::{ProjectInstall, Recipe};
use crate::environment::system;

/// The attempt being made.
pub(super) struct Step {
    pub(super) recipe: Recipe,
    /// Actions of all attempts, including this one.
    pub(super) taken: BTreeSet<Action>,
    pub(super) actions: Vec<Action>,
    pub(super) reasons: Vec<String>,
}

impl Step {
    /// Acts on a finding; `all` are those of the attempt.
    pub(super) fn repair(
        &mut self,
        finding: &Finding,
        all: &[Finding],
        found: &BTreeMap<String, Provider>,
    ) {
        let reason = finding.to_string();
        match finding {
            Finding::MissingModule { module } => match found.get(module) {
                Some(found) => {
                    let (file, evidence) = (&found.file, found.evidence);
                    let reason = format!("{reason}, and {file} contains it ({evidence})");
                    self.require(&found.distribution, &reason);
                }
                None => self.explain(format!(
                    "no known distribution provides the module {module}"
                )),
            },
            Finding::BrokenModule { module } => match found.get(module) {
                Some(found) => self.pin(found, &reason),
                None => self.explain(format!("{reason}, and no known distribution provides it")),
            },
            Finding::OwnModule { .. } | Finding::MissingName { .. } => self.explain(reason),
            Finding::MissingDistribution { distribution }
            | Finding::MissingPlugin { distribution, .. } => self.require(distribution, &reason),
            Finding::MissingLibrary { file } => {
                self.install_system(system::for_library(file), &reason);
            }
            Finding::MissingHeader { path } => {
                self.install_system(system::for_header(path), &reason);
            }
            Finding::MissingCommand { command } => {
                self.install_system(system::for_command(command), &reason);
            }
            Finding::NoLocale => self.install_system(Some(&["locales-all"]), &reason),
            Finding::NoTimeZones => self.install_system(Some(&["tzdata"]), &reason),
            Finding::NotBuilt { distribution } => self.build_failed(distribution, &reason, all),
            Finding::NoVersion { requirement } => self.unavailable_version(requirement, reason),
            Finding::Conflict { requirements } => self.conflict(requirements, &reason),
            Finding::NoVersionOfProject => {
                let version = self.recipe.version_of_tags();
                let reason = format!("{reason}: {version} is used");
                let action = Action::PretendVersion {
                    version: version.clone(),
                };
                if self.recipe.version.is_none() && self.take(action, reason) {
                    self.recipe.version = Some(version);
                }
            }
            Finding::ProjectNotBuilt => {
                let reason = format!("{reason}: only its dependencies are installed");
                // Only if this attempt repaired nothing else.
                if self.actions.is_empty() && self.take(Action::WithoutProject, reason) {
                    self.recipe.without_project();
                }
            }
            // `is_unrepairable` has handled these.
            Finding::Compiled { .. } | Finding::NoUploadTimes { .. } => {}
        }
    }

    pub(super) fn explain(&mut self, reason: String) {
        self.reasons.push(reason);
    }

    /// Records an action and its reason if the action is new; returns whether
    /// it is.
    fn take(&mut self, action: Action, reason: String) -> bool {
        let is_new = self.taken.insert(action.clone());
        if is_new {
            self.actions.push(action);
            self.reasons.push(reason);
        }
        is_new
    }

    fn require(&mut self, spec: &str, reason: &str) {
        let action = Action::Require {
            spec: spec.to_owned(),
        };
        if self.taken.contains(&action) {
            self.explain(format!("an earlier attempt added {spec} without success"));
        } else if required_project(spec) == self.recipe.project {
            self.explain(format!("{reason}, but {spec} is the project itself"));
        } else if self.recipe.require(spec, reason) {
            self.take(action, reason.to_owned());
        } else {
            self.explain(format!("{spec} is already required, but {reason}"));
        }
    }

    /// The newest version before the cut-off is the one that most likely works
    /// with the interpreter: pip may have chosen an older one for somebody's sake.
    fn pin(&mut self, provider: &Provider, reason: &str) {
        let (project, version) = (&provider.distribution, &provider.version);
        if Some(&project_name(project)) == self.recipe.project.as_ref() {
            self.explain(format!("{reason}, but {project} is the project itself"));
            return;
        }
        let action = Action::Pin {
            project: project_name(project),
            version: version.clone(),
        };
        let reason = format!("{reason}: {version} is the newest {project} before the cut-off");
        if self.take(action, reason.clone()) {
            self.recipe.pin(project, version, &reason);
        } else {
            self.explain(format!("{project} {version} was required without success"));
        }
    }

    fn install_system(&mut self, packages: Option<&[&str]>, reason: &str) {
        let Some(packages) = packages else {
            self.explain(format!("{reason}, and no known Debian package provides it"));
            return;
        };
        for package in packages {
            let action = Action::InstallSystem {
                package: (*package).to_owned(),
            };
            if self.recipe.require_system(package, reason) {
                self.take(action, format!("{reason}: {package} provides it"));
            }
        }
    }

    /// Adds the packages needed to build it; if they are present, drops it.
    fn build_failed(&mut self, distribution: &str, reason: &str, all: &[Finding]) {
        let before = self.actions.len();
        self.install_system(Some(&system::for_building(distribution)), reason);
        let is_named = |f: &Finding| {
            matches!(
                f,
                Finding::MissingHeader { .. } | Finding::MissingCommand { .. }
            )
        };
        if self.actions.len() == before && !all.iter().any(is_named) {
            self.drop(distribution, &format!("{distribution} cannot be built"));
        }
    }

    fn unavailable_version(&mut self, requirement: &str, reason: String) {
        let Some(project) = required_project(requirement) else {
            self.explain(reason);
            return;
        };
        if !self.loosen(&project, &reason) {
            let reason = format!("{project} has no release before the cut-off");
            self.drop(&project, &reason);
        }
    }

    fn conflict(&mut self, requirements: &[String], reason: &str) {
        let mut projects = requirements
            .iter()
            .filter_map(|spec| required_project(spec));
        if !projects.any(|project| self.loosen(&project, reason)) {
            self.explain(format!(
                "{reason}, and none of them is a pinned test requirement"
            ));
        }
    }

    /// Removes the versions from a test requirement. False if it has none.
    fn loosen(&mut self, project: &str, reason: &str) -> bool {
        let plain = project_name(project);
        let requirements = self.recipe.requirements.iter_mut();
        let mut pinned = requirements.filter(|r| {
            required_project(&r.spec).as_ref() == Some(&plain)
                && r.spec.contains(['<', '>', '=', '~', '!'])
        });
        let Some(requirement) = pinned.next() else {
            return false;
        };
        requirement.spec = plain.clone();
        requirement.reason = format!("{}; any version, because {reason}", requirement.reason);
        self.take(Action::Loosen { project: plain }, reason.to_owned())
    }

    fn drop(&mut self, project: &str, reason: &str) {
        let project = project_name(project);
        if project != "pytest" && self.recipe.drop_requirement(&project) {
            let reason = format!("{reason}: it is removed from the test requirements");
            self.take(Action::Drop { project }, reason);
            return;
        }
        // It may come from an extra; then drop the extras.
        let has_extras = matches!(
            &self.recipe.project_install,
            ProjectInstall::Metadata { extras } if !extras.is_empty()
        );
        let dropped = format!("{reason}: the project's extras are dropped");
        if has_extras && self.take(Action::WithoutExtras, dropped) {
            self.recipe.project_install = ProjectInstall::Metadata { extras: Vec::new() };
        } else {
            self.explain(format!("{reason}, and it is not a test requirement"));
        }
    }
}
