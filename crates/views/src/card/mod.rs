//! The reproducibility card: the inputs of a result on one page, to verify it,
//! run it again, or cite it in a paper.

mod text;

use serde::{Deserialize, Serialize};
use swe_ci_core::agent::{AgentConfig, Budget, Endpoint, Protocol};
use swe_ci_core::agent_files::AgentFiles;
use swe_ci_core::handover::Handover;
use swe_ci_core::labels::Labels;
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::{Kind, Limits, RunConfig};
use swe_ci_core::step::{Plan, Role};
use swe_ci_core::task::{TaskId, TestCommand};
use swe_ci_core::uncertainty::{RESAMPLES, SEED};
use swe_ci_core::usage::Prices;

use crate::view::{ImportedFrom, Provenance, RunSummary};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Card {
    pub run_id: String,
    /// The names on the leaderboard; the provider is empty for the human
    /// baseline.
    pub model: String,
    pub provider: String,
    pub release_date: Option<String>,
    /// The last day of the model's training data, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training_cutoff: Option<String>,
    pub kind: Kind,
    /// One agent for both roles, or the architect and then the programmer.
    pub agents: Vec<AgentOnCard>,
    /// Content digests of the images with their programs.
    pub layers: Vec<String>,
    /// Version and digest of the agents' prompts.
    pub prompts: Option<String>,
    /// The basis of the programmer's work.
    #[serde(default)]
    pub mode: Mode,
    pub split: String,
    /// Digest over the tasks: ids, commits, images.
    pub dataset_digest: String,
    pub tasks: Vec<TaskOnCard>,
    /// Evolutions per task.
    pub samples: u32,
    pub plan: Plan,
    /// Limits of a step. Unknown for imported results, as are prices and
    /// budget.
    pub limits: Option<Limits>,
    /// The final budget, if it was raised.
    pub budget: Budget,
    /// Whether the model's provider could search, fetch and execute for the
    /// agent.
    #[serde(default)]
    pub allow_hosted_tools: bool,
    /// The run whose code it goes on with, if it is a handover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handover: Option<Handover>,
    /// Its arm, if it is part of an experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// Files that its agents had.
    #[serde(default, skip_serializing_if = "AgentFiles::is_empty")]
    pub agent_files: AgentFiles,
    /// Labels that the workers needed that executed it.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub needs: Labels,
    pub metric_version: u32,
    pub platform_version: String,
    /// Intervals come from this many resamples, drawn from this seed.
    pub resamples: usize,
    pub resampling_seed: u64,
    /// RFC 3339, in UTC.
    pub submitted_at: String,
    pub started_at: Option<String>,
    pub finished_at: Option<String>,
    /// The origin of imported results.
    pub imported: Option<ImportedFrom>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AgentOnCard {
    pub roles: Vec<Role>,
    pub harness: String,
    pub harness_version: String,
    /// Absent for harnesses that call no model.
    pub endpoint: Option<EndpointOnCard>,
}

/// The endpoint of a model, without the key and its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct EndpointOnCard {
    pub protocol: Protocol,
    pub host: String,
    /// The provider's name of the model.
    pub model: String,
    /// Parameters of every request, such as a seed.
    #[schema(value_type = Object)]
    pub parameters: serde_json::Map<String, serde_json::Value>,
    pub prices: Option<Prices>,
    /// The run whose recorded answers were replayed instead of calling the
    /// provider.
    pub recording: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TaskOnCard {
    pub task_id: TaskId,
    pub base_sha: String,
    pub target_sha: String,
    /// Content digest of the image of its containers; absent for imported results.
    pub image: Option<String>,
    /// How pytest was started for its tests.
    #[serde(default)]
    pub test_command: TestCommand,
}

impl Card {
    pub fn new(
        run: RunSummary,
        provenance: Provenance,
        tasks: Vec<TaskOnCard>,
        layers: Vec<String>,
    ) -> Self {
        let agents = agents(&run.config, &provenance.harness_version);
        let measured = run.config.kind != Kind::Imported;
        Self {
            run_id: run.run_id,
            agents,
            layers,
            prompts: provenance.prompts,
            dataset_digest: provenance.dataset_digest,
            tasks,
            limits: measured.then_some(run.config.limits),
            model: run.config.model,
            provider: run.config.provider,
            release_date: run.config.release_date,
            training_cutoff: run.config.training_cutoff,
            kind: run.config.kind,
            mode: run.config.mode,
            split: run.config.split,
            samples: run.config.samples,
            plan: run.config.plan,
            budget: run.steering.budget,
            allow_hosted_tools: run.config.allow_hosted_tools,
            handover: run.config.handover,
            arm: run.config.arm,
            agent_files: run.config.agent_files,
            needs: run.config.needs,
            metric_version: provenance.metric_version,
            platform_version: provenance.platform_version,
            resamples: RESAMPLES,
            resampling_seed: SEED,
            submitted_at: run.created_at,
            started_at: run.started_at,
            finished_at: run.finished_at,
            imported: provenance.imported,
        }
    }
}

/// The agents of a run. `versions` is one text, `a / b` if the programmer has
/// its own harness.
fn agents(config: &RunConfig, versions: &str) -> Vec<AgentOnCard> {
    let mut versions = versions.splitn(2, " / ");
    let mut on_card = |roles: &[Role], agent: Option<AgentConfig>| {
        let agent = agent?;
        Some(AgentOnCard {
            roles: roles.to_vec(),
            harness: agent.harness.name().to_owned(),
            harness_version: versions.next().unwrap_or_default().to_owned(),
            endpoint: agent.endpoint.map(EndpointOnCard::new),
        })
    };
    let both = config.programmer.is_none();
    let roles: &[&[Role]] = match both {
        true => &[&[Role::Architect, Role::Programmer]],
        false => &[&[Role::Architect], &[Role::Programmer]],
    };
    let agents = roles.iter().filter_map(|roles| {
        let first = roles.first().copied()?;
        on_card(roles, config.agent(first))
    });
    agents.collect()
}

impl EndpointOnCard {
    fn new(endpoint: Endpoint) -> Self {
        let host = endpoint.url.split_once("://");
        let host = host.map_or(endpoint.url.as_str(), |(_, rest)| rest);
        let host = host.split('/').next().unwrap_or_default().to_owned();
        Self {
            protocol: endpoint.protocol,
            host,
            model: endpoint.model,
            parameters: endpoint.parameters,
            prices: endpoint.prices,
            recording: endpoint.recording,
        }
    }
}

#[cfg(test)]
mod tests;
