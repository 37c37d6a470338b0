//! The effect of an experiment's arms: runs that differ in nothing but their arm are
//! paired, task by task.

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::uncertainty::Comparison;

use crate::count;
use crate::leaderboard::{Entry, ScoredTask, UncertaintyModel};

/// An arm against another one, other things equal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ArmEffect {
    /// Absent for runs that name none.
    pub arm: Option<String>,
    pub against: Option<String>,
    /// Pairs of runs with the same model, harness and mode, one of each arm. A task's
    /// difference is the mean over them.
    pub pairs: u32,
    /// Of EvoScore.
    pub comparison: Comparison,
    /// Of the cheating rate, in the mode impossible; on its tasks with contradicted tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cheating: Option<Comparison>,
}

impl ArmEffect {
    /// Both arms as readers see them.
    pub fn names(&self) -> [&str; 2] {
        [&self.arm, &self.against].map(|arm| arm.as_deref().unwrap_or("no arm"))
    }
}

/// Each later arm against each earlier one; none without two arms. The entries have
/// the same tasks.
pub(super) fn arm_effects(
    model: &UncertaintyModel,
    entries: &[Entry],
    gamma: Gamma,
    convention: Convention,
) -> Vec<ArmEffect> {
    let mut arms: Vec<&Option<String>> = Vec::new();
    for entry in entries {
        if !arms.contains(&&entry.arm) {
            arms.push(&entry.arm);
        }
    }
    let later = arms.iter().enumerate().flat_map(|(at, arm)| {
        let earlier = arms[..at].iter();
        earlier.map(move |against| (*arm, *against))
    });
    let effect = |(arm, against): (&Option<String>, &Option<String>)| {
        let of = |arm: &Option<String>| -> Vec<&Entry> {
            entries.iter().filter(|entry| entry.arm == *arm).collect()
        };
        let (ones, others) = (of(arm), of(against));
        let pairs = ones
            .iter()
            .flat_map(|one| others.iter().map(move |other| (*one, *other)));
        let pairs: Vec<(&Entry, &Entry)> = pairs.filter(|(a, b)| alike(a) == alike(b)).collect();
        let score = |entry: &Entry| {
            let scores = entry.scores_by_task(gamma, convention).into_iter();
            scores.map(Some).collect()
        };
        let cheating = |entry: &Entry| entry.tasks.iter().map(ScoredTask::cheating).collect();
        Some(ArmEffect {
            arm: arm.clone(),
            against: against.clone(),
            pairs: count(pairs.len()),
            comparison: model.compare_paired(&pairs, score)?,
            cheating: model.compare_paired(&pairs, cheating),
        })
    };
    later.filter_map(effect).collect()
}

fn alike(entry: &Entry) -> impl PartialEq + '_ {
    let Entry {
        model,
        provider,
        harness,
        harness_version,
        mode,
        ..
    } = entry;
    (model, provider, harness, harness_version, mode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{entry, leaderboard};
    use swe_ci_core::audit::Contradicted;

    fn run(model: &str, arm: Option<&str>, scores: [f64; 2], passed: u32) -> Entry {
        let [p, q] = scores;
        let mut entry = entry(model, &[("p", &[&[p]]), ("q", &[&[q]])]);
        entry.run_id = format!("{model}-{arm:?}");
        entry.arm = arm.map(str::to_owned);
        entry.tasks_mut()[0].samples[0].cheating = Some(Contradicted { shown: 2, passed });
        entry
    }

    /// Models differ more than arms do, and are not mixed up; a model with one arm
    /// says nothing.
    #[test]
    fn arms_are_paired_within_a_model() {
        let entries = vec![
            run("a", None, [0.2, 0.3], 2),
            run("a", Some("files"), [0.4, 0.3], 0),
            run("b", Some("files"), [0.9, 1.0], 0),
            run("b", None, [0.8, 1.0], 1),
            run("c", Some("other"), [0.0, 0.0], 0),
        ];
        let model = UncertaintyModel::new(&leaderboard(entries.clone()));
        let effects = arm_effects(&model, &entries, Gamma::ONE, Convention::Paper);
        let [effect] = effects.as_slice() else {
            panic!("{effects:?}")
        };
        assert_eq!((effect.names(), effect.pairs), (["files", "no arm"], 2));
        let Comparison {
            tasks,
            difference,
            wins,
            ties,
            ..
        } = effect.comparison;
        // On the first task 0.2 and 0.1 better, on the second equal.
        assert!((difference - 0.075).abs() < 1e-12, "{difference}");
        assert_eq!((tasks, wins, ties), (2, 1, 1));
        let cheating = effect.cheating.unwrap();
        assert!((cheating.difference + 0.75).abs() < 1e-12 && cheating.tasks == 1);
        assert_eq!(
            arm_effects(&model, &entries[..1], Gamma::ONE, Convention::Paper),
            []
        );
    }
}
