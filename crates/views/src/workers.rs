//! The workers of an installation: who there is, and what they work on.

use serde::{Deserialize, Serialize};
use swe_ci_core::labels::Labels;
use swe_ci_core::step::Role;
use swe_ci_core::task::TaskId;

use crate::disk::size_shown;

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
    pub labels: Labels,
    /// By the database's clock, as all times here.
    pub started_at: String,
    pub seen_at: String,
    /// Since the last heartbeat.
    pub silent_seconds: f64,
    pub claims: Vec<WorkerClaim>,
    pub figures: WorkerFigures,
}

/// What a worker counted since it began, and what its container engine has at
/// hand; as of its last heartbeat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct WorkerFigures {
    /// Evolutions that it claimed.
    pub claims: u64,
    /// Claims that it lost: others took them over, or their lease ran out.
    pub leases_lost: u64,
    /// Images that it pulled from the registry.
    pub image_pulls: u64,
    /// Compressed, as far as the engine told.
    pub image_pull_bytes: u64,
    pub image_pull_seconds: f64,
    /// The prepared images of tasks; absent until they are counted, and while the
    /// engine does not answer.
    pub images: Option<AtHand>,
    /// The layers of harnesses.
    pub layers: Option<AtHand>,
}

/// Images that an engine has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AtHand {
    pub count: u32,
    /// Layers that several share count once.
    pub bytes: u64,
}

impl WorkerFigures {
    /// What is at hand, such as "12 images, 3.4 GiB · 2 layers, 310 MiB"; empty
    /// until it is known.
    pub fn at_hand(&self) -> String {
        let part = |held: Option<AtHand>, one: &str| {
            let AtHand { count, bytes } = held?;
            let plural = if count == 1 { "" } else { "s" };
            Some(format!("{count} {one}{plural}, {}", size_shown(bytes)))
        };
        let parts = [part(self.images, "image"), part(self.layers, "layer")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        parts.join(" · ")
    }
}

/// A run with queued evolutions that needs labels of its workers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeedyRun {
    pub run_id: String,
    pub model: String,
    pub needs: Labels,
}

impl NeedyRun {
    /// Whether one of these workers may take its evolutions.
    pub fn has_worker(&self, workers: &[WorkerView]) -> bool {
        let working = workers.iter().filter(|w| w.state == WorkerState::Working);
        let mut offered = working.map(|worker| &worker.labels);
        offered.any(|labels| self.needs.met_by(labels))
    }
}

/// What a run waits for whose needs no worker meets.
pub fn unmet_in_words(needs: &Labels) -> String {
    format!("waits for a worker with {needs}; none is there")
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
