//! The path parameters of the API's addresses.

use serde::Deserialize;
use swe_ci_core::step::Role;
use swe_ci_core::task::{TaskId, is_plain_name};
use swe_ci_views::finding::FindingId;
use swe_ci_views::style::CodeVersion;
use utoipa::IntoParams;

use crate::problem::Problem;

#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct TaskPath {
    /// The task's id.
    #[param(example = "sqlparse-0.4.4-0.5.3")]
    id: String,
}

impl TaskPath {
    /// Checked here because axum's own error would not name the parameter.
    pub(crate) fn task_id(&self) -> Result<TaskId, Problem> {
        TaskId::new(self.id.as_str()).map_err(|e| Problem::about_parameter("id", e.to_string()))
    }
}

#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct SplitPath {
    /// The split's name.
    #[param(example = "demo")]
    split: String,
}

impl SplitPath {
    pub(crate) fn name(&self) -> Result<&str, Problem> {
        let must = "the name of a split: letters, digits, `.`, `_` and `-`";
        is_plain_name(&self.split)
            .then_some(self.split.as_str())
            .ok_or_else(|| Problem::parameter("split", &self.split, must))
    }
}

#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct RunPath {
    /// The run's id.
    pub id: String,
}

#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct FindingPath {
    /// The run's id.
    pub id: String,
    /// The finding's id: `<evolution>.<iteration>.<number>`.
    finding: String,
}

impl FindingPath {
    pub(crate) fn finding_id(&self) -> Result<FindingId, Problem> {
        let id = self.finding.parse::<FindingId>();
        id.map_err(|e| Problem::about_parameter("finding", e.to_string()))
    }
}

#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct EvolutionPath {
    /// The run's id.
    pub id: String,
    /// The task's id.
    task: String,
}

impl EvolutionPath {
    pub(crate) fn task_id(&self) -> Result<TaskId, Problem> {
        let task = TaskId::new(self.task.as_str());
        task.map_err(|e| Problem::about_parameter("task", e.to_string()))
    }
}

#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct IterationPath {
    /// The evolution's id.
    pub id: String,
    /// The iteration, from 1.
    #[param(minimum = 1)]
    pub n: u32,
}

#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct StylePath {
    /// The evolution's id.
    pub id: String,
    /// `base`, `oracle`, or the number of a scored iteration.
    #[param(example = "oracle")]
    version: String,
}

impl StylePath {
    pub(crate) fn version(&self) -> Result<CodeVersion, Problem> {
        let must = "`base`, `oracle`, or the number of an iteration";
        CodeVersion::from_name(&self.version)
            .ok_or_else(|| Problem::parameter("version", &self.version, must))
    }
}

#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct TrajectoryPath {
    /// The evolution's id.
    pub id: String,
    /// The iteration, from 1.
    #[param(minimum = 1)]
    pub n: u32,
    /// `architect` or `programmer`.
    #[param(example = "programmer")]
    role: String,
}

impl TrajectoryPath {
    pub(crate) fn role(&self) -> Result<Role, Problem> {
        let roles = [Role::Architect, Role::Programmer];
        role_of(&self.role, &roles, "`architect` or `programmer`")
    }
}

#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct LogPath {
    /// The evolution's id.
    pub id: String,
    /// The iteration, from 1.
    #[param(minimum = 1)]
    pub n: u32,
    /// `architect`, `programmer` or `test`.
    #[param(example = "programmer")]
    role: String,
    /// The attempt at the step, from 1.
    #[param(minimum = 1)]
    pub attempt: u32,
}

impl LogPath {
    pub(crate) fn role(&self) -> Result<Role, Problem> {
        let roles = [Role::Architect, Role::Programmer, Role::Test];
        role_of(&self.role, &roles, "`architect`, `programmer` or `test`")
    }
}

fn role_of(name: &str, roles: &[Role], must: &str) -> Result<Role, Problem> {
    let role = roles.iter().copied().find(|role| role.name() == name);
    role.ok_or_else(|| Problem::parameter("role", name, must))
}
