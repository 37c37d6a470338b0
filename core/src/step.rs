//! The evolution as a state machine: state + outcome of a step → state.
//!
//! ```text
//!            ┌────────────── next iteration ───────────────┐
//!            ▼                                             │
//!       Architect ──done──▶ Programmer ──done──▶ Test ─────┤
//!            │                                    │        │
//!      nothing left                       all of T pass   scored or collapsed
//!            ▼                                    ▼        │ (last iteration)
//!       NothingLeft                            Solved      ▼
//!                                                    IterationsSpent
//! ```
//!
//! A step that fails is tried again, up to the plan's attempts. If the agent
//! is what keeps failing, the evolution ends (`AgentGaveUp`) and is scored
//! with what it reached. If the *platform* or the model's provider is what
//! keeps failing, it is `Blocked` and not scored: infrastructure trouble never
//! becomes a 0. Nor does a budget that is spent (`BudgetSpent`).
//!
//! Every completed step is a row in the store; a state is rebuilt by applying
//! those rows in order ([`State::resume`]), which is all that resuming takes.

use serde::{Deserialize, Serialize};

/// How far an evolution may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Plan {
    /// N of the paper: 20 unless configured; 1 to 1,000.
    pub max_iterations: u32,
    /// Tries at one step before it is given up; 1 to 100.
    pub max_attempts: u32,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            max_iterations: 20,
            max_attempts: 10,
        }
    }
}

/// The three steps of an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Role {
    Architect,
    Programmer,
    Test,
}

impl Role {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Architect => "architect",
            Self::Programmer => "programmer",
            Self::Test => "test",
        }
    }

    /// The step after this one, in the course of an iteration or into the next.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Architect => Self::Programmer,
            Self::Programmer => Self::Test,
            Self::Test => Self::Architect,
        }
    }
}

/// How one attempt at a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum StepOutcome {
    /// Architect: a valid document is there. Programmer: the code is there,
    /// changed.
    Done,
    /// Programmer: it came to its end and changed nothing.
    NoChange,
    /// Architect: there is nothing more to ask for (a replayed history that
    /// has come to its end).
    NothingLeft,
    /// Test: the suite ran. `solved` when every test of T passes.
    Scored { solved: bool },
    /// Test: the code no longer runs (pytest exit ≥ 2, time limit, no report).
    Collapsed,
    /// Architect: it came to its end without a document that can be used.
    MalformedRequirement,
    /// The agent failed: it crashed, or wrote more than it may.
    AgentFailed,
    /// The agent took longer than it may.
    AgentTimedOut,
    /// A limit of the run's budget was reached.
    BudgetSpent,
    /// The model's provider failed: it refused the key, or went on failing
    /// when it was asked again.
    ProviderFailed,
    /// The platform failed: Docker, disk, network, the container was killed
    /// from outside.
    InfraFailed,
    /// The process was told to stop while an agent worked. The attempt is
    /// repeated and does not count as one; what it took of the model does.
    Interrupted,
    /// Somebody cancelled the run.
    Cancelled,
}

/// Where an evolution stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    Active(Cursor),
    Ended(Ending),
}

/// The step to be done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// From 1.
    pub iteration: u32,
    pub role: Role,
    /// From 1.
    pub attempt: u32,
    /// The iteration whose code this one starts from: the last scored one,
    /// 0 for the base. A collapsed iteration is never built upon.
    pub code_of: u32,
}

/// Why an evolution ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Ending {
    Solved,
    IterationsSpent,
    NothingLeft,
    AgentGaveUp,
    /// The run's budget was spent.
    BudgetSpent,
    /// Imported results that end before the last iteration without saying why.
    CutShort,
    Blocked,
    Cancelled,
}

impl Ending {
    pub const ALL: [Self; 8] = [
        Self::Solved,
        Self::IterationsSpent,
        Self::NothingLeft,
        Self::AgentGaveUp,
        Self::BudgetSpent,
        Self::CutShort,
        Self::Blocked,
        Self::Cancelled,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::IterationsSpent => "iterations_spent",
            Self::NothingLeft => "nothing_left",
            Self::AgentGaveUp => "agent_gave_up",
            Self::BudgetSpent => "budget_spent",
            Self::CutShort => "cut_short",
            Self::Blocked => "blocked",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether an evolution that ended so counts in scores.
    #[must_use]
    pub fn is_scored(self) -> bool {
        !matches!(self, Self::BudgetSpent | Self::Blocked | Self::Cancelled)
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ending| ending.name() == name)
    }
}

