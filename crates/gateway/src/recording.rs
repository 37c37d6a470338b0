//! The recording of a step: its exchanges with the model, as JSON lines.

use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use swe_ci_core::agent::Protocol;
use swe_ci_core::usage::Usage;

/// One request of a harness and its answer. Contains no key and no token: those
/// are in headers, which are not recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// From 1, in the order of arrival.
    pub ordinal: u32,
    pub protocol: Protocol,
    /// The body as the harness sent it.
    pub request: Value,
    /// The fields of the run's configuration that the gateway put over it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub parameters: Map<String, Value>,
    /// The status the harness got.
    pub status: u16,
    /// Whether the answer was a stream of events.
    pub streamed: bool,
    /// The answer's body, as the harness got it.
    pub response: String,
    pub complete: bool,
    /// The provider's count; absent if it sent none.
    pub usage: Option<Usage>,
    /// Unix milliseconds.
    pub started_at: i64,
    pub finished_at: i64,
    /// Of this time, waiting for permits, failed tries and pauses before retries.
    pub waiting_ms: u64,
    /// The failed tries before the final answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retries: Vec<Retry>,
    /// The problem with the answer, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A failed try, which the harness did not see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// Absent if there was no answer.
    pub status: Option<u16>,
    pub why: String,
    /// Milliseconds until the next try.
    pub waited_ms: u64,
}

/// Maximum recorded bytes of one answer.
pub(super) const MAX_ANSWER: usize = 16 << 20;
/// Maximum bytes of a step's recording; later exchanges lose their bodies.
const MAX_STEP: u64 = 256 << 20;

/// Writes each exchange to a file when it ends, so that memory holds only active
/// ones.
#[derive(Debug, Default)]
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

    /// Blocks on the file system.
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

    /// All lines; none if there were no exchanges. Deletes the file.
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
        let note = "left out: the recording of the step has reached its maximum size";
        Self {
            request: Value::from(note),
            response: note.to_owned(),
            ..self.clone()
        }
    }

    pub fn head(&self) -> Self {
        Self {
            ordinal: self.ordinal,
            protocol: self.protocol,
            request: Value::Null,
            parameters: self.parameters.clone(),
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

    /// Parses a recording.
    ///
    /// # Errors
    /// A line cannot be parsed.
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

/// A recording whose exchanges are parsed one at a time.
#[derive(Debug)]
pub struct Lines {
    bytes: Vec<u8>,
    /// The exchanges' byte ranges, sorted by ordinal.
    ranges: Vec<Range<usize>>,
}

impl Lines {
    /// # Errors
    /// A line is not an exchange.
    pub fn new(bytes: Vec<u8>) -> anyhow::Result<Self> {
        #[derive(Deserialize)]
        struct Numbered {
            ordinal: u32,
        }
        let mut ranges = Vec::new();
        let mut start = 0;
        for (number, line) in (1..).zip(bytes.split_inclusive(|b| *b == b'\n')) {
            let range = start..start + line.len();
            start = range.end;
            if !line.trim_ascii().is_empty() {
                let Numbered { ordinal } = serde_json::from_slice(line)
                    .with_context(|| format!("line {number} of the recording cannot be read"))?;
                ranges.push((ordinal, range));
            }
        }
        ranges.sort_by_key(|(ordinal, _)| *ordinal);
        let ranges = ranges.into_iter().map(|(_, range)| range).collect();
        Ok(Self { bytes, ranges })
    }

    pub fn count(&self) -> usize {
        self.ranges.len()
    }

    /// The exchange at this position in the order of ordinals.
    ///
    /// # Errors
    /// The exchange cannot be parsed.
    pub fn exchange(&self, index: usize) -> anyhow::Result<Exchange> {
        let line = &self.bytes[self.ranges[index].clone()];
        serde_json::from_slice(line).context("an exchange of the recording cannot be read")
    }
}
