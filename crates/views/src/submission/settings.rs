//! The settings of a run on the form. Its fields, the summary of its errors and
//! its way to a configuration follow from this table.

use serde_json::{Map, Value, json};
use swe_ci_core::agent_files::AgentFiles;
use swe_ci_core::labels::Labels;
use swe_ci_core::task::TaskId;

use Only::{Handover, Models, OwnProgrammer, Programs, Replay};
use Section as In;

#[derive(Debug)]
pub struct Setting {
    /// As configurations write it: `endpoint.url`.
    pub name: &'static str,
    pub label: &'static str,
    /// Empty where the label is enough.
    pub hint: &'static str,
    pub kind: SettingKind,
    pub section: Section,
    pub only: Only,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    /// A text that a configuration always has.
    Required,
    /// An address, which a configuration always has.
    Url,
    Text,
    Number,
    Amount,
    /// An object, with an example of it.
    Json(&'static str),
    Choice,
    Flag,
    Tasks,
    Needs,
    /// Files in one text.
    Files,
}

/// A part of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// What every run is asked for.
    Start,
    Handover,
    Model,
    Work,
    Budget,
    Requests,
    Programmer,
    Step,
    Workers,
}

/// The runs that have a setting; the others ignore it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Only {
    Always,
    Replay,
    Models,
    Programs,
    OwnProgrammer,
    Handover,
}

