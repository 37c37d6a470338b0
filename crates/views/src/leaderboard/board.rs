//! Which runs a leaderboard ranks.

use serde::{Deserialize, Serialize};
use swe_ci_core::handover::Handover;
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::{Kind, RunConfig};

/// A leaderboard: the runs over one split in one mode, from one start, now or in a
/// snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Board {
    pub split: String,
    pub mode: Mode,
    /// The code that all of them go on with; the base of each task when absent.
    #[serde(default)]
    pub handover: Option<Handover>,
    /// The day of the snapshot it is in; the present when absent.
    #[serde(default)]
    pub snapshot: Option<String>,
}

impl Board {
    pub fn new(split: impl Into<String>, mode: Mode) -> Self {
        Self {
            split: split.into(),
            mode,
            handover: None,
            snapshot: None,
        }
    }

    /// The same in the snapshot of this day, if there is one to look at.
    #[must_use]
    pub fn on(self, snapshot: Option<String>) -> Self {
        Self { snapshot, ..self }
    }

    /// The one that a run is on.
    pub fn of(config: &RunConfig) -> Self {
        Self {
            handover: config.handover.clone(),
            ..Self::new(&config.split, config.mode)
        }
    }

    /// Whether a run over its split is on it. The human baseline has no mode: it
    /// is the measure of both.
    pub fn has(&self, config: &RunConfig) -> bool {
        config.handover == self.handover && (config.kind == Kind::Human || config.mode == self.mode)
    }
}

/// The board of a split in the default mode.
impl From<&str> for Board {
    fn from(split: &str) -> Self {
        Self::new(split, Mode::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::handover::HandoverTarget;

    #[test]
    fn modes_are_never_ranked_together() {
        let boards = Mode::ALL.map(|mode| Board::new("s", mode));
        let on = |config: &RunConfig| boards.clone().map(|board| board.has(config));
        let mut config = RunConfig::human("s");
        assert_eq!(on(&config), [true; 3]);
        config.kind = Kind::Measured;
        assert_eq!(on(&config), [true, false, false]);
        config.mode = Mode::Rdd;
        assert_eq!(on(&config), [false, true, false]);
        assert_eq!(Board::of(&config), boards[1]);
    }

    #[test]
    fn a_handover_is_on_a_board_of_its_own() {
        let mut config = RunConfig::human("s");
        config.kind = Kind::Measured;
        let from = |iteration| Handover {
            run: "r".into(),
            iteration,
            target: HandoverTarget::default(),
        };
        config.handover = Some(from(None));
        assert!(!Board::from("s").has(&config));
        let own = Board::of(&config);
        assert!(own.has(&config));
        config.handover = Some(from(Some(2)));
        assert!(!own.has(&config));
        assert!(!own.has(&RunConfig::human("s")));
    }
}
