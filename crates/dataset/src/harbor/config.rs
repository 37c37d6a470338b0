//! `task.toml`, in the words of Harbor's schema 1.4.

use serde::Serialize;
use swe_ci_core::run::Limits;
use swe_ci_store::TaskRow;

use super::Variant;

/// Seconds beyond those of the tests that a verifier may take to start and to
/// read the code.
const VERIFIER_MARGIN: u32 = 300;

#[derive(Serialize)]
struct TaskConfig<'a> {
    schema_version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    multi_step_reward_strategy: Option<&'static str>,
    artifacts: [Artifact; 1],
    task: Package,
    metadata: Metadata<'a>,
    agent: Agent,
    environment: Environment,
    verifier: Verifier,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<Step>,
}

#[derive(Serialize)]
struct Artifact {
    source: &'static str,
    exclude: [&'static str; 3],
}

#[derive(Serialize)]
struct Package {
    name: String,
    description: String,
}

#[derive(Serialize)]
struct Metadata<'a> {
    task_id: &'a str,
    repository: &'a str,
    current_sha: &'a str,
    target_sha: &'a str,
    test_gap: u32,
    /// Nothing tries contradictions of the tests on the code.
    audited: bool,
}

#[derive(Serialize)]
struct Agent {
    timeout_sec: f64,
}

#[derive(Serialize, Clone, Copy)]
struct Environment {
    cpus: f64,
    memory_mb: u32,
}

/// It runs in a container of its own, to which only the code comes.
#[derive(Serialize)]
struct Verifier {
    environment_mode: &'static str,
    timeout_sec: f64,
    environment: Environment,
}

#[derive(Serialize)]
struct Step {
    name: String,
}

/// The name of an iteration, from 1; names sort as the iterations follow.
pub fn step_name(number: u32) -> String {
    format!("iteration-{number:04}")
}

pub fn task_toml(row: &TaskRow, variant: Variant, limits: Limits) -> anyhow::Result<String> {
    let iterations = match variant {
        Variant::Step => 0,
        Variant::Evolution { iterations } => iterations,
    };
    let gap = row.suite.counts.gap();
    let environment = Environment {
        cpus: f64::from(limits.cpus_milli) / 1_000.0,
        memory_mb: limits.memory_mb,
    };
    let config = TaskConfig {
        schema_version: "1.4",
        // The mean of the changes is EvoScore at γ = 1.
        multi_step_reward_strategy: (iterations > 0).then_some("mean"),
        artifacts: [Artifact {
            source: "/app/code",
            exclude: [".git", "__pycache__", "*.pyc"],
        }],
        task: Package {
            name: variant.task_name(row.id.as_str()),
            description: match variant {
                Variant::Step => format!("SWE-CI: make {gap} more tests of {} pass", row.repo),
                Variant::Evolution { .. } => format!(
                    "SWE-CI: make {gap} more tests of {} pass in {iterations} iterations",
                    row.repo
                ),
            },
        },
        metadata: Metadata {
            task_id: row.id.as_str(),
            repository: &row.repo,
            current_sha: &row.base_sha,
            target_sha: &row.target_sha,
            test_gap: gap,
            audited: false,
        },
        agent: Agent {
            timeout_sec: f64::from(limits.agent_seconds),
        },
        environment,
        verifier: Verifier {
            environment_mode: "separate",
            timeout_sec: f64::from(limits.test_seconds + VERIFIER_MARGIN),
            environment,
        },
        steps: (1..=iterations)
            .map(|number| Step {
                name: step_name(number),
            })
            .collect(),
    };
    Ok(toml::to_string(&config)?)
}
