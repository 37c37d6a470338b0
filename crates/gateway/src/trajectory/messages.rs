//! Converts conversations into the messages that pages show.

use serde_json::Value;
use swe_ci_base::clock::rfc3339;
use swe_ci_views::conversation::{
    Answered, Argument, Begin, Message as Shown, Messages, Part, Speaker,
};

use super::conversations::{Conversation, Turn};
use super::transcript::{Call, CallResult, Message};
use crate::Exchange;

/// All messages of a step.
pub(super) fn written(conversations: Vec<Conversation>) -> Messages {
    let mut writer = Writer::default();
    for conversation in conversations {
        writer.conversation(conversation);
    }
    writer.all
}

#[derive(Debug, Default)]
struct Writer {
    all: Messages,
    /// The time of the next message, in RFC 3339.
    now: String,
}

impl Writer {
    fn conversation(&mut self, conversation: Conversation) {
        let begin = self.all.messages.len();
        self.all.conversations.push(Begin {
            first: count(begin + 1),
            messages: 0,
            tools: conversation.tools.iter().filter_map(name).collect(),
        });
        let first = conversation.turns.first();
        self.now = rfc3339(first.map_or(0, |turn| turn.exchange.started_at));
        for text in conversation.instructions {
            self.message(Message::new(Speaker::System, text));
        }
        for turn in conversation.turns {
            self.turn(turn);
        }
        for message in conversation.rest {
            self.message(message);
        }
        let messages = count(self.all.messages.len() - begin);
        if let Some(begun) = self.all.conversations.last_mut() {
            begun.messages = messages;
        }
    }

    fn turn(&mut self, turn: Turn) {
        self.now = rfc3339(turn.exchange.started_at);
        for message in turn.added {
            self.message(message);
        }
        self.now = rfc3339(turn.exchange.finished_at);
        let exchange = &turn.exchange;
        let took = exchange.finished_at.saturating_sub(exchange.started_at);
        let answered = Answered {
            exchange: exchange.ordinal,
            model: turn.answer.model,
            stopped: turn.answer.stopped,
            usage: exchange.usage,
            seconds: u32::try_from(took / 1_000).unwrap_or_default(),
            retries: count(exchange.retries.len()),
        };
        let calls = turn.answer.message.calls.clone();
        let mut parts = parts(turn.answer.message);
        parts.extend(failure(&turn.exchange));
        self.push(Speaker::Assistant, Some(answered), parts);
        for result in turn.results {
            self.result(result, &calls);
        }
    }

    fn message(&mut self, message: Message) {
        self.push(message.speaker, None, parts(message));
    }

    /// Adds a result. Some protocols give only the call's id; this finds the tool.
    fn result(&mut self, mut result: CallResult, calls: &[Call]) {
        if result.name.is_none() && result.call.is_some() {
            let call = calls.iter().find(|call| call.id == result.call);
            result.name = call.map(|call| call.name.clone());
        }
        self.push(Speaker::Tool, None, vec![result_part(result)]);
    }

    fn push(&mut self, speaker: Speaker, answered: Option<Answered>, parts: Vec<Part>) {
        self.all.messages.push(Shown {
            number: count(self.all.messages.len() + 1),
            conversation: count(self.all.conversations.len()),
            speaker,
            at: self.now.clone(),
            answered,
            parts,
        });
    }
}

fn parts(message: Message) -> Vec<Part> {
    let mut parts = Vec::new();
    if !message.reasoning.is_empty() {
        let said = message.reasoning.into();
        parts.push(Part::Reasoning { said });
    }
    if !message.text.is_empty() {
        let said = message.text.into();
        parts.push(Part::Said { said });
    }
    parts.extend(message.calls.into_iter().map(call_part));
    parts.extend(message.results.into_iter().map(result_part));
    let notes = message.notes.into_iter();
    parts.extend(notes.map(|note| Part::Note { said: note.into() }));
    parts
}

fn call_part(call: Call) -> Part {
    let argument = |(name, value): (String, Value)| Argument {
        name,
        value: plain_text(value).into(),
    };
    let arguments = match call.arguments {
        Value::Object(arguments) => arguments.into_iter().map(argument).collect(),
        other => vec![argument((String::new(), other))],
    };
    Part::Call {
        id: call.id,
        tool: call.name,
        arguments,
    }
}

fn result_part(result: CallResult) -> Part {
    Part::Result {
        call: result.call,
        tool: result.name,
        failed: result.failed,
        said: result.text.into(),
    }
}

/// Text stays unescaped, since code in a JSON string is unreadable.
fn plain_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => serde_json::to_string_pretty(&other).unwrap_or_default(),
    }
}

/// A note about a failed or incomplete answer.
fn failure(exchange: &Exchange) -> Option<Part> {
    let why = match &exchange.error {
        Some(error) => error.clone(),
        None if !exchange.complete => "the answer is incomplete".to_owned(),
        None => return None,
    };
    Some(Part::Note { said: why.into() })
}

/// The name of a tool in OpenAI's function format.
fn name(tool: &Value) -> Option<String> {
    let name = tool["function"]["name"].as_str().or(tool["name"].as_str());
    name.map(str::to_owned)
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
