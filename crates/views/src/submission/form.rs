//! The form for submitting a run: every field as typed text. Its field names
//! are those of the configuration, so that a problem appears at its field.
//!
//! Server and browser share this code, so that the browser shows the same
//! problems during typing as the server after submission.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use swe_ci_core::agent::{AgentConfig, Budget, Endpoint, HarnessConfig, Protocol};
use swe_ci_core::handover::{Handover, HandoverTarget};
use swe_ci_core::labels::Labels;
use swe_ci_core::problems::BadConfig;
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::{Kind, Limits, RunConfig};
use swe_ci_core::step::Plan;
use swe_ci_core::task::TaskId;
use swe_ci_core::usage::Prices;

/// The typed texts by the names of the fields. Empty fields count as absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunForm(BTreeMap<String, String>);

/// Ticked when the programmer has a harness and an endpoint of its own.
pub const OWN_PROGRAMMER: &str = "programmer";

impl FromIterator<(String, String)> for RunForm {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(fields: T) -> Self {
        Self(fields.into_iter().collect())
    }
}

impl RunForm {
    pub fn fresh(split: &str) -> Self {
        let mut form = Self::default();
        let initial = json!({
            "harness": {"name": "builtin"},
            "endpoint": {"protocol": Protocol::Chat},
            "mode": Mode::default(),
            "split": split,
            "samples": 1,
            "plan": Plan::default(),
            "limits": Limits::default(),
        });
        form.set_all("", &initial);
        form
    }

    pub fn of_config(config: &RunConfig) -> Self {
        let mut form = Self::default();
        form.set_all("", &json!(config));
        // The harness determines it.
        form.0.remove("kind");
        for (part, agent) in config.own_agents() {
            form.set(&format!("{part}harness.name"), agent.harness.name());
        }
        if config.programmer.is_some() {
            form.set(OWN_PROGRAMMER, "on");
        }
        let tasks: Vec<&str> = config.tasks.iter().map(TaskId::as_str).collect();
        form.set("tasks", tasks.join("\n"));
        form.set("needs", &config.needs);
        form
    }

    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |text| text.trim())
    }

    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// The configuration in the form.
    ///
    /// # Errors
    /// Every invalid field.
    pub fn config(&self) -> Result<RunConfig, Vec<BadConfig>> {
        let mut parser = Parser {
            form: self,
            problems: Vec::new(),
        };
        let config = parser.config();
        let mut problems = parser.problems;
        // A field that does not parse already has a problem.
        for bad in config.problems() {
            if problems.iter().all(|known| known.field != bad.field) {
                problems.push(bad);
            }
        }
        match problems.is_empty() {
            true => Ok(config),
            false => Err(problems),
        }
    }

    pub fn set(&mut self, name: &str, value: impl Display) {
        self.0.insert(name.to_owned(), value.to_string());
    }

    /// Sets the fields of a part of a configuration, except lists and labels;
    /// parameters and headers of an endpoint stay JSON.
    fn set_all(&mut self, name: &str, value: &Value) {
        match value {
            Value::Object(_) if name == "needs" => {}
            Value::Object(fields) if !is_json(name) => {
                for (field, value) in fields {
                    let dot = if name.is_empty() { "" } else { "." };
                    self.set_all(&format!("{name}{dot}{field}"), value);
                }
            }
            // A form sends no box that is not ticked.
            Value::Null | Value::Array(_) | Value::Bool(false) => {}
            Value::String(text) => self.set(name, text),
            // JSON writes a whole price with a decimal.
            Value::Number(number) if number.is_f64() => {
                self.set(name, number.as_f64().unwrap_or_default());
            }
            value => self.set(name, value),
        }
    }
}

/// Whether a field of the form holds an object as JSON.
fn is_json(name: &str) -> bool {
    ["endpoint.parameters", "endpoint.headers"]
        .iter()
        .any(|field| name.ends_with(field))
}

struct Parser<'a> {
    form: &'a RunForm,
    problems: Vec<BadConfig>,
}

