//! How many samples and tasks tell two runs apart, in words.

use swe_ci_core::uncertainty::{PowerPlan, PowerRow};

use crate::format;

/// Numbers of samples that a sentence names.
const NAMED: [u32; 2] = [1, 3];

/// "Power: 98 tasks with 1 sample each detect differences of 0.034 or more with 80 %
/// probability; 0.03 needs 126 tasks with 1 sample each, or 90 with 3 samples each."
pub(super) fn plan_in_words(plan: &PowerPlan) -> String {
    let named = plan.rows.iter().filter(|row| NAMED.contains(&row.samples));
    let named: Vec<String> = named.enumerate().map(tasks_with).collect();
    format!(
        "Power: {} with 80 % probability; {} needs {}.",
        present(plan),
        format::share(plan.difference),
        named.join(", or "),
    )
}

fn tasks_with((place, row): (usize, &PowerRow)) -> String {
    let tasks = match place {
        0 => format::count(row.tasks_needed, "task"),
        _ => format::thousands(row.tasks_needed),
    };
    format!("{tasks} with {}", each(row.samples))
}

fn each(samples: u32) -> String {
    format!("{} each", format::count(samples, "sample"))
}

/// The difference that the present tasks show.
fn present(plan: &PowerPlan) -> String {
    let tasks = format::count(plan.tasks, "task");
    if let Some(samples) = plan.samples_needed {
        let difference = format::share(plan.difference);
        return format!("{tasks} with {} detect {difference}", each(samples));
    }
    let (shown, most) = match plan.rows.last() {
        Some(row) => (row.detectable, row.samples),
        None => (0.0, 1),
    };
    let shown = format::decimals(shown, 3);
    format!(
        "{tasks} with {} detect differences of {shown} or more",
        each(most)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::uncertainty::{Design, ScoreSpread};

    #[test]
    fn in_words() {
        let check = |samples: Option<f64>, tasks, expect: &str| {
            let spread = ScoreSpread {
                repositories: Some(0.0),
                tasks: Some(0.1),
                samples,
            };
            let design = Design {
                tasks,
                tasks_per_repository: 1.0,
            };
            assert_eq!(
                plan_in_words(&PowerPlan::new(0.03, spread, design).unwrap()),
                expect
            );
        };
        check(
            Some(0.2),
            200,
            "Power: 200 tasks with 4 samples each detect 0.03 with 80 % probability; \
             0.03 needs 437 tasks with 1 sample each, or 204 with 3 samples each.",
        );
        check(
            Some(0.2),
            40,
            "Power: 40 tasks with 10 samples each detect differences of 0.052 or more with 80 % \
             probability; 0.03 needs 437 tasks with 1 sample each, or 204 with 3 samples each.",
        );
        check(
            None,
            40,
            "Power: 40 tasks with 1 sample each detect differences of 0.044 or more with 80 % \
             probability; 0.03 needs 88 tasks with 1 sample each.",
        );
    }
}
