//! How the agents of a run worked, over all its recorded steps: outcomes, tokens,
//! money and time, tool calls and commands, edited files, lost tests. It follows
//! from the recordings alone; no model judges anything.
//!
//! ```text
//! recordings, code ─ engine ─▶ EvolutionDigest ─┐
//! steps, iterations ────────────────────────────┴▶ facts ─┬▶ Trajectories (sums)
//!                                                         └▶ places of one row
//! ```

mod digest;
mod facts;
mod losses;
mod search;
mod step_failure;
#[cfg(test)]
mod tests;

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};
use swe_ci_core::step::Role;
use swe_ci_core::task::TaskId;
use swe_ci_core::usage::Usage;

pub use self::digest::{ChangedFile, EvolutionDigest, IterationChanges, Repeated, StepDigest, Use};
pub use self::facts::{EvolutionRecord, StepRecord, places, tables};
pub use self::losses::{LostByClass, lost_by_class};
pub use self::search::{
    LONGEST_SEARCH, MAX_HITS, MessageTexts, TranscriptHit, TranscriptSearch, message_texts, search,
};
pub use self::step_failure::{EQUAL_CALLS, FailedSteps, FailureClass, MANY_CALLS, StepFailure};

/// The most rows of a table of [`Trajectories`].
pub const MAX_ROWS: usize = 200;

swe_ci_core::named! {
    /// A table of [`Trajectories`]: what its rows are about.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Subject {
        /// Steps by role and outcome: `programmer/no_change`.
        #[default]
        Outcome = "outcome",
        /// Steps by role.
        Role = "role",
        /// Steps by the number of their iteration.
        Iteration = "iteration",
        /// Calls by tool.
        Tool = "tool",
        /// Tool calls by the programs they start.
        Command = "command",
        /// Changes by file.
        File = "file",
        /// Steps without a result by the cause: see [`FailureClass`].
        Failure = "failure",
        /// Signs of trouble: see [`Trouble`].
        Trouble = "trouble",
        /// Iterations that lost tests or collapsed: `lost`, `collapsed`.
        Loss = "loss",
        /// Lost tests by why they were lost: see [`crate::failures::LossClass`].
        Cause = "cause",
    }
}

swe_ci_core::named! {
    /// A sign of trouble in a recorded step.
    pub enum Trouble {
        /// A tool call with the arguments and the result of an earlier one.
        Repeated = "repeated",
        /// An answer that the provider cut off at its maximum length.
        Truncated = "truncated",
        /// An answer without a text or a tool call.
        Empty = "empty",
        /// A request that got no complete answer.
        Unanswered = "unanswered",
    }
}

/// Sums over places. Zero where something does not apply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Amount {
    /// Steps, calls, answers, changed versions or lost tests, as the subject says.
    pub times: u32,
    /// Of these, calls that failed; or versions that brought an earlier content
    /// of the file back.
    pub marked: u32,
    /// Seconds: of steps, waits for the provider included; of tool calls, from
    /// the answer to the next request.
    pub seconds: f64,
    /// Of these, seconds of waiting because of the provider's limits and failures.
    pub waiting_seconds: f64,
    /// Tokens of steps. Of tool calls only the output: an answer's tokens, shared
    /// evenly by its calls.
    pub usage: Usage,
    /// Millionths of a US dollar; null if the price of a part is unknown.
    pub micro_usd: Option<u64>,
    /// Bytes that tool calls returned.
    pub result_bytes: u64,
    pub lines_added: u64,
    pub lines_removed: u64,
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        let prices = self.micro_usd.zip(other.micro_usd);
        self.micro_usd = prices.map(|(a, b)| a.saturating_add(b));
        self.times = self.times.saturating_add(other.times);
        self.marked = self.marked.saturating_add(other.marked);
        self.seconds += other.seconds;
        self.waiting_seconds += other.waiting_seconds;
        self.usage += other.usage;
        self.result_bytes = self.result_bytes.saturating_add(other.result_bytes);
        self.lines_added = self.lines_added.saturating_add(other.lines_added);
        self.lines_removed = self.lines_removed.saturating_add(other.lines_removed);
    }
}

/// A row of a table, the sum over its places.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = TrajectoryRow)]
pub struct Row {
    pub name: String,
    /// Steps or iterations that it sums.
    pub places: u32,
    #[serde(flatten)]
    pub amount: Amount,
}

/// A step or an iteration that a row counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Place {
    pub task_id: TaskId,
    pub sample: u32,
    pub evolution_id: String,
    pub iteration: u32,
    /// The role and the attempt of a step; absent for a tested iteration.
    pub step: Option<(Role, u32)>,
    /// Whether the iteration was tested.
    pub tested: bool,
    /// Number of the message in the step's transcript, from 1.
    pub message: Option<u32>,
    /// The repeated call; how the step ended.
    pub note: String,
    #[serde(flatten)]
    pub amount: Amount,
}

/// One row of one table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    pub subject: Subject,
    pub name: String,
    /// Only places with a marked part: failed calls, earlier contents.
    pub marked: bool,
}

/// How the agents of a run worked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Trajectories {
    pub run_id: String,
    pub model: String,
    pub split: String,
    /// Steps with a recording.
    pub recorded: u32,
    /// Of these, steps whose recording was read. The server reads the rest; ask
    /// again.
    pub read: u32,
    /// Recordings that cannot be read.
    pub unreadable: u32,
    pub tables: Vec<Table>,
}

/// The rows about a subject, most important first; at most [`MAX_ROWS`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Table {
    pub subject: Subject,
    pub rows: Vec<Row>,
    /// Rows beyond the limit.
    pub more: u32,
}

impl Trajectories {
    pub fn rows(&self, subject: Subject) -> &[Row] {
        let table = self.tables.iter().find(|table| table.subject == subject);
        table.map_or(&[], |table| &table.rows)
    }
}
