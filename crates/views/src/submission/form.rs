//! The form for submitting a run: every field as typed text. Its field names
//! are those of the configuration, so that a problem appears at its field.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use swe_ci_core::problems::BadConfig;
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::{Kind, Limits, RunConfig};
use swe_ci_core::step::Plan;
use swe_ci_core::task::TaskId;

use super::presets::Preset;
use super::settings::{Only, SETTINGS, Setting, SettingKind, no_object};

/// The typed texts by the names of the fields. Empty fields count as absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunForm(BTreeMap<String, String>);

/// Ticked when the programmer has a harness and an endpoint of its own.
pub const OWN_PROGRAMMER: &str = "programmer";
/// Chosen in place of a stored key to store one with the run.
pub const ADD_KEY: &str = "+";
/// The field with the name of that key.
pub const NEW_KEY_NAME: &str = "new-key-name";
/// The field with that key.
pub const NEW_KEY: &str = "new-key";

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
        form.set("agent_files", &config.agent_files);
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

    /// Fills in what a provider needs. `has_key` says whether a key is stored under
    /// the preset's name.
    pub fn apply(&mut self, preset: &Preset, harness: &str, has_key: bool) {
        self.set("endpoint.url", preset.url);
        self.set("provider", preset.provider);
        self.set("harness.name", harness);
        match (preset.needs_key, has_key) {
            (true, true) => self.set("endpoint.key", preset.name),
            // Never the name of a stored key: the new one would replace it.
            (true, false) => {
                self.set("endpoint.key", ADD_KEY);
                self.set(NEW_KEY_NAME, preset.name);
            }
            (false, _) => {}
        }
    }

    /// The configuration in the form as JSON, without what cannot be read, and what
    /// is wrong with that.
    pub fn to_json(&self) -> (Value, Vec<BadConfig>) {
        let kind = match self.has(Only::Models) {
            true => Kind::Measured,
            false => Kind::Human,
        };
        let mut config = json!({ "kind": kind });
        let mut problems = Vec::new();
        for setting in SETTINGS.iter().filter(|setting| self.has(setting.only)) {
            let typed = match setting.kind {
                // Every space of a file is its own.
                SettingKind::Files => self.0.get(setting.name).map_or("", String::as_str),
                _ => self.typed(setting.name),
            };
            match setting.kind.read(typed) {
                Ok(Some(value)) => put(&mut config, setting.name, value),
                Ok(None) => {}
                Err(problem) => problems.push(BadConfig::new(setting.name, problem)),
            }
        }
        (config, problems)
    }

    /// A problem of the configuration in the form, at the field that shows it.
    pub fn at_its_field(&self, bad: BadConfig) -> BadConfig {
        let Some(setting) = Setting::of_field(&bad.field) else {
            return bad;
        };
        let field = match setting.name {
            "endpoint.key" if self.adds_key() => NEW_KEY_NAME,
            name => name,
        };
        let problem = match setting.kind {
            _ if bad.problem.starts_with("missing field") => "required".to_owned(),
            SettingKind::Json(example) if field.len() < bad.field.len() => no_object(example),
            _ => bad.problem,
        };
        BadConfig::new(field, problem)
    }

    pub fn adds_key(&self) -> bool {
        self.has(Only::Models) && self.text("endpoint.key") == ADD_KEY
    }

    fn has(&self, only: Only) -> bool {
        let harness = self.text("harness.name");
        let asks = harness != "replay";
        match only {
            Only::Always => true,
            Only::Replay => !asks,
            Only::Models => asks,
            Only::Programs => asks && harness != "builtin",
            Only::OwnProgrammer => !self.text(OWN_PROGRAMMER).is_empty(),
            Only::Handover => {
                let named = ["handover.run", "handover.iteration"];
                asks && named.iter().any(|name| !self.text(name).is_empty())
            }
        }
    }

    /// The text of a field, or of the one that stands in for it.
    fn typed(&self, name: &str) -> &str {
        match (name, self.text(name)) {
            ("model", "") if self.has(Only::Models) => self.text("endpoint.model"),
            ("harness.max_chunks", "") => self.text("plan.max_iterations"),
            ("endpoint.key", ADD_KEY) => self.text(NEW_KEY_NAME),
            (_, text) => text,
        }
    }

    pub fn set(&mut self, name: &str, value: impl Display) {
        self.0.insert(name.to_owned(), value.to_string());
    }

    /// Sets the fields of a part of a configuration, except lists and labels;
    /// parameters and headers of an endpoint stay JSON.
    fn set_all(&mut self, name: &str, value: &Value) {
        match value {
            Value::Object(_) if matches!(name, "needs" | "agent_files") => {}
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
    let setting = Setting::of_field(name).filter(|setting| setting.name == name);
    setting.is_some_and(|setting| matches!(setting.kind, SettingKind::Json(_)))
}

/// Puts a value at a path with dots.
fn put(config: &mut Value, path: &str, value: Value) {
    let mut place = config;
    for name in path.split('.') {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        place = &mut place[name];
    }
    *place = value;
}
