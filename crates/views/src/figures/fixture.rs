//! Small leaderboards for the tests of figures.

use std::sync::Arc;

use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::usage::Usage;

use super::Study;
use crate::leaderboard::{Effort, Entry, LeaderboardData, Ranking};
use crate::style::{Beside, Erosion, StylePoint};
use crate::testing;

/// A run: the normalized changes of each task; every task has its own
/// repository.
pub(super) struct RunSpec {
    pub model: &'static str,
    pub tasks: &'static [&'static [f64]],
    pub date: Option<&'static str>,
    /// Of each task; as many millionths of a dollar and milliseconds.
    pub tokens: Option<u64>,
    /// Whether its code style is measured: at every end, and after the first
    /// iteration.
    pub styled: bool,
}

impl RunSpec {
    pub(super) fn new(model: &'static str, tasks: &'static [&'static [f64]]) -> Self {
        Self {
            model,
            tasks,
            date: None,
            tokens: None,
            styled: false,
        }
    }

    fn entry(&self) -> Entry {
        let run = Entry {
            run_id: format!("run-{}", self.model.replace(' ', "-")),
            provider: "acme".into(),
            release_date: self.date.map(str::to_owned),
            usage: self.tokens.map(|input_tokens| Usage {
                input_tokens,
                output_tokens: 0,
                ..Usage::default()
            }),
            micro_usd: None,
            ..testing::spread_run(self.model, self.tasks)
        };
        let effort = Effort {
            tokens: self.tokens,
            micro_usd: self.tokens,
            agent_ms: self.tokens,
            wall_ms: self.tokens,
        };
        let run = testing::with_effort(run, |_, _| effort);
        testing::styled(run, |_, _| self.styled.then(style))
    }
}

fn style() -> Beside {
    let style = testing::beside([68.0, 72.0], [8.0, 7.5], [120, 40]);
    let eroded = |point: StylePoint, unused| StylePoint {
        erosion: Erosion {
            unused_code: Some(unused),
            ..Erosion::default()
        },
        ..point
    };
    Beside {
        own: eroded(style.own, 4.0),
        oracle: eroded(style.oracle, 3.0),
        course: vec![(1, eroded(style.own, 4.0))],
        ..style
    }
}

pub(super) fn leaderboard(runs: &[RunSpec]) -> LeaderboardData {
    testing::leaderboard(runs.iter().map(RunSpec::entry).collect())
}

/// A leaderboard of custom runs.
pub(super) fn leaderboard_of(runs: Vec<Entry>) -> LeaderboardData {
    testing::leaderboard(runs)
}

/// Runs a check on the study of a leaderboard at this γ.
pub(super) fn with_study(data: &LeaderboardData, gamma: f64, check: impl FnOnce(&Study)) {
    let gamma = Gamma::new(gamma).unwrap();
    let ranking = Ranking::new(Arc::new(data.clone()), gamma, Convention::Paper);
    check(&Study::of(&ranking, usize::MAX));
}
