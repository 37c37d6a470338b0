//! What harness and model say to each other, in words of no protocol.

use serde::Serialize;
use serde_json::Value;

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    System,
    User,
    Agent,
    /// The harness, with what calls came to.
    Tool,
}

/// One message. An agent's may hold reasoning and calls, a tool's only results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Message {
    pub speaker: Speaker,
    pub text: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<CallResult>,
    /// What could not be read, and was kept as it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The agent wants a tool to be used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Call {
    /// Some protocols have none.
    pub id: Option<String>,
    pub name: String,
    /// An object, or the text the model wrote when that is no JSON.
    pub arguments: Value,
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallResult {
    /// The call it answers, by its id.
    pub call: Option<String>,
    /// The tool, where the protocol says so.
    pub name: Option<String>,
    pub text: String,
    pub failed: bool,
}

/// What a model was asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// System prompts at its beginning.
    pub instructions: Vec<String>,
    pub said: Vec<Message>,
    /// The tools on offer, as OpenAI describes functions.
    pub tools: Vec<Value>,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    pub message: Message,
    /// The model's name as the provider says it.
    pub model: Option<String>,
    /// Why it stopped, in the provider's word.
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

    /// Something that should be a message and is not.
    pub fn unread(what: &Value) -> Self {
        Self {
            notes: vec!["this could not be read and is kept as it is".to_owned()],
            ..Self::new(Speaker::User, what.to_string())
        }
    }

    /// Nothing was said at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::new(self.speaker, "")
    }

    /// Adds a paragraph.
    pub fn say(&mut self, text: &str) {
        add_paragraph(&mut self.text, text);
    }

    /// Adds a paragraph of reasoning.
    pub fn reason(&mut self, text: &str) {
        add_paragraph(&mut self.reasoning, text);
    }

    fn append(&mut self, more: Self) {
        self.say(&more.text);
        self.reason(&more.reasoning);
        self.calls.extend(more.calls);
        self.results.extend(more.results);
        self.notes.extend(more.notes);
    }
}

impl Request {
    /// Adds a message. What an agent says in one go is one message, in however
    /// many pieces the protocol has it.
    pub fn push(&mut self, message: Message) {
        if message.is_empty() {
            return;
        }
        match self.said.last_mut() {
            None if message.speaker == Speaker::System => self.instructions.push(message.text),
            Some(last) if (last.speaker, message.speaker) == (Speaker::Agent, Speaker::Agent) => {
                last.append(message);
            }
            _ => self.said.push(message),
        }
    }
}

impl Call {
    /// From arguments written out by a model, which need not be JSON.
    pub fn written(id: Option<String>, name: &str, arguments: &str) -> Self {
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

    /// From arguments that may be written out or not.
    pub fn given(id: Option<String>, name: &str, arguments: &Value) -> Self {
        match arguments {
            Value::String(text) => Self::written(id, name, text),
            Value::Null => Self::written(id, name, ""),
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
