//! What a recording tells about the work of a step, in numbers.

mod commands;

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use swe_ci_views::trajectories::{Repeated, StepDigest, Use};

use self::commands::{exit_code, programs};
use super::conversations::{Conversation, Turn};
use super::transcript::{Call, CallResult};
use crate::Exchange;

/// Limits of a digest, which an agent must not make large: different tools,
/// different programs, repeated calls, messages of a kind; and the bytes of a
/// name.
const MAX_TOOLS: usize = 64;
const MAX_COMMANDS: usize = 128;
const MAX_REPEATED: usize = 20;
const MAX_MESSAGES: usize = 100;
const MAX_NAME: usize = 120;

/// The stop reasons of a cut answer, in lower case.
const CUT_OFF: [&str; 5] = [
    "length",
    "max_tokens",
    "max_output_tokens",
    "incomplete",
    "model_context_window_exceeded",
];

/// Of these, the one that says that the conversation was too long.
const FULL: &str = "model_context_window_exceeded";
/// What providers say when they refuse a conversation that is too long, in lower
/// case.
const TOO_LONG: [&str; 11] = [
    "context length",
    "context_length",
    "context window",
    "context size",
    "context_size",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "input token count",
    "too many tokens",
    "request_too_large",
];
/// Bytes of a refusal that are looked at.
const MAX_REFUSAL: usize = 4_096;

/// The digest of a step with these conversations.
pub(super) fn digest(conversations: &[Conversation]) -> StepDigest {
    let mut reader = Reader::default();
    for conversation in conversations {
        reader.conversation(conversation);
    }
    reader.digest()
}

#[derive(Debug, Default)]
struct Reader {
    digest: StepDigest,
    /// Messages so far: the pages number them in the same order.
    messages: usize,
    /// Times that a call came to a result, by the hash of both.
    seen: HashMap<u64, u32>,
    repeated: HashMap<u64, Repeated>,
}

impl Reader {
    fn conversation(&mut self, conversation: &Conversation) {
        self.messages += conversation.instructions.len();
        let turns = &conversation.turns;
        for (index, turn) in turns.iter().enumerate() {
            let next = turns.get(index + 1).map(|next| next.exchange.started_at);
            self.turn(turn, next);
        }
        self.messages += conversation.rest.len();
    }

    /// `next` is the time of the next request.
    fn turn(&mut self, turn: &Turn, next: Option<i64>) {
        self.messages += turn.added.len() + 1;
        let number = count(self.messages);
        self.messages += turn.results.len();
        let (answer, exchange) = (&turn.answer, &turn.exchange);
        let message = &answer.message;
        let stopped = answer.stopped.as_deref().unwrap_or_default();
        let is_empty = message.text.trim().is_empty() && message.calls.is_empty();
        if stopped.eq_ignore_ascii_case(FULL) || is_too_long(exchange, &message.text) {
            push(&mut self.digest.overflows, number);
        }
        self.digest.last_answer = number;
        let list = if exchange.error.is_some() || !exchange.complete || exchange.status >= 400 {
            Some(&mut self.digest.unanswered)
        } else if CUT_OFF.contains(&stopped.to_lowercase().as_str()) {
            Some(&mut self.digest.truncated)
        } else if is_empty {
            Some(&mut self.digest.empty)
        } else {
            None
        };
        if let Some(list) = list {
            push(list, number);
        }
        let calls = u64::try_from(message.calls.len()).unwrap_or(u64::MAX);
        if calls == 0 {
            return;
        }
        let took = next.map_or(0, |next| next.saturating_sub(exchange.finished_at));
        let share = Use {
            ms: u64::try_from(took).unwrap_or_default() / calls,
            output_tokens: exchange.usage.unwrap_or_default().output_tokens / calls,
            first: number,
            ..Use::default()
        };
        for (index, call) in message.calls.iter().enumerate() {
            self.call(call, result_of(call, index, turn), share);
        }
    }