/// In the order of the form, one a line.
#[rustfmt::skip]
pub static SETTINGS: [Setting; 56] = {
    use SettingKind::{Amount, Choice, Files, Flag, Json, Needs, Number, Required, Tasks, Text, Url};
    [
        of(Choice, "endpoint.key", "API key", "").only(Models),
        of(Required, "endpoint.model", "Model id", "As the provider knows it.").only(Models),
        of(Url, "endpoint.url", "Base URL", "Up to the version, such as https://api.example.org/v1.").only(Models),
        of(Choice, "harness.name", "Harness", ""),
        of(Choice, "split", "Split", ""),
        of(Required, "model", "Name", "On the leaderboard; the model id when empty."),
        of(Amount, "budget.usd", "US dollars at most", ""),
        of(Text, "handover.run", "Run to continue", "The id of a finished run. The new run is not ranked.").at(In::Handover, Handover),
        of(Number, "handover.iteration", "Its code after iteration", "The last scored one of each evolution when empty.").at(In::Handover, Handover),
        of(Choice, "handover.target", "Towards", "").at(In::Handover, Handover),
        of(Text, "provider", "Provider", "Optional.").within(In::Model),
        of(Text, "release_date", "Released on", "YYYY-MM-DD, to find unseen tasks.").within(In::Model),
        of(Text, "training_cutoff", "Training data up to", "YYYY-MM-DD, if the provider says so.").within(In::Model),
        of(Choice, "mode", "The programmer works from", "").at(In::Work, Models),
        of(Text, "arm", "Arm", "What an experiment varies in this run, such as with AGENTS.md; comparisons pair runs by it.").at(In::Work, Models),
        of(Files, "agent_files", "Files for the agents", "A text becomes AGENTS.md. For several files, a line such as -- .claude/skills/a/SKILL.md -- stands above each. They lie in /app, where agents start.").at(In::Work, Models),
        of(Number, "harness.max_chunks", "Chunks", "The most chunks the history is cut into.").at(In::Work, Replay),
        of(Number, "samples", "Evolutions per task", "").within(In::Work),
        of(Number, "plan.max_iterations", "Iterations at most", "").within(In::Work),
        of(Tasks, "tasks", "Only these tasks", "Names; the whole split when empty.").within(In::Work),
        of(Number, "budget.tokens", "Tokens at most", "").within(In::Budget),
        of(Number, "budget.requests", "Requests at most", "").within(In::Budget),
        of(Number, "budget.seconds", "Seconds at most", "").within(In::Budget),
        of(Amount, "evolution_budget.usd", "US dollars of each evolution", "An evolution that has spent its own budget is scored with what it reached.").within(In::Budget),
        of(Number, "evolution_budget.tokens", "Tokens of each evolution", "").within(In::Budget),
        of(Number, "evolution_budget.requests", "Requests of each evolution", "").within(In::Budget),
        of(Json(r#"{"temperature": 0}"#), "endpoint.parameters", "Parameters of every request", r#"JSON, such as {"temperature": 0, "reasoning_effort": "high"}."#).at(In::Requests, Models),
        of(Json(r#"{"x-team": "a"}"#), "endpoint.headers", "Further headers of every request", r#"JSON, such as {"x-team": "a", "x-proxy-token": {"key": "proxy"}}; the second is the text of a stored key."#).at(In::Requests, Models),
        of(Text, "harness.version", "Version of the agents", "The pinned one when empty.").at(In::Requests, Programs),
        of(Amount, "endpoint.prices.input", "Price of input", "US dollars per million tokens; the site’s price table when empty.").at(In::Requests, Models),
        of(Amount, "endpoint.prices.cached", "Price of cached input", "US dollars per million tokens; as input when empty.").at(In::Requests, Models),
        of(Amount, "endpoint.prices.output", "Price of output", "US dollars per million tokens.").at(In::Requests, Models),
        of(Text, "endpoint.recording", "Replay recorded responses from run", "The id of a run whose recorded responses replace the model.").at(In::Requests, Models),
        of(Flag, "allow_hosted_tools", "The provider may search the web and execute code for the agent; such a run is marked and not ranked", "").within(In::Requests),
        of(Choice, "programmer.harness.name", "Programmer’s harness", "").at(In::Programmer, OwnProgrammer),
        of(Text, "programmer.harness.version", "Programmer’s version", "The pinned one when empty.").at(In::Programmer, OwnProgrammer),
        of(Url, "programmer.endpoint.url", "Programmer’s base URL", "").at(In::Programmer, OwnProgrammer),
        of(Required, "programmer.endpoint.model", "Programmer’s model id", "").at(In::Programmer, OwnProgrammer),
        of(Choice, "programmer.endpoint.key", "Programmer’s API key", "").at(In::Programmer, OwnProgrammer),
        of(Text, "programmer.endpoint.recording", "Programmer’s recorded responses from run", "").at(In::Programmer, OwnProgrammer),
        of(Json(r#"{"temperature": 0}"#), "programmer.endpoint.parameters", "Parameters of the programmer’s requests", r#"JSON, such as {"temperature": 0}."#).at(In::Programmer, OwnProgrammer),
        of(Json(r#"{"x-team": "a"}"#), "programmer.endpoint.headers", "Further headers of the programmer’s requests", r#"JSON, such as {"x-team": "a"}."#).at(In::Programmer, OwnProgrammer),
        of(Amount, "programmer.endpoint.prices.input", "Price of the programmer’s input", "US dollars per million tokens; the site’s price table when empty.").at(In::Programmer, OwnProgrammer),
        of(Amount, "programmer.endpoint.prices.cached", "Price of the programmer’s cached input", "US dollars per million tokens; as input when empty.").at(In::Programmer, OwnProgrammer),
        of(Amount, "programmer.endpoint.prices.output", "Price of the programmer’s output", "US dollars per million tokens.").at(In::Programmer, OwnProgrammer),
        of(Number, "plan.max_attempts", "Attempts per step", "").within(In::Step),
        of(Number, "limits.agent_seconds", "Seconds for an agent", "").within(In::Step),
        of(Number, "limits.test_seconds", "Seconds for the tests", "").within(In::Step),
        of(Number, "limits.patience_seconds", "Seconds waiting for the provider", "").within(In::Step),
        of(Number, "limits.audit_seconds", "Seconds for the audit of an evolution", "As long as its tests took when empty.").within(In::Step),
        of(Number, "limits.cpus_milli", "Thousandths of a processor", "").within(In::Step),
        of(Number, "limits.memory_mb", "Memory in MiB", "").within(In::Step),
        of(Number, "limits.pids", "Processes", "").within(In::Step),
        of(Number, "limits.disk_mb", "Disk in MiB", "").within(In::Step),
        of(Number, "limits.code_mb", "Code in MiB", "").within(In::Step),
        of(Needs, "needs", "Only workers with", "Labels that workers offer, such as arch=amd64, gpu=yes; any worker when empty.").within(In::Workers),
    ]
};

/// A setting at the start of the form, of all runs.
const fn of(
    kind: SettingKind,
    name: &'static str,
    label: &'static str,
    hint: &'static str,
) -> Setting {
    Setting {
        name,
        label,
        hint,
        kind,
        section: Section::Start,
        only: Only::Always,
    }
}

impl Setting {
    const fn only(self, only: Only) -> Self {
        Self { only, ..self }
    }

    const fn within(self, section: Section) -> Self {
        Self { section, ..self }
    }

    const fn at(self, section: Section, only: Only) -> Self {
        self.within(section).only(only)
    }

    /// The setting that a problem with this field of a configuration is about: itself,
    /// the one it is a part of, or the first of its parts.
    pub fn of_field(field: &str) -> Option<&'static Self> {
        let part = |whole: &str, part: &str| {
            part.strip_prefix(whole)
                .is_some_and(|rest| rest.starts_with('.'))
        };
        let find = |is: &dyn Fn(&str) -> bool| SETTINGS.iter().find(|setting| is(setting.name));
        find(&|name| name == field)
            .or_else(|| find(&|name| part(name, field)))
            .or_else(|| find(&|name| part(field, name)))
    }
}

impl SettingKind {
    /// The typed text as a configuration has it; none when it leaves the default.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(self, text: &str) -> Result<Option<Value>, String> {
        if text.is_empty() {
            return Ok(matches!(self, Self::Required | Self::Url).then(|| json!("")));
        }
        let no_number = || format!("`{text}` is not a valid number");
        Ok(Some(match self {
            Self::Required | Self::Url | Self::Text | Self::Choice => json!(text),
            Self::Number => json!(text.parse::<u64>().map_err(|_| no_number())?),
            Self::Amount => {
                let amount = text.parse().ok().filter(|amount: &f64| amount.is_finite());
                json!(amount.ok_or_else(no_number)?)
            }
            Self::Json(example) => match serde_json::from_str::<Map<String, Value>>(text) {
                Ok(object) => Value::Object(object),
                Err(_) => return Err(no_object(example)),
            },
            Self::Flag => json!(true),
            Self::Tasks => {
                let words = text.split(|c: char| c == ',' || c.is_whitespace());
                let tasks = words.filter(|word| !word.is_empty()).map(TaskId::new);
                let tasks: Vec<TaskId> =
                    tasks.collect::<Result<_, _>>().map_err(|e| e.to_string())?;
                json!(tasks)
            }
            Self::Needs => json!(text.parse::<Labels>()?),
            Self::Files => json!(text.parse::<AgentFiles>()?),
        }))
    }
}

pub(super) fn no_object(example: &str) -> String {
    format!("must be a JSON object such as {example}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_a_configuration_has_its_setting() {
        let check = |field: &str, expect: Option<&str>| {
            let found = Setting::of_field(field).map(|setting| setting.name);
            assert_eq!(found, expect, "{field}");
        };
        check("samples", Some("samples"));
        check("harness", Some("harness.name"));
        check("endpoint.prices", Some("endpoint.prices.input"));
        check("endpoint.headers.x-team", Some("endpoint.headers"));
        check("agent_files", Some("agent_files"));
        check("programmer.harness", Some("programmer.harness.name"));
        check("model", Some("model"));
        check("kind", None);
    }

    #[test]
    fn typed_texts() {
        let check = |kind: SettingKind, text: &str, expect: Result<Value, &str>| {
            let read = kind.read(text).map(Option::unwrap_or_default);
            assert_eq!(read, expect.map_err(str::to_owned), "{kind:?} {text}");
        };
        check(SettingKind::Required, "", Ok(json!("")));
        check(SettingKind::Number, "", Ok(Value::Null));
        check(SettingKind::Number, "3", Ok(json!(3)));
        check(SettingKind::Number, "-1", Err("`-1` is not a valid number"));
        check(
            SettingKind::Amount,
            "1,5",
            Err("`1,5` is not a valid number"),
        );
        check(
            SettingKind::Amount,
            "inf",
            Err("`inf` is not a valid number"),
        );
        check(
            SettingKind::Json("{}"),
            "[1]",
            Err("must be a JSON object such as {}"),
        );
        check(SettingKind::Tasks, "a, b\nc", Ok(json!(["a", "b", "c"])));
        assert!(SettingKind::Tasks.read("../c").is_err());
        assert!(SettingKind::Needs.read("gpu").is_err());
        let files = SettingKind::Files.read("-- a/b --\nx\n");
        assert_eq!(files, Ok(Some(json!({"a/b": "x"}))));
    }
}
