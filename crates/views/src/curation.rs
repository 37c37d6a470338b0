//! Curation: making tasks from git histories, stage by stage (the paper,
//! section 3.1 and figure 2).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::counted;
use crate::preparation::Preparation;

swe_ci_core::named! {
    /// The four stages, in order.
    #[derive(PartialOrd, Ord)]
    pub enum Stage {
        /// Fetches repositories and checks them: age, licence, tests.
        Collect = "collect",
        /// Finds spans of the main branch with unchanged dependencies; their ends
        /// are candidates.
        Spans = "spans",
        /// Builds an image in which the target's suite runs.
        Environment = "environment",
        /// Tests base and target, and selects the best candidates.
        Filter = "filter",
    }
}

impl Stage {
    pub fn yields(self) -> &'static str {
        match self {
            Self::Collect => "repositories",
            Self::Spans => "candidates",
            Self::Environment => "candidates with an environment",
            Self::Filter => "tasks",
        }
    }
}

/// The state of a curation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum CurationState {
    /// Waits for a server that works on it.
    Queued,
    Running,
    /// Its tasks wait for a person who accepts or drops them.
    InReview,
    /// Its split is ready for runs.
    Finished,
    /// It ended without a task, or cannot continue.
    Failed {
        reason: String,
    },
    Cancelled,
}

impl CurationState {
    pub fn is_over(&self) -> bool {
        !matches!(self, Self::Queued | Self::Running | Self::InReview)
    }

    /// Whether no process has anything to do for it: it is over or in review.
    pub fn rests(&self) -> bool {
        self.is_over() || *self == Self::InReview
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::InReview => "in_review",
            Self::Finished => "finished",
            Self::Failed { .. } => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The result of a stage for a repository or a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "fate", rename_all = "snake_case")]
pub enum Fate {
    /// The stage has not processed it yet.
    Waiting,
    Survived,
    /// Dropped: `reason` is a short text that groups equal cases, `detail` is
    /// a sentence.
    Dropped {
        reason: String,
        detail: String,
    },
}

impl Fate {
    pub fn dropped(reason: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Dropped {
            reason: reason.into(),
            detail: detail.into(),
        }
    }
}

/// The counts of one stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StageCount {
    pub stage: Stage,
    pub entered: u32,
    pub survived: u32,
    pub waiting: u32,
    /// Why the others were dropped, the most common reason first.
    pub dropped: Vec<Dropped>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Dropped {
    pub reason: String,
    pub count: u32,
}

/// A curation in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CurationSummary {
    pub curation_id: String,
    /// The split it makes.
    pub split: String,
    #[serde(flatten)]
    pub state: CurationState,
    pub created_at: String,
    /// When a person decided about its tasks, if the plan asks for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewed_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<String>,
    pub funnel: Vec<StageCount>,
}

/// A curation with its repositories and candidates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CurationDetail {
    #[serde(flatten)]
    pub summary: CurationSummary,
    /// The plan as TOML.
    pub plan: String,
    pub repositories: Vec<RepositoryView>,
    /// At most 500, those from the latest stage first.
    pub candidates: Vec<CandidateView>,
}

/// A repository of a curation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RepositoryView {
    pub name: String,
    /// The address it was fetched from.
    pub source: String,
    #[serde(flatten)]
    pub fate: Fate,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// Commits on its main branch; 0 until counted.
    pub commits: u32,
    /// Number of its candidates.
    pub candidates: u32,
}

/// A candidate: the two ends of a span of history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CandidateView {
    /// The name of the resulting task.
    pub task: String,
    pub repository: String,
    pub base_sha: String,
    pub target_sha: String,
    pub commits: u32,
    pub days: f64,
    pub modified_lines: u32,
    /// The last stage it reached.
    pub stage: Stage,
    #[serde(flatten)]
    pub fate: Fate,
    /// Attempts to build its environment.
    pub attempts: Vec<BuildAttempt>,
    /// The task it became or may become; absent for all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepared: Option<PreparedCandidate>,
}

/// A candidate as it was tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PreparedCandidate {
    /// Tests the target passes: the size of T.
    pub target_passed: u32,
    /// Tests of T the base does not pass.
    pub gap: u32,
    pub preparation: Preparation,
}

/// A task that a person keeps out of a split.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DroppedByReview {
    pub task: String,
    /// Why; everybody who may see the curation can read it.
    pub reason: String,
}

/// One attempt to build an environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BuildAttempt {
    /// The change since the previous attempt, and the reason; empty for the
    /// first.
    pub change: String,
    /// The result.
    pub outcome: String,
    /// Seconds of building and testing.
    pub seconds: f64,
    /// The lines of the Dockerfile.
    pub dockerfile: Vec<String>,
}

pub fn funnel<'a>(fates: impl IntoIterator<Item = (Stage, &'a Fate)>) -> Vec<StageCount> {
    let mut stages = Stage::ALL.map(|stage| StageCount {
        stage,
        entered: 0,
        survived: 0,
        waiting: 0,
        dropped: Vec::new(),
    });
    let mut reasons: BTreeMap<Stage, Vec<&str>> = BTreeMap::new();
    for (stage, fate) in fates {
        let Some(count) = stages.iter_mut().find(|count| count.stage == stage) else {
            continue;
        };
        count.entered += 1;
        match fate {
            Fate::Waiting => count.waiting += 1,
            Fate::Survived => count.survived += 1,
            Fate::Dropped { reason, .. } => reasons.entry(stage).or_default().push(reason),
        }
    }
    for count in &mut stages {
        let dropped = counted(reasons.remove(&count.stage).unwrap_or_default()).into_iter();
        count.dropped = dropped
            .map(|(reason, count)| Dropped { reason, count })
            .collect();
    }
    stages.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_funnel_counts_each_stage() {
        let (waiting, survived) = (Fate::Waiting, Fate::Survived);
        let small = Fate::dropped("too small", "12 lines");
        let old = Fate::dropped("no tests", "there is no tests/ folder");
        let fates = [
            (Stage::Collect, &survived),
            (Stage::Collect, &old),
            (Stage::Spans, &small),
            (Stage::Spans, &small),
            (Stage::Spans, &old),
            (Stage::Environment, &waiting),
        ];
        let funnel = funnel(fates);
        let counts: Vec<(u32, u32, u32)> = funnel
            .iter()
            .map(|count| (count.entered, count.survived, count.waiting))
            .collect();
        assert_eq!(counts, [(2, 1, 0), (3, 0, 0), (1, 0, 1), (0, 0, 0)]);
        let reasons = funnel[1]
            .dropped
            .iter()
            .map(|d| (d.reason.as_str(), d.count));
        assert_eq!(
            reasons.collect::<Vec<_>>(),
            [("too small", 2), ("no tests", 1)]
        );
    }

    #[test]
    fn stages_have_names() {
        for stage in Stage::ALL {
            assert_eq!(Stage::from_name(stage.name()), Some(stage));
        }
        assert_eq!(Stage::from_name("other"), None);
    }
}
