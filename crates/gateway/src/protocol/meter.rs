//! Reads usage, completeness and errors from an answer's bytes as they pass
//! through, and whether it says anything.

use serde_json::Value;
use swe_ci_core::agent::Protocol;
use swe_ci_core::step::Truncation;
use swe_ci_core::usage::Usage;

use super::super::sse::{Event, Splitter};
use super::dialect;
use super::lenient::read_json;

/// Maximum bytes of one event; longer events are ignored.
const MAX_EVENT: usize = 8 * 1024 * 1024;
/// Maximum bytes of an answer that is not streamed; longer ones are ignored.
const MAX_ANSWER: usize = 32 * 1024 * 1024;
const MAX_ERROR: usize = 2000;
/// Bytes of what the model says that are kept: a probe looks for a word.
const MAX_SAID: usize = 4 << 10;
/// Fields that tell of a part of an answer what it is, and nothing of the model's.
const LABELS: [&str; 6] = ["type", "role", "id", "index", "status", "format"];
/// More tokens no answer has: such a count is none.
const MOST_TOKENS: u64 = 100_000_000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metered {
    /// The provider's count; none if it sent none.
    pub usage: Option<Usage>,
    /// It cost tokens, and says not how many, or cannot be read.
    pub is_uncounted: bool,
    /// The answer has its protocol's end marker and contains no error.
    pub complete: bool,
    /// An error reported inside the answer, independent of the HTTP status.
    pub error: Option<String>,
    /// The model has said something, or was cut off before it did.
    pub says: bool,
    /// The beginning of what it says, of whatever kind.
    pub said: String,
    /// The reason for the end, if the protocol knows no such.
    pub unknown_end: Option<String>,
    /// How a limit or a filter of the model's ended it, if one did.
    pub cut: Option<Truncation>,
}

/// The reasons that a protocol gives for the end of an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends {
    /// The model was done.
    pub done: &'static [&'static str],
    /// A limit or a filter of the model's ended it, perhaps before its first word.
    pub cut: &'static [(&'static str, Truncation)],
}

/// Meters an answer in pieces of any size. It holds at most one event of a
/// stream, or a whole JSON answer, each up to a limit.
#[derive(Debug)]
pub struct Meter {
    protocol: Protocol,
    form: Form,
    progress: AnswerProgress,
}

#[derive(Debug)]
enum Form {
    /// Nothing but white space so far.
    Unknown,
    Stream(Splitter),
    Whole(Vec<u8>),
    TooLong,
}

/// Token counts in a protocol's own parts; zero for a missing count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// The parts that add up to the input.
    pub input: [u64; 3],
    /// The parts that add up to the output.
    pub output: [u64; 2],
    pub cached: u64,
    pub reasoning: u64,
}

/// The counts, the end and the error found in an answer so far.
#[derive(Debug, Default)]
pub(super) struct AnswerProgress {
    counts: Counts,
    ended: bool,
    /// Counts what has come beside signs of a queue.
    work: usize,
    says: bool,
    said: String,
    /// Bytes of all texts.
    bytes: usize,
    unknown_end: Option<String>,
    cut: Option<Truncation>,
    error: Option<String>,
}

impl Meter {
    pub fn new(protocol: Protocol) -> Self {
        Self {
            protocol,
            form: Form::Unknown,
            progress: AnswerProgress::default(),
        }
    }

    /// Whether the answer is a stream of events, whatever its head says.
    pub fn is_stream(&self) -> bool {
        matches!(self.form, Form::Stream(_))
    }

    /// Whether it is more than white space so far.
    pub fn has_begun(&self) -> bool {
        !matches!(self.form, Form::Unknown)
    }

    /// Grows while the provider is at work: comments and signs of a queue keep the
    /// connection alive and say nothing.
    pub fn work(&self) -> usize {
        self.progress.work
    }

    /// A guess at the tokens so far, by the usual four characters each.
    pub fn estimate(&self) -> u64 {
        (self.progress.bytes / 4) as u64
    }

    /// Whether something in it is worth passing on.
    pub fn says(&self) -> bool {
        self.progress.says || matches!(self.form, Form::TooLong)
    }

    pub fn take(&mut self, bytes: &[u8]) {
        if let (Form::Unknown, Some(first)) =
            (&self.form, bytes.iter().find(|b| !b.is_ascii_whitespace()))
        {
            self.form = match first {
                b'{' | b'[' => Form::Whole(Vec::new()),
                _ => Form::Stream(Splitter::new(MAX_EVENT)),
            };
        }
        if let Form::Whole(_) | Form::TooLong = self.form {
            self.progress.work += bytes.len();
        }
        match &mut self.form {
            Form::Unknown => {}
            Form::Stream(splitter) => {
                for event in splitter.take(bytes) {
                    self.progress.event(self.protocol, event, true);
                }
            }
            Form::Whole(whole) if whole.len() + bytes.len() <= MAX_ANSWER => whole.extend(bytes),
            Form::Whole(_) => self.form = Form::TooLong,
            Form::TooLong => {}
        }
    }

