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
//! A failed step is retried, up to the plan's attempts: so many failures of the
//! agent, and so many of others. If the agent keeps
//! failing, the evolution ends (`AgentGaveUp`) and its score is the one it
//! reached. If the *platform* or the model's provider keeps failing, it is
//! `Blocked` and has no score: infrastructure trouble never becomes a 0. The
//! same holds for a spent budget of the run (`BudgetSpent`). A user may retry both
//! ([`StepOutcome::Retried`]). An evolution's own budget is a limit like its time:
//! the same for all, and scored with what was reached (`EvolutionBudgetSpent`).
//!
//! Every completed step is a row in the store. [`State::resume`] applies those
//! rows in order; resuming needs nothing else.

use serde::{Deserialize, Serialize};

/// How far an evolution may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct Plan {
    /// N of the paper: 20 unless configured; 1 to 1,000.
    pub max_iterations: u32,
    /// Attempts at one step before the platform gives up; 1 to 100.
    pub max_attempts: u32,
}

impl Plan {
    pub const MOST_ITERATIONS: u32 = 1_000;
    /// The column of a split's metadata that declares its N. All its tasks have the
    /// same.
    pub const COLUMN: &str = "max_iterations";
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            max_iterations: 20,
            max_attempts: 10,
        }
    }
}

crate::named! {
    /// The three steps of an iteration.
    pub enum Role {
        Architect = "architect",
        Programmer = "programmer",
        Test = "test",
    }
}

impl Role {
    /// The step after this one, in the same iteration or the next.
    pub fn next(self) -> Self {
        match self {
            Self::Architect => Self::Programmer,
            Self::Programmer => Self::Test,
            Self::Test => Self::Architect,
        }
    }
}

/// How one attempt at a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// Architect: it wrote a valid document. Programmer: it changed the code.
    Done,
    /// Programmer: it finished without changing anything.
    NoChange,
    /// Architect: there are no more requirements (the end of a replayed
    /// history).
    NothingLeft,
    /// Test: the suite ran. `solved` when every test of T passes.
    Scored { solved: bool },
    /// Test: the code no longer runs (pytest exit ≥ 2, time limit, no report).
    Collapsed,
    /// Architect: it finished without a usable document.
    MalformedRequirement,
    /// The agent failed: it crashed, or wrote too much.
    AgentFailed,
    /// The agent exceeded its time limit.
    AgentTimedOut,
    /// The run reached a limit of its budget.
    BudgetSpent,
    /// The evolution reached a limit of its own budget.
    EvolutionBudgetSpent,
    /// The model's provider failed: it refused the key, or failed on every
    /// retry.
    ProviderFailed,
    /// The platform failed: Docker, disk, network, or a container killed from
    /// outside.
    InfraFailed,
    /// The process stopped while an agent worked. The attempt is repeated and
    /// does not count; its model usage does.
    Interrupted,
    /// A user cancelled the run.
    Cancelled,
    /// Not an attempt: a user resumed an evolution that was blocked, or that
    /// the budget had stopped. Earlier failures of the platform, the provider
    /// and the budget at this step no longer count; failures of the agent do.
    Retried,
    /// Not an attempt: a user put back an evolution whose agent had given up. No
    /// earlier failure at this step counts any longer, and the run is marked.
    Cleared,
}

crate::named! {
    /// How the model's last answer in a step was less than a whole one.
    pub enum Truncation {
        /// A limit of the model's ended it.
        CutOff = "cut_off",
        /// The model, or a filter of its provider, would not say it.
        Filtered = "filtered",
        /// The conversation was longer than the model takes.
        ContextFull = "context_full",
        /// It has a tool call written as text, which nobody carried out.
        CallAsText = "call_as_text",
    }
}

impl Truncation {
    /// With what is known of the tokens: of the answer, or of the conversation and the
    /// model's context.
    pub fn in_words(self, tokens: &[u64]) -> String {
        let n = |at: usize| crate::format::thousands(tokens[at]);
        match (self, tokens.len()) {
            (Self::CutOff, 1) => format!("the model's last answer was cut off at {} tokens", n(0)),
            (Self::CutOff, _) => "the model's last answer was cut off".into(),
            (Self::Filtered, _) => "the model's last answer was refused, or ended by a filter".into(),
            (Self::ContextFull, 2) => format!(
                "the conversation ({} tokens) is longer than the model's context ({})",
                n(0),
                n(1)
            ),
            (Self::ContextFull, _) => "the conversation was longer than the model takes".into(),
            (Self::CallAsText, _) => {
                "the model's last answer has a tool call written as text, which its server's tool parser did not recognise".into()
            }
        }
    }
}

