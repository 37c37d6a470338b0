//! Reads what an answer used out of its bytes as they pass by.

use serde_json::Value;
use swe_ci_core::agent::Protocol;
use swe_ci_core::usage::Usage;

use super::dialect;
use crate::gateway::sse::Splitter;

/// The most bytes of one event that are looked at.
const MAX_EVENT: usize = 8 * 1024 * 1024;
/// The most bytes of an answer in one piece that are looked at.
const MAX_ANSWER: usize = 32 * 1024 * 1024;
/// The most characters of an error that are kept.
const MAX_ERROR: usize = 2000;

/// What was found in an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metered {
    /// As the provider counted; absent when it did not say.
    pub usage: Option<Usage>,
    /// It came to its protocol's end, and there was no error in it.
    pub complete: bool,
    /// What the provider reported inside the answer, whatever its status.
    pub error: Option<String>,
}

/// Takes an answer in pieces of any size. It keeps no more than one event of a
/// stream, or the whole of a JSON answer, each up to a limit.
#[derive(Debug)]
pub struct Meter {
    protocol: Protocol,
    form: Form,
    seen: Seen,
}

#[derive(Debug)]
enum Form {
    Stream(Splitter),
    Whole(Vec<u8>),
    TooLong,
}

/// Token counts as a protocol splits them up; zero where it says nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// What makes up the input together.
    pub input: [u64; 3],
    /// What makes up the output together.
    pub output: [u64; 2],
    pub cached: u64,
    pub reasoning: u64,
}

/// What was seen of an answer so far.
#[derive(Debug, Default)]
pub(super) struct Seen {
    counts: Counts,
    ended: bool,
    error: Option<String>,
}

impl Meter {
    /// For an answer that is a stream of events, or JSON in one piece.
    #[must_use]
    pub fn new(protocol: Protocol, streamed: bool) -> Self {
        let form = if streamed {
            Form::Stream(Splitter::new(MAX_EVENT))
        } else {
            Form::Whole(Vec::new())
        };
        let seen = Seen::default();
        Self {
            protocol,
            form,
            seen,
        }
    }

    pub fn take(&mut self, bytes: &[u8]) {
        match &mut self.form {
            Form::Stream(splitter) => {
                for event in splitter.take(bytes) {
                    let event =
                        serde_json::from_str(&event.data).unwrap_or(Value::String(event.data));
                    dialect(self.protocol).event(&event, &mut self.seen);
                }
            }
            Form::Whole(whole) if whole.len() + bytes.len() <= MAX_ANSWER => whole.extend(bytes),
            Form::Whole(_) => self.form = Form::TooLong,
            Form::TooLong => {}
        }
    }

    #[must_use]
    pub fn finish(mut self) -> Metered {
        if let Form::Whole(whole) = &self.form
            && let Ok(answer) = serde_json::from_slice(whole)
        {
            dialect(self.protocol).answer(&answer, &mut self.seen);
        }
        let Seen {
            counts,
            ended,
            error,
        } = self.seen;
        Metered {
            usage: (counts != Counts::default()).then(|| counts.usage()),
            complete: ended && error.is_none(),
            error,
        }
    }
}

impl Seen {
    /// Usage comes once, or several times as it grows; some providers then
    /// fill what they do not repeat with zeros.
    pub(super) fn count(&mut self, counts: Counts) {
        let later = |old: &mut u64, new: u64| {
            if new > 0 {
                *old = new;
            }
        };
        for (old, new) in self.counts.input.iter_mut().zip(counts.input) {
            later(old, new);
        }
        for (old, new) in self.counts.output.iter_mut().zip(counts.output) {
            later(old, new);
        }
        later(&mut self.counts.cached, counts.cached);
        later(&mut self.counts.reasoning, counts.reasoning);
    }

    pub(super) fn end_if(&mut self, ended: bool) {
        self.ended |= ended;
    }

    /// Keeps the first error, when this is one at all.
    pub(super) fn fail(&mut self, error: &Value) {
        if error.is_null() || self.error.is_some() {
            return;
        }
        let text = error.as_str().or_else(|| error["message"].as_str());
        let text = text.map_or_else(|| error.to_string(), str::to_owned);
        self.error = Some(text.chars().take(MAX_ERROR).collect());
    }
}

impl Counts {
    fn usage(self) -> Usage {
        let sum = |parts: &[u64]| {
            parts
                .iter()
                .fold(0, |sum: u64, &part| sum.saturating_add(part))
        };
        let (input, output) = (sum(&self.input), sum(&self.output));
        Usage {
            input_tokens: input,
            output_tokens: output,
            cached_tokens: self.cached.min(input),
            reasoning_tokens: self.reasoning.min(output),
        }
    }
}

/// The number at a path below a value; 0 where there is none.
pub(super) fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}
