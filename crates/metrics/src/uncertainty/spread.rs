//! How much scores vary: between repositories, between the tasks of one, and
//! between samples of the same task.

use serde::{Deserialize, Serialize};

/// Standard deviations by origin (nested random effects, estimated by the method
/// of moments). A negative estimate of a variance counts as 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ScoreSpread {
    /// Between repositories; that between tasks is part of it where no repository
    /// has two tasks. Absent with fewer than two repositories.
    pub repositories: Option<f64>,
    /// Between tasks of a repository; absent where none has two. That between
    /// samples is part of it where no task has two.
    pub tasks: Option<f64>,
    /// Between samples of a task; absent where none has two.
    pub samples: Option<f64>,
}

/// The mean over the samples of a task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaskMean {
    /// The index of its repository.
    pub repository: usize,
    pub mean: f64,
    /// The variance of the mean that the samples cause.
    pub noise: f64,
}

impl ScoreSpread {
    /// From the means of tasks; `samples` is known from elsewhere.
    pub fn of(tasks: &[TaskMean], samples: Option<f64>) -> Self {
        let repositories = by_repository(tasks);
        let within = within(&repositories);
        Self {
            repositories: between(&repositories, within.unwrap_or(0.0)).map(f64::sqrt),
            tasks: within.map(f64::sqrt),
            samples,
        }
    }

    /// Of the difference of two independent values that vary like this.
    pub fn of_difference(self) -> Self {
        let doubled = |deviation: f64| deviation * f64::sqrt(2.0);
        Self {
            repositories: self.repositories.map(doubled),
            tasks: self.tasks.map(doubled),
            samples: self.samples.map(doubled),
        }
    }
}

