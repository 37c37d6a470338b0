//! The next recipe to try, from what was wrong with the last one. Nothing is
//! read or asked here: the same findings make the same recipe.

mod step;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::environment::diagnose::Finding;
use crate::environment::distribution::Found;
use crate::environment::recipe::Recipe;

use step::Step;

/// One change of a recipe.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum Action {
    Require {
        spec: String,
    },
    /// What a test requirement asks for cannot be had.
    Drop {
        project: String,
    },
    /// A requirement without the versions it was pinned to.
    Loosen {
        project: String,
    },
    InstallSystem {
        package: String,
    },
    /// Build the project as this version.
    PretendVersion {
        version: String,
    },
    /// Install what the project depends on, and nothing of itself.
    WithoutProject,
    /// Install no extra.
    WithoutExtras,
    Set {
        name: String,
        value: String,
    },
}

/// What was wrong with a recipe, and what was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// From 1.
    pub number: usize,
    /// The recipe that failed.
    pub recipe: Recipe,
    pub findings: Vec<Finding>,
    /// What was changed; empty where nothing could be.
    pub actions: Vec<Action>,
    /// Why, or why nothing was changed: one sentence each.
    pub reasons: Vec<String>,
}

/// Attempts for one commit. Every action is taken once at most, so it ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    /// The most recipes that are made after the first.
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

    /// The recipe to try after one failed, and a record of it in
    /// [`Self::attempts`]; none where nothing is left to try. `found` says what
    /// provides the missing modules; one that is not in it was not found.
    pub fn next(
        &mut self,
        recipe: &Recipe,
        findings: &[Finding],
        found: &BTreeMap<String, Found>,
    ) -> Option<Recipe> {
        let mut step = Step {
            recipe: recipe.clone(),
            taken: self
                .attempts
                .iter()
                .flat_map(|attempt| attempt.actions.clone())
                .collect(),
            actions: Vec::new(),
            reasons: Vec::new(),
        };
        let made = self
            .attempts
            .iter()
            .filter(|attempt| !attempt.actions.is_empty())
            .count();
        if let Some(why) = hopeless(findings) {
            step.reasons.push(why);
        } else if made >= self.limit {
            step.reasons.push(format!(
                "{made} repairs were made, and {} are allowed",
                self.limit
            ));
        } else {
            for finding in findings {
                step.mend(finding, findings, found);
            }
            if findings.is_empty() {
                step.reasons
                    .push("the output names no cause that can be repaired".into());
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

/// Why no recipe would do.
fn hopeless(findings: &[Finding]) -> Option<String> {
    findings.iter().find_map(|finding| match finding {
        Finding::Compiled { wheel } => Some(format!(
            "the project's own wheel is compiled ({wheel}), and its code changes with every iteration"
        )),
        Finding::NoUploadTimes { index } => Some(format!(
            "{index} does not tell when files were uploaded: name an index that does, such as PyPI itself"
        )),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
