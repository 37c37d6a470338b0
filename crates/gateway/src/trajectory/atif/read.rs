//! Reads ATIF of other programs into conversations. It asks for what a transcript
//! needs, and passes over the format's other fields.

use std::fmt;

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::{Map, Value};
use swe_ci_base::clock::unix_ms;
use swe_ci_core::agent::Protocol;
use swe_ci_core::usage::Usage;

use super::format::Source;
use crate::Exchange;
use crate::trajectory::conversations::{Conversation, Turn};
use crate::trajectory::transcript::{Answer, Call, CallResult, Message, Speaker};

/// The versions that differ only in fields that are not used here.
const VERSIONS: &str = "ATIF-v1.";

/// The conversations of a file, the outermost first.
///
/// # Errors
/// It is no JSON of this format, or has no steps.
pub fn read(bytes: &[u8]) -> anyhow::Result<Vec<Conversation>> {
    let trajectory: Trajectory =
        serde_json::from_slice(bytes).context("this is no trajectory in ATIF")?;
    let mut all = Vec::new();
    trajectory.flatten(&mut 0, &mut all)?;
    Ok(all)
}

#[derive(Deserialize)]
struct Trajectory {
    schema_version: String,
    agent: Agent,
    steps: Vec<Step>,
    subagent_trajectories: Option<Vec<Self>>,
    continued_trajectory_ref: Option<String>,
}

#[derive(Deserialize)]
struct Agent {
    model_name: Option<String>,
    tool_definitions: Option<Vec<Value>>,
}

#[derive(Deserialize)]
struct Step {
    timestamp: Option<String>,
    source: Source,
    message: Content,
    model_name: Option<String>,
    reasoning_content: Option<String>,
    tool_calls: Option<Vec<ToolCall>>,
    observation: Option<Observation>,
    metrics: Option<Metrics>,
    is_copied_context: Option<bool>,
    extra: Option<Extra>,
}

/// Since 1.6 a message may be in parts.
#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
    /// Of a picture or a sound: its type and where it lies.
    source: Option<Value>,
}

#[derive(Deserialize)]
struct ToolCall {
    tool_call_id: String,
    function_name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

#[derive(Deserialize)]
struct Observation {
    results: Vec<ObservationResult>,
}

#[derive(Deserialize)]
struct ObservationResult {
    source_call_id: Option<String>,
    content: Option<Content>,
    subagent_trajectory_ref: Option<Value>,
    extra: Option<ResultExtra>,
}

#[derive(Deserialize)]
struct Metrics {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    cached_tokens: Option<u64>,
    extra: Option<MetricsExtra>,
}

/// The fields that the export of this program adds. Other programs may have other
/// things under these names, which then are absent.
#[derive(Default, Deserialize)]
struct Extra {
    #[serde(default, deserialize_with = "lenient")]
    finish_reason: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    error: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    status: Option<u16>,
    #[serde(default, deserialize_with = "lenient")]
    complete: Option<bool>,
}

#[derive(Default, Deserialize)]
struct ResultExtra {
    #[serde(default, deserialize_with = "lenient")]
    is_error: Option<bool>,
    #[serde(default, deserialize_with = "lenient")]
    call: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    name: Option<String>,
}

#[derive(Default, Deserialize)]
struct MetricsExtra {
    #[serde(default, deserialize_with = "lenient")]
    reasoning_tokens: Option<u64>,
}

/// `None` for a value of another type.
fn lenient<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::de::DeserializeOwned,
{
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).ok())
}

impl Trajectory {
    /// Appends its conversation, then those of the trajectories inside. `answers`
    /// counts those of the whole file.
    fn flatten(self, answers: &mut u32, all: &mut Vec<Conversation>) -> anyhow::Result<()> {
        let version = self.schema_version.escape_debug();
        ensure!(
            self.schema_version.starts_with(VERSIONS),
            "`schema_version` is `{version}`, and this program reads {VERSIONS}x"
        );
        ensure!(!self.steps.is_empty(), "`steps` is empty");
        let mut conversation = conversation(self.agent, self.steps, answers);
        if let Some(file) = self.continued_trajectory_ref {
            let text = format!("[the trajectory goes on in another file: {file}]");
            conversation.rest.push(Message::new(Speaker::System, text));
        }
        all.push(conversation);
        for inner in self.subagent_trajectories.into_iter().flatten() {
            inner.flatten(answers, all)?;
        }
        Ok(())
    }
}

fn conversation(agent: Agent, steps: Vec<Step>, answers: &mut u32) -> Conversation {
    let mut conversation = Conversation {
        tools: agent.tool_definitions.unwrap_or_default(),
        ..Conversation::default()
    };
    // A step without a time is as old as the one before it.
    let mut now = steps.iter().find_map(Step::at).unwrap_or(0);
    let mut added = Vec::new();
    for step in steps {
        let (began, ended) = (now, step.at().unwrap_or(now));
        now = ended;
        let is_start = conversation.turns.is_empty() && added.is_empty();
        match step.source {
            Source::Agent if !step.is_copied() => {
                *answers += 1;
                let exchange = step.exchange(*answers, began, ended);
                let (answer, results) = step.answer(agent.model_name.as_deref());
                conversation.turns.push(Turn {
                    exchange,
                    added: std::mem::take(&mut added),
                    answer,
                    results,
                });
            }
            Source::System if is_start && step.observation.is_none() => {
                conversation.instructions.push(step.message.to_string());
            }
            _ => {
                let (message, results) = step.parts();
                added.extend(Some(message).filter(|message| !message.is_empty()));
                added.extend(results.into_iter().map(Message::result));
            }
        }
    }
    conversation.rest = added;
    conversation
}