    fn call(&mut self, call: &Call, result: Option<&CallResult>, share: Use) {
        let text = result.map_or("", |result| &result.text);
        let failed = result.is_some_and(|result| result.failed)
            || exit_code(text).is_some_and(|code| code != 0);
        let one = Use {
            calls: 1,
            failed: u32::from(failed),
            first_failed: if failed { share.first } else { 0 },
            result_bytes: text.len() as u64,
            ..share
        };
        add(&mut self.digest.tools, &call.name, one, MAX_TOOLS);
        for program in programs(&call.arguments) {
            add(&mut self.digest.commands, &program, one, MAX_COMMANDS);
        }
        if let Some(result) = result {
            self.notice_repetition(call, result, one.first);
        }
    }

    fn notice_repetition(&mut self, call: &Call, result: &CallResult, message: u32) {
        let arguments = call.arguments.to_string();
        let mut hasher = DefaultHasher::new();
        (&call.name, &arguments, &result.text).hash(&mut hasher);
        let key = hasher.finish();
        let seen = self.seen.entry(key).or_default();
        *seen += 1;
        if *seen == 1 {
            return;
        }
        let repeated = self.repeated.entry(key).or_insert_with(|| Repeated {
            times: 0,
            call: clipped(&format!("{} {arguments}", call.name)),
            message,
        });
        repeated.times += 1;
    }

    fn digest(mut self) -> StepDigest {
        let mut repeated: Vec<Repeated> = self.repeated.into_values().collect();
        repeated.sort_by_key(|one| (std::cmp::Reverse(one.times), one.message));
        repeated.truncate(MAX_REPEATED);
        self.digest.repeated = repeated;
        self.digest
    }
}

fn push(list: &mut Vec<u32>, number: u32) {
    if list.len() < MAX_MESSAGES {
        list.push(number);
    }
}

/// Whether the provider refused a request because of its length, by the text of
/// its refusal.
pub(crate) fn is_too_long(exchange: &Exchange, refusal: &str) -> bool {
    if !(400..500).contains(&exchange.status) {
        return false;
    }
    let start = &refusal[..refusal.floor_char_boundary(MAX_REFUSAL)];
    let why = exchange.error.as_deref().unwrap_or_default();
    let texts = [start.to_lowercase(), why.to_lowercase()];
    let says = |words: &&str| texts.iter().any(|text| text.contains(*words));
    exchange.status == 413 || TOO_LONG.iter().any(says)
}

/// The tokens of the conversation and of the model's context, if the text of such a
/// refusal tells them: they come first, in either order.
pub(crate) fn tokens_of_refusal(refusal: &str) -> Vec<u64> {
    const LEAST: u64 = 512; // below are statuses
    let start = &refusal[..refusal.floor_char_boundary(MAX_REFUSAL)];
    let words = start.split(|c: char| !c.is_alphanumeric() && c != '-');
    let numbers = words.filter_map(|word| word.parse().ok());
    let mut two: Vec<u64> = numbers.filter(|n| *n >= LEAST).take(2).collect();
    two.sort_unstable();
    two.dedup();
    two.reverse();
    if two.len() < 2 {
        two.clear();
    }
    two
}

/// By the call's id; in a protocol without ids, by the order.
fn result_of<'a>(call: &Call, index: usize, turn: &'a Turn) -> Option<&'a CallResult> {
    match &call.id {
        Some(id) => turn.results.iter().find(|r| r.call.as_ref() == Some(id)),
        None => turn.results.get(index),
    }
}

/// Adds a call. Beyond the limit of different names, it counts under `…`.
fn add(uses: &mut BTreeMap<String, Use>, name: &str, one: Use, limit: usize) {
    let name = clipped(name);
    let name = match uses.contains_key(&name) || uses.len() < limit {
        true => name,
        false => "…".to_owned(),
    };
    let sum = uses.entry(name).or_insert(Use {
        first: one.first,
        ..Use::default()
    });
    sum.calls += one.calls;
    sum.failed += one.failed;
    sum.ms += one.ms;
    sum.output_tokens += one.output_tokens;
    sum.result_bytes += one.result_bytes;
    if sum.first_failed == 0 {
        sum.first_failed = one.first_failed;
    }
}

fn clipped(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_NAME)].to_owned()
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
