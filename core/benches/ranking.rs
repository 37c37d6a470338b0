//! How long ranking anew takes when the γ slider moves: 20 models × 100 tasks
//! × 20 iterations. Prints the median; judges nothing.
#![allow(clippy::print_stdout, reason = "a benchmark reports on stdout")]

use std::hint::black_box;
use std::time::Instant;

use swe_ci_core::leaderboard::{Entry, Sample, ScoredTask, Sheet};
use swe_ci_core::metrics::{Convention, Gamma, Series};
use swe_ci_core::run::{Kind, Progress};
use swe_ci_core::task::TaskId;

fn main() {
    let sheet = Sheet {
        split: "bench".into(),
        entries: (0..20).map(entry).collect(),
    };
    let mut micros: Vec<f64> = (0..301)
        .map(|i| {
            let gamma = Gamma::new(0.5 + f64::from(i) / 200.0).expect("within range");
            let began = Instant::now();
            black_box(sheet.rank(black_box(gamma), Convention::Paper));
            began.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    micros.sort_by(f64::total_cmp);
    println!(
        "ranking, 20 models × 100 tasks × 20 iterations: median {:.0} µs, worst {:.0} µs",
        micros[150], micros[300]
    );
}

fn entry(model: u32) -> Entry {
    let tasks = (0..100).map(|task| {
        let changes = (0..20)
            .map(|i| f64::from((model * 31 + task * 17 + i * 7) % 200) / 100.0 - 1.0)
            .collect();
        let series = Series {
            changes,
            zero_regression: task % 3 == 0,
            solved: task % 2 == 0,
        };
        ScoredTask {
            task_id: TaskId::new(format!("task-{task}")).expect("a plain name"),
            repo: format!("repo-{}", task % 68),
            samples: vec![Sample {
                paper: series.clone(),
                reference: series,
            }],
        }
    });
    Entry {
        run_id: format!("run-{model}"),
        model: format!("model-{model}"),
        provider: String::new(),
        harness: "replay".into(),
        kind: Kind::Measured,
        progress: Progress::Finished,
        max_iterations: 20,
        tasks_total: 100,
        tasks_blocked: 0,
        tasks: tasks.collect(),
    }
}
