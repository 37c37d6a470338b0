//! Measures the time of a new ranking when the γ slider moves: 20 and 1,000
//! models × 100 tasks × 20 iterations, all with their code style, 2,000 resamples
//! of 68 repositories. Reports medians; has no thresholds.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use swe_ci_core::metrics::SuiteCounts;
use swe_ci_core::metrics::{Convention, Gamma, Series, Verdict};
use swe_ci_testing::measurements::{lower_is_better, median};
use swe_ci_views::leaderboard::{
    Effort, Entry, Origin, Ranking, Sample, ScoredTask, UncertaintyModel,
};
use swe_ci_views::style::Beside;
use swe_ci_views::testing;

fn main() {
    measure(20, 31);
    measure(1_000, 5);
}

fn measure(models: u32, times: u32) {
    let origin = |task| testing::origin(format!("task-{task}"), format!("repo-{}", task % 68));
    let origins: Vec<Arc<Origin>> = (0..100).map(origin).collect();
    let entries = (0..models).map(|model| entry(model, &origins));
    let data = Arc::new(testing::leaderboard(entries.collect()));
    let time = |name: &str, run: &mut dyn FnMut(Gamma)| {
        let millis = median(millis(times, run));
        lower_is_better(&format!("ranking: {models} models, {name}"), millis, "ms");
    };
    time("rows without uncertainty", &mut |gamma| {
        black_box(data.rank(gamma, Convention::Paper));
    });
    time("drawing 2,000 resamples", &mut |_| {
        black_box(UncertaintyModel::new(black_box(&data)));
    });
    time("ranks and ties", &mut |gamma| {
        black_box(Ranking::new(data.clone(), gamma, Convention::Paper));
    });
    time("the same with intervals of 20 rows", &mut |gamma| {
        let ranking = Ranking::new(data.clone(), gamma, Convention::Paper);
        black_box(ranking.with_intervals(0..20));
    });
}

/// Runs a function for many γ.
fn millis(times: u32, run: &mut dyn FnMut(Gamma)) -> Vec<f64> {
    (0..times)
        .map(|i| {
            let gamma = 0.5 + 1.5 * f64::from(i) / f64::from(times);
            let gamma = black_box(Gamma::new(gamma).expect("within range"));
            let start = Instant::now();
            run(gamma);
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect()
}

/// Better than the oracle, equal, or worse, in turn.
fn style(model: u32, task: u32) -> Beside {
    let own = f64::from((model + task) % 3) - 1.0;
    testing::beside([70.0 + own, 70.0], [8.0 - own, 8.0], [task + model, task])
}

fn entry(model: u32, origins: &[Arc<Origin>]) -> Entry {
    let tasks = (0..).zip(origins).map(|(task, origin)| {
        let verdicts: Vec<Verdict> = (0..20)
            .map(|i| {
                let passed = (model * 31 + task * 17 + i * 7) % 201;
                Verdict::Scored {
                    in_target: passed,
                    passed,
                    lost: u32::from(i % 5 == 0),
                }
            })
            .collect();
        let suite = SuiteCounts {
            base_in_target: 100,
            target: 200,
            base_passed: 100,
            counts_only: false,
        };
        let count = |convention| Series::count(convention, suite, 20, &verdicts);
        ScoredTask {
            origin: origin.clone(),
            revision: None,
            samples: vec![Sample {
                number: 1,
                paper: count(Convention::Paper),
                reference: count(Convention::Reference)
                    .expect("the reference convention needs only counts"),
                style: Some(style(model, task)),
                effort: Effort {
                    tokens: Some(1_000 * task as u64),
                    ..Effort::default()
                },
                generalisation: None,
                cheating: None,
            }],
        }
    });
    testing::run(&format!("model-{model}"), 20, tasks.collect())
}
