//! The container of an attempt at a step.

use serde::{Deserialize, Serialize};
use swe_ci_core::run::Limits;
use swe_ci_core::step::Role;

/// Facts from the container engine; none come from inside the container.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Container {
    /// Content digest of its image.
    pub image: String,
    /// The engine's name of that image, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_name: Option<String>,
    pub limits: ContainerLimits,
    /// Exit code of the step's command; absent when it did not finish, or the
    /// step had many commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// Whether the engine killed a process in it for lack of memory. The step
    /// may have continued.
    pub out_of_memory: bool,
    /// Seconds its commands took.
    pub seconds: f64,
}

/// The limits of a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
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