/// An outcome that cannot follow: the rows or the caller are wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a step cannot end with {outcome:?} when the evolution stands at {state:?}")]
pub struct Misplaced {
    pub state: State,
    pub outcome: StepOutcome,
}

impl StepOutcome {
    /// Whether the step came to its end and what it made is there.
    #[must_use]
    pub fn has_product(self) -> bool {
        matches!(self, Self::Done | Self::NoChange)
    }
}

impl State {
    #[must_use]
    pub fn start() -> Self {
        Self::Active(Cursor {
            iteration: 1,
            role: Role::Architect,
            attempt: 1,
            code_of: 0,
        })
    }

    /// The state after these outcomes, one after the other.
    ///
    /// # Errors
    /// [`Misplaced`] for the first outcome that cannot follow.
    pub fn resume(
        plan: Plan,
        outcomes: impl IntoIterator<Item = StepOutcome>,
    ) -> Result<Self, Misplaced> {
        outcomes
            .into_iter()
            .try_fold(Self::start(), |state, outcome| state.after(plan, outcome))
    }

    /// The state after one more outcome.
    ///
    /// # Errors
    /// [`Misplaced`] when this outcome does not belong to the step at hand, or
    /// the evolution has ended.
    pub fn after(self, plan: Plan, outcome: StepOutcome) -> Result<Self, Misplaced> {
        let Self::Active(at) = self else {
            return Err(Misplaced {
                state: self,
                outcome,
            });
        };
        let next = match (at.role, outcome) {
            (_, StepOutcome::Cancelled) => Self::Ended(Ending::Cancelled),
            (Role::Architect | Role::Programmer, StepOutcome::Interrupted) => self,
            (_, StepOutcome::InfraFailed)
            | (Role::Architect | Role::Programmer, StepOutcome::ProviderFailed) => {
                at.again(plan, Ending::Blocked)
            }
            (Role::Architect | Role::Programmer, StepOutcome::BudgetSpent) => {
                Self::Ended(Ending::BudgetSpent)
            }
            (
                Role::Architect | Role::Programmer,
                StepOutcome::AgentFailed | StepOutcome::AgentTimedOut,
            )
            | (Role::Architect, StepOutcome::MalformedRequirement) => {
                at.again(plan, Ending::AgentGaveUp)
            }
            (Role::Architect, StepOutcome::NothingLeft) => Self::Ended(Ending::NothingLeft),
            (Role::Architect | Role::Programmer, StepOutcome::Done)
            | (Role::Programmer, StepOutcome::NoChange) => Self::Active(Cursor {
                role: at.role.next(),
                attempt: 1,
                ..at
            }),
            (Role::Test, StepOutcome::Scored { solved: true }) => Self::Ended(Ending::Solved),
            (Role::Test, StepOutcome::Scored { solved: false }) => {
                at.next_iteration(plan, at.iteration)
            }
            (Role::Test, StepOutcome::Collapsed) => at.next_iteration(plan, at.code_of),
            _ => {
                return Err(Misplaced {
                    state: self,
                    outcome,
                });
            }
        };
        Ok(next)
    }
}

impl Cursor {
    fn again(self, plan: Plan, given_up: Ending) -> State {
        if self.attempt < plan.max_attempts {
            State::Active(Self {
                attempt: self.attempt + 1,
                ..self
            })
        } else {
            State::Ended(given_up)
        }
    }

