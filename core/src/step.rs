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
//! becomes a 0. Nor does a budget that is spent (`BudgetSpent`). Both may be
//! tried again when somebody asks for it ([`StepOutcome::Retried`]).
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
    /// Not an attempt: somebody had an evolution go on that was blocked, or
    /// that the budget had stopped. What the platform, the provider and the
    /// budget did to the step until now counts no longer; what the agent did
    /// itself does.
    Retried,
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
    /// From 1. Rises on over a retry, so that an attempt has its number alone.
    pub attempt: u32,
    /// Earlier attempts at this step that count no longer, since a retry.
    pub forgiven: u32,
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

    /// Whether an evolution that ended so can go on where it stood.
    #[must_use]
    pub fn can_be_retried(self) -> bool {
        matches!(self, Self::BudgetSpent | Self::Blocked)
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

    /// Whether an attempt failed through nothing the agent did.
    #[must_use]
    pub fn is_no_fault_of_the_agent(self) -> bool {
        matches!(
            self,
            Self::InfraFailed | Self::ProviderFailed | Self::BudgetSpent
        )
    }
}

impl State {
    #[must_use]
    pub fn start() -> Self {
        Self::Active(Cursor::START)
    }

    /// The state after these outcomes, one after the other.
    ///
    /// # Errors
    /// [`Misplaced`] for the first outcome that cannot follow.
    pub fn resume(
        plan: Plan,
        outcomes: impl IntoIterator<Item = StepOutcome>,
    ) -> Result<Self, Misplaced> {
        let mut story = Story::default();
        for outcome in outcomes {
            story.go_on(plan, outcome)?;
        }
        Ok(story.state)
    }

    /// The state after one more outcome of an attempt. A retry is none: it
    /// follows from where the evolution stood, which [`State::resume`] knows.
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
                forgiven: 0,
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

/// What is known while outcomes are applied one after the other.
#[derive(Debug)]
struct Story {
    state: State,
    /// The step that was attempted last.
    stood: Cursor,
    /// Attempts at that step that failed through nothing the agent did.
    faultless: u32,
}

impl Default for Story {
    fn default() -> Self {
        Self {
            state: State::start(),
            stood: Cursor::START,
            faultless: 0,
        }
    }
}

impl Story {
    fn go_on(&mut self, plan: Plan, outcome: StepOutcome) -> Result<(), Misplaced> {
        let next = match (self.state, outcome) {
            (State::Ended(ending), StepOutcome::Retried) if ending.can_be_retried() => {
                State::Active(Cursor {
                    attempt: self.stood.attempt + 1,
                    forgiven: self.faultless,
                    ..self.stood
                })
            }
            (state, outcome) => state.after(plan, outcome)?,
        };
        self.faultless += u32::from(outcome.is_no_fault_of_the_agent());
        if let State::Active(at) = next {
            if (at.iteration, at.role) != (self.stood.iteration, self.stood.role) {
                self.faultless = 0;
            }
            self.stood = at;
        }
        self.state = next;
        Ok(())
    }
}

impl Cursor {
    const START: Self = Self {
        iteration: 1,
        role: Role::Architect,
        attempt: 1,
        forgiven: 0,
        code_of: 0,
    };

    /// Which try it is among those that count, from 1.
    #[must_use]
    pub fn tries(self) -> u32 {
        self.attempt.saturating_sub(self.forgiven).max(1)
    }

    fn again(self, plan: Plan, given_up: Ending) -> State {
        if self.tries() < plan.max_attempts {
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
                forgiven: 0,
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
        Interrupted, MalformedRequirement, NoChange, NothingLeft, ProviderFailed, Retried, Scored,
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
            forgiven: 0,
            code_of,
        })
    }

    #[test]
    fn retries() {
        let check = |outcomes: &[StepOutcome], expect: State| {
            let state = State::resume(PLAN, outcomes.iter().copied());
            assert_eq!(state, Ok(expect), "{outcomes:?}");
        };
        let again = |iteration, role, attempt, forgiven, code_of| {
            State::Active(Cursor {
                iteration,
                role,
                attempt,
                forgiven,
                code_of,
            })
        };
        let blocked = State::Ended(Ending::Blocked);
        // It goes on at the step where it stood, with all its tries.
        let story = [Done, InfraFailed, ProviderFailed, Retried];
        check(&story, again(1, Role::Programmer, 3, 2, 0));
        check(
            &[&story[..], &[InfraFailed]].concat(),
            again(1, Role::Programmer, 4, 2, 0),
        );
        check(&[&story[..], &[InfraFailed; 2]].concat(), blocked);
        check(
            &[&story[..], &[InfraFailed, InfraFailed, Retried]].concat(),
            again(1, Role::Programmer, 5, 4, 0),
        );
        // The next step knows nothing of it.
        check(&[&story[..], &[Done]].concat(), at(1, Role::Test, 1, 0));
        // An agent is given no more tries by it than any other.
        let story = [AgentFailed, InfraFailed, Retried];
        check(&story, again(1, Role::Architect, 3, 1, 0));
        check(
            &[&story[..], &[AgentFailed]].concat(),
            State::Ended(Ending::AgentGaveUp),
        );
        // What was reached is kept.
        check(
            &[
                Done,
                Done,
                MISS,
                Done,
                Done,
                InfraFailed,
                InfraFailed,
                Retried,
            ],
            again(2, Role::Test, 3, 2, 1),
        );
        check(
            &[Done, BudgetSpent, Retried],
            again(1, Role::Programmer, 2, 1, 0),
        );
        // Failures of an earlier step are no longer of interest.
        check(
            &[InfraFailed, Done, InfraFailed, InfraFailed, Retried],
            again(1, Role::Programmer, 3, 2, 0),
        );
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
            // Only what was blocked, or out of money, is tried again.
            &[Retried],
            &[InfraFailed, Retried],
            &[Cancelled, Retried],
            &[AgentFailed, AgentFailed, Retried],
            &[InfraFailed, InfraFailed, Retried, Retried],
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

        /// A retry is what one would have had without the failures before it,
        /// but for the numbers of the attempts.
        #[test]
        fn a_retry_forgets_what_was_no_fault(
            outcomes in prop::collection::vec(any_outcome(), 0..60),
        ) {
            let mut story = Vec::new();
            for outcome in outcomes {
                story.push(outcome);
                match State::resume(PLAN, story.iter().copied()) {
                    Err(_) => { story.pop(); }
                    Ok(State::Ended(ending)) if ending.can_be_retried() => break,
                    Ok(_) => {}
                }
            }
            let ended = State::resume(PLAN, story.iter().copied()).unwrap();
            if !matches!(ended, State::Ended(ending) if ending.can_be_retried()) {
                return Ok(());
            }
            let without = story.iter().copied().filter(|o| !o.is_no_fault_of_the_agent());
            let without = State::resume(PLAN, without).unwrap();
            let retried = State::resume(PLAN, story.iter().copied().chain([Retried])).unwrap();
            let (State::Active(retried), State::Active(without)) = (retried, without) else {
                panic!("{story:?} is over: {retried:?} {without:?}");
            };
            prop_assert_eq!(retried.tries(), without.tries());
            prop_assert_eq!(
                Cursor { attempt: 1, forgiven: 0, ..retried },
                Cursor { attempt: 1, forgiven: 0, ..without }
            );
        }
    }
}
