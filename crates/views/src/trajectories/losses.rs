//! Why a run, or all runs of a model, lost tests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::failures::{Loss, LossClass};

/// Lost tests of one class, each counted once for every iteration that lost it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct LostByClass {
    pub class: LossClass,
    pub tests: u32,
    /// The run that lost most of them.
    pub run_id: String,
}

/// The largest class first, over some runs.
pub fn lost_by_class(runs: &[(String, Vec<Loss>)]) -> Vec<LostByClass> {
    let mut classes: BTreeMap<LossClass, BTreeMap<&str, u32>> = BTreeMap::new();
    for (run, losses) in runs {
        for loss in losses {
            *classes
                .entry(loss.class)
                .or_default()
                .entry(run)
                .or_default() += loss.tests;
        }
    }
    let of_class = |(class, runs): (LossClass, BTreeMap<&str, u32>)| {
        let (run, _) = runs.iter().max_by_key(|(_, tests)| **tests)?;
        Some(LostByClass {
            class,
            tests: runs.values().sum(),
            run_id: (*run).to_owned(),
        })
    };
    let mut classes: Vec<LostByClass> = classes.into_iter().filter_map(of_class).collect();
    classes.sort_by_key(|class| std::cmp::Reverse(class.tests));
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_over_runs() {
        let loss = |class, tests| Loss {
            class,
            frame: None,
            tests,
        };
        let (gone, wrong) = (LossClass::RemovedName, LossClass::WrongValue);
        let runs = [
            (
                "a".to_owned(),
                vec![loss(gone, 2), loss(wrong, 3), loss(gone, 1)],
            ),
            ("b".to_owned(), vec![loss(wrong, 5)]),
        ];
        let found = lost_by_class(&runs);
        let found: Vec<_> = found
            .iter()
            .map(|c| (c.class, c.tests, c.run_id.as_str()))
            .collect();
        assert_eq!(found, [(wrong, 8, "b"), (gone, 3, "a")]);
    }
}