impl Parser<'_> {
    fn config(&mut self) -> RunConfig {
        let plan = Plan::default();
        let max_iterations = self.number("plan.max_iterations", plan.max_iterations);
        let architect = self.agent("", max_iterations);
        let own = self.some_text(OWN_PROGRAMMER).is_some();
        let programmer = own.then(|| self.agent("programmer.", max_iterations));
        let mode = match architect.harness.asks_a_model() {
            true => self.mode(),
            false => Mode::default(),
        };
        RunConfig {
            model: self.form.text("model").into(),
            provider: self.form.text("provider").into(),
            release_date: self.some_text("release_date"),
            training_cutoff: self.some_text("training_cutoff"),
            kind: match architect.harness.asks_a_model() {
                true => Kind::Measured,
                false => Kind::Human,
            },
            harness: architect.harness,
            endpoint: architect.endpoint,
            programmer,
            mode,
            split: self.form.text("split").into(),
            tasks: self.tasks(),
            samples: self.number("samples", 1),
            plan: Plan {
                max_iterations,
                max_attempts: self.number("plan.max_attempts", plan.max_attempts),
            },
            limits: self.limits(),
            budget: self.budget("budget"),
            evolution_budget: self.budget("evolution_budget"),
            allow_hosted_tools: self.some_text("allow_hosted_tools").is_some(),
            handover: self.handover(),
            needs: self.needs(),
        }
    }

    fn budget(&mut self, name: &str) -> Budget {
        Budget {
            tokens: self.some(&format!("{name}.tokens")),
            usd: self.some(&format!("{name}.usd")),
            requests: self.some(&format!("{name}.requests")),
            seconds: self.some(&format!("{name}.seconds")),
        }
    }

    fn needs(&mut self) -> Labels {
        self.form
            .text("needs")
            .parse()
            .unwrap_or_else(|why: String| {
                self.wrong("needs", &why);
                Labels::default()
            })
    }

    fn handover(&mut self) -> Option<Handover> {
        let iteration = self.some("handover.iteration");
        let run = self.some_text("handover.run");
        if run.is_none() && iteration.is_some() {
            self.wrong("handover.run", "is required with an iteration");
        }
        let name = self.form.text("handover.target");
        let target = HandoverTarget::from_name(name);
        if target.is_none() && !name.is_empty() {
            self.wrong("handover.target", "is neither same nor moved");
        }
        Some(Handover {
            run: run?,
            iteration,
            target: target.unwrap_or_default(),
        })
    }

    fn mode(&mut self) -> Mode {
        let name = self.form.text("mode");
        let known = Mode::from_name(name);
        if known.is_none() && !name.is_empty() {
            self.wrong("mode", "is neither tdd nor rdd");
        }
        known.unwrap_or_default()
    }

    /// `part` is the prefix of its field names.
    fn agent(&mut self, part: &str, max_iterations: u32) -> AgentConfig {
        let at = |field: &str| format!("{part}{field}");
        let name = self.form.text(&at("harness.name"));
        let harness = match name {
            "replay" => HarnessConfig::Replay {
                max_chunks: self.number(&at("harness.max_chunks"), max_iterations),
            },
            "builtin" => HarnessConfig::Builtin,
            name => {
                if !swe_ci_core::task::is_plain_name(name) {
                    self.wrong(&at("harness.name"), "choose a harness");
                }
                HarnessConfig::Program {
                    program: name.into(),
                    version: self.some_text(&at("harness.version")),
                }
            }
        };
        let endpoint = harness.asks_a_model().then(|| self.endpoint(part));
        AgentConfig { harness, endpoint }
    }

    fn endpoint(&mut self, part: &str) -> Endpoint {
        let at = |field: &str| format!("{part}endpoint.{field}");
        let protocol = self.form.text(&at("protocol"));
        let known = Protocol::from_name(protocol);
        if known.is_none() && !protocol.is_empty() {
            self.wrong(&at("protocol"), "is not a known protocol");
        }
        Endpoint {
            protocol: known.unwrap_or_default(),
            url: self.form.text(&at("url")).into(),
            model: self.form.text(&at("model")).into(),
            key: self.some_text(&at("key")),
            parameters: self.json(&at("parameters"), r#"{"temperature": 0}"#),
            headers: self.json(&at("headers"), r#"{"x-team": "a"}"#),
            prices: self.prices(&at("prices")),
            recording: self.some_text(&at("recording")),
        }
    }

    fn json<T: DeserializeOwned + Default>(&mut self, name: &str, example: &str) -> T {
        let text = match self.form.text(name) {
            "" => "{}",
            text => text,
        };
        serde_json::from_str(text).unwrap_or_else(|_| {
            self.wrong(name, &format!("must be a JSON object such as {example}"));
            T::default()
        })
    }

    /// None without prices in the form: the price table applies.
    fn prices(&mut self, name: &str) -> Option<Prices> {
        let at = |field: &str| format!("{name}.{field}");
        let input = self.some(&at("input"));
        let cached = self.some(&at("cached"));
        let output = self.some(&at("output"));
        match (input, output) {
            (Some(input), Some(output)) => Some(Prices {
                input,
                cached,
                output,
            }),
            (None, None) if cached.is_none() => None,
            (input, _) => {
                let missing = if input.is_none() { "input" } else { "output" };
                self.wrong(&at(missing), "is required with the other prices");
                None
            }
        }
    }

    fn tasks(&mut self) -> Vec<TaskId> {
        let (mut tasks, mut wrong) = (Vec::new(), Vec::new());
        let words = self.form.text("tasks");
        for word in words.split([',', ' ', '\n', '\r', '\t']) {
            match TaskId::new(word) {
                Ok(task) => tasks.push(task),
                Err(_) if word.is_empty() => {}
                Err(error) => wrong.push(error.to_string()),
            }
        }
        if let Some(first) = wrong.first() {
            self.wrong("tasks", first);
        }
        tasks
    }

    fn limits(&mut self) -> Limits {
        let default = Limits::default();
        Limits {
            cpus_milli: self.number("limits.cpus_milli", default.cpus_milli),
            memory_mb: self.number("limits.memory_mb", default.memory_mb),
            pids: self.number("limits.pids", default.pids),
            disk_mb: self.number("limits.disk_mb", default.disk_mb),
            code_mb: self.number("limits.code_mb", default.code_mb),
            agent_seconds: self.number("limits.agent_seconds", default.agent_seconds),
            test_seconds: self.number("limits.test_seconds", default.test_seconds),
            patience_seconds: self.number("limits.patience_seconds", default.patience_seconds),
        }
    }

    fn some_text(&self, name: &str) -> Option<String> {
        let text = self.form.text(name);
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn some<T: FromStr>(&mut self, name: &str) -> Option<T> {
        let text = self.some_text(name)?;
        let number = text.parse().ok();
        if number.is_none() {
            self.wrong(name, &format!("`{text}` is not a valid number"));
        }
        number
    }

    fn number(&mut self, name: &str, default: u32) -> u32 {
        self.some(name).unwrap_or(default)
    }

    fn wrong(&mut self, name: &str, problem: &str) {
        self.problems.push(BadConfig::new(name, problem));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled() -> RunForm {
        let mut form = RunForm::fresh("demo");
        form.set("model", "Juniper");
        form.set("endpoint.url", "https://api.example.org/v1");
        form.set("endpoint.model", "juniper-1");
        form
    }

    #[test]
    fn configurations_round_trip() {
        let plain = filled().config().unwrap();
        let mut full = plain.clone();
        full.provider = "acme".into();
        full.release_date = Some("2026-01-31".into());
        full.training_cutoff = Some("2025-10-31".into());
        full.handover = Some(Handover {
            run: "0190".into(),
            iteration: Some(3),
            target: HandoverTarget::Moved,
        });
        full.tasks = ["a-1", "b-2"].map(|id| TaskId::new(id).unwrap()).into();
        full.budget.usd = Some(2.5);
        full.evolution_budget.tokens = Some(1_000);
        full.allow_hosted_tools = true;
        full.needs = "arch=amd64, gpu=yes".parse().unwrap();
        full.mode = Mode::Rdd;
        let endpoint = full.endpoint.as_mut().unwrap();
        endpoint.key = Some("acme".into());
        let parameters = serde_json::json!({"temperature": 0.5, "thinking": {"on": true}});
        endpoint.parameters = serde_json::from_value(parameters).unwrap();
        let headers = serde_json::json!({"x-team": "a", "x-proxy": {"key": "proxy"}});
        endpoint.headers = serde_json::from_value(headers).unwrap();
        endpoint.prices = Some(Prices {
            input: 3.0,
            cached: None,
            output: 15.0,
        });
        full.programmer = Some(AgentConfig {
            harness: HarnessConfig::Program {
                program: "opencode".into(),
                version: Some("1.2".into()),
            },
            endpoint: full.endpoint.clone(),
        });
        for config in [plain, full, RunConfig::human("demo")] {
            assert_eq!(RunForm::of_config(&config).config(), Ok(config));
        }
    }

    #[test]
    fn problems_are_reported_at_their_field() {
        let check = |changes: &[(&str, &str)], expect: &[&str]| {
            let mut form = filled();
            changes.iter().for_each(|(name, text)| form.set(name, text));
            let problems = form.config().err().unwrap_or_default();
            let fields: Vec<&str> = problems.iter().map(|bad| bad.field.as_str()).collect();
            assert_eq!(fields, expect, "{changes:?}");
        };
        check(&[], &[]);
        // Surrounding spaces and empty fields are harmless.
        check(&[("samples", " 3 "), ("limits.pids", "")], &[]);
        check(&[("model", " "), ("samples", "0")], &["model", "samples"]);
        check(
            &[
                ("samples", "three"),
                ("budget.usd", "1,5"),
                ("limits.pids", "-1"),
            ],
            &["samples", "limits.pids", "budget.usd"],
        );
        check(&[("endpoint.url", "api.example.org")], &["endpoint.url"]);
        check(&[("endpoint.parameters", "[1]")], &["endpoint.parameters"]);
        check(
            &[("endpoint.prices.output", "3")],
            &["endpoint.prices.input"],
        );
        check(&[("endpoint.protocol", "telnet")], &["endpoint.protocol"]);
        check(&[("tasks", "a, b\n../c")], &["tasks"]);
        check(&[("harness.name", "")], &["harness.name"]);
        check(&[("needs", "gpu")], &["needs"]);
        // Replay needs no endpoint.
        check(&[("harness.name", "replay"), ("endpoint.url", "")], &[]);
        let own = [("programmer", "on"), ("programmer.harness.name", "builtin")];
        check(
            &own,
            &["programmer.endpoint.model", "programmer.endpoint.url"],
        );
    }
}
