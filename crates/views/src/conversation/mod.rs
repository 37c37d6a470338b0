//! The transcript of one step as messages between an agent and its model:
//! paging, search, and limits for very long messages.
//!
//! Every text in here comes from a model or from the output of a tool.

mod recording;
mod search;

use serde::{Deserialize, Serialize};
use swe_ci_core::step::Role;
use swe_ci_core::task::TaskId;
use swe_ci_core::usage::Usage;

use crate::count;

pub use recording::RecordingFormat;
pub use search::hits;

/// Default number of messages on a page.
pub const PAGE: u32 = 50;
pub const LONGEST_PAGE: u32 = 500;
/// Maximum bytes of a page with more than one message.
const PAGE_BYTES: usize = 384 << 10;
const MESSAGE_BYTES: usize = 128 << 10;
const TEXT_BYTES: usize = 32 << 10;
const MAX_PARTS: usize = 200;
/// Bytes before the first hit in a text that is cut.
const BEFORE_HIT: usize = 4 << 10;

swe_ci_core::named! {
    /// The sender of a message.
    #[derive(Default)]
    pub enum Speaker {
        System = "system",
        User = "user",
        /// The model.
        #[default]
        Assistant = "assistant",
        /// The harness, with the result of a tool call.
        Tool = "tool",
    }
}

/// A text, possibly cut.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Text {
    pub text: String,
    /// Omitted bytes before it; 0 for a whole text.
    pub before: u64,
    /// Omitted bytes after it; 0 for a whole text.
    pub after: u64,
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Part {
    Said {
        said: Text,
    },
    /// The model's reasoning, if its provider reports it.
    Reasoning {
        said: Text,
    },
    /// A tool call of the model.
    Call {
        id: Option<String>,
        tool: String,
        arguments: Vec<Argument>,
    },
    /// The result of a tool call.
    Result {
        call: Option<String>,
        tool: Option<String>,
        failed: bool,
        said: Text,
    },
    /// A note of the platform about unreadable data or an error.
    Note {
        said: Text,
    },
}

/// An argument of a tool call. A text is verbatim, any other value is JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Argument {
    /// Empty when the arguments are no object.
    pub name: String,
    pub value: Text,
}

/// The origin of a model's answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Answered {
    /// The index of its exchange in the recording.
    pub exchange: u32,
    /// The provider's name of the model.
    pub model: Option<String>,
    /// The provider's stop reason.
    pub stopped: Option<String>,
    pub usage: Option<Usage>,
    /// Seconds from the request to the end of the answer.
    pub seconds: u32,
    /// Number of retries.
    pub retries: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Message {
    /// From 1, over all conversations of the step.
    pub number: u32,
    /// Number of its conversation, from 1.
    pub conversation: u32,
    pub speaker: Speaker,
    /// RFC 3339.
    pub at: String,
    /// Absent for messages that were part of a request.
    pub answered: Option<Answered>,
    pub parts: Vec<Part>,
}

/// One of the conversations of a step: the main one comes first, then the
/// auxiliary ones (titles, summaries, sub-agents).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Begin {
    /// Number of its first message.
    pub first: u32,
    pub messages: u32,
    /// Names of the available tools.
    pub tools: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Messages {
    pub conversations: Vec<Begin>,
    pub messages: Vec<Message>,
}

/// A selection of messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Window {
    /// The number of the first; when absent, the first with a hit, or the first
    /// of all.
    pub from: Option<u32>,
    /// 1 to [`LONGEST_PAGE`]; [`PAGE`] when absent.
    pub limit: Option<u32>,
    /// The text to search, ignoring case; empty for none.
    pub q: String,
}

/// An attempt at a step with a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RecordedStep {
    pub run_id: String,
    pub model: String,
    pub task_id: TaskId,
    pub sample: u32,
    pub evolution_id: String,
    pub iteration: u32,
    pub role: Role,
    pub attempt: u32,
    /// All recorded attempts at the step.
    pub attempts: Vec<u32>,
    /// The recorded steps of its iteration in order, and the nearest ones before
    /// and after that iteration.
    pub nearby: Vec<NearbyStep>,
    pub recording: RecordingFormat,
}

/// A recorded step of the same evolution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct NearbyStep {
    pub iteration: u32,
    pub role: Role,
    pub attempt: u32,
    /// Sent and received, if they were counted.
    pub tokens: Option<u64>,
}

/// A page of messages of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MessagesPage {
    pub step: RecordedStep,
    /// Total number of messages.
    pub total: u32,
    pub conversations: Vec<Begin>,
    /// Number of the first message of this page; 1 without messages.
    pub from: u32,
    pub items: Vec<Message>,
    /// `from` of the previous page.
    pub previous: Option<u32>,
    /// `from` of the next page.
    pub next: Option<u32>,
    /// The search and its hits.
    pub found: Option<Found>,
}

/// The hits of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Found {
    pub q: String,
    /// Number of occurrences.
    pub hits: u32,
    /// Number of messages with an occurrence.
    pub messages: u32,
    /// The index among these messages of the first at or after `from`, from 1.
    pub here: Option<u32>,
    /// Number of the message with hits before that one.
    pub previous: Option<u32>,
    /// Number of the message with hits after that one.
    pub next: Option<u32>,
}

