//! The configuration and the progress of a run.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::agent::{AgentConfig, Budget, Endpoint};
use crate::agent_files::AgentFiles;
use crate::handover::Handover;
use crate::hosted_tools;
use crate::labels::Labels;
use crate::problems::Problems;
use crate::requirement::Mode;
use crate::step::{Plan, Role};
use crate::task::TaskId;

pub use crate::agent::HarnessConfig;
pub use crate::day::is_day;
pub use crate::problems::BadConfig;

crate::named! {
    /// Where the numbers of a leaderboard row come from.
    #[derive(Default)]
    pub enum Kind {
        /// The real commits between base and target, replayed.
        Human = "human",
        /// A model evaluated by this platform.
        #[default]
        Measured = "measured",
        /// A model evaluated elsewhere: self-reported results.
        Imported = "imported",
    }
}

/// The configuration of a run; stored with it as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunConfig {
    /// The name shown on the leaderboard.
    pub model: String,
    /// The provider of the model; empty for the human baseline.
    #[serde(default)]
    pub provider: String,
    /// The day the model was released, `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release_date: Option<String>,
    /// The last day of the model's training data, `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training_cutoff: Option<String>,
    pub kind: Kind,
    /// The harness of both agents, unless the programmer has its own.
    pub harness: HarnessConfig,
    /// The endpoint of the model, for harnesses that call one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Endpoint>,
    /// The programmer's harness and endpoint, if they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programmer: Option<AgentConfig>,
    /// The basis of the programmer's work.
    #[serde(default)]
    pub mode: Mode,
    /// The run's place in an experiment, in a few words. Runs of different arms
    /// are ranked as others are; comparisons pair them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// Files for both agents: instructions, skills, a server of tools. They lie in the
    /// folder in which agents start, above the code.
    #[serde(default, skip_serializing_if = "AgentFiles::is_empty")]
    pub agent_files: AgentFiles,
    pub split: String,
    /// Tasks of the split; all of them when the list is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskId>,
    /// Evolutions per task; 1 to 100.
    #[serde(default = "one")]
    pub samples: u32,
    #[serde(default)]
    pub plan: Plan,
    #[serde(default)]
    pub limits: Limits,
    #[serde(default, skip_serializing_if = "Budget::is_unlimited")]
    pub budget: Budget,
    /// The limits of each evolution, which is scored with what it reached within
    /// them. It has no `seconds`: `limits.agent_seconds` bounds a step.
    #[serde(default, skip_serializing_if = "Budget::is_unlimited")]
    pub evolution_budget: Budget,
    /// Lets the model's provider search, fetch and execute for the agent. Such
    /// a run is marked, and not ranked.
    #[serde(default)]
    pub allow_hosted_tools: bool,
    /// The run whose code this one goes on with. Such a run is another
    /// benchmark, and not ranked with the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handover: Option<Handover>,
    /// Labels of the workers that may execute it, such as `gpu = "yes"`; any
    /// worker may when it is empty.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub needs: Labels,
}

const PROGRAMMER: &str = "programmer.";

fn one() -> u32 {
    1
}

impl RunConfig {
    /// The human baseline of a split: the real history in the same loop.
    pub fn human(split: &str) -> Self {
        Self {
            model: "Human (replayed history)".into(),
            provider: String::new(),
            release_date: None,
            training_cutoff: None,
            kind: Kind::Human,
            harness: HarnessConfig::Replay {
                max_chunks: Plan::default().max_iterations,
            },
            endpoint: None,
            programmer: None,
            mode: Mode::default(),
            arm: None,
            agent_files: AgentFiles::default(),
            split: split.into(),
            tasks: Vec::new(),
            samples: 1,
            plan: Plan::default(),
            limits: Limits::default(),
            budget: Budget::default(),
            evolution_budget: Budget::default(),
            allow_hosted_tools: false,
            handover: None,
            needs: Labels::default(),
        }
    }

    /// The agent of a role; none for the tests.
    pub fn agent(&self, role: Role) -> Option<AgentConfig> {
        let own = || AgentConfig {
            harness: self.harness.clone(),
            endpoint: self.endpoint.clone(),
        };
        match role {
            Role::Architect => Some(own()),
            Role::Programmer => Some(self.programmer.clone().unwrap_or_else(own)),
            Role::Test => None,
        }
    }

    /// The configured agents, each with the prefix of its fields: the
    /// programmer only if it has its own configuration.
    pub fn own_agents(&self) -> impl Iterator<Item = (&'static str, AgentConfig)> {
        let architect = self.agent(Role::Architect).map(|agent| ("", agent));
        let programmer = self.programmer.clone().map(|agent| (PROGRAMMER, agent));
        architect.into_iter().chain(programmer)
    }

