//! The generalisation of a run: the mean over its tasks, within a task over its
//! samples first. Those of which nothing was asked count in neither.

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::mean;

use super::{Entry, Generalised, ScoredTask};
use crate::count;

/// How far the last code of a run's evolutions answers changed inputs as the oracle
/// does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct GeneralisationRate {
    /// The mean over tasks, 0 to 1.
    pub share: f64,
    /// Tasks behind it, from 1.
    pub tasks: u32,
    /// Changed inputs that were asked in all.
    pub asked: u32,
}

impl ScoredTask {
    fn generalised(&self) -> impl Iterator<Item = Generalised> {
        self.samples
            .iter()
            .filter_map(|sample| sample.generalisation)
    }

    pub(super) fn generalisation(&self) -> Option<f64> {
        mean(self.generalised().map(|one| one.share))
    }
}

impl Entry {
    /// `None` where nothing was asked.
    pub(super) fn generalisation(&self) -> Option<GeneralisationRate> {
        let shares: Vec<f64> = self
            .tasks
            .iter()
            .filter_map(ScoredTask::generalisation)
            .collect();
        let asked = self.tasks.iter().flat_map(ScoredTask::generalised);
        Some(GeneralisationRate {
            tasks: count(shares.len()),
            share: mean(shares)?,
            asked: asked.map(|one| one.asked).sum(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leaderboard::UncertaintyModel;
    use crate::testing::{entry, leaderboard};
    use swe_ci_core::metrics::{Convention, Gamma};

    /// Of p's two samples one was asked; of the second task of q nothing was.
    #[test]
    fn by_hand() {
        let mut run = entry(
            "m",
            &[("p", &[&[1.0], &[0.5]]), ("q", &[&[1.0]]), ("q", &[&[0.0]])],
        );
        let mut put = |task: usize, sample: usize, share| {
            let sample = &mut run.tasks_mut()[task].samples[sample];
            sample.generalisation = Some(Generalised { share, asked: 10 });
        };
        put(0, 1, 0.5);
        put(1, 0, 1.0);
        let data = leaderboard(vec![run, entry("n", &[("p", &[&[1.0]])])]);
        let rows = UncertaintyModel::new(&data).rank(&data, Gamma::ONE, Convention::Paper);
        let row = rows.iter().find(|row| row.model == "m").unwrap();
        let rate = row.generalisation.unwrap();
        assert_eq!((rate.share, rate.tasks, rate.asked), (0.75, 2, 20));
        let interval = row.intervals.unwrap().generalisation.unwrap();
        assert_eq!((interval.low, interval.high), (0.5, 1.0));
        let other = rows.iter().find(|row| row.model == "n").unwrap();
        assert_eq!(other.generalisation, None);
    }
}
