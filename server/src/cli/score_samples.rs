//! The part of `swe-ci score` about several samples of a task.

use swe_ci_core::uncertainty::{PowerPlan, PowerRow};
use swe_ci_views::leaderboard::{PassesOf, PowerPlans, Samples};

use super::failure::Failure;
use super::output;

/// pass@k, pass^k, the spread of EvoScore, and what tells two runs apart.
pub(super) fn print(samples: &Samples) -> Result<(), Failure> {
    if samples.most > 1 {
        let header = "k: | tasks: | solved pass@k: | solved pass^k: | ZRR pass@k: | ZRR pass^k:";
        output::table(header, samples.passes.iter().map(passes_row))?;
    }
    let spread = [
        ("between repositories", samples.spread.repositories),
        ("between tasks of one", samples.spread.tasks),
        ("between samples", samples.spread.samples),
    ];
    let unknown = || "unknown".to_owned();
    let spread = spread.map(|(origin, deviation)| {
        let deviation = deviation.map_or_else(unknown, |d| format!("{d:.4}"));
        [origin.to_owned(), deviation]
    });
    output::table("spread of EvoScore | deviation:", spread)?;
    plans(&samples.plans)
}

fn passes_row(of: &PassesOf) -> [String; 6] {
    [
        of.k.to_string(),
        of.tasks.to_string(),
        output::percent(of.solved.any),
        output::percent(of.solved.all),
        output::percent(of.zrr.any),
        output::percent(of.zrr.all),
    ]
}

fn plans(plans: &PowerPlans) -> Result<(), Failure> {
    let Some(worst) = &plans.at_worst else {
        return Ok(());
    };
    let best = |row: &PowerRow| {
        let rows = plans.at_best.iter().flat_map(|best: &PowerPlan| &best.rows);
        let row = rows.into_iter().find(|best| best.samples == row.samples);
        row.map(|row| row.tasks_needed.to_string())
    };
    let row = |row: &PowerRow| {
        [
            row.samples.to_string(),
            best(row).unwrap_or_else(|| "unknown".to_owned()),
            row.tasks_needed.to_string(),
        ]
    };
    output::table(
        "samples of each task: | tasks, if both find the same hard: | if nothing is in common:",
        worst.rows.iter().map(row),
    )?;
    output::line(format_args!(
        "tasks that show a difference of {} between two such runs, in four of five cases",
        worst.difference
    ))
}