    pub fn keys(&self) -> Vec<String> {
        let endpoints = self.own_agents().filter_map(|(_, agent)| agent.endpoint);
        let names = |endpoint: Endpoint| {
            let keys = endpoint.keys().map(|(_, key)| key.to_owned());
            keys.collect::<Vec<_>>()
        };
        endpoints.flat_map(names).collect()
    }

    /// Checks every field against its range.
    ///
    /// # Errors
    /// [`BadConfig`] naming the first field that is out of range.
    pub fn check(&self) -> Result<(), BadConfig> {
        Problems::first(|problems| self.validate(problems))
    }

    /// Every field that is out of range.
    pub fn problems(&self) -> Vec<BadConfig> {
        Problems::collect(|problems| self.validate(problems))
    }

    fn validate(&self, problems: &mut Problems) {
        problems.one_line("model", &self.model, 1);
        problems.one_line("provider", &self.provider, 0);
        problems.day("release_date", self.release_date.as_deref());
        problems.day("training_cutoff", self.training_cutoff.as_deref());
        // Days sort as text.
        let ends = (&self.training_cutoff, &self.release_date);
        let in_order = !matches!(ends, (Some(cutoff), Some(released)) if cutoff > released);
        problems.ensure("training_cutoff", in_order, || {
            "is after release_date; no model is trained on data from after its release".into()
        });
        self.validate_agents(problems);
        self.validate_hosted_tools(problems);
        self.validate_mode(problems);
        if let Some(arm) = &self.arm {
            problems.one_line("arm", arm, 1);
        }
        self.agent_files.validate("agent_files", problems);
        self.validate_handover(problems);
        let split = crate::task::is_plain_name(&self.split);
        problems.ensure("split", split, || "is not the name of a split".into());
        let duplicate = self.duplicate_task();
        problems.ensure("tasks", duplicate.is_none(), || {
            let name = duplicate.map_or("", TaskId::as_str);
            format!("`{name}` appears more than once")
        });
        problems.range("samples", self.samples, 1..=100);
        let most = u64::from(Plan::MOST_ITERATIONS);
        problems.range("plan.max_iterations", self.plan.max_iterations, 1..=most);
        problems.range("plan.max_attempts", self.plan.max_attempts, 1..=100);
        self.budget.validate(problems);
        problems.within("evolution_", |problems| {
            self.evolution_budget.validate(problems);
            problems.ensure(
                "budget.seconds",
                self.evolution_budget.seconds.is_none(),
                || "there is no such limit; limits.agent_seconds bounds a step".into(),
            );
        });
        self.limits.validate(problems);
        self.needs.validate("needs", problems);
    }

    fn validate_agents(&self, problems: &mut Problems) {
        let max_iterations = self.plan.max_iterations;
        if let Some(architect) = self.agent(Role::Architect) {
            architect.validate(max_iterations, problems);
        }
        if let Some(programmer) = &self.programmer {
            problems.within(PROGRAMMER, |problems| {
                programmer.validate(max_iterations, problems);
                let alike = programmer.harness.asks_a_model() == self.harness.asks_a_model();
                problems.ensure("harness", alike, || {
                    "either both agents replay the history or neither does".into()
                });
            });
        }
    }

    /// Neither the name of a model nor the parameters may bring tools of the
    /// provider, unless the run allows them.
    fn validate_hosted_tools(&self, problems: &mut Problems) {
        let agents = self.own_agents().filter(|_| !self.allow_hosted_tools);
        for (prefix, endpoint) in agents.filter_map(|(at, agent)| Some((at, agent.endpoint?))) {
            problems.within(prefix, |problems| {
                let searches = hosted_tools::is_searching_model(&endpoint.model);
                problems.ensure("endpoint.model", !searches, || {
                    "names a model that searches the web by itself; allow_hosted_tools = true allows it, and then the run is not ranked".into()
                });
                let requested = hosted_tools::requested(endpoint.protocol, &endpoint.parameters);
                problems.ensure("endpoint.parameters", requested.is_empty(), || {
                    let names: Vec<&str> = requested.iter().map(String::as_str).collect();
                    format!(
                        "`{}` makes the provider search, fetch, execute or remember; allow_hosted_tools = true allows it, and then the run is not ranked",
                        names.join("`, `")
                    )
                });
            });
        }
    }

    /// A history that is replayed has no requirements to work from.
    fn validate_mode(&self, problems: &mut Problems) {
        let replays = matches!(self.harness, HarnessConfig::Replay { .. });
        problems.ensure("mode", !replays || self.mode == Mode::Tdd, || {
            "the human baseline has no mode of its own and stands beside the runs of both; leave it out".into()
        });
        let has_readers = self.harness.asks_a_model() || self.agent_files.is_empty();
        problems.ensure("agent_files", has_readers, || {
            "a replayed history reads no files; leave them out".into()
        });
    }

