//! One repair step: the actions for each kind of finding.

use std::collections::{BTreeMap, BTreeSet};

use super::Action;
use crate::dependencies::{project_name, required_project};
use crate::environment::diagnosis::Finding;
use crate::environment::distribution::Provider;
use crate::environment::recipe::{NO_VERSION, ProjectInstall, Recipe};
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
        match finding {
            Finding::MissingModule { module } => match found.get(module) {
                Some(found) => {
                    let reason = format!(
                        "the module {module} is missing, and {} contains it ({})",
                        found.file, found.evidence
                    );
                    self.require(&found.distribution, &reason);
                }
                None => self.explain(format!(
                    "no known distribution provides the module {module}"
                )),
            },
            Finding::OwnModule { module } => {
                self.explain(format!(
                    "the module {module} is the project's own and cannot be imported"
                ));
            }
            Finding::MissingName { name, module } => {
                self.explain(format!(
                    "{module} has no {name}: the code needs a different version"
                ));
            }
            Finding::MissingDistribution { distribution } => {
                self.require(
                    distribution,
                    &format!("the code reads the metadata of {distribution}"),
                );
            }
            Finding::MissingPlugin { distribution, used } => {
                self.require(
                    distribution,
                    &format!("the tests use {used} of {distribution}"),
                );
            }
            Finding::MissingLibrary { file } => self.install_system(
                system::for_library(file),
                &format!("the library {file} is missing"),
            ),
            Finding::MissingHeader { path } => self.install_system(
                system::for_header(path),
                &format!("the header {path} is missing"),
            ),
            Finding::MissingCommand { command } => self.install_system(
                system::for_command(command),
                &format!("the command {command} is missing"),
            ),
            Finding::NoLocale => self.install_system(Some(&["locales-all"]), "a locale is missing"),
            Finding::NoTimeZones => {
                self.install_system(Some(&["tzdata"]), "the time zones are missing");
            }
            Finding::NotBuilt { distribution } => self.build_failed(distribution, all),
            Finding::NoVersion { requirement } => self.unavailable_version(requirement),
            Finding::Conflict { requirements } => self.conflict(requirements),
            Finding::NoVersionOfProject => {
                let version = NO_VERSION.to_owned();
                let reason = format!(
                    "the project's version comes from tags and is unknown: {version} is used"
                );
                if self.recipe.version.is_none()
                    && self.take(
                        Action::PretendVersion {
                            version: version.clone(),
                        },
                        reason,
                    )
                {
                    self.recipe.version = Some(version);
                }
            }
            Finding::ProjectNotBuilt => {
                // Only if this attempt repaired nothing else.
                if self.actions.is_empty() {
                    let reason =
                        "the project's wheel cannot be built: only its dependencies are installed";
                    if self.take(Action::WithoutProject, reason.into()) {
                        self.recipe.without_project();
                    }
                }
            }
            // `unrepairable` has handled these.
            Finding::Compiled { .. } | Finding::NoUploadTimes { .. } => {}
        }
    }

    fn explain(&mut self, reason: String) {
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
    fn build_failed(&mut self, distribution: &str, all: &[Finding]) {
        let before = self.actions.len();
        self.install_system(
            Some(&system::for_building(distribution)),
            &format!("{distribution} has no wheel and could not be built"),
        );
        let named = all.iter().any(|f| {
            matches!(
                f,
                Finding::MissingHeader { .. } | Finding::MissingCommand { .. }
            )
        });
        if self.actions.len() == before && !named {
            self.drop(distribution, &format!("{distribution} cannot be built"));
        }
    }

    fn unavailable_version(&mut self, requirement: &str) {
        let Some(project) = required_project(requirement) else {
            self.explain(format!(
                "no release before the cut-off satisfies {requirement}"
            ));
            return;
        };
        if !self.loosen(
            &project,
            &format!("no release before the cut-off satisfies {requirement}"),
        ) {
            self.drop(
                &project,
                &format!("{project} has no release before the cut-off"),
            );
        }
    }

    fn conflict(&mut self, requirements: &[String]) {
        let projects = requirements
            .iter()
            .filter_map(|spec| required_project(spec));
        for project in projects {
            if self.loosen(&project, "requirements conflict") {
                return;
            }
        }
        self.explain("requirements conflict, and none of them is a pinned test requirement".into());
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
            self.take(
                Action::Drop { project },
                format!("{reason}: it is removed from the test requirements"),
            );
            return;
        }
        // It may come from an extra; then drop the extras.
        let has_extras = matches!(&self.recipe.project_install, ProjectInstall::Metadata { extras } if !extras.is_empty());
        if has_extras
            && self.take(
                Action::WithoutExtras,
                format!("{reason}: the project's extras are dropped"),
            )
        {
            self.recipe.project_install = ProjectInstall::Metadata { extras: Vec::new() };
        } else {
            self.explain(format!("{reason}, and it is not a test requirement"));
        }
    }
}