impl StepOutcome {
    pub const ALL: [Self; 17] = [
        Self::Done,
        Self::NoChange,
        Self::NothingLeft,
        Self::Scored { solved: false },
        Self::Scored { solved: true },
        Self::Collapsed,
        Self::MalformedRequirement,
        Self::AgentFailed,
        Self::AgentTimedOut,
        Self::BudgetSpent,
        Self::EvolutionBudgetSpent,
        Self::ProviderFailed,
        Self::InfraFailed,
        Self::Interrupted,
        Self::Cancelled,
        Self::Retried,
        Self::Cleared,
    ];

    /// Its name in JSON; `solved` where every test of T passes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::NoChange => "no_change",
            Self::NothingLeft => "nothing_left",
            Self::Scored { solved: false } => "scored",
            Self::Scored { solved: true } => "solved",
            Self::Collapsed => "collapsed",
            Self::MalformedRequirement => "malformed_requirement",
            Self::AgentFailed => "agent_failed",
            Self::AgentTimedOut => "agent_timed_out",
            Self::BudgetSpent => "budget_spent",
            Self::EvolutionBudgetSpent => "evolution_budget_spent",
            Self::ProviderFailed => "provider_failed",
            Self::InfraFailed => "infra_failed",
            Self::Interrupted => "interrupted",
            Self::Cancelled => "cancelled",
            Self::Retried => "retried",
            Self::Cleared => "cleared",
        }
    }

    /// Whether a worker tried something: a user's mark in the log took neither time
    /// nor tokens.
    pub fn is_attempt(self) -> bool {
        !matches!(self, Self::Retried | Self::Cleared)
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    Active(Cursor),
    Ended(Ending),
}

/// The next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// From 1.
    pub iteration: u32,
    pub role: Role,
    /// From 1. Continues over a retry, so that the number of an attempt is
    /// unique.
    pub attempt: u32,
    /// Earlier attempts at this step that no longer count, because of a retry.
    pub forgiven: u32,
    /// Attempts since then that failed through the platform or the provider.
    #[serde(default)]
    pub external: u32,
    /// The iteration whose code this one starts from: the last scored one,
    /// 0 for the base. No iteration starts from collapsed code.
    pub code_of: u32,
}

crate::named! {
    /// Why an evolution ended.
    pub enum Ending {
        Solved = "solved",
        IterationsSpent = "iterations_spent",
        NothingLeft = "nothing_left",
        AgentGaveUp = "agent_gave_up",
        /// Its own budget, which all evolutions of the run have, was spent.
        EvolutionBudgetSpent = "evolution_budget_spent",
        /// The run's budget was spent.
        BudgetSpent = "budget_spent",
        /// Imported results that end before the last iteration without a reason.
        CutShort = "cut_short",
        Blocked = "blocked",
        Cancelled = "cancelled",
    }
}

impl Ending {
    pub fn is_scored(self) -> bool {
        !matches!(self, Self::BudgetSpent | Self::Blocked | Self::Cancelled)
    }

    pub fn can_be_retried(self) -> bool {
        matches!(self, Self::BudgetSpent | Self::Blocked)
    }
}

/// An outcome that is impossible in this state: the rows or the caller are
/// wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a step cannot end with {outcome:?} when the evolution is at {state:?}")]
pub struct UnexpectedOutcome {
    pub state: State,
    pub outcome: StepOutcome,
}

impl StepOutcome {
    /// Whether the step finished and left a product.
    pub fn has_product(self) -> bool {
        matches!(self, Self::Done | Self::NoChange)
    }

    /// Whether others than the agent ended an attempt: the platform, the provider, the
    /// run's budget, or a pause.
    pub fn is_ended_by_others(self) -> bool {
        matches!(
            self,
            Self::InfraFailed | Self::ProviderFailed | Self::BudgetSpent | Self::Interrupted
        )
    }
}

impl State {
    pub fn start() -> Self {
        Self::Active(Cursor::START)
    }

    /// The state after these outcomes in sequence.
    ///
    /// # Errors
    /// [`UnexpectedOutcome`] for the first outcome that is impossible.
    pub fn resume(
        plan: Plan,
        outcomes: impl IntoIterator<Item = StepOutcome>,
    ) -> Result<Self, UnexpectedOutcome> {
        let mut history = History::default();
        for outcome in outcomes {
            history.apply(plan, outcome)?;
        }
        Ok(history.state)
    }

