//! Conversations as the messages that pages show, one after the other.

use std::borrow::Cow;

use serde_json::Value;
use swe_ci_core::conversation::{
    Answered, Argument, Begin, Message as Shown, Messages, Part, Speaker as Who,
};

use super::conversations::{Conversation, Turn, gathered};
use super::said::{Call, CallResult, Message, Speaker};
use crate::clock::rfc3339;
use crate::gateway::{Exchange, Lines};

/// All that was said in a step. Takes memory for what was said once, however
/// often a recording repeats it.
///
/// # Errors
/// A line of the recording that cannot be read.
pub fn messages(lines: &Lines) -> anyhow::Result<Messages> {
    let exchange = |index| lines.exchange(index).map(Cow::Owned);
    let mut writer = Writer::default();
    for conversation in gathered(lines.len(), exchange)? {
        writer.conversation(conversation);
    }
    Ok(writer.all)
}

/// The messages so far.
#[derive(Debug, Default)]
struct Writer {
    all: Messages,
    /// RFC 3339, of what comes next.
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
        let answered = Answered {
            model: turn.answer.model,
            stopped: turn.answer.stopped,
            ..answered(&turn.exchange)
        };
        let calls = turn.answer.message.calls.clone();
        let mut parts = parts(turn.answer.message);
        parts.extend(failure(&turn.exchange));
        self.push(Who::Assistant, Some(answered), parts);
        for result in turn.results {
            self.result(result, &calls);
        }
    }

    fn message(&mut self, message: Message) {
        let speaker = match message.speaker {
            Speaker::System => Who::System,
            Speaker::User => Who::User,
            Speaker::Agent => Who::Assistant,
            Speaker::Tool => Who::Tool,
        };
        self.push(speaker, None, parts(message));
    }

    /// Protocols that call results by ids alone leave the tool to be found.
    fn result(&mut self, mut result: CallResult, calls: &[Call]) {
        if result.name.is_none() && result.call.is_some() {
            let call = calls.iter().find(|call| call.id == result.call);
            result.name = call.map(|call| call.name.clone());
        }
        self.push(Who::Tool, None, vec![of_result(result)]);
    }

    fn push(&mut self, speaker: Who, answered: Option<Answered>, parts: Vec<Part>) {
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
    parts.extend(message.calls.into_iter().map(of_call));
    parts.extend(message.results.into_iter().map(of_result));
    let notes = message.notes.into_iter();
    parts.extend(notes.map(|note| Part::Note { said: note.into() }));
    parts
}

fn of_call(call: Call) -> Part {
    let argument = |name: String, value: Value| Argument {
        name,
        value: written(value).into(),
    };
    let arguments = match call.arguments {
        Value::Object(arguments) => {
            let arguments = arguments.into_iter();
            arguments
                .map(|(name, value)| argument(name, value))
                .collect()
        }
        other => vec![argument(String::new(), other)],
    };
    Part::Call {
        id: call.id,
        tool: call.name,
        arguments,
    }
}

fn of_result(result: CallResult) -> Part {
    Part::Result {
        call: result.call,
        tool: result.name,
        failed: result.failed,
        said: result.text.into(),
    }
}

/// A text as it is: code in a JSON string cannot be read by anybody.
fn written(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => serde_json::to_string_pretty(&other).unwrap_or_default(),
    }
}

fn answered(exchange: &Exchange) -> Answered {
    let took = exchange.finished_at.saturating_sub(exchange.started_at);
    Answered {
        exchange: exchange.ordinal,
        usage: exchange.usage,
        seconds: u32::try_from(took / 1_000).unwrap_or_default(),
        retries: count(exchange.retries.len()),
        ..Answered::default()
    }
}

/// What went wrong with an answer, where that is not said in it.
fn failure(exchange: &Exchange) -> Option<Part> {
    let why = match &exchange.error {
        Some(error) => error.clone(),
        None if !exchange.complete => "the answer did not come to its end".to_owned(),
        None => return None,
    };
    Some(Part::Note { said: why.into() })
}

/// Of a tool as OpenAI describes functions.
fn name(tool: &Value) -> Option<String> {
    let name = tool["function"]["name"].as_str().or(tool["name"].as_str());
    name.map(str::to_owned)
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
