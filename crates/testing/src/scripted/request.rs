//! Parses an agent's request, with one parser for all four protocols: they name
//! the same things differently, but no name has two meanings.

use axum::http::Method;
use serde_json::Value;
use swe_ci_core::agent::Protocol;
use swe_ci_core::step::Role;

use super::script::MARKERS;
use super::tools::{self, Tool};

/// The operation a path stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Answer,
    /// Count the tokens of a conversation.
    Count,
    Models,
}

#[derive(Debug)]
pub(super) struct AgentRequest {
    pub model: String,
    pub streamed: bool,
    /// Whether a stream of chat completions must end with the usage.
    pub wants_usage: bool,
    pub messages: Vec<Message>,
    pub tools: Vec<Tool>,
    /// The schema of the answer, if it has to be JSON.
    pub schema: Option<Value>,
    /// The request only checks that the server answers.
    is_probe: bool,
}

#[derive(Debug)]
pub(super) struct Message {
    pub is_answer: bool,
    pub text: String,
    pub calls: Vec<String>,
}

/// The places of an answer's schema in the protocols.
const SCHEMAS: [&str; 6] = [
    "/response_format/json_schema/schema",
    "/text/format/schema",
    "/output_config/format/schema",
    "/output_format/schema",
    "/generationConfig/responseSchema",
    "/generationConfig/responseJsonSchema",
];

/// The protocol and operation of a request. The path may have any prefix, since
/// gateways add one.
pub(super) fn operation(method: &Method, path: &str) -> Option<(Protocol, Operation)> {
    if method == Method::GET {
        return path
            .ends_with("/models")
            .then_some((Protocol::Chat, Operation::Models));
    }
    let (rest, verb) = path.rsplit_once(['/', ':'])?;
    match verb {
        "completions" if rest.ends_with("/chat") => Some((Protocol::Chat, Operation::Answer)),
        "responses" => Some((Protocol::Responses, Operation::Answer)),
        "messages" => Some((Protocol::Messages, Operation::Answer)),
        "count_tokens" => Some((Protocol::Messages, Operation::Count)),
        "generateContent" | "streamGenerateContent" => Some((Protocol::Gemini, Operation::Answer)),
        "countTokens" => Some((Protocol::Gemini, Operation::Count)),
        _ => None,
    }
}

impl AgentRequest {
    pub fn read(path: &str, body: &Value) -> Self {
        let in_path = path
            .rsplit_once("/models/")
            .and_then(|(_, rest)| rest.split_once(':'));
        let model = in_path.map_or(body["model"].as_str(), |(model, _)| Some(model));
        Self {
            model: model.unwrap_or_default().to_owned(),
            streamed: body["stream"] == true || path.ends_with(":streamGenerateContent"),
            wants_usage: body["stream_options"]["include_usage"] == true,
            messages: messages(body),
            tools: tools(body),
            schema: SCHEMAS.iter().find_map(|at| body.pointer(at)).cloned(),
            is_probe: body["max_tokens"] == 1,
        }
    }

    /// The agent's role and how many answers it has got; none for side requests: a
    /// title, a summary or a check.
    pub fn turn(&self) -> Option<(Role, usize)> {
        let works = tools::can_work(&self.tools) || self.is_aider();
        if !works || self.is_probe || self.schema.is_some() {
            return None;
        }
        // Messages before the prompt are examples.
        let mut messages = self.messages.iter();
        let role = messages.find_map(Message::role)?;
        let answers = messages.filter(|message| message.is_answer && !message.only_reads());
        Some((role, answers.count()))
    }

    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.messages.iter().map(|m| m.text.as_str()).collect();
        texts.join("\n")
    }

    pub fn has_just_read(&self) -> bool {
        let last = self.messages.iter().rfind(|message| message.is_answer);
        last.is_some_and(Message::only_reads)
    }

    /// aider offers no tools and explains how it wants edits written.
    pub fn is_aider(&self) -> bool {
        self.tools.is_empty() && self.says("SEARCH/REPLACE")
    }

    pub fn says(&self, words: &str) -> bool {
        self.messages
            .iter()
            .any(|message| message.text.contains(words))
    }
}

impl Message {
    fn read(item: &Value) -> Self {
        let mut text = String::new();
        strings(item, &mut text);
        let is_answer = matches!(item["role"].as_str(), Some("assistant" | "model"))
            || matches!(item["type"].as_str(), Some("function_call" | "reasoning"));
        Self {
            is_answer,
            text,
            calls: calls(item),
        }
    }

    fn role(&self) -> Option<Role> {
        let found = MARKERS
            .iter()
            .filter_map(|(role, marker)| self.text.find(marker).map(|at| (at, *role)));
        found.min_by_key(|(at, _)| *at).map(|(_, role)| role)
    }

    /// Some harnesses allow changes only to files that were read. Such a read is
    /// not a turn of the script.
    fn only_reads(&self) -> bool {
        !self.calls.is_empty() && self.calls.iter().all(|name| tools::reads(name))
    }
}

fn messages(body: &Value) -> Vec<Message> {
    let system = ["system", "instructions", "systemInstruction"];
    let system = system.iter().filter_map(|field| body.get(field));
    let messages = ["messages", "input", "contents"];
    let messages = messages.iter().filter_map(|field| body.get(field));
    let messages = messages.flat_map(|messages| match messages {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    });
    let mut messages: Vec<Message> = system.chain(messages).map(Message::read).collect();
    // An answer may have several parts: text and calls.
    messages.dedup_by(|part, whole| {
        let same = part.is_answer && whole.is_answer;
        if same {
            whole.text.push_str(&part.text);
            whole.calls.append(&mut part.calls);
        }
        same
    });
    messages
}

fn tools(body: &Value) -> Vec<Tool> {
    list(body, "tools")
        .flat_map(|tool| match tool["functionDeclarations"].as_array() {
            Some(tools) => tools.as_slice(),
            None => std::slice::from_ref(tool),
        })
        .filter_map(|tool| {
            let tool = tool.get("function").unwrap_or(tool);
            let fields = ["parameters", "input_schema", "parametersJsonSchema"];
            let parameters = fields.iter().find_map(|field| tool.get(field));
            Some(Tool {
                name: tool["name"].as_str()?.to_owned(),
                parameters: parameters.cloned().unwrap_or_default(),
            })
        })
        .collect()
}

fn calls(item: &Value) -> Vec<String> {
    let chat = list(item, "tool_calls").map(|call| &call["function"]);
    let messages = list(item, "content").filter(|part| part["type"] == "tool_use");
    let gemini = list(item, "parts").map(|part| &part["functionCall"]);
    let responses = (item["type"] == "function_call").then_some(item);
    chat.chain(messages)
        .chain(gemini)
        .chain(responses)
        .filter_map(|call| call["name"].as_str())
        .map(ToOwned::to_owned)
        .collect()
}

fn list<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    value[field].as_array().into_iter().flatten()
}

/// Collects every string in a value, at any depth.
fn strings(value: &Value, into: &mut String) {
    match value {
        Value::String(text) => {
            into.push_str(text);
            into.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| strings(item, into)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, into)),
        _ => {}
    }
}
