//! Reads usage, completeness and errors from an answer's bytes as they pass
//! through.

use serde_json::Value;
use swe_ci_core::agent::Protocol;
use swe_ci_core::usage::Usage;

use super::super::sse::Splitter;
use super::dialect;

/// Maximum bytes of one event; longer events are ignored.
const MAX_EVENT: usize = 8 * 1024 * 1024;
/// Maximum bytes of an answer that is not streamed; longer ones are ignored.
const MAX_ANSWER: usize = 32 * 1024 * 1024;
const MAX_ERROR: usize = 2000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metered {
    /// The provider's count; none if it sent none.
    pub usage: Option<Usage>,
    /// The answer has its protocol's end marker and contains no error.
    pub complete: bool,
    /// An error reported inside the answer, independent of the HTTP status.
    pub error: Option<String>,
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
    error: Option<String>,
}

impl Meter {
    /// `streamed`: the answer is a stream of events, not one JSON value.
    pub fn new(protocol: Protocol, streamed: bool) -> Self {
        Self {
            protocol,
            form: match streamed {
                true => Form::Stream(Splitter::new(MAX_EVENT)),
                false => Form::Whole(Vec::new()),
            },
            progress: AnswerProgress::default(),
        }
    }

    pub fn take(&mut self, bytes: &[u8]) {
        match &mut self.form {
            Form::Stream(splitter) => {
                for event in splitter.take(bytes) {
                    let event =
                        serde_json::from_str(&event.data).unwrap_or(Value::String(event.data));
                    dialect(self.protocol).event(&event, &mut self.progress);
                }
            }
            Form::Whole(whole) if whole.len() + bytes.len() <= MAX_ANSWER => whole.extend(bytes),
            Form::Whole(_) => self.form = Form::TooLong,
            Form::TooLong => {}
        }
    }

    pub fn finish(mut self) -> Metered {
        if let Form::Whole(whole) = &self.form
            && let Ok(answer) = serde_json::from_slice(whole)
        {
            dialect(self.protocol).answer(&answer, &mut self.progress);
        }
        let found = self.progress;
        Metered {
            usage: (found.counts != Counts::default()).then(|| found.counts.usage()),
            complete: found.ended && found.error.is_none(),
            error: found.error,
        }
    }
}

impl AnswerProgress {
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

    /// Records the first error; null is no error.
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

/// The number at a JSON pointer; 0 if there is none.
pub(super) fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}
