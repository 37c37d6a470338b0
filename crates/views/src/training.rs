//! Recorded runs as data for training.

use std::str::FromStr;

use swe_ci_core::metrics::SuiteCounts;

swe_ci_core::named! {
    /// What the data trains.
    pub enum TrainingFormat {
        /// Conversations of iterations with a reward: supervised fine-tuning.
        Sft = "sft",
        /// Pairs of conversations from the same start: direct preference
        /// optimization.
        Dpo = "dpo",
    }
}

impl FromStr for TrainingFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::from_name(name).ok_or_else(|| format!("`{name}` is none: use sft or dpo"))
    }
}

/// The reward of an iteration: the share of the task's gap that it closes, minus the
/// share that it opens by losing tests, -1 to 1; 0 for a task without a gap.
pub fn iteration_reward(counts: SuiteCounts, gained: u32, lost: u32) -> f64 {
    match counts.gap() {
        0 => 0.0,
        gap => ((f64::from(gained) - f64::from(lost)) / f64::from(gap)).max(-1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reward_is_the_share_of_the_gap_that_closes() {
        let check = |gap, gained, lost, expect: f64| {
            let counts = SuiteCounts::counts_only(10, gap);
            let reward = iteration_reward(counts, gained, lost);
            assert!(
                (reward - expect).abs() < 1e-12,
                "{gap} {gained} {lost}: {reward}"
            );
        };
        check(4, 4, 0, 1.0);
        check(4, 2, 1, 0.25);
        check(4, 0, 6, -1.0);
        check(0, 0, 3, 0.0);
    }
}
