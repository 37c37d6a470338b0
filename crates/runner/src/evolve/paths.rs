//! Folders and files of a step, in its container and among its artifacts.

/// Working folder of the agents.
pub(super) const APP: &str = "/app";
/// Files of the harness.
pub(super) const HARNESS_FOLDER: &str = "/app/harness";
/// The gap, for the architect.
pub(super) const GAP_FOLDER: &str = "/app/non-passed";
/// The architect's document.
pub(super) const DOCUMENT: &str = "requirement.xml";
/// Artifact with the exchanges of an agent and its model.
pub(super) const TRAJECTORY: &str = "trajectory.jsonl";
