//! Run configurations as text: parsed strictly, so that a typing error never
//! leaves a default in place, and written so that others can repeat the run.

use serde_json::Value;
use swe_ci_base::error::{self, Error};
use swe_ci_base::toml_problems;
use swe_ci_core::agent::Endpoint;
use swe_ci_core::run::{BadConfig, RunConfig};
use swe_ci_views::submission::{RunForm, unknown_in_words};

use crate::Engine;

/// All fields that have no default.
const EXAMPLE: &str = r#"
    model = "m"
    kind = "measured"
    split = "demo"
    tasks = ["a-1"]
    harness = { name = "builtin" }
    endpoint = { url = "https://api.example.org/v1", model = "m-1" }
    programmer = { harness = { name = "builtin" }, endpoint = { url = "https://api.example.org/v1", model = "m-2" } }
    handover = { run = "r" }
    plan = { max_iterations = 20, max_attempts = 3 }
"#;

/// Parses a configuration in TOML.
///
/// # Errors
/// All problems with their places, in words. Where it can be read,
/// [`RunConfig::problems`] checks whether the values are in range.
pub fn from_toml(text: &str) -> Result<RunConfig, String> {
    toml_problems::read(text, EXAMPLE, unknown)
}

fn unknown(given: &Value, config: &RunConfig) -> Vec<String> {
    serde_json::to_value(config).map_or_else(
        |error| vec![error.to_string()],
        |understood| unknown_in_words(given, &understood),
    )
}

/// Parses a configuration in JSON.
///
/// # Errors
/// As [`from_toml`].
pub fn from_json(text: &str) -> Result<RunConfig, String> {
    let given = serde_json::from_str(text).map_err(|error| error.to_string())?;
    from_value(given).map_err(|problems| {
        let lines = problems.iter().map(|bad| format!("\n  {bad}"));
        lines.collect()
    })
}

/// Parses a configuration that was read already.
///
/// # Errors
/// All problems, as [`from_toml`].
pub fn from_value(given: Value) -> Result<RunConfig, Vec<BadConfig>> {
    let problems = match toml_problems::understand(given, EXAMPLE, unknown) {
        Ok(config) => return Ok(config),
        Err(problems) => problems.into_iter(),
    };
    let problems = problems.map(|problem| match problem.split_once(": ") {
        Some((field, why)) => BadConfig::new(field, why),
        None => BadConfig::new("config", problem),
    });
    Err(problems.collect())
}

/// The configuration in a form, and all that is wrong with the form. What cannot be
/// read has its default, so that the rest can be checked; none where nothing can
/// stand in.
pub(crate) fn from_form(form: &RunForm) -> (Option<RunConfig>, Vec<BadConfig>) {
    let (mut given, mut problems) = form.to_json();
    let config = match from_value(given.clone()) {
        Ok(config) => Some(config),
        Err(unreadable) => {
            for bad in &unreadable {
                // What is incomplete is left out as a whole.
                let incomplete = bad.problem.starts_with("missing field");
                let whole = bad.field.rsplit_once('.').filter(|_| incomplete);
                remove(
                    &mut given,
                    whole.map_or(bad.field.as_str(), |(whole, _)| whole),
                );
            }
            problems.extend(unreadable);
            from_value(given).ok()
        }
    };
    (config, problems)
}

fn remove(value: &mut Value, path: &str) {
    let (outer, name) = path.rsplit_once('.').map_or(("", path), |parts| parts);
    let outer = match outer {
        "" => Some(value),
        outer => value.pointer_mut(&format!("/{}", outer.replace('.', "/"))),
    };
    if let Some(Value::Object(fields)) = outer {
        fields.remove(name);
    }
}