    /// The state after one more outcome of an attempt. It does not accept
    /// [`StepOutcome::Retried`] and [`StepOutcome::Cleared`], which need the
    /// earlier outcomes: [`State::resume`] has them.
    ///
    /// # Errors
    /// [`UnexpectedOutcome`] when the current step cannot have this outcome, or
    /// the evolution has ended.
    pub fn after(self, plan: Plan, outcome: StepOutcome) -> Result<Self, UnexpectedOutcome> {
        let unexpected = UnexpectedOutcome {
            state: self,
            outcome,
        };
        let Self::Active(at) = self else {
            return Err(unexpected);
        };
        let next = match (at.role, outcome) {
            (_, StepOutcome::Cancelled) => Self::Ended(Ending::Cancelled),
            (Role::Architect | Role::Programmer, StepOutcome::Interrupted) => self,
            (_, StepOutcome::InfraFailed)
            | (Role::Architect | Role::Programmer, StepOutcome::ProviderFailed) => {
                let external = at.external + 1;
                match external < plan.max_attempts {
                    true => Self::Active(Cursor {
                        external,
                        ..at.again()
                    }),
                    false => Self::Ended(Ending::Blocked),
                }
            }
            (Role::Architect | Role::Programmer, StepOutcome::BudgetSpent) => {
                Self::Ended(Ending::BudgetSpent)
            }
            (Role::Architect | Role::Programmer, StepOutcome::EvolutionBudgetSpent) => {
                Self::Ended(Ending::EvolutionBudgetSpent)
            }
            (
                Role::Architect | Role::Programmer,
                StepOutcome::AgentFailed | StepOutcome::AgentTimedOut,
            )
            | (Role::Architect, StepOutcome::MalformedRequirement) => {
                match at.tries() < plan.max_attempts {
                    true => Self::Active(at.again()),
                    false => Self::Ended(Ending::AgentGaveUp),
                }
            }
            (Role::Architect, StepOutcome::NothingLeft) => Self::Ended(Ending::NothingLeft),
            (Role::Architect | Role::Programmer, StepOutcome::Done)
            | (Role::Programmer, StepOutcome::NoChange) => Self::Active(Cursor {
                role: at.role.next(),
                attempt: 1,
                forgiven: 0,
                external: 0,
                ..at
            }),
            (Role::Test, StepOutcome::Scored { solved: true }) => Self::Ended(Ending::Solved),
            (Role::Test, StepOutcome::Scored { solved: false }) => {
                at.next_iteration(plan, at.iteration)
            }
            (Role::Test, StepOutcome::Collapsed) => at.next_iteration(plan, at.code_of),
            _ => return Err(unexpected),
        };
        Ok(next)
    }
}

/// The state, and the part of the earlier outcomes that a retry needs.
#[derive(Debug)]
struct History {
    state: State,
    last_step: Cursor,
}

impl Default for History {
    fn default() -> Self {
        Self {
            state: State::start(),
            last_step: Cursor::START,
        }
    }
}