impl Step {
    /// In unix milliseconds.
    fn at(&self) -> Option<i64> {
        self.timestamp.as_deref().and_then(unix_ms)
    }

    fn is_copied(&self) -> bool {
        self.is_copied_context == Some(true)
    }

    /// The request as a gateway would know it. The format has one time for each
    /// step, so the time since the step before is the answer's.
    fn exchange(&self, ordinal: u32, started_at: i64, finished_at: i64) -> Exchange {
        let extra = self.extra.as_ref();
        Exchange {
            ordinal,
            protocol: Protocol::default(),
            request: Value::Null,
            parameters: serde_json::Map::new(),
            status: extra.and_then(|extra| extra.status).unwrap_or(200),
            streamed: false,
            response: String::new(),
            complete: extra.and_then(|extra| extra.complete).unwrap_or(true),
            usage: self.metrics.as_ref().and_then(Metrics::usage),
            started_at,
            finished_at,
            waiting_ms: 0,
            retries: Vec::new(),
            error: extra.and_then(|extra| extra.error.clone()),
        }
    }

    fn answer(self, model: Option<&str>) -> (Answer, Vec<CallResult>) {
        let model = self.model_name.clone().or(model.map(str::to_owned));
        let extra = self.extra.as_ref();
        let stopped = extra.and_then(|extra| extra.finish_reason.clone());
        let (message, results) = self.parts();
        let answer = Answer {
            message,
            model,
            stopped,
        };
        (answer, results)
    }

    /// The message itself, and the results beside it.
    fn parts(self) -> (Message, Vec<CallResult>) {
        let speaker = match self.source {
            Source::System => Speaker::System,
            Source::User => Speaker::User,
            Source::Agent => Speaker::Assistant,
        };
        let calls = self.tool_calls.into_iter().flatten().map(|call| Call {
            // Some programs write none as an empty one.
            id: Some(call.tool_call_id).filter(|id| !id.is_empty()),
            name: call.function_name,
            arguments: Value::Object(call.arguments),
        });
        let text = self.message.to_string();
        // Some programs write the text as the reasoning once more.
        let reasoning = self
            .reasoning_content
            .filter(|reasoning| *reasoning != text);
        let message = Message {
            reasoning: reasoning.unwrap_or_default(),
            calls: calls.collect(),
            ..Message::new(speaker, text)
        };
        let observation = self.observation.map(|observation| observation.results);
        let results = observation.into_iter().flatten();
        let mut results: Vec<CallResult> = results.map(ObservationResult::read).collect();
        link_by_position(&message.calls, &mut results);
        (message, results)
    }
}

/// Programs that name no calls give one result for each, in their order.
fn link_by_position(calls: &[Call], results: &mut [CallResult]) {
    if calls.len() == results.len() && results.iter().all(|result| result.call.is_none()) {
        for (call, result) in calls.iter().zip(results) {
            result.call.clone_from(&call.id);
            result.name = Some(call.name.clone());
        }
    }
}

impl ObservationResult {
    fn read(self) -> CallResult {
        let extra = self.extra.unwrap_or_default();
        let mut text = self.content.map(|content| content.to_string());
        if let Some(other) = self.subagent_trajectory_ref {
            let text = text.get_or_insert_default();
            let between = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!(
                "{between}[the trajectory of a sub-agent: {other}]"
            ));
        }
        CallResult {
            call: self.source_call_id.or(extra.call),
            name: extra.name,
            text: text.unwrap_or_default(),
            failed: extra.is_error.unwrap_or_default(),
        }
    }
}

impl Metrics {
    fn usage(&self) -> Option<Usage> {
        let extra = self.extra.as_ref();
        let counted = self.prompt_tokens.or(self.completion_tokens);
        counted.map(|_| Usage {
            input_tokens: self.prompt_tokens.unwrap_or(0),
            output_tokens: self.completion_tokens.unwrap_or(0),
            cached_tokens: self.cached_tokens.unwrap_or(0),
            reasoning_tokens: extra.and_then(|extra| extra.reasoning_tokens).unwrap_or(0),
        })
    }
}

/// The text; a part that has none is named by its source.
impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Parts(parts) => {
                for (number, part) in parts.iter().enumerate() {
                    let between = if number == 0 { "" } else { "\n" };
                    match (&part.text, &part.source) {
                        (Some(text), _) => write!(f, "{between}{text}")?,
                        (None, Some(source)) => write!(f, "{between}[{source}]")?,
                        (None, None) => {}
                    }
                }
                Ok(())
            }
        }
    }
}