    /// A replayed history brings its own code, and would throw the other away.
    fn validate_handover(&self, problems: &mut Problems) {
        let Some(handover) = &self.handover else {
            return;
        };
        handover.validate(problems);
        problems.ensure("mode", self.mode != Mode::Impossible, || {
            "impossible begins at the base of each task; choose another mode, or leave handover out".into()
        });
        problems.ensure("handover.run", self.harness.asks_a_model(), || {
            "a replayed history cannot go on with other code; choose a harness that asks a model, or leave handover out".into()
        });
    }

    fn duplicate_task(&self) -> Option<&TaskId> {
        let mut names = BTreeSet::new();
        self.tasks.iter().find(|task| !names.insert(*task))
    }
}

/// The limits of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct Limits {
    /// Thousandths of a processor.
    pub cpus_milli: u32,
    /// Mebibytes of memory; a step has no swap.
    pub memory_mb: u32,
    pub pids: u32,
    /// Mebibytes a step may write in its container. A file counts with its
    /// whole size, and with 4 KiB at least.
    pub disk_mb: u32,
    /// Mebibytes of code a step may leave, without caches and `.git`; more only
    /// if it began with more.
    pub code_mb: u32,
    /// Seconds one architect or programmer step may take.
    pub agent_seconds: u32,
    /// Seconds one test run may take.
    pub test_seconds: u32,
    /// Seconds one agent step may wait for its provider in total, on top of
    /// `agent_seconds`; then the gateway gives up.
    pub patience_seconds: u32,
    /// Seconds the audit of one evolution may take; as long as its own tests
    /// took when absent, and two minutes at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_seconds: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            cpus_milli: 2_000,
            memory_mb: 4_096,
            pids: 1_024,
            disk_mb: 4_096,
            code_mb: 256,
            agent_seconds: 3_600,
            test_seconds: 3_600,
            patience_seconds: 1_800,
            audit_seconds: None,
        }
    }
}

impl Limits {
    fn validate(&self, problems: &mut Problems) {
        const WEEK: u64 = 604_800;
        problems.range("limits.cpus_milli", self.cpus_milli, 100..=1_024_000);
        problems.range("limits.memory_mb", self.memory_mb, 64..=16_777_216);
        problems.range("limits.pids", self.pids, 16..=1_000_000);
        problems.range("limits.disk_mb", self.disk_mb, 16..=16_777_216);
        problems.range("limits.code_mb", self.code_mb, 1..=4_096);
        problems.range("limits.agent_seconds", self.agent_seconds, 1..=WEEK);
        problems.range("limits.test_seconds", self.test_seconds, 1..=WEEK);
        problems.range("limits.patience_seconds", self.patience_seconds, 0..=WEEK);
        if let Some(seconds) = self.audit_seconds {
            problems.range("limits.audit_seconds", seconds, 1..=WEEK);
        }
    }
}

crate::named! {
    /// The progress of a run or an evolution.
    #[derive(Default)]
    pub enum Progress {
        #[default]
        Queued = "queued",
        Running = "running",
        Finished = "finished",
        Cancelled = "cancelled",
    }
}

impl Progress {
    pub fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Protocol;
    use crate::handover::HandoverTarget;

