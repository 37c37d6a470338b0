//! Makes the next recipe from the findings about the last one. It reads no
//! files and makes no requests: equal findings give equal recipes.

mod step;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use step::Step;

use crate::environment::diagnosis::Finding;
use crate::environment::distribution::Provider;
use crate::environment::recipe::Recipe;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum Action {
    Require {
        spec: String,
    },
    /// Remove a test requirement that cannot be satisfied.
    Drop {
        project: String,
    },
    /// Remove the version pins of a requirement.
    Loosen {
        project: String,
    },
    /// Require one version of a distribution that cannot be imported.
    Pin {
        project: String,
        version: String,
    },
    InstallSystem {
        package: String,
    },
    /// Build the project as this version.
    PretendVersion {
        version: String,
    },
    /// Install only the project's dependencies.
    WithoutProject,
    /// Install no extra.
    WithoutExtras,
    Set {
        name: String,
        value: String,
    },
}

/// The findings about a recipe, and the changes made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// From 1.
    pub number: usize,
    pub recipe: Recipe,
    pub findings: Vec<Finding>,
    /// The changes; empty if none was possible.
    pub actions: Vec<Action>,
    /// Reasons for the changes, or for none: one sentence each.
    pub reasons: Vec<String>,
}

/// The repairs of one commit's environment. They end, because each action is
/// taken at most once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    /// Maximum number of recipes after the first.
    pub limit: usize,
    pub attempts: Vec<Attempt>,
}

impl Repair {
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            attempts: Vec::new(),
        }
    }

    /// The recipe to try after one failed; none if nothing is left to try.
    /// Records the attempt in [`Self::attempts`]. `found` maps missing modules
    /// to their distributions, if known.
    pub fn next(
        &mut self,
        recipe: &Recipe,
        findings: &[Finding],
        found: &BTreeMap<String, Provider>,
    ) -> Option<Recipe> {
        let taken = self.attempts.iter().flat_map(|it| it.actions.clone());
        let mut step = Step {
            recipe: recipe.clone(),
            taken: taken.collect(),
            actions: Vec::new(),
            reasons: Vec::new(),
        };
        let made = self.attempts.iter().filter(|it| !it.actions.is_empty());
        if let Some(finding) = findings.iter().find(is_unrepairable) {
            step.explain(finding.to_string());
        } else if made.count() >= self.limit {
            step.explain(format!("the limit of {} repairs is reached", self.limit));
        } else if findings.is_empty() {
            step.explain("the output names no repairable cause".into());
        } else {
            for finding in findings {
                step.repair(finding, findings, found);
            }
        }
        let changed = !step.actions.is_empty();
        self.attempts.push(Attempt {
            number: self.attempts.len() + 1,
            recipe: recipe.clone(),
            findings: findings.to_vec(),
            actions: step.actions,
            reasons: step.reasons,
        });
        changed.then_some(step.recipe)
    }
}

/// Whether no recipe can work.
fn is_unrepairable(finding: &&Finding) -> bool {
    matches!(
        finding,
        Finding::Compiled { .. } | Finding::NoUploadTimes { .. }
    )
}

#[cfg(test)]
mod tests;
