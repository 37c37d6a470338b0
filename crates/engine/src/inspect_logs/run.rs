//! A run as the header of a log.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};
use swe_ci_core::run::Progress;
use swe_ci_core::step::Role;
use swe_ci_core::task::TaskId;
use swe_ci_core::uncertainty::Interval;
use swe_ci_views::card::{Card, TaskOnCard};
use swe_ci_views::leaderboard::{EvolutionScore, Intervals, Scores};
use swe_ci_views::view::RunDetail;

use super::format::{
    Config, Dataset, Eval, Headline, Metric, Plan, PlanStep, Results, RoleModel, ScoreResult,
    Stats, Status, Usages, object,
};
use super::numbers::mean_over_tasks;
use super::transcript::SCORER;

/// The name of the task, as in the Python package.
const TASK: &str = "swe_ci";
/// The one metric of all scores.
const MEAN: &str = "mean";

const HEADLINE: Headline = Headline {
    scorer: SCORER,
    score: "evoscore",
    metric: MEAN,
};

/// A run's facts for its log, apart from the conversations of its agents.
#[derive(Debug)]
pub struct RunFacts {
    pub run: RunDetail,
    pub card: Card,
    pub scores: Scores,
    /// The repositories of its tasks, as far as they are known.
    pub repos: HashMap<TaskId, String>,
}

impl RunFacts {
    /// The name of the log's file, as Inspect names its own: time, task, id. A
    /// run always has the same.
    pub fn file_name(&self) -> String {
        let created = &self.run.summary.created_at;
        let second = created.get(..19).unwrap_or(created).replace(':', "-");
        format!("{second}+00-00_swe-ci_{}.eval", self.id())
    }

    /// The run's id without what separates the parts of a file's name.
    fn id(&self) -> String {
        let id = self.run.summary.run_id.chars();
        id.filter(char::is_ascii_alphanumeric).collect()
    }

    /// The provider's name of the model that has this role, or the name on the
    /// leaderboard where no endpoint is known.
    pub(super) fn model(&self, role: Role) -> String {
        let config = &self.run.summary.config;
        let endpoint = config.agent(role).and_then(|agent| agent.endpoint);
        endpoint.map_or_else(|| config.model.clone(), |endpoint| endpoint.model)
    }

    pub(super) fn task(&self, id: &TaskId) -> Option<&TaskOnCard> {
        self.card.tasks.iter().find(|task| task.task_id == *id)
    }

    /// A task whose repository is unknown stands for it.
    pub(super) fn repo<'a>(&'a self, id: &'a TaskId) -> &'a str {
        let repo = self.repos.get(id).filter(|repo| !repo.is_empty());
        repo.map_or(id.as_str(), String::as_str)
    }

    pub(super) fn status(&self) -> Status {
        match self.run.summary.progress {
            Progress::Cancelled => Status::Cancelled,
            _ => Status::Success,
        }
    }

    pub(super) fn eval(&self) -> Eval {
        let summary = &self.run.summary;
        let config = &summary.config;
        let ids = self.card.tasks.iter().map(|task| task.task_id.to_string());
        let sample_ids: Vec<String> = ids.collect();
        Eval {
            eval_id: self.id(),
            run_id: summary.run_id.clone(),
            created: summary.created_at.clone(),
            task: TASK,
            task_id: self.id(),
            task_version: self.card.metric_version,
            task_display_name: format!("SWE-CI {}", config.split),
            task_args: object([("split", json!(config.split)), ("mode", json!(config.mode))]),
            solver: config.harness.name().to_owned(),
            solver_args: self.solver_args(),
            dataset: Dataset {
                name: config.split.clone(),
                samples: u32::try_from(sample_ids.len()).unwrap_or(u32::MAX),
                sample_ids,
                shuffled: false,
            },
            model: config.model.clone(),
            model_roles: self.model_roles(),
            config: Config {
                epochs: config.samples,
                epochs_reducer: [MEAN],
            },
            packages: BTreeMap::from([("swe-ci", self.card.platform_version.clone())]),
            metadata: object([
                ("provider", json!(config.provider)),
                ("convention", json!(self.scores.convention)),
                ("gamma", json!(self.scores.gamma)),
                ("max_iterations", json!(self.scores.max_iterations)),
                ("unranked", json!(self.run.unranked)),
                ("card", json!(self.card)),
            ]),
            headline_metric: HEADLINE,
        }
    }

    /// The models of the two agents, if they call any.
    fn model_roles(&self) -> BTreeMap<&'static str, RoleModel> {
        let config = &self.run.summary.config;
        let roles = [Role::Architect, Role::Programmer].into_iter();
        let calling = roles.filter_map(|role| {
            let model = config.agent(role)?.endpoint?.model;
            Some((role.name(), RoleModel { model }))
        });
        calling.collect()
    }

    fn solver_args(&self) -> Map<String, Value> {
        object([("plan", json!(self.run.summary.config.plan))])
    }

    pub(super) fn plan(&self) -> Plan {
        let config = &self.run.summary.config;
        Plan {
            name: "plan",
            steps: vec![PlanStep {
                solver: config.harness.name().to_owned(),
                params: self.solver_args(),
            }],
        }
    }

    pub(super) fn stats(&self, usages: Usages) -> Stats {
        let summary = &self.run.summary;
        Stats {
            started_at: summary.started_at.clone().unwrap_or_default(),
            completed_at: summary.finished_at.clone().unwrap_or_default(),
            usages,
        }
    }

    pub(super) fn results(&self) -> Results {
        let all = u32::try_from(self.run.evolution_list.len()).unwrap_or(u32::MAX);
        let scored = u32::try_from(self.scores.tasks.len()).unwrap_or(u32::MAX);
        let result = |(name, value, interval): (&'static str, Option<f64>, Option<Interval>)| {
            Some(ScoreResult {
                name,
                scorer: SCORER,
                reducer: MEAN,
                scored_samples: scored,
                unscored_samples: all.saturating_sub(scored),
                metrics: BTreeMap::from([(MEAN, metric(value?, interval))]),
            })
        };
        Results {
            total_samples: all,
            completed_samples: scored,
            scores: self.means().into_iter().filter_map(result).collect(),
            headline: HEADLINE,
        }
    }

    /// The numbers of the run with their 95 % intervals, as its page shows them;
    /// the means over tasks of the two that a page shows for evolutions alone.
    fn means(&self) -> [(&'static str, Option<f64>, Option<Interval>); 7] {
        let scores = &self.scores;
        let within = |of: fn(&Intervals) -> Interval| scores.intervals.as_ref().map(of);
        let mean = |number: fn(&EvolutionScore) -> f64| mean_over_tasks(&scores.tasks, number);
        let (zero, solved) = (scores.zero_regression_rate, scores.solved_rate);
        [
            ("evoscore", scores.evoscore, within(|i| i.evoscore)),
            ("gap_closed", mean(|score| score.gap_closed), None),
            (
                "regressions",
                mean(|score| f64::from(score.regressions)),
                None,
            ),
            ("zero_regression", zero, within(|i| i.zero_regression_rate)),
            ("solved", solved, within(|i| i.solved_rate)),
            ("zrr", scores.zrr, within(|i| i.zrr)),
            (
                "iterations",
                scores.average_turns,
                within(|i| i.average_turns),
            ),
        ]
    }
}

fn metric(value: f64, interval: Option<Interval>) -> Metric {
    let metadata = match interval {
        Some(Interval { low, high }) => object([("low_95", json!(low)), ("high_95", json!(high))]),
        None => Map::new(),
    };
    Metric {
        name: MEAN,
        value,
        metadata,
    }
}
