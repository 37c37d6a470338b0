//! Runs as logs of Inspect, the evaluation framework of the UK AI Security
//! Institute (`inspect_ai`): one `.eval` file for a run, a sample for each
//! evolution, an epoch for each sample of a task. Its viewer and its tools for
//! analysis then read what swe-ci measured. `docs/inspect.md` has the mapping.
//!
//! ```text
//! run, scores, card ─ run ───────────────▶ header ─┐
//! evolution, steps ── evolution ─▶ sample ─────────┼─ archive ─▶ .eval
//! recordings (ATIF) ─ transcript ─▶ events ────────┘
//! ```

mod archive;
mod evolution;
mod format;
mod numbers;
mod run;
#[cfg(test)]
mod tests;
mod transcript;

use swe_ci_gateway::trajectory::atif::Trajectory;
use swe_ci_views::view::StepView;

pub use archive::LogFile;
pub use run::RunFacts;

/// One attempt at a step.
#[derive(Debug)]
pub struct RecordedStep {
    pub view: StepView,
    /// Unix milliseconds.
    pub started_at: i64,
    pub finished_at: i64,
    /// Its conversations; absent if it called no model.
    pub trajectory: Option<Trajectory>,
}