/// The variance between the samples of a task, pooled over tasks; `None` where no
/// task has two.
pub fn sample_variance<'a>(tasks: impl IntoIterator<Item = &'a [f64]>) -> Option<f64> {
    let (mut squares, mut freedom) = (0.0, 0.0);
    for samples in tasks {
        if let Some(centre) = mean(samples.iter().copied()) {
            squares += samples.iter().map(|v| (v - centre).powi(2)).sum::<f64>();
            freedom += samples.len() as f64 - 1.0;
        }
    }
    (freedom > 0.0).then(|| squares / freedom)
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> Option<f64> {
    let count = values.len();
    (count > 0).then(|| values.sum::<f64>() / count as f64)
}

/// The tasks of each repository that has any.
fn by_repository(tasks: &[TaskMean]) -> Vec<Vec<TaskMean>> {
    let last = tasks.iter().map(|task| task.repository).max();
    let mut repositories = vec![Vec::new(); last.map_or(0, |last| last + 1)];
    for task in tasks {
        repositories[task.repository].push(*task);
    }
    repositories.retain(|tasks| !tasks.is_empty());
    repositories
}

/// The variance between the tasks of a repository, without what the samples add.
fn within(repositories: &[Vec<TaskMean>]) -> Option<f64> {
    let (mut squares, mut noise, mut freedom) = (0.0, 0.0, 0.0);
    for tasks in repositories {
        let centre = mean(tasks.iter().map(|task| task.mean))?;
        let size = tasks.len() as f64;
        squares += tasks.iter().map(|t| (t.mean - centre).powi(2)).sum::<f64>();
        // The noise of a task moves the centre with it.
        noise += tasks.iter().map(|t| t.noise).sum::<f64>() * (1.0 - 1.0 / size);
        freedom += size - 1.0;
    }
    (freedom > 0.0).then(|| ((squares - noise) / freedom).max(0.0))
}

/// The variance between repositories, without what their tasks add.
fn between(repositories: &[Vec<TaskMean>], within: f64) -> Option<f64> {
    let freedom = repositories.len().checked_sub(2)? as f64 + 1.0;
    let means = repositories
        .iter()
        .map(|tasks| mean(tasks.iter().map(|t| t.mean)));
    let means: Vec<f64> = means.collect::<Option<_>>()?;
    let centre = mean(means.iter().copied())?;
    let squares: f64 = means.iter().map(|m| (m - centre).powi(2)).sum();
    let added = repositories.iter().map(|tasks| {
        let noise: f64 = tasks.iter().map(|task| within + task.noise).sum();
        noise / (tasks.len() as f64).powi(2)
    });
    Some((squares / freedom - mean(added)?).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_pcg::Pcg32;
    use rand_pcg::rand_core::{Rng, SeedableRng};

    fn close(actual: Option<f64>, expect: Option<f64>) {
        match (actual, expect) {
            (Some(a), Some(b)) => assert!((a - b).abs() < 1e-12, "{a} {b}"),
            _ => assert_eq!(actual, expect),
        }
    }

    /// Two repositories with two tasks each, of two samples each.
    #[test]
    fn by_hand() {
        let samples: [&[f64]; 4] = [&[0.1, 0.3], &[0.6, 0.6], &[0.5, 0.7], &[1.0, 1.0]];
        // Squares 0.02 and 0.02 with one degree of freedom for each task.
        let variance = sample_variance(samples).unwrap();
        assert!((variance - 0.01).abs() < 1e-12);
        let task = |(at, samples): (usize, &&[f64])| TaskMean {
            repository: at / 2,
            mean: (samples[0] + samples[1]) / 2.0,
            noise: variance / 2.0,
        };
        let tasks: Vec<TaskMean> = samples.iter().enumerate().map(task).collect();
        // Means 0.2, 0.6 and 0.6, 1.0: squares 0.08 twice, less the noise 0.005
        // twice, over two degrees of freedom.
        let within: f64 = (0.16 - 0.01) / 2.0;
        // Means 0.4 and 0.8: variance 0.08, less (0.075 + 0.005) / 2.
        let spread = ScoreSpread::of(&tasks, Some(variance.sqrt()));
        close(spread.tasks, Some(within.sqrt()));
        close(spread.repositories, Some(0.04_f64.sqrt()));
        close(spread.samples, Some(0.1));
        close(spread.of_difference().samples, Some(0.02_f64.sqrt()));
    }

    #[test]
    fn what_cannot_be_told_apart() {
        let task = |repository, mean| TaskMean {
            repository,
            mean,
            noise: 0.0,
        };
        let check = |tasks: &[TaskMean], repositories, within| {
            let spread = ScoreSpread::of(tasks, None);
            close(spread.repositories, repositories);
            close(spread.tasks, within);
            assert_eq!(spread.samples, None);
        };
        check(&[], None, None);
        check(&[task(3, 0.5)], None, None);
        check(&[task(0, 0.5), task(0, 0.7)], None, Some(0.02_f64.sqrt()));
        check(&[task(0, 0.5), task(9, 0.7)], Some(0.02_f64.sqrt()), None);
        assert_eq!(sample_variance([&[0.5][..], &[]]), None);
    }

    /// The sum of twelve uniform numbers is nearly normal.
    fn normal(random: &mut Pcg32, deviation: f64) -> f64 {
        let uniform = |_| f64::from(random.next_u32()) / 2f64.powi(32);
        ((0..12).map(uniform).sum::<f64>() - 6.0) * deviation
    }

    /// Of many repositories of different sizes it finds what they were made
    /// with.
    #[test]
    fn finds_the_spread_of_made_up_scores() {
        let mut random = Pcg32::seed_from_u64(7);
        let mut tasks = Vec::new();
        for repository in 0..3_000 {
            let of_repository = normal(&mut random, 0.3);
            for _ in 0..1 + repository % 3 {
                let of_task = of_repository + normal(&mut random, 0.2);
                let samples: Vec<f64> = (0..1 + repository % 4)
                    .map(|_| of_task + normal(&mut random, 0.1))
                    .collect();
                tasks.push((repository, samples));
            }
        }
        let variance = sample_variance(tasks.iter().map(|(_, s)| s.as_slice())).unwrap();
        let means = tasks.iter().map(|(repository, samples)| TaskMean {
            repository: *repository,
            mean: samples.iter().sum::<f64>() / samples.len() as f64,
            noise: variance / samples.len() as f64,
        });
        let spread = ScoreSpread::of(&means.collect::<Vec<_>>(), Some(variance.sqrt()));
        let near = |actual: Option<f64>, expect: f64| {
            assert!(
                (actual.unwrap() - expect).abs() < 0.01,
                "{actual:?} {expect}"
            );
        };
        near(spread.repositories, 0.3);
        near(spread.tasks, 0.2);
        near(spread.samples, 0.1);
    }
}
