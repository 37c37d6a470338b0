//! The container of an attempt at a step.

use std::fmt;

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
    /// The engine that ran it; absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<Engine>,
}

/// A container engine, and what it can promise about its containers. All of them
/// are without network and capabilities, and may call few functions of the system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = ContainerEngine)]
pub struct Engine {
    /// With its version.
    pub name: String,
    /// The limit on memory.
    pub memory: Hold,
    /// The limit on processes and threads.
    pub processes: Hold,
}

/// Who keeps a container within a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// The kernel: at no moment is it exceeded.
    Held,
    /// The platform, which looks five times a second and kills what exceeds it.
    Watched,
    /// Nobody, as far as is known: the engine is on another machine, and does not
    /// tell.
    Unknown,
}

impl Engine {
    /// Who keeps its containers within which limit.
    pub fn limits(&self) -> String {
        let Self {
            memory, processes, ..
        } = self;
        match memory == processes {
            true => format!("memory and processes {memory}"),
            false => format!("memory {memory}, processes {processes}"),
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.limits())
    }
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Held => "held by the kernel",
            Self::Watched => "watched",
            Self::Unknown => "not limited for certain",
        })
    }
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