/// Writes a configuration as TOML.
///
/// # Errors
/// [`Error::Invalid`] when it holds something that TOML cannot express: a null
/// among the parameters.
pub fn to_toml(config: &RunConfig) -> error::Result<String> {
    toml::to_string(config)
        .map_err(|e| Error::Invalid(format!("this configuration cannot be written as TOML: {e}")))
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// A run's configuration as TOML, for others to repeat it: without the
    /// names of its keys, which others do not have.
    pub async fn configuration(&self, run_id: &str) -> error::Result<String> {
        to_toml(&without_keys(self.visible_run(run_id).await?.config))
    }

    /// A run's configuration as the start of a new one. The names of its keys
    /// remain only if the actor may use those keys.
    pub async fn configuration_to_copy(&self, run_id: &str) -> error::Result<RunConfig> {
        let config = self.visible_run(run_id).await?.config;
        let grant = self.store.permissions(run_id).await?;
        let own = self.keyrings().unwrap_or_default();
        Ok(match own.contains(&grant.keyring) {
            true => config,
            false => without_keys(config),
        })
    }
}

fn without_keys(mut config: RunConfig) -> RunConfig {
    let programmer = config.programmer.as_mut().and_then(|p| p.endpoint.as_mut());
    let endpoints = [config.endpoint.as_mut(), programmer];
    let forget = |endpoint: &mut Endpoint| {
        endpoint.key = None;
        endpoint.headers.retain(|_, text| text.key().is_none());
    };
    endpoints.into_iter().flatten().for_each(forget);
    config
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::agent::{AgentConfig, HarnessConfig};
    use swe_ci_core::handover::{Handover, HandoverTarget};
    use swe_ci_core::requirement::Mode;
    use swe_ci_core::task::TaskId;
    use swe_ci_core::usage::Prices;

    const FULL: &str = r#"
        model = "m"
        kind = "measured"
        split = "demo"
        tasks = ["a-1"]
        harness = { name = "builtin" }

        [endpoint]
        url = "https://api.example.org/v1"
        model = "m-1"
        key = "acme"
        parameters = { temperature = 0, thinking = { type = "enabled" } }

        [programmer]
        harness = { name = "opencode" }
        endpoint = { url = "https://api.example.org/v1", model = "m-2", key = "other" }

        [budget]
        usd = 2.5
    "#;

    #[test]
    fn a_written_configuration_parses_to_the_same() {
        let config = from_toml(FULL).unwrap();
        assert_eq!(config.problems(), []);
        let written = to_toml(&config).unwrap();
        assert_eq!(from_toml(&written).unwrap(), config, "{written}");
        let json = serde_json::to_string(&config).unwrap();
        assert_eq!(from_json(&json).unwrap(), config);
        let bare = to_toml(&without_keys(config)).unwrap();
        assert!(!bare.contains("key ="), "{bare}");
        assert_eq!(from_toml(&bare).unwrap().problems(), []);
    }

    #[test]
    fn typing_errors_are_named() {
        let check = |text: &str, expect: &str| {
            let error = from_toml(text).unwrap_err();
            assert!(error.contains(expect), "{text} → {error}");
        };
        check("model = ", "line 1");
        check("model = 3", "string");
        let typed = FULL.replace("tasks", "taks").replace("\"m-1\"", "1");
        let limits = format!("{typed}\n[limits]\nmemory = 3\npids = -1");
        check(
            &limits,
            "line 5, taks: there is no such field\n\
             line 10, endpoint.model: invalid type: integer `1`, expected a string\n\
             line 22, limits.memory: there is no such field\n\
             line 23, limits.pids: invalid value: integer `-1`, expected u32",
        );
        let plan = format!("{FULL}\n[plan]\nmax_iterations = 3\n");
        assert_eq!(from_toml(&plan).unwrap().plan.max_iterations, 3);
        let plan = format!("{plan}max_attempts = 1.5\nmost = 1\n[limits]\npids = \"x\"");
        check(&plan, "line 23, plan.max_attempts: ");
        check(&plan, "line 24, plan.most: there is no such field");
        check(&plan, "line 26, limits.pids: ");
    }

    fn filled() -> RunForm {
        let mut form = RunForm::fresh("demo");
        form.set("model", "Juniper");
        form.set("endpoint.url", "https://api.example.org/v1");
        form.set("endpoint.model", "juniper-1");
        form
    }

    #[test]
    fn forms_round_trip() {
        let (plain, problems) = from_form(&filled());
        assert_eq!(problems, []);
        let plain = plain.unwrap();
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
        full.arm = Some("with files".into());
        full.agent_files.insert("AGENTS.md", "Be brief.\n");
        full.agent_files.insert("a/b", "");
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
        let mut endpoint = endpoint.clone();
        endpoint.parameters.remove("thinking");
        endpoint.headers.remove("x-team");
        endpoint.prices = endpoint.prices.map(|prices| Prices {
            cached: Some(0.25),
            ..prices
        });
        full.programmer = Some(AgentConfig {
            harness: HarnessConfig::Program {
                program: "opencode".into(),
                version: Some("1.2".into()),
            },
            endpoint: Some(endpoint),
        });
        for config in [plain, full, RunConfig::human("demo")] {
            let form = RunForm::of_config(&config);
            assert_eq!(from_form(&form), (Some(config), Vec::new()));
        }
    }

    #[test]
    fn problems_of_a_form_are_reported_at_their_field() {
        let check = |changes: &[(&str, &str)], expect: &[&str]| {
            let mut form = filled();
            changes.iter().for_each(|(name, text)| form.set(name, text));
            let (config, mut problems) = from_form(&form);
            let checked = config.map_or_else(Vec::new, |config| config.problems());
            problems.extend(checked);
            let problems = problems.into_iter().map(|bad| form.at_its_field(bad).field);
            let fields: Vec<String> = problems.collect();
            assert_eq!(fields, expect, "{changes:?}");
        };
        check(&[], &[]);
        // Surrounding spaces and empty fields are harmless, and the model has a name.
        check(&[("samples", " 3 "), ("limits.pids", "")], &[]);
        check(&[("model", " "), ("samples", "0")], &["samples"]);
        check(
            &[("endpoint.model", ""), ("model", "")],
            &["model", "endpoint.model"],
        );
        check(
            &[
                ("samples", "three"),
                ("budget.usd", "1,5"),
                ("limits.pids", "-1"),
            ],
            &["budget.usd", "samples", "limits.pids"],
        );
        // What cannot be read hides nothing.
        check(
            &[("samples", "three"), ("endpoint.url", "api.example.org")],
            &["samples", "endpoint.url"],
        );
        check(&[("endpoint.parameters", "[1]")], &["endpoint.parameters"]);
        check(
            &[("endpoint.headers", r#"{"x": 1}"#)],
            &["endpoint.headers"],
        );
        check(
            &[("endpoint.prices.output", "3"), ("samples", "0")],
            &["endpoint.prices.input", "samples"],
        );
        check(&[("handover.iteration", "3")], &["handover.run"]);
        check(&[("mode", "guess")], &["mode"]);
        check(&[("tasks", "a, b\n../c")], &["tasks"]);
        check(&[("harness.name", "")], &["harness.name"]);
        check(&[("needs", "gpu")], &["needs"]);
        check(&[("agent_files", "-- ../x --\ny")], &["agent_files"]);
        check(&[("agent_files", "-- a --\n-- a --")], &["agent_files"]);
        check(&[("arm", "a\nb")], &["arm"]);
        // Replay needs no endpoint.
        check(&[("harness.name", "replay"), ("endpoint.url", "")], &[]);
        let own = [("programmer", "on"), ("programmer.harness.name", "builtin")];
        check(
            &own,
            &["programmer.endpoint.model", "programmer.endpoint.url"],
        );
        // A key that comes with the run.
        check(
            &[("endpoint.key", "+"), ("new-key-name", "a/b")],
            &["new-key-name"],
        );
    }
}
