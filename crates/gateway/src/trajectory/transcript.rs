//! Requests and answers of a conversation, independent of the protocol. The
//! parsers produce them from recorded exchanges.

use serde_json::Value;

/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Speaker {
    System,
    User,
    Agent,
    /// The harness, with results of calls.
    Tool,
}

/// One message. The agent's may hold reasoning and calls, a tool's only results.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub speaker: Speaker,
    pub text: String,
    pub reasoning: String,
    pub calls: Vec<Call>,
    pub results: Vec<CallResult>,
    /// Remarks about parts that could not be parsed.
    pub notes: Vec<String>,
}

/// A tool call of the agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Absent in some protocols.
    pub id: Option<String>,
    pub name: String,
    /// An object, or the model's text if it is not a JSON object.
    pub arguments: Value,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    /// The id of the call.
    pub call: Option<String>,
    /// The tool, if the protocol names it.
    pub name: Option<String>,
    pub text: String,
    pub failed: bool,
}

/// A request to the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// System prompts at the start.
    pub instructions: Vec<String>,
    pub messages: Vec<Message>,
    /// The offered tools, in OpenAI's function format.
    pub tools: Vec<Value>,
}

/// The model's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub message: Message,
    /// The provider's name of the model.
    pub model: Option<String>,
    /// The provider's stop reason.
    pub stopped: Option<String>,
}

impl Message {
    pub fn new(speaker: Speaker, text: impl Into<String>) -> Self {
        Self {
            speaker,
            text: text.into(),
            reasoning: String::new(),
            calls: Vec::new(),
            results: Vec::new(),
            notes: Vec::new(),
        }
    }

    pub fn result(result: CallResult) -> Self {
        Self {
            results: vec![result],
            ..Self::new(Speaker::Tool, "")
        }
    }

    /// A value in the place of a message that is not one.
    pub fn unreadable(value: &Value) -> Self {
        Self {
            notes: vec!["this could not be parsed and is shown unchanged".to_owned()],
            ..Self::new(Speaker::User, value.to_string())
        }
    }

    /// Whether there is no content.
    pub fn is_empty(&self) -> bool {
        *self == Self::new(self.speaker, "")
    }

    /// Adds a paragraph.
    pub fn add_text(&mut self, text: &str) {
        add_paragraph(&mut self.text, text);
    }

    /// Adds a paragraph of reasoning.
    pub fn add_reasoning(&mut self, text: &str) {
        add_paragraph(&mut self.reasoning, text);
    }

    fn append(&mut self, more: Self) {
        self.add_text(&more.text);
        self.add_reasoning(&more.reasoning);
        self.calls.extend(more.calls);
        self.results.extend(more.results);
        self.notes.extend(more.notes);
    }
}

impl Request {
    /// Adds a message. Consecutive messages of the agent become one, since some
    /// protocols split an answer into several.
    pub fn push(&mut self, message: Message) {
        if message.is_empty() {
            return;
        }
        match self.messages.last_mut() {
            None if message.speaker == Speaker::System => self.instructions.push(message.text),
            Some(last) if (last.speaker, message.speaker) == (Speaker::Agent, Speaker::Agent) => {
                last.append(message);
            }
            _ => self.messages.push(message),
        }
    }
}

impl Call {
    /// Parses arguments in text form, which need not be JSON.
    pub fn from_text(id: Option<String>, name: &str, arguments: &str) -> Self {
        let arguments = match serde_json::from_str(arguments) {
            Ok(value @ Value::Object(_)) => value,
            _ if arguments.trim().is_empty() => Value::Object(serde_json::Map::new()),
            _ => Value::from(arguments),
        };
        Self {
            id,
            name: name.to_owned(),
            arguments,
        }
    }

    /// From arguments in text form or as a JSON value.
    pub fn from_value(id: Option<String>, name: &str, arguments: &Value) -> Self {
        match arguments {
            Value::String(text) => Self::from_text(id, name, text),
            Value::Null => Self::from_text(id, name, ""),
            other => Self {
                id,
                name: name.to_owned(),
                arguments: other.clone(),
            },
        }
    }
}

fn add_paragraph(to: &mut String, text: &str) {
    if !to.is_empty() && !text.is_empty() {
        to.push('\n');
    }
    to.push_str(text);
}
