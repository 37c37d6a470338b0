//! What was said between a harness and its model, exchange by exchange.

use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use swe_ci_core::agent::Protocol;
use swe_ci_core::usage::Usage;

/// One request of a harness and what it was answered. Holds no key and no
/// token: those are in headers, which are not kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// From 1, in the order of arrival.
    pub ordinal: u32,
    pub protocol: Protocol,
    /// As the harness wrote it.
    pub request: Value,
    /// Of the answer the harness was given.
    pub status: u16,
    /// Whether that answer was a stream of events.
    pub streamed: bool,
    /// Its body, as it was passed on.
    pub response: String,
    /// Whether it came to its end.
    pub complete: bool,
    /// As the provider counted; absent when it did not say.
    pub usage: Option<Usage>,
    /// Unix milliseconds.
    pub started_at: i64,
    pub finished_at: i64,
    /// Of these, how long the provider was waited for in vain.
    pub waiting_ms: u64,
    /// What the provider answered before, when it was asked again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retries: Vec<Retry>,
    /// Why it is no good answer, when it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// An answer of the provider that was not passed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// Absent when there was no answer at all.
    pub status: Option<u16>,
    pub why: String,
    /// Milliseconds until it was asked again.
    pub waited_ms: u64,
}

/// The most bytes of one answer that are kept.
pub(super) const MAX_ANSWER: usize = 16 << 20;
/// The most bytes of a step that are kept, written out.
const MAX_STEP: u64 = 256 << 20;

/// Writes the exchanges of a step down as they come to their end, so that
/// memory holds none but those under way.
#[derive(Debug)]
pub(super) struct Recorder {
    path: PathBuf,
    file: Option<File>,
    written: u64,
}

impl Recorder {
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            file: None,
            written: 0,
        }
    }

    /// Blocks for as long as writing a line takes.
    pub fn record(&mut self, exchange: &Exchange) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(exchange)?;
        if self.written + line.len() as u64 > MAX_STEP {
            line = serde_json::to_vec(&exchange.without_bodies())?;
        }
        line.push(b'\n');
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(File::create(&self.path)?),
        };
        file.write_all(&line)?;
        self.written += line.len() as u64;
        Ok(())
    }

    /// All lines; none when nothing was said. The file is gone after it.
    pub fn take(&mut self) -> anyhow::Result<Option<Vec<u8>>> {
        if self.file.take().is_none() {
            return Ok(None);
        }
        let lines = std::fs::read(&self.path)?;
        std::fs::remove_file(&self.path)?;
        Ok(Some(lines))
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if self.file.is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Exchange {
    fn without_bodies(&self) -> Self {
        let note = "left out: the step had said too much already";
        Self {
            request: Value::from(note),
            response: note.to_owned(),
            ..self.clone()
        }
    }

    /// The same without request and response, for those who have read them.
    pub fn head(&self) -> Self {
        Self {
            ordinal: self.ordinal,
            protocol: self.protocol,
            request: Value::Null,
            status: self.status,
            streamed: self.streamed,
            response: String::new(),
            complete: self.complete,
            usage: self.usage,
            started_at: self.started_at,
            finished_at: self.finished_at,
            waiting_ms: self.waiting_ms,
            retries: self.retries.clone(),
            error: self.error.clone(),
        }
    }

    /// Reads a recording back.
    ///
    /// # Errors
    /// The line that cannot be read.
    pub fn parse_lines(lines: &[u8]) -> anyhow::Result<Vec<Self>> {
        let full = lines.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        (1..)
            .zip(full)
            .map(|(number, line)| {
                serde_json::from_slice(line)
                    .with_context(|| format!("line {number} of the recording cannot be read"))
            })
            .collect()
    }
}

/// A recording whose exchanges are read one at a time.
#[derive(Debug)]
pub struct Lines {
    bytes: Vec<u8>,
    /// Where the exchanges stand, by their ordinals.
    places: Vec<Range<usize>>,
}

impl Lines {
    /// # Errors
    /// The line that is no exchange.
    pub fn new(bytes: Vec<u8>) -> anyhow::Result<Self> {
        #[derive(Deserialize)]
        struct Numbered {
            ordinal: u32,
        }
        let mut places = Vec::new();
        let mut start = 0;
        for (number, line) in (1..).zip(bytes.split_inclusive(|b| *b == b'\n')) {
            let place = start..start + line.len();
            start = place.end;
            if !line.trim_ascii().is_empty() {
                let Numbered { ordinal } = serde_json::from_slice(line)
                    .with_context(|| format!("line {number} of the recording cannot be read"))?;
                places.push((ordinal, place));
            }
        }
        places.sort_by_key(|(ordinal, _)| *ordinal);
        let places = places.into_iter().map(|(_, place)| place).collect();
        Ok(Self { bytes, places })
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// The exchange at this place in the order of ordinals.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn exchange(&self, index: usize) -> anyhow::Result<Exchange> {
        let line = &self.bytes[self.places[index].clone()];
        serde_json::from_slice(line).context("an exchange of the recording cannot be read")
    }
}
