//! What is known of the container an attempt at a step worked in.

use serde::{Deserialize, Serialize};

use crate::run::Limits;
use crate::step::Role;

/// As the container engine tells it; nothing of it comes from inside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Container {
    /// Content digest of its image.
    pub image: String,
    /// What the engine calls that image, where it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_name: Option<String>,
    pub limits: ContainerLimits,
    /// Of the step's command; absent when it did not come to its end, or the
    /// step was many commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// Whether anything in it was killed for want of memory. The step may have
    /// gone on all the same.
    pub out_of_memory: bool,
    /// Seconds its commands took.
    pub seconds: f64,
}

/// What it could use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ContainerLimits {
    /// Thousandths of a processor.
    pub cpus_milli: u32,
    /// Mebibytes, without swap.
    pub memory_mb: u32,
    /// Processes and threads.
    pub pids: u32,
    /// Mebibytes it could write.
    pub disk_mb: u32,
    /// Seconds the step could take.
    pub seconds: u32,
}

impl ContainerLimits {
    /// Those of a run, for one of its steps.
    #[must_use]
    pub fn of(limits: Limits, role: Role) -> Self {
        Self {
            cpus_milli: limits.cpus_milli,
            memory_mb: limits.memory_mb,
            pids: limits.pids,
            disk_mb: limits.disk_mb,
            seconds: match role {
                Role::Test => limits.test_seconds,
                Role::Architect | Role::Programmer => limits.agent_seconds,
            },
        }
    }
}
