//! Plays the script: finds the turn of a conversation, and answers with the tools
//! of its harness.

use std::collections::HashMap;
use std::sync::Mutex;

use super::answer::Answer;
use super::request::AgentRequest;
use super::schema::smallest_value;
use super::script::{Conversation, Fault, Script, Turn, usage};
use super::tool_calls::{carry_out, for_aider};
use super::tools::Call;
use crate::lock;

/// Maximum turns of a script that is sent in one answer and does not end.
const MAX_TURNS: usize = 100;

#[derive(Debug)]
pub(super) struct Player {
    script: Script,
    /// How often each conversation, by its text, was requested.
    repeats: Mutex<HashMap<String, usize>>,
}

impl Player {
    pub fn new(script: Script) -> Self {
        Self {
            script,
            repeats: Mutex::default(),
        }
    }

    pub fn answer(&self, request: &AgentRequest) -> (Answer, Option<Fault>) {
        let Some(mut conversation) = self.conversation(request) else {
            let (text, call) = side_request_answer(request);
            return (new_answer(request, None, text, call), None);
        };
        let at = conversation.turn;
        let mut next = self.script.turn(&conversation);
        let fault = match next {
            Turn::Fault(fault) => {
                conversation.repeats += 1;
                next = self.script.turn(&conversation);
                Some(fault)
            }
            _ => None,
        };
        let (text, call) = if request.is_aider() {
            (self.in_one_text(conversation), None)
        } else {
            carry_out(&next, request)
        };
        (new_answer(request, Some(at), text, call), fault)
    }

    fn conversation(&self, request: &AgentRequest) -> Option<Conversation> {
        let (role, turn) = request.turn()?;
        let text = request.text();
        let mut counts = lock(&self.repeats);
        let count = counts.entry(text.clone()).or_default();
        *count += 1;
        Some(Conversation {
            role,
            turn,
            repeats: *count - 1,
            text,
        })
    }

    /// The rest of the script, for a harness that takes it in one answer.
    fn in_one_text(&self, mut conversation: Conversation) -> String {
        let mut text = String::new();
        for _ in 0..MAX_TURNS {
            let next = self.script.turn(&conversation);
            text.push_str(&for_aider(&next));
            match next {
                Turn::Say(_) => break,
                Turn::Fault(_) => conversation.repeats += 1,
                _ => conversation.turn += 1,
            }
        }
        text
    }
}

/// Titles and summaries get a text, requests for JSON the smallest valid value.
fn side_request_answer(request: &AgentRequest) -> (String, Option<Call>) {
    if let Some(schema) = &request.schema {
        return (smallest_value(schema).to_string(), None);
    }
    match request.tools.as_slice() {
        // Some harnesses request JSON as a tool call.
        [only] => {
            let call = Call {
                name: only.name.clone(),
                arguments: smallest_value(&only.parameters),
            };
            (String::new(), Some(call))
        }
        _ => ("A scripted conversation".into(), None),
    }
}

fn new_answer(
    request: &AgentRequest,
    turn: Option<usize>,
    text: String,
    call: Option<Call>,
) -> Answer {
    Answer {
        id: format!("scripted{}", request.messages.len()),
        model: request.model.clone(),
        text,
        call,
        usage: usage(turn),
    }
}