impl Part {
    fn texts(&self) -> Vec<&str> {
        match self {
            Self::Said { said } | Self::Reasoning { said } | Self::Note { said } => {
                vec![&said.text]
            }
            Self::Result { tool, said, .. } => tool
                .iter()
                .map(String::as_str)
                .chain([&*said.text])
                .collect(),
            Self::Call {
                tool, arguments, ..
            } => {
                let arguments = arguments.iter();
                let texts = arguments.flat_map(|a| [a.name.as_str(), a.value.text.as_str()]);
                [tool.as_str()].into_iter().chain(texts).collect()
            }
        }
    }

    /// The part with its texts cut to the remaining bytes.
    fn cut(&self, q: &str, bytes_left: &mut usize) -> Self {
        let mut part = self.clone();
        match &mut part {
            Self::Said { said }
            | Self::Reasoning { said }
            | Self::Note { said }
            | Self::Result { said, .. } => said.cut(q, bytes_left),
            Self::Call { arguments, .. } => {
                let beyond = arguments.len().saturating_sub(MAX_PARTS);
                arguments.truncate(MAX_PARTS);
                for argument in arguments.iter_mut() {
                    argument.value.cut(q, bytes_left);
                }
                if beyond > 0 {
                    arguments.push(Argument {
                        name: format!("and {beyond} more"),
                        value: Text::default(),
                    });
                }
            }
        }
        part
    }
}

impl Text {
    fn cut(&mut self, q: &str, bytes_left: &mut usize) {
        let limit = (*bytes_left).min(TEXT_BYTES);
        *bytes_left -= self.text.len().min(limit);
        if self.text.len() <= limit {
            return;
        }
        let first = hits(&self.text, q).next().map_or(0, |hit| hit.start);
        let start = match first + q.len() {
            end if end <= limit => 0,
            _ => first.saturating_sub(BEFORE_HIT.min(limit / 2)),
        };
        let start = self.text.floor_char_boundary(start);
        let end = self.text.floor_char_boundary(start + limit);
        self.before = start as u64;
        self.after = (self.text.len() - end) as u64;
        self.text = self.text[start..end].to_owned();
    }
}

impl Message {
    fn hits(&self, q: &str) -> u32 {
        let texts = self.parts.iter().flat_map(Part::texts);
        count(texts.map(|text| hits(text, q).count()).sum())
    }

    /// The message cut to the limits of a page.
    fn cut(&self, q: &str) -> Self {
        let mut bytes_left = MESSAGE_BYTES;
        let parts = self.parts.iter().take(MAX_PARTS);
        let mut parts: Vec<Part> = parts.map(|part| part.cut(q, &mut bytes_left)).collect();
        let beyond = self.parts.len() - parts.len();
        if beyond > 0 {
            let said = format!("{beyond} more parts are in the recording").into();
            parts.push(Part::Note { said });
        }
        Self {
            number: self.number,
            conversation: self.conversation,
            speaker: self.speaker,
            at: self.at.clone(),
            answered: self.answered.clone(),
            parts,
        }
    }

    /// All that it says, a line for each text.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().flat_map(Part::texts).collect();
        texts.join("\n")
    }

    pub fn weight(&self) -> usize {
        let texts = self.parts.iter().flat_map(Part::texts);
        texts.map(str::len).sum()
    }
}

impl Messages {
    /// The messages of a window, with the hits of its search.
    pub fn page(&self, step: RecordedStep, window: &Window) -> MessagesPage {
        let total = count(self.messages.len());
        let q = window.q.trim();
        let with_hits: Vec<(u32, u32)> = match q {
            "" => Vec::new(),
            q => {
                let hits = self.messages.iter().map(|m| (m.number, m.hits(q)));
                hits.filter(|(_, hits)| *hits > 0).collect()
            }
        };
        let first_hit = with_hits.first().map(|(number, _)| *number);
        let from = window
            .from
            .or(first_hit)
            .unwrap_or(1)
            .clamp(1, total.max(1));
        let limit = window.limit.unwrap_or(PAGE).clamp(1, LONGEST_PAGE);
        let items = self.items(from, limit, q);
        let end = from + count(items.len());
        MessagesPage {
            step,
            total,
            conversations: self.conversations.clone(),
            from,
            items,
            previous: (from > 1).then(|| from.saturating_sub(limit).max(1)),
            next: (end <= total).then_some(end),
            found: (!q.is_empty()).then(|| Found::at(q, &with_hits, from)),
        }
    }

    fn items(&self, from: u32, limit: u32, q: &str) -> Vec<Message> {
        let mut items: Vec<Message> = Vec::new();
        let mut bytes = 0;
        let wanted = self.messages.iter().skip(from as usize - 1);
        for message in wanted.take(limit as usize) {
            let message = message.cut(q);
            bytes += message.weight();
            if bytes > PAGE_BYTES && !items.is_empty() {
                break;
            }
            items.push(message);
        }
        items
    }
}

impl Found {
    /// `with_hits` holds the numbers of messages, in order, and their hits.
    fn at(q: &str, with_hits: &[(u32, u32)], from: u32) -> Self {
        let number = |index: usize| with_hits.get(index).map(|(number, _)| *number);
        let here = with_hits.partition_point(|(number, _)| *number < from);
        Self {
            q: q.to_owned(),
            hits: with_hits.iter().map(|(_, hits)| hits).sum(),
            messages: count(with_hits.len()),
            here: number(here).map(|_| count(here + 1)),
            previous: here.checked_sub(1).and_then(number),
            next: number(here + 1),
        }
    }
}

#[cfg(test)]
mod tests;