    pub fn finish(mut self) -> Metered {
        let mut unread = matches!(self.form, Form::TooLong);
        match &mut self.form {
            Form::Whole(whole) => match read_json(whole) {
                // Where a proxy drops `alt=sse`, Gemini streams a list.
                Some(Value::Array(parts)) => parts
                    .iter()
                    .for_each(|part| dialect(self.protocol).answer(part, &mut self.progress)),
                Some(answer) => dialect(self.protocol).answer(&answer, &mut self.progress),
                None => unread = true,
            },
            Form::Stream(splitter) => {
                if let Some(event) = splitter.finish() {
                    self.progress.event(self.protocol, event, false);
                }
            }
            Form::Unknown | Form::TooLong => {}
        }
        let found = self.progress;
        let is_counted = found.counts != Counts::default();
        Metered {
            usage: is_counted.then(|| found.counts.usage()),
            is_uncounted: !is_counted && (found.says || unread),
            complete: found.ended && found.error.is_none(),
            error: found.error,
            says: found.says,
            said: found.said,
            unknown_end: found.unknown_end,
            cut: found.cut,
        }
    }
}

impl AnswerProgress {
    /// `ended`: nothing of the event is missing.
    fn event(&mut self, protocol: Protocol, event: Event, ended: bool) {
        let value = read_json(event.data.as_bytes());
        let value = value.unwrap_or(Value::String(event.data));
        self.work += usize::from(!is_sign_of_a_queue(&value));
        if let Value::String(text) = &value
            && ended
            && text.starts_with('{')
        {
            self.fail(&format!("an event is not JSON: {text}").into());
        }
        dialect(protocol).event(&value, self);
    }

    /// Providers send usage once, or several times as it grows. Some then send
    /// zeros for the counts they do not repeat, so zeros never replace a count.
    pub(super) fn count(&mut self, mut counts: Counts) {
        for (old, new) in self.counts.all().zip(counts.all()) {
            if *new > 0 {
                *old = *new;
            }
        }
    }

    pub(super) fn end_if(&mut self, ended: bool) {
        self.ended |= ended;
    }

    /// Something of the model's, if any text in it is more than a label or white space.
    pub(super) fn say(&mut self, part: &Value) {
        match part {
            Value::String(text) => {
                self.bytes += text.len();
                let free = MAX_SAID.saturating_sub(self.said.len());
                self.said.extend(text.chars().take(free));
                self.says |= !text.trim().is_empty();
            }
            Value::Array(parts) => parts.iter().for_each(|part| self.say(part)),
            Value::Object(fields) => {
                let said = fields
                    .iter()
                    .filter(|(name, _)| !LABELS.contains(&name.as_str()));
                said.for_each(|(_, field)| self.say(field));
            }
            _ => {}
        }
    }

    /// The end, if a reason is given.
    pub(super) fn end(&mut self, reason: &Value, ends: Ends) {
        self.end_if(reason.as_str().is_some_and(is_reason));
        self.reason(reason, ends);
    }

    /// The reason for an end that is yet to come.
    pub(super) fn reason(&mut self, reason: &Value, ends: Ends) {
        let Some(reason) = reason.as_str().filter(|reason| is_reason(reason)) else {
            return;
        };
        self.unknown_end = None;
        if let Some((_, cut)) = ends.cut.iter().find(|(name, _)| *name == reason) {
            self.says = true;
            self.cut = Some(*cut);
        } else if !ends.done.contains(&reason) {
            self.unknown_end = Some(reason.chars().take(MAX_ERROR).collect());
        }
    }

    /// Records the first error, if it says something.
    pub(super) fn fail(&mut self, error: &Value) {
        if says_nothing(error) || self.error.is_some() {
            return;
        }
        let text = error.as_str().or_else(|| error["message"].as_str());
        let text = text.map_or_else(|| error.to_string(), str::to_owned);
        self.error = Some(text.chars().take(MAX_ERROR).collect());
    }
}

impl Counts {
    fn all(&mut self) -> impl Iterator<Item = &mut u64> {
        let parts = self.input.iter_mut().chain(&mut self.output);
        parts.chain([&mut self.cached, &mut self.reasoning])
    }

    fn usage(self) -> Usage {
        let sum = |parts: &[u64]| parts.iter().copied().fold(0, u64::saturating_add);
        let (input, output) = (sum(&self.input), sum(&self.output));
        Usage {
            input_tokens: input,
            output_tokens: output,
            cached_tokens: self.cached.min(input),
            reasoning_tokens: self.reasoning.min(output),
        }
    }
}

/// Some providers write a reason into each event, and so one that is none.
fn is_reason(reason: &str) -> bool {
    !matches!(reason, "" | "null" | "FINISH_REASON_UNSPECIFIED")
}

/// Whether there is nothing in it but empty fields.
fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.iter().all(says_nothing),
        Value::Object(fields) => fields.values().all(says_nothing),
    }
}

/// Events that come before the provider begins to work.
fn is_sign_of_a_queue(event: &Value) -> bool {
    let kind = event["type"].as_str();
    says_nothing(event) || matches!(kind, Some("ping" | "response.queued"))
}

/// The number at a JSON pointer; 0 if there is none, or none that can be. Some
/// providers write whole numbers with a fraction, or as texts.
pub(super) fn number(value: &Value, pointer: &str) -> u64 {
    let number = match value.pointer(pointer) {
        Some(Value::String(text)) => text.trim().parse().unwrap_or(0.0),
        number => number.and_then(Value::as_f64).unwrap_or(0.0),
    } as u64;
    if number > MOST_TOKENS { 0 } else { number }
}
