//! Requests and answers of a conversation, independent of the protocol. The
//! parsers produce them from recorded exchanges.

use serde_json::{Map, Value};
pub use swe_ci_views::conversation::Speaker;

/// One message. The agent's may hold reasoning and calls, a tool's only results.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Message {
    pub speaker: Speaker,
    pub text: String,
    pub reasoning: String,
    pub calls: Vec<Call>,
    pub results: Vec<CallResult>,
    /// Remarks about parts that could not be parsed.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Absent in some protocols.
    pub id: Option<String>,
    pub name: String,
    /// An object, or the model's text if it is not a JSON object.
    pub arguments: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    pub call: Option<String>,
    /// The tool, if the protocol names it.
    pub name: Option<String>,
    pub text: String,
    pub failed: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// System prompts at the start.
    pub instructions: Vec<String>,
    pub messages: Vec<Message>,
    /// The offered tools, in OpenAI's function format.
    pub tools: Vec<Value>,
}

#[derive(Debug, Clone, Default, PartialEq)]
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
            ..Self::default()
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

    pub fn is_empty(&self) -> bool {
        *self == Self::new(self.speaker, "")
    }

    pub fn add_text(&mut self, text: &str) {
        add_paragraph(&mut self.text, text);
    }

    pub fn add_reasoning(&mut self, text: &str) {
        add_paragraph(&mut self.reasoning, text);
    }

    pub fn append(&mut self, more: Self) {
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
            Some(last)
                if (last.speaker, message.speaker) == (Speaker::Assistant, Speaker::Assistant) =>
            {
                last.append(message);
            }
            _ => self.messages.push(message),
        }
    }
}

impl Call {
    /// Arguments in text form are parsed; they need not be JSON.
    pub fn new(id: Option<String>, name: &str, arguments: Value) -> Self {
        let arguments = match arguments {
            Value::String(text) => match serde_json::from_str(&text) {
                Ok(object @ Value::Object(_)) => object,
                _ if text.trim().is_empty() => Value::Object(Map::new()),
                _ => Value::String(text),
            },
            Value::Null => Value::Object(Map::new()),
            other => other,
        };
        Self {
            id,
            name: name.to_owned(),
            arguments,
        }
    }
}

fn add_paragraph(to: &mut String, text: &str) {
    if !to.is_empty() && !text.is_empty() {
        to.push('\n');
    }
    to.push_str(text);
}