impl History {
    fn apply(&mut self, plan: Plan, outcome: StepOutcome) -> Result<(), UnexpectedOutcome> {
        let last = self.last_step;
        let next = match (self.state, outcome) {
            // The last attempt was an external failure too.
            (State::Ended(ending), StepOutcome::Retried) if ending.can_be_retried() => {
                last.again().forgiving(last.forgiven + last.external + 1)
            }
            (State::Ended(Ending::AgentGaveUp), StepOutcome::Cleared) => {
                last.again().forgiving(last.attempt)
            }
            // An earlier edition counted all failures together, and ended here.
            (State::Active(at), StepOutcome::Retried) if at.is_beyond(plan) => {
                at.forgiving(at.forgiven + at.external)
            }
            (State::Active(at), StepOutcome::Cleared) if at.is_beyond(plan) => {
                at.forgiving(at.attempt - 1)
            }
            (state, outcome) => state.after(plan, outcome)?,
        };
        if let State::Active(at) = next {
            self.last_step = at;
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
        external: 0,
        code_of: 0,
    };

    /// The number of the attempt among those that count against the agent, from 1.
    pub fn tries(self) -> u32 {
        let others = self.forgiven + self.external;
        self.attempt.saturating_sub(others).max(1)
    }

    fn again(self) -> Self {
        Self {
            attempt: self.attempt + 1,
            ..self
        }
    }

    fn forgiving(self, forgiven: u32) -> State {
        State::Active(Self {
            forgiven,
            external: 0,
            ..self
        })
    }

    fn is_beyond(self, plan: Plan) -> bool {
        self.attempt.saturating_sub(self.forgiven) > plan.max_attempts
    }

    fn next_iteration(self, plan: Plan, code_of: u32) -> State {
        if self.iteration < plan.max_iterations {
            State::Active(Self {
                iteration: self.iteration + 1,
                code_of,
                ..Self::START
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
        AgentFailed, AgentTimedOut, BudgetSpent, Cancelled, Cleared, Collapsed, Done,
        EvolutionBudgetSpent, InfraFailed, Interrupted, MalformedRequirement, NoChange,
        NothingLeft, ProviderFailed, Retried, Scored,
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
            external: 0,
            code_of,
        })
    }

    #[test]
    fn truncations_are_told_with_their_tokens() {
        let check = |truncation: Truncation, tokens: &[u64], expect: &str| {
            assert_eq!(truncation.in_words(tokens), expect);
        };
        use Truncation::{ContextFull, CutOff};
        check(CutOff, &[], "the model's last answer was cut off");
        check(
            CutOff,
            &[300],
            "the model's last answer was cut off at 300 tokens",
        );
        check(
            ContextFull,
            &[18_341, 16_384],
            "the conversation (18\u{202f}341 tokens) is longer than the model's context (16\u{202f}384)",
        );
        let unknown = "the conversation was longer than the model takes";
        check(ContextFull, &[], unknown);
    }

    #[test]
    fn names_are_those_in_json() {
        for outcome in StepOutcome::ALL {
            assert_eq!(StepOutcome::from_name(outcome.name()), Some(outcome));
            let json = serde_json::to_string(&outcome).unwrap();
            match outcome {
                Scored { solved } => assert_eq!(solved, outcome.name() == "solved"),
                _ => assert_eq!(json, format!("\"{}\"", outcome.name())),
            }
        }
        assert_eq!(StepOutcome::from_name("none"), None);
    }

    #[test]
    fn retries() {
        let check = |outcomes: &[StepOutcome], expect: State| {
            let state = State::resume(PLAN, outcomes.iter().copied());
            assert_eq!(state, Ok(expect), "{outcomes:?}");
        };
        let retried = |iteration, role, attempt, forgiven, code_of| {
            State::Active(Cursor {
                iteration,
                role,
                attempt,
                forgiven,
                external: 0,
                code_of,
            })
        };
        let once_more = |state| match state {
            State::Active(at) => State::Active(Cursor { external: 1, ..at }),
            ended => ended,
        };
        let blocked = State::Ended(Ending::Blocked);
        // A retry resumes at the same step, with all its attempts.
        let outcomes = [Done, InfraFailed, ProviderFailed, Retried];
        check(&outcomes, retried(1, Role::Programmer, 3, 2, 0));
        check(
            &[&outcomes[..], &[InfraFailed]].concat(),
            once_more(retried(1, Role::Programmer, 4, 2, 0)),
        );
        check(&[&outcomes[..], &[InfraFailed; 2]].concat(), blocked);
        check(
            &[&outcomes[..], &[InfraFailed, InfraFailed, Retried]].concat(),
            retried(1, Role::Programmer, 5, 4, 0),
        );
        // It does not affect the next step.
        check(&[&outcomes[..], &[Done]].concat(), at(1, Role::Test, 1, 0));
        // Clearing forgives the agent's failures too, and a retry keeps that.
        let outcomes = [AgentFailed, AgentFailed, Cleared];
        check(&outcomes, retried(1, Role::Architect, 3, 2, 0));
        check(
            &[&outcomes[..], &[InfraFailed, InfraFailed, Retried]].concat(),
            retried(1, Role::Architect, 5, 4, 0),
        );
        check(
            &[&outcomes[..], &[AgentFailed, AgentFailed]].concat(),
            State::Ended(Ending::AgentGaveUp),
        );
        assert!(State::resume(PLAN, [InfraFailed, InfraFailed, Cleared]).is_err());
        // It gives an agent no additional attempts.
        let outcomes = [AgentFailed, InfraFailed, InfraFailed, Retried];
        check(&outcomes, retried(1, Role::Architect, 4, 2, 0));
        check(
            &[&outcomes[..], &[AgentFailed]].concat(),
            State::Ended(Ending::AgentGaveUp),
        );
        // An earlier edition counted all failures together.
        let outcomes = [AgentFailed, InfraFailed, Retried];
        check(&outcomes, retried(1, Role::Architect, 3, 1, 0));
        let outcomes = [InfraFailed, AgentFailed, Cleared];
        check(&outcomes, retried(1, Role::Architect, 3, 2, 0));
        // It keeps the progress.
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
            retried(2, Role::Test, 3, 2, 1),
        );
        check(
            &[Done, BudgetSpent, Retried],
            retried(1, Role::Programmer, 2, 1, 0),
        );
        // Failures of an earlier step do not count.
        check(
            &[InfraFailed, Done, InfraFailed, InfraFailed, Retried],
            retried(1, Role::Programmer, 3, 2, 0),
        );
    }

    #[test]
    fn sequences_of_outcomes() {
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
        // A collapsed iteration counts, but the next one does not start from it.
        check(
            &[Done, Done, MISS, Done, Done, Collapsed],
            at(3, Role::Architect, 1, 1),
        );
        check(&[Done, Done, Collapsed], at(2, Role::Architect, 1, 0));
        check(
            &[Done, Done, MISS, Done, Done, MISS, Done, Done, Collapsed],
            State::Ended(Ending::IterationsSpent),
        );
        // The number of the attempt restarts with every step.
        check(
            &[AgentFailed, Done, AgentFailed],
            at(1, Role::Programmer, 2, 0),
        );
        check(
            &[AgentFailed, AgentFailed],
            State::Ended(Ending::AgentGaveUp),
        );
        check(
            &[Done, Done, InfraFailed, InfraFailed],
            State::Ended(Ending::Blocked),
        );
        check(
            &[Done, Done, MISS, NothingLeft],
            State::Ended(Ending::NothingLeft),
        );
        check(&[Done, Cancelled], State::Ended(Ending::Cancelled));
        // The tests run even if the programmer changed nothing.
        check(&[Done, NoChange], at(1, Role::Test, 1, 0));
        check(
            &[MalformedRequirement, AgentTimedOut],
            State::Ended(Ending::AgentGaveUp),
        );
        // The agent and the others have their attempts each.
        for both in [[AgentFailed, ProviderFailed], [ProviderFailed, AgentFailed]] {
            let State::Active(expect) = at(1, Role::Architect, 3, 0) else {
                unreachable!()
            };
            check(
                &both,
                State::Active(Cursor {
                    external: 1,
                    ..expect
                }),
            );
            let end = |last| [both[0], both[1], last];
            check(&end(AgentFailed), State::Ended(Ending::AgentGaveUp));
            check(&end(InfraFailed), State::Ended(Ending::Blocked));
        }
        check(&[Done, BudgetSpent], State::Ended(Ending::BudgetSpent));
        check(
            &[Done, EvolutionBudgetSpent],
            State::Ended(Ending::EvolutionBudgetSpent),
        );
        // An interruption does not change the state.
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
            // A retry is possible only after `Blocked` and `BudgetSpent`.
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
            EvolutionBudgetSpent,
            Cancelled,
        ])
    }

    proptest! {
        /// The limits always hold, and an iteration always starts from the
        /// code of an earlier one.
        #[test]
        fn limits_hold(outcomes in prop::collection::vec(any_outcome(), 0..200)) {
            let mut state = State::start();
            let mut steps = 0;
            for outcome in outcomes {
                let Ok(next) = state.after(PLAN, outcome) else { continue };
                steps += 1;
                if let State::Active(at) = next {
                    prop_assert!((1..=PLAN.max_iterations).contains(&at.iteration));
                    prop_assert!((1..2 * PLAN.max_attempts).contains(&at.attempt));
                    prop_assert!(at.code_of < at.iteration);
                }
                state = next;
            }
            prop_assert!(steps < PLAN.max_iterations * 3 * 2 * PLAN.max_attempts);
        }

        /// A retry gives the state without the external failures before it,
        /// except for the numbers of the attempts.
        #[test]
        fn a_retry_ignores_external_failures(
            outcomes in prop::collection::vec(any_outcome(), 0..60),
        ) {
            let mut valid = Vec::new();
            for outcome in outcomes {
                valid.push(outcome);
                match State::resume(PLAN, valid.iter().copied()) {
                    Err(_) => { valid.pop(); }
                    Ok(State::Ended(ending)) if ending.can_be_retried() => break,
                    Ok(_) => {}
                }
            }
            let ended = State::resume(PLAN, valid.iter().copied()).unwrap();
            if !matches!(ended, State::Ended(ending) if ending.can_be_retried()) {
                return Ok(());
            }
            let without = valid.iter().copied().filter(|o| !o.is_ended_by_others());
            let without = State::resume(PLAN, without).unwrap();
            let retried = State::resume(PLAN, valid.iter().copied().chain([Retried])).unwrap();
            let (State::Active(retried), State::Active(without)) = (retried, without) else {
                panic!("{valid:?} is over: {retried:?} {without:?}");
            };
            prop_assert_eq!(retried.tries(), without.tries());
            prop_assert_eq!(
                Cursor { attempt: 1, forgiven: 0, ..retried },
                Cursor { attempt: 1, forgiven: 0, ..without }
            );
        }
    }
}
