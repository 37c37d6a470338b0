//! Who plays the script: finds the place a conversation is at, and says what
//! comes there in the way its harness understands.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::answer::Answer;
use super::asked::Asked;
use super::hands::{Call, carry_out, for_aider};
use super::schema::least;
use super::script::{Conversation, Fault, Script, Turn, usage};

/// A script that never says its last word is cut here, where it is wanted all
/// at once.
const MOST_TURNS: usize = 100;

#[derive(Debug)]
pub(super) struct Player {
    script: Script,
    /// How often the script was asked, by all that was said before.
    asked: Mutex<HashMap<String, usize>>,
}

impl Player {
    pub fn new(script: Script) -> Self {
        Self {
            script,
            asked: Mutex::default(),
        }
    }

    /// What is answered, and what is to go wrong with it.
    pub fn answer(&self, asked: &Asked) -> (Answer, Option<Fault>) {
        let Some(mut conversation) = self.conversation(asked) else {
            let (text, call) = beside_the_work(asked);
            return (written(asked, None, text, call), None);
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
        let (text, call) = if asked.is_aider() {
            (self.in_one_text(conversation), None)
        } else {
            carry_out(&next, asked)
        };
        (written(asked, Some(at), text, call), fault)
    }

    fn conversation(&self, asked: &Asked) -> Option<Conversation> {
        let (role, turn) = asked.turn()?;
        let text = asked.text();
        let mut counts = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(text.clone()).or_default();
        *count += 1;
        Some(Conversation {
            role,
            turn,
            repeats: *count - 1,
            text,
        })
    }

    /// What is left of the script, for a harness that takes it in one answer.
    fn in_one_text(&self, mut conversation: Conversation) -> String {
        let mut text = String::new();
        for _ in 0..MOST_TURNS {
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

/// Titles and summaries get a text, questions for JSON the least that fits.
fn beside_the_work(asked: &Asked) -> (String, Option<Call>) {
    if let Some(schema) = &asked.schema {
        return (least(schema).to_string(), None);
    }
    match asked.tools.as_slice() {
        // An answer in JSON may also be wanted as the call of a tool.
        [only] => {
            let call = Call {
                name: only.name.clone(),
                arguments: least(&only.parameters),
            };
            (String::new(), Some(call))
        }
        _ => ("A scripted conversation".into(), None),
    }
}

fn written(asked: &Asked, turn: Option<usize>, text: String, call: Option<Call>) -> Answer {
    Answer {
        id: format!("scripted{}", asked.messages.len()),
        model: asked.model.clone(),
        text,
        call,
        usage: usage(turn),
    }
}