    fn next_iteration(self, plan: Plan, code_of: u32) -> State {
        if self.iteration < plan.max_iterations {
            State::Active(Self {
                iteration: self.iteration + 1,
                role: Role::Architect,
                attempt: 1,
                code_of,
            })
        } else {
            State::Ended(Ending::IterationsSpent)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use StepOutcome::{
        AgentFailed, AgentTimedOut, BudgetSpent, Cancelled, Collapsed, Done, InfraFailed,
        Interrupted, MalformedRequirement, NoChange, NothingLeft, ProviderFailed, Scored,
    };
    use proptest::prelude::*;

    const PLAN: Plan = Plan {
        max_iterations: 3,
        max_attempts: 2,
    };
    const MISS: StepOutcome = Scored { solved: false };

    fn at(iteration: u32, role: Role, attempt: u32, code_of: u32) -> State {
        State::Active(Cursor {
            iteration,
            role,
            attempt,
            code_of,
        })
    }

    #[test]
    fn stories() {
        let check = |outcomes: &[StepOutcome], expect: State| {
            assert_eq!(
                State::resume(PLAN, outcomes.iter().copied()),
                Ok(expect),
                "{outcomes:?}"
            );
        };
        check(&[], at(1, Role::Architect, 1, 0));
        check(&[Done], at(1, Role::Programmer, 1, 0));
        check(&[Done, Done], at(1, Role::Test, 1, 0));
        check(&[Done, Done, MISS], at(2, Role::Architect, 1, 1));
        check(
            &[Done, Done, Scored { solved: true }],
            State::Ended(Ending::Solved),
        );
        // A collapsed iteration counts, and is not built upon.
        check(
            &[Done, Done, MISS, Done, Done, Collapsed],
            at(3, Role::Architect, 1, 1),
        );
        check(&[Done, Done, Collapsed], at(2, Role::Architect, 1, 0));
        check(
            &[Done, Done, MISS, Done, Done, MISS, Done, Done, Collapsed],
            State::Ended(Ending::IterationsSpent),
        );
        // Attempts start anew with every step.
        check(
            &[AgentFailed, Done, InfraFailed],
            at(1, Role::Programmer, 2, 0),
        );
        check(
            &[AgentFailed, AgentFailed],
            State::Ended(Ending::AgentGaveUp),
        );
        check(&[AgentFailed, InfraFailed], State::Ended(Ending::Blocked));
        check(
            &[Done, Done, InfraFailed, InfraFailed],
            State::Ended(Ending::Blocked),
        );
        check(
            &[Done, Done, MISS, NothingLeft],
            State::Ended(Ending::NothingLeft),
        );
        check(&[Done, Cancelled], State::Ended(Ending::Cancelled));
        // A programmer that changes nothing is tested like any other.
        check(&[Done, NoChange], at(1, Role::Test, 1, 0));
        check(
            &[MalformedRequirement, AgentTimedOut],
            State::Ended(Ending::AgentGaveUp),
        );
        check(
            &[AgentFailed, ProviderFailed],
            State::Ended(Ending::Blocked),
        );
        check(&[Done, BudgetSpent], State::Ended(Ending::BudgetSpent));
        // A step that was interrupted stands where it stood.
        check(
            &[AgentFailed, Interrupted, Interrupted],
            at(1, Role::Architect, 2, 0),
        );
    }

    #[test]
    fn outcomes_out_of_place_are_refused() {
        for outcomes in [
            &[MISS][..],
            &[Done, NothingLeft],
            &[Done, Done, Done],
            &[Done, Done, AgentFailed],
            &[NothingLeft, Done],
            &[NoChange],
            &[Done, MalformedRequirement],
            &[Done, Done, ProviderFailed],
        ] {
            assert!(
                State::resume(PLAN, outcomes.iter().copied()).is_err(),
                "{outcomes:?}"
            );
        }
    }

    fn any_outcome() -> impl Strategy<Value = StepOutcome> {
        prop::sample::select(vec![
            Done,
            NothingLeft,
            MISS,
            Scored { solved: true },
            Collapsed,
            AgentFailed,
            InfraFailed,
            NoChange,
            MalformedRequirement,
            AgentTimedOut,
            ProviderFailed,
            BudgetSpent,
            Cancelled,
        ])
    }

    proptest! {
        /// Whatever happens, the limits hold, and code is only ever built on
        /// an earlier iteration.
        #[test]
        fn limits_hold(outcomes in prop::collection::vec(any_outcome(), 0..200)) {
            let mut state = State::start();
            let mut steps = 0;
            for outcome in outcomes {
                let Ok(next) = state.after(PLAN, outcome) else { continue };
                steps += 1;
                if let State::Active(at) = next {
                    prop_assert!((1..=PLAN.max_iterations).contains(&at.iteration));
                    prop_assert!((1..=PLAN.max_attempts).contains(&at.attempt));
                    prop_assert!(at.code_of < at.iteration);
                }
                state = next;
            }
            prop_assert!(steps <= PLAN.max_iterations * 3 * PLAN.max_attempts);
        }
    }
}