    #[test]
    fn the_baseline_is_valid_and_bad_fields_are_named() {
        let good = RunConfig::human("demo");
        assert_eq!(good.check(), Ok(()));
        let field = |change: fn(&mut RunConfig)| {
            let mut config = good.clone();
            change(&mut config);
            config.check().unwrap_err().field
        };
        assert_eq!(field(|c| c.model.clear()), "model");
        assert_eq!(field(|c| c.model = "a\nb".into()), "model");
        assert_eq!(field(|c| c.split = "../x".into()), "split");
        assert_eq!(
            field(|c| c.release_date = Some("2026-02-29".into())),
            "release_date"
        );
        let dates = |cutoff: &str, released: &str| {
            let mut config = good.clone();
            config.training_cutoff = Some(cutoff.into());
            config.release_date = Some(released.into());
            config.problems().len()
        };
        assert_eq!(dates("2026-01-02", "2026-01-01"), 1);
        assert_eq!(dates("2026-01-01", "2026-01-01"), 0);
        assert_eq!(
            field(|c| c.harness = HarnessConfig::Elsewhere {
                program: String::new()
            }),
            "harness.program"
        );
        assert_eq!(field(|c| c.samples = 0), "samples");
        assert_eq!(
            field(|c| c.plan.max_iterations = 1_001),
            "plan.max_iterations"
        );
        assert_eq!(
            field(|c| c.harness = HarnessConfig::Replay { max_chunks: 21 }),
            "harness.max_chunks"
        );
        assert_eq!(field(|c| c.limits.memory_mb = 1), "limits.memory_mb");
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let endpoint = |url: &str| Endpoint {
            protocol: Protocol::Chat,
            url: url.into(),
            model: "m".into(),
            key: Some("not a name".into()),
            ..Endpoint::default()
        };
        let builtin = |url: &str| AgentConfig {
            harness: HarnessConfig::Builtin,
            endpoint: Some(endpoint(url)),
        };
        let check = |change: &dyn Fn(&mut RunConfig), expect: &[&str]| {
            let mut config = RunConfig::human("demo");
            change(&mut config);
            let problems = config.problems();
            let fields: Vec<&str> = problems.iter().map(|bad| bad.field.as_str()).collect();
            assert_eq!(fields, expect);
            assert_eq!(config.check().err(), problems.into_iter().next());
        };
        check(&|_| {}, &[]);
        check(
            &|c| {
                c.model.clear();
                c.samples = 0;
                c.budget.tokens = Some(0);
                c.budget.usd = Some(-1.0);
                c.evolution_budget.tokens = Some(0);
                c.evolution_budget.seconds = Some(9);
                c.limits.pids = 1;
            },
            &[
                "model",
                "samples",
                "budget.tokens",
                "budget.usd",
                "evolution_budget.tokens",
                "evolution_budget.seconds",
                "limits.pids",
            ],
        );
        check(
            &|c| c.tasks = ["a", "b", "a"].map(|id| TaskId::new(id).unwrap()).into(),
            &["tasks"],
        );
        // A prefix tells the programmer's fields from the architect's.
        check(
            &|c| {
                c.harness = HarnessConfig::Builtin;
                c.endpoint = Some(endpoint("ftp://x"));
                c.programmer = Some(builtin("x"));
            },
            &[
                "endpoint.url",
                "endpoint.key",
                "programmer.endpoint.url",
                "programmer.endpoint.key",
            ],
        );
        check(
            &|c| c.programmer = Some(builtin("https://x/v1")),
            &["programmer.endpoint.key", "programmer.harness"],
        );
    }

    #[test]
    fn the_human_baseline_has_no_mode_of_its_own() {
        let mut config = RunConfig::human("demo");
        config.mode = Mode::Rdd;
        assert_eq!(config.check().unwrap_err().field, "mode");
        config.harness = HarnessConfig::Elsewhere {
            program: "x".into(),
        };
        assert_eq!(config.check(), Ok(()));
    }

    #[test]
    fn only_a_model_goes_on_with_other_code() {
        let mut config = RunConfig::human("demo");
        config.handover = Some(Handover {
            run: String::new(),
            iteration: Some(0),
            target: HandoverTarget::default(),
        });
        let fields: Vec<String> = config.problems().into_iter().map(|bad| bad.field).collect();
        assert_eq!(
            fields,
            ["handover.run", "handover.iteration", "handover.run"]
        );
    }

    #[test]
    fn hosted_tools_need_a_permission() {
        let check = |model: &str, parameters: serde_json::Value, expect: &[&str]| {
            let json = serde_json::json!({
                "model": "m", "kind": "measured", "split": "demo", "harness": {"name": "builtin"},
                "endpoint": {"url": "https://x/v1", "model": model, "parameters": parameters},
            });
            let mut config: RunConfig = serde_json::from_value(json).unwrap();
            let problems = config.problems();
            let fields: Vec<&str> = problems.iter().map(|bad| bad.field.as_str()).collect();
            assert_eq!(fields, expect);
            config.allow_hosted_tools = true;
            assert_eq!(config.check(), Ok(()));
        };
        check("juniper-1", serde_json::json!({"temperature": 0}), &[]);
        check(
            "juniper-1:online",
            serde_json::json!({}),
            &["endpoint.model"],
        );
        check(
            "juniper-1",
            serde_json::json!({"plugins": [{"id": "web"}]}),
            &["endpoint.parameters"],
        );
    }

    #[test]
    fn the_smallest_configuration() {
        let json = r#"{"model": "m", "kind": "measured", "split": "demo", "harness": {"name": "replay", "max_chunks": 4}}"#;
        let config: RunConfig = serde_json::from_str(json).unwrap();
        assert_eq!(
            (
                config.samples,
                config.plan.max_iterations,
                config.limits.test_seconds
            ),
            (1, 20, 3_600)
        );
        // Stored before there was this limit.
        let json = r#"{"disk_mb": 100, "memory_mb": 64}"#;
        let limits: Limits = serde_json::from_str(json).unwrap();
        assert_eq!((limits.disk_mb, limits.code_mb), (100, 256));
    }
}
