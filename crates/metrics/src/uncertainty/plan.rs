//! How many tasks and samples it takes to tell two runs apart.

use serde::{Deserialize, Serialize};

use super::ScoreSpread;

/// The difference that a plan is for unless somebody asks for another.
pub const DIFFERENCE: f64 = 0.03;
/// Normal quantiles: 5 % two-sided, and 80 % power.
const Z: f64 = 1.959_964 + 0.841_621;
/// The numbers of samples in a plan.
const SAMPLES: [u32; 5] = [1, 2, 3, 5, 10];
/// A run may have no more samples of a task.
const MOST_SAMPLES: u32 = 100;

/// The tasks of two runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Design {
    pub tasks: u32,
    /// Σ m² / Σ m over the numbers m of tasks of each repository: how many tasks
    /// share what their repository adds.
    pub tasks_per_repository: f64,
}

impl Design {
    /// From the repository of each task.
    pub fn of(repositories: impl IntoIterator<Item = usize>) -> Self {
        let mut sizes: Vec<u32> = Vec::new();
        for repository in repositories {
            sizes.resize(sizes.len().max(repository + 1), 0);
            sizes[repository] += 1;
        }
        let squares: f64 = sizes.iter().map(|size| f64::from(*size).powi(2)).sum();
        let tasks: u32 = sizes.iter().sum();
        Self {
            tasks,
            tasks_per_repository: squares / f64::from(tasks.max(1)),
        }
    }
}

/// The tasks and samples that show a difference of two runs on the same tasks in
/// four of five cases (power 80 %, 5 % two-sided).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PowerPlan {
    /// Of two EvoScores.
    pub difference: f64,
    /// The number of tasks that the plan was made from.
    pub tasks: u32,
    /// By samples of each task; a single row where the spread between samples is
    /// unknown.
    pub rows: Vec<PowerRow>,
    /// How many samples of each of these tasks are enough; absent where 100 are
    /// not, or the spread between samples is unknown.
    pub samples_needed: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PowerRow {
    /// Samples of each task, in each run.
    pub samples: u32,
    /// Tasks that are then enough, from repositories as large as the present ones.
    pub tasks_needed: u32,
    /// The smallest difference that the present tasks then show.
    pub detectable: f64,
}

impl PowerPlan {
    /// For runs whose difference varies like this; `None` with fewer than two
    /// repositories.
    pub fn new(difference: f64, spread: ScoreSpread, design: Design) -> Option<Self> {
        let square = |deviation: Option<f64>| deviation.map_or(0.0, |d| d * d);
        spread.repositories?;
        let lasting =
            design.tasks_per_repository * square(spread.repositories) + square(spread.tasks);
        let noise = square(spread.samples);
        let known = SAMPLES
            .into_iter()
            .filter(|samples| *samples == 1 || spread.samples.is_some());
        let row = |samples: u32| {
            let variance = lasting + noise / f64::from(samples);
            PowerRow {
                samples,
                tasks_needed: at_least(2, (Z / difference).powi(2) * variance),
                detectable: Z * (variance / f64::from(design.tasks)).sqrt(),
            }
        };
        let room = f64::from(design.tasks) * (difference / Z).powi(2) - lasting;
        let needed = spread.samples.filter(|_| room > 0.0);
        let needed = needed.map(|_| at_least(1, noise / room));
        Some(Self {
            difference,
            tasks: design.tasks,
            rows: known.map(row).collect(),
            samples_needed: needed.filter(|samples| *samples <= MOST_SAMPLES),
        })
    }
}

/// A number of things, rounded up.
fn at_least(least: u32, number: f64) -> u32 {
    // The cast saturates; a remainder of rounding is no further thing.
    ((number - 1e-9).ceil() as u32).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uncertainty::{Difference, compare};
    use rand_pcg::Pcg32;
    use rand_pcg::rand_core::{Rng, SeedableRng};

    const SPREAD: ScoreSpread = ScoreSpread {
        repositories: Some(0.1),
        tasks: Some(0.2),
        samples: Some(0.3),
    };

    #[test]
    fn by_hand() {
        // Repositories of one, two and three tasks: 14 / 6.
        let design = Design::of([0, 1, 1, 2, 2, 2]);
        assert_eq!(design.tasks, 6);
        assert!((design.tasks_per_repository - 7.0 / 3.0).abs() < 1e-12);
        let design = Design {
            tasks: 100,
            tasks_per_repository: 2.0,
        };
        let plan = PowerPlan::new(0.1, SPREAD, design).unwrap();
        // (2.801585 / 0.1)² = 784.888; times 2 · 0.01 + 0.04 + 0.09 / samples.
        let tasks: Vec<(u32, u32)> = plan
            .rows
            .iter()
            .map(|r| (r.samples, r.tasks_needed))
            .collect();
        assert_eq!(tasks, [(1, 118), (2, 83), (3, 71), (5, 62), (10, 55)]);
        // 2.801585 · √(0.15 / 100).
        assert!((plan.rows[0].detectable - 0.108_505).abs() < 1e-6);
        // 100 / 784.888 = 0.12741, less 0.06, leaves 0.06741 for 0.09 / samples.
        assert_eq!(plan.samples_needed, Some(2));
    }

    #[test]
    fn what_no_number_of_samples_shows() {
        let design = Design {
            tasks: 40,
            tasks_per_repository: 2.0,
        };
        let plan = |spread| PowerPlan::new(0.1, spread, design);
        assert_eq!(plan(SPREAD).unwrap().samples_needed, None);
        let unknown = ScoreSpread {
            samples: None,
            ..SPREAD
        };
        let unknown = plan(unknown).unwrap();
        assert_eq!((unknown.rows.len(), unknown.samples_needed), (1, None));
        let alone = ScoreSpread {
            repositories: None,
            ..SPREAD
        };
        assert_eq!(plan(alone), None);
        // Runs that differ by the same everywhere need two tasks.
        let equal = ScoreSpread {
            repositories: Some(0.0),
            tasks: Some(0.0),
            samples: Some(0.0),
        };
        let equal = plan(equal).unwrap();
        assert_eq!(
            (equal.rows[0].tasks_needed, equal.samples_needed),
            (2, Some(1))
        );
    }

    fn normal(random: &mut Pcg32, deviation: f64) -> f64 {
        let uniform = |_| f64::from(random.next_u32()) / 2f64.powi(32);
        ((0..12).map(uniform).sum::<f64>() - 6.0) * deviation
    }

    /// Experiments of the planned size find the difference in four of five cases,
    /// by the test that comparisons use.
    #[test]
    fn plans_keep_their_promise() {
        let design = Design {
            tasks: 60,
            tasks_per_repository: 2.0,
        };
        let plan = PowerPlan::new(0.1, SPREAD, design).unwrap();
        let row = plan.rows[1];
        let repositories = row.tasks_needed as usize / 2;
        let mut random = Pcg32::seed_from_u64(11);
        let mut found = 0;
        for _ in 0..400 {
            let mut differences = Vec::new();
            for repository in 0..repositories {
                let of_repository = 0.1 + normal(&mut random, 0.1);
                for _ in 0..2 {
                    let of_task = of_repository + normal(&mut random, 0.2);
                    let noise = 0.3 / f64::from(row.samples).sqrt();
                    let value = of_task + normal(&mut random, noise);
                    differences.push(Difference { repository, value });
                }
            }
            let comparison = compare(&differences, repositories).unwrap();
            found += u32::from(!comparison.is_tie());
        }
        let power = f64::from(found) / 400.0;
        assert!((0.73..0.87).contains(&power), "{power}");
    }
}
