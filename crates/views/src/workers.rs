//! The workers of an installation: who there is, and what they work on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use swe_ci_core::step::Role;
use swe_ci_core::task::TaskId;

swe_ci_core::named! {
    pub enum WorkerState {
        Working = "working",
        /// It claims nothing more; what it works on goes on.
        Draining = "draining",
        /// It has sent no heartbeat for a minute. Others take over what it held.
        Lost = "lost",
    }
}

/// A process that executes evolutions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct WorkerView {
    pub worker_id: String,
    /// The host's, unless the worker was given another.
    pub name: String,
    pub state: WorkerState,
    pub version: String,
    /// Evolutions it works on at once, at most.
    pub slots: u32,
    pub labels: BTreeMap<String, String>,
    /// By the database's clock, as all times here.
    pub started_at: String,
    pub seen_at: String,
    /// Since the last heartbeat.
    pub silent_seconds: f64,
    pub claims: Vec<WorkerClaim>,
}

/// An evolution that a worker works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct WorkerClaim {
    pub evolution_id: String,
    pub run_id: String,
    pub task_id: TaskId,
    pub sample: u32,
    pub iteration: u32,
    pub role: Role,
}
