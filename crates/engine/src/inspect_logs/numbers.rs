//! The numbers of an evolution, by the names that they have in a log.
//! `docs/metrics.md` defines them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use swe_ci_core::metrics::mean;
use swe_ci_core::task::TaskId;
use swe_ci_views::leaderboard::EvolutionScore;

use super::format::object;

/// "Turns" are the answers of a model in Inspect, so iterations are called
/// iterations.
pub fn value(score: &EvolutionScore) -> Map<String, Value> {
    object([
        ("evoscore", json!(score.evoscore)),
        ("gap_closed", json!(score.gap_closed)),
        ("regressions", json!(score.regressions)),
        ("zero_regression", json!(score.zero_regression)),
        ("solved", json!(score.solved)),
        ("zrr", json!(score.zrr)),
        ("iterations", json!(score.turns)),
    ])
}

/// The mean over the tasks of the means over their evolutions; `None` without
/// an evolution.
pub fn mean_over_tasks(
    scores: &[EvolutionScore],
    number: fn(&EvolutionScore) -> f64,
) -> Option<f64> {
    let mut by_task: BTreeMap<&TaskId, Vec<f64>> = BTreeMap::new();
    for score in scores {
        by_task
            .entry(&score.task_id)
            .or_default()
            .push(number(score));
    }
    mean(by_task.into_values().filter_map(mean))
}
