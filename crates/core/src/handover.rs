//! A handover: a run that goes on with the code that another run had after some
//! iteration, and what its evolutions gain and lose from there.

use serde::{Deserialize, Serialize};

use crate::outcomes::Outcomes;
use crate::problems::Problems;

/// The code that the evolutions of a run start from, instead of the base.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Handover {
    /// The id of the run whose code is continued.
    pub run: String,
    /// The code after this iteration, from 1: that of the last scored iteration
    /// up to it. The last scored iteration of each evolution when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1000)]
    pub iteration: Option<u32>,
    #[serde(default, skip_serializing_if = "HandoverTarget::is_same")]
    pub target: HandoverTarget,
}

crate::named! {
    /// What the code that is handed over is developed towards.
    #[derive(Default, PartialOrd, Ord)]
    pub enum HandoverTarget {
        /// The target that the earlier run had.
        #[default]
        Same = "same",
        /// The target of a later task, whose base is the earlier target.
        Moved = "moved",
    }
}

impl HandoverTarget {
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Same => "the same target",
            Self::Moved => "a later target",
        }
    }

    // For serde, which passes a reference.
    #[expect(clippy::trivially_copy_pass_by_ref)]
    fn is_same(&self) -> bool {
        *self == Self::Same
    }
}

impl Handover {
    pub(crate) fn validate(&self, problems: &mut Problems) {
        problems.one_line("handover.run", &self.run, 1);
        if let Some(iteration) = self.iteration {
            problems.range("handover.iteration", iteration, 1..=1_000);
        }
    }
}

crate::named! {
    /// Why an evolution of the earlier run hands nothing over.
    pub enum NoStart {
        /// No test of T was left to close.
        SolvedAtStart = "solved_at_start",
        /// No iteration up to that one was scored: its code is still the base.
        NothingScored = "nothing_scored",
        /// It was blocked, cancelled, or its budget was spent.
        Unscored = "unscored",
    }
}

impl NoStart {
    pub fn in_words(self) -> &'static str {
        match self {
            Self::SolvedAtStart => "already solved when it would be handed over",
            Self::NothingScored => {
                "no iteration up to that one was scored, so the code is still the base"
            }
            Self::Unscored => "the earlier run did not bring it to an end that is scored",
        }
    }
}

/// One evolution of a handover, counted from its start. The tests are those of T.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Continuation {
    /// Tests that do not pass at the start.
    pub gap: u32,
    /// Tests that pass at the start.
    pub passing: u32,
    /// After each iteration.
    pub points: Vec<Point>,
}

/// An evolution of a handover after an iteration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Tests of the gap that pass now.
    pub closed: u32,
    /// Tests that passed at the start and do not pass now.
    pub lost: u32,
    /// Input and output tokens from the start to here; `None` unless every
    /// step of an agent was counted.
    pub tokens: Option<u64>,
    /// Millionths of a US dollar from the start to here; `None` unless every
    /// step of an agent has a price.
    pub micro_usd: Option<u64>,
}

impl Point {
    /// The tests after an iteration against those at the start; `None` where the
    /// code collapsed, which loses every test.
    pub fn between(start: &Outcomes, now: Option<&Outcomes>) -> Self {
        Self {
            closed: now.map_or(0, |now| now.gained_since(start)),
            lost: now.map_or(start.passed(), |now| now.lost_since(start)),
            ..Self::default()
        }
    }
}

impl Continuation {
    /// After an iteration, from 1; an evolution that ended earlier stays where it
    /// ended. `None` at the start.
    fn at(&self, iteration: u32) -> Option<&Point> {
        let reached = self.points.len().min(iteration as usize);
        self.points[..reached].last()
    }

    /// The share of the gap at the start that is closed after an iteration, 0 to
    /// 1.
    pub fn closed_gap(&self, iteration: u32) -> f64 {
        let closed = self.at(iteration).map_or(0, |point| point.closed);
        share(closed, self.gap)
    }

    /// The share of the tests passing at the start that do not pass after an
    /// iteration, 0 to 1.
    pub fn lost(&self, iteration: u32) -> f64 {
        let lost = self.at(iteration).map_or(0, |point| point.lost);
        share(lost, self.passing)
    }

    /// Tokens from the start to the end of an iteration.
    pub fn tokens(&self, iteration: u32) -> Option<u64> {
        self.at(iteration)?.tokens
    }

    /// Millionths of a US dollar from the start to the end of an iteration.
    pub fn micro_usd(&self, iteration: u32) -> Option<u64> {
        self.at(iteration)?.micro_usd
    }
}

fn share(part: u32, of: u32) -> f64 {
    match of {
        0 => 0.0,
        of => f64::from(part) / f64::from(of),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(letters: &str) -> Outcomes {
        Outcomes::from_letters(letters.into())
    }

    /// Of five tests two pass at the start. Gains do not hide losses.
    #[test]
    fn counted_from_the_start() {
        let start = outcomes("ppf-e");
        let after = ["pfpp-", "-----", "ppppf"];
        let collapsed = |letters: &str| letters.chars().all(|letter| letter == '-');
        let points = after.map(|letters| {
            let now = outcomes(letters);
            Point::between(&start, (!collapsed(letters)).then_some(&now))
        });
        let counts = points.map(|point| (point.closed, point.lost));
        assert_eq!(counts, [(2, 1), (0, 2), (2, 0)]);
        let evolution = Continuation {
            gap: 3,
            passing: 2,
            points: points.into(),
        };
        let check = |iteration: u32, closed: f64, lost: f64| {
            let found = (evolution.closed_gap(iteration), evolution.lost(iteration));
            assert_eq!(found, (closed, lost), "after {iteration}");
        };
        check(0, 0.0, 0.0);
        check(1, 2.0 / 3.0, 0.5);
        check(2, 0.0, 1.0);
        check(3, 2.0 / 3.0, 0.0);
        // Padded with its end.
        check(20, 2.0 / 3.0, 0.0);
        assert_eq!(Continuation::default().closed_gap(5), 0.0);
    }
}
