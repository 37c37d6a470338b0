//! How many samples and tasks tell two runs apart, in words.

use swe_ci_core::uncertainty::{PowerPlan, PowerRow};

use crate::format;

/// Numbers of samples that a sentence names.
const NAMED: [u32; 2] = [1, 3];

/// "To see a difference of 0.03 in four of five cases takes 230 tasks with
/// 1 sample each, or 150 with 3. …"
pub(super) fn plan_in_words(plan: &PowerPlan) -> String {
    let named = plan.rows.iter().filter(|row| NAMED.contains(&row.samples));
    let named: Vec<String> = named.enumerate().map(tasks_with).collect();
    format!(
        "To see a difference of {} in four of five cases takes {}. {}",
        format::share(plan.difference),
        named.join(", or "),
        present(plan)
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

/// The difference that the present tasks can show.
fn present(plan: &PowerPlan) -> String {
    let tasks = match plan.tasks {
        1 => "The present task".to_owned(),
        n => format!("The {} present tasks", format::thousands(n)),
    };
    match plan.samples_needed {
        Some(samples) => format!("{tasks} would need {}.", each(samples)),
        None => {
            let shown = plan.rows.last().map_or(0.0, |row| row.detectable);
            let most = plan.rows.last().map_or(1, |row| row.samples);
            let shown = format::decimals(shown, 3);
            format!(
                "{tasks} show differences of {shown} or more, with {}.",
                each(most)
            )
        }
    }
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
            "To see a difference of 0.03 in four of five cases takes 437 tasks with 1 sample each, \
             or 204 with 3 samples each. The 200 present tasks would need 4 samples each.",
        );
        check(
            Some(0.2),
            40,
            "To see a difference of 0.03 in four of five cases takes 437 tasks with 1 sample each, \
             or 204 with 3 samples each. The 40 present tasks show differences of 0.052 or more, \
             with 10 samples each.",
        );
        check(
            None,
            40,
            "To see a difference of 0.03 in four of five cases takes 88 tasks with 1 sample each. \
             The 40 present tasks show differences of 0.044 or more, with 1 sample each.",
        );
    }
}
