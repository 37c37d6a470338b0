//! What is done about each kind of finding.

use std::collections::{BTreeMap, BTreeSet};

use super::Action;
use crate::dependencies::{project_name, required_project};
use crate::environment::diagnose::Finding;
use crate::environment::distribution::Found;
use crate::environment::recipe::{NO_VERSION, ProjectInstall, Recipe};
use crate::environment::system;

/// An attempt while it is made.
pub(super) struct Step {
    pub(super) recipe: Recipe,
    /// Actions of all attempts, this one too.
    pub(super) taken: BTreeSet<Action>,
    pub(super) actions: Vec<Action>,
    pub(super) reasons: Vec<String>,
}

impl Step {
    /// Does what can be done about a finding; `all` are those of the attempt.
    pub(super) fn mend(
        &mut self,
        finding: &Finding,
        all: &[Finding],
        found: &BTreeMap<String, Found>,
    ) {
        match finding {
            Finding::MissingModule { module } => match found.get(module) {
                Some(found) => {
                    let reason = format!(
                        "the module {module} is missing, and {} has it ({})",
                        found.file, found.evidence
                    );
                    self.require(&found.distribution, &reason);
                }
                None => self.say(format!(
                    "no distribution is known to provide the module {module}"
                )),
            },
            Finding::OwnModule { module } => {
                self.say(format!(
                    "the module {module} is the project's own, and cannot be imported"
                ));
            }
            Finding::MissingName { name, module } => {
                self.say(format!(
                    "{module} has no {name}: it is of another version than the code wants"
                ));
            }
            Finding::MissingDistribution { distribution } => {
                self.require(
                    distribution,
                    &format!("the metadata of {distribution} is asked for"),
                );
            }
            Finding::MissingPlugin { distribution, used } => {
                self.require(
                    distribution,
                    &format!("the tests use {used}, which is of {distribution}"),
                );
            }
            Finding::MissingLibrary { file } => self.system(
                system::for_library(file),
                &format!("the library {file} is missing"),
            ),
            Finding::MissingHeader { path } => self.system(
                system::for_header(path),
                &format!("the header {path} is missing"),
            ),
            Finding::MissingCommand { command } => self.system(
                system::for_command(command),
                &format!("the command {command} is missing"),
            ),
            Finding::NoLocale => self.system(Some(&["locales-all"]), "a locale is missing"),
            Finding::NoTimeZones => self.system(Some(&["tzdata"]), "the time zones are missing"),
            Finding::NotBuilt { distribution } => self.not_built(distribution, all),
            Finding::NoVersion { requirement } => self.no_version(requirement),
            Finding::Conflict { requirements } => self.conflict(requirements),
            Finding::NoVersionOfProject => {
                let version = NO_VERSION.to_owned();
                let reason = format!(
                    "the project's version is in tags, and nothing tells it: {version} is taken"
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
                // Only where nothing else could be mended in this attempt.
                if self.actions.is_empty() {
                    let reason = "the project's wheel cannot be built: what it depends on is installed without it";
                    if self.take(Action::WithoutProject, reason.into()) {
                        self.recipe.without_project();
                    }
                }
            }
            // No recipe would do: said before.
            Finding::Compiled { .. } | Finding::NoUploadTimes { .. } => {}
        }
    }

    fn say(&mut self, reason: String) {
        self.reasons.push(reason);
    }

    /// Whether an action is new; then it and its reason are kept.
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
            self.say(format!("{spec} was added before, and it did not help"));
        } else if required_project(spec) == self.recipe.project {
            self.say(format!("{reason}, and {spec} is the project itself"));
        } else if self.recipe.require(spec, reason) {
            self.take(action, reason.to_owned());
        } else {
            self.say(format!("{spec} is required already, and yet {reason}"));
        }
    }

    fn system(&mut self, packages: Option<&[&str]>, reason: &str) {
        let Some(packages) = packages else {
            self.say(format!(
                "{reason}, and no package of Debian is known to bring it"
            ));
            return;
        };
        for package in packages {
            let action = Action::InstallSystem {
                package: (*package).to_owned(),
            };
            if self.recipe.require_system(package, reason) {
                self.take(action, format!("{reason}: {package} brings it"));
            }
        }
    }

    /// Give it what building it takes; when it has that, do without it.
    fn not_built(&mut self, distribution: &str, all: &[Finding]) {
        let before = self.actions.len();
        self.system(
            Some(&system::for_building(distribution)),
            &format!("{distribution} has no wheel and was not built"),
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

    fn no_version(&mut self, requirement: &str) {
        let Some(project) = required_project(requirement) else {
            self.say(format!("nothing of the day satisfies {requirement}"));
            return;
        };
        if !self.loosen(
            &project,
            &format!("nothing of the day satisfies {requirement}"),
        ) {
            self.drop(&project, &format!("there was no {project} on the day"));
        }
    }

    fn conflict(&mut self, requirements: &[String]) {
        let projects = requirements
            .iter()
            .filter_map(|spec| required_project(spec));
        for project in projects {
            if self.loosen(&project, "requirements exclude each other") {
                return;
            }
        }
        self.say("requirements exclude each other, and none of them is for tests alone".into());
    }

    /// Takes the versions from a requirement for tests. False where it has none.
    fn loosen(&mut self, project: &str, reason: &str) -> bool {
        let plain = project_name(project);
        let asked = self.recipe.requirements.iter_mut();
        let mut pinned = asked.filter(|r| {
            required_project(&r.spec).as_ref() == Some(&plain)
                && r.spec.contains(['<', '>', '=', '~', '!'])
        });
        let Some(requirement) = pinned.next() else {
            return false;
        };
        requirement.spec = plain.clone();
        requirement.reason = format!("{}; any version, for {reason}", requirement.reason);
        self.take(Action::Loosen { project: plain }, reason.to_owned())
    }

    fn drop(&mut self, project: &str, reason: &str) {
        let project = project_name(project);
        if project != "pytest" && self.recipe.drop_requirement(&project) {
            self.take(
                Action::Drop { project },
                format!("{reason}: the tests do without it"),
            );
            return;
        }
        // It may be of an extra: then the extras are what can be done without.
        let has_extras = matches!(&self.recipe.project_install, ProjectInstall::Metadata { extras } if !extras.is_empty());
        if has_extras
            && self.take(
                Action::WithoutExtras,
                format!("{reason}: the project's extras are left out"),
            )
        {
            self.recipe.project_install = ProjectInstall::Metadata { extras: Vec::new() };
        } else {
            self.say(format!("{reason}, and it is not for tests alone"));
        }
    }
}
