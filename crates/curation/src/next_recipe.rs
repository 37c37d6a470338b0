//! Chooses the recipe to try after an environment in which not every test passes:
//! repairs while the output names a cause, and then the hints of the project's
//! automation.

use std::collections::{BTreeMap, VecDeque};

use swe_ci_candidates::environment::configuration::Hints;
use swe_ci_candidates::environment::diagnosis::Finding;
use swe_ci_candidates::environment::distribution::Provider;
use swe_ci_candidates::environment::recipe::Recipe;
use swe_ci_candidates::environment::repair::Repair;

pub(crate) struct NextRecipe<'a> {
    repair: Repair,
    hints: &'a Hints,
    /// The recipes with hints that are left; none while there are repairs.
    hinted: Option<VecDeque<(Recipe, String)>>,
}

impl<'a> NextRecipe<'a> {
    pub fn new(repairs: usize, hints: &'a Hints) -> Self {
        Self {
            repair: Repair::new(repairs),
            hints,
            hinted: None,
        }
    }

    /// Whether the recipes have hints in them: a failure may be a hint's.
    pub fn is_hinting(&self) -> bool {
        self.hinted.is_some()
    }

    /// The next recipe and what it changes; `runs` says whether the suite ran with
    /// this one.
    pub fn after(
        &mut self,
        recipe: &Recipe,
        runs: bool,
        findings: &[Finding],
        providers: &BTreeMap<String, Provider>,
    ) -> Option<(Recipe, String)> {
        let is_good_enough = runs && findings.is_empty();
        if self.hinted.is_none()
            && !is_good_enough
            && let Some(next) = self.repair.next(recipe, findings, providers)
        {
            let reasons = self.repair.attempts.last().map(|made| &made.reasons);
            return Some((next, reasons.map_or_else(String::new, |all| all.join("; "))));
        }
        let hints = self.hints;
        let hinted = self
            .hinted
            .get_or_insert_with(|| recipe.hinted(hints).into());
        hinted.pop_front()
    }
}
