//! What happens in a run while one watches: small messages, each enough to
//! bring a page up to date without asking again.

use serde::{Deserialize, Serialize};

use crate::host::HostLoad;
use crate::preflight::Preflight;
use crate::run::Progress;
use crate::steering::Steering;
use crate::step::{Ending, Role};
use crate::view::{IterationView, ProviderWait};

/// One event of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunEvent {
    /// Rises by one with every event of a server's life; the SSE event id.
    pub seq: u64,
    pub run_id: String,
    #[serde(flatten)]
    pub what: What,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// A run was queued, began, finished, was cancelled.
    Run { progress: Progress },
    /// A run was paused or resumed, its budget raised, or it was said how many
    /// of its evolutions are worked on at the same time.
    Steered { steering: Steering },
    /// A run's preflight is over, repeated or left out.
    Preflight { preflight: Preflight },
    /// An evolution waits again: it was put down by a pause, or is tried again
    /// after it was blocked or stopped by the budget.
    Queued { evolution_id: String },
    /// A step of an evolution began.
    Step {
        evolution_id: String,
        iteration: u32,
        role: Role,
        attempt: u32,
    },
    /// The step at work began to wait for its model's provider, or does so no
    /// more.
    Waiting {
        evolution_id: String,
        waiting: Option<ProviderWait>,
    },
    /// How busy the machine is that works on the run.
    Host { load: HostLoad },
    /// A line the step printed.
    Log {
        evolution_id: String,
        role: Role,
        line: String,
    },
    /// An iteration was tested.
    Iteration {
        evolution_id: String,
        iteration: IterationView,
    },
    /// An evolution ended.
    Ended {
        evolution_id: String,
        ending: Ending,
        reason: Option<String>,
    },
}
