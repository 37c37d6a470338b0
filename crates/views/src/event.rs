//! Live events of a run: small messages, each sufficient for a program to keep
//! what it knows of the run up to date.

use serde::{Deserialize, Serialize};
use swe_ci_core::run::Progress;
use swe_ci_core::step::{Ending, Role};

use crate::host::HostLoad;
use crate::preflight::Preflight;
use crate::steering::Steering;
use crate::view::{IterationView, ProviderWait};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunEvent {
    /// Sequence number since the start of the server; the SSE event id.
    pub seq: u64,
    pub run_id: String,
    #[serde(flatten)]
    pub what: What,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = RunEventKind)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// A run was queued, started, finished or cancelled.
    Run {
        progress: Progress,
    },
    /// A run was paused or resumed, or its budget or concurrency changed.
    Steered {
        steering: Steering,
    },
    /// A run's preflight is over, repeated or skipped.
    Preflight {
        preflight: Preflight,
    },
    /// An evolution is queued again: a pause released it, or a user retries it
    /// after it was blocked or stopped by the budget.
    Queued {
        evolution_id: String,
    },
    Step {
        evolution_id: String,
        iteration: u32,
        role: Role,
        attempt: u32,
    },
    /// The current step started or stopped waiting for its model's provider.
    Waiting {
        evolution_id: String,
        waiting: Option<ProviderWait>,
    },
    Host {
        load: HostLoad,
    },
    /// A line of the step's output.
    Log {
        evolution_id: String,
        role: Role,
        line: String,
    },
    Iteration {
        evolution_id: String,
        iteration: IterationView,
    },
    Ended {
        evolution_id: String,
        ending: Ending,
        reason: Option<String>,
    },
}
