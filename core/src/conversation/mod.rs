//! What an agent and its model said to each other in one step, as messages: in
//! pages, searched, and cut where one message is longer than anybody reads.
//!
//! Every text in here was written by a model, or by whatever a tool printed.

mod search;

use serde::{Deserialize, Serialize};

use crate::step::Role;
use crate::task::TaskId;
use crate::usage::Usage;

pub use search::{hits, visible};

/// The messages of a page unless another number is asked for, and the most.
pub const PAGE: u32 = 50;
pub const LONGEST_PAGE: u32 = 500;
/// A page ends sooner when its messages hold more bytes than this.
const PAGE_BYTES: usize = 384 << 10;
/// The most bytes of one message, and of one text in it.
const MESSAGE_BYTES: usize = 128 << 10;
const TEXT_BYTES: usize = 32 << 10;
/// The most parts of one message.
const MOST_PARTS: usize = 200;
/// How much is shown before the first hit of a text that has to be cut.
const BEFORE_HIT: usize = 4 << 10;

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Speaker {
    System,
    User,
    /// The model.
    Assistant,
    /// The harness, with what a call came to.
    Tool,
}

impl Speaker {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// A text, or as much of it as there is room for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Text {
    pub text: String,
    /// Bytes left out before it and after it; 0 for a whole text.
    pub before: u64,
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

/// What a message is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Part {
    Said {
        said: Text,
    },
    /// What the model thought before, as far as its provider tells.
    Reasoning {
        said: Text,
    },
    /// The model wants a tool to be used.
    Call {
        id: Option<String>,
        tool: String,
        arguments: Vec<Argument>,
    },
    /// What a call came to.
    Result {
        call: Option<String>,
        tool: Option<String>,
        failed: bool,
        said: Text,
    },
    /// Of the platform: what could not be read, what went wrong.
    Note {
        said: Text,
    },
}

/// An argument of a call. Texts are as they are, all else is JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Argument {
    /// Empty when the model wrote no object.
    pub name: String,
    pub value: Text,
}

/// How an answer of the model came to be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Answered {
    /// The exchange it came in, by its ordinal in the recording.
    pub exchange: u32,
    /// The model as the provider calls it, and why it stopped, in its word.
    pub model: Option<String>,
    pub stopped: Option<String>,
    pub usage: Option<Usage>,
    /// Seconds from the request to the end of the answer.
    pub seconds: u32,
    /// How often the provider was asked again.
    pub retries: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Message {
    /// From 1, over all conversations of the step.
    pub number: u32,
    /// Which conversation it is in, from 1.
    pub conversation: u32,
    pub speaker: Speaker,
    /// RFC 3339.
    pub at: String,
    /// Absent for what was sent along with a request, whoever said it first.
    pub answered: Option<Answered>,
    pub parts: Vec<Part>,
}

/// One of the conversations of a step: the main one comes first, then what was
/// asked beside it (titles, summaries, sub-agents).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Begin {
    /// Number of its first message.
    pub first: u32,
    pub messages: u32,
    /// Names of the tools on offer.
    pub tools: Vec<String>,
}

/// All that was said in a step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Messages {
    pub conversations: Vec<Begin>,
    pub messages: Vec<Message>,
}

/// Which messages are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Window {
    /// The number of the first; where it is absent, the first that has what is
    /// looked for, or the first of all.
    pub from: Option<u32>,
    /// 1 to [`LONGEST_PAGE`]; [`PAGE`] when absent.
    pub limit: Option<u32>,
    /// A text that is looked for, whatever its case; empty for none.
    pub q: String,
}

/// Which attempt at which step it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RecordedStep {
    pub run_id: String,
    pub model: String,
    pub task_id: TaskId,
    pub sample: u32,
    pub evolution_id: String,
    pub iteration: u32,
    pub role: Role,
    pub attempt: u32,
    /// All attempts at the step that were recorded.
    pub attempts: Vec<u32>,
}

/// Some messages of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MessagesPage {
    pub step: RecordedStep,
    /// How many messages there are in all.
    pub total: u32,
    pub conversations: Vec<Begin>,
    /// Number of the first message of this page; 1 where there is none.
    pub from: u32,
    pub items: Vec<Message>,
    /// `from` of the pages before and after this one.
    pub previous: Option<u32>,
    pub next: Option<u32>,
    /// What was looked for and where it is.
    pub found: Option<Found>,
}

/// Where a text occurs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Found {
    pub q: String,
    /// Occurrences, and how many messages have any.
    pub hits: u32,
    pub messages: u32,
    /// Which of these messages is the first at or after `from`, from 1.
    pub here: Option<u32>,
    /// Numbers of the messages with the hits before and after that one.
    pub previous: Option<u32>,
    pub next: Option<u32>,
}

impl Part {
    /// Its texts, in the order one reads them.
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

    /// The same with texts that fit into what room there is left.
    fn cut(&self, q: &str, room: &mut usize) -> Self {
        let mut part = self.clone();
        match &mut part {
            Self::Said { said }
            | Self::Reasoning { said }
            | Self::Note { said }
            | Self::Result { said, .. } => said.cut(q, room),
            Self::Call { arguments, .. } => {
                let beyond = arguments.len().saturating_sub(MOST_PARTS);
                arguments.truncate(MOST_PARTS);
                for argument in arguments.iter_mut() {
                    argument.value.cut(q, room);
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
    fn cut(&mut self, q: &str, room: &mut usize) {
        let most = (*room).min(TEXT_BYTES);
        *room -= self.text.len().min(most);
        if self.text.len() <= most {
            return;
        }
        let first = hits(&self.text, q).next().map_or(0, |hit| hit.start);
        let start = match first + q.len() {
            end if end <= most => 0,
            _ => first.saturating_sub(BEFORE_HIT.min(most / 2)),
        };
        let start = self.text.floor_char_boundary(start);
        let end = self.text.floor_char_boundary(start + most);
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

    /// As a page has room for it.
    fn cut(&self, q: &str) -> Self {
        let mut room = MESSAGE_BYTES;
        let parts = self.parts.iter().take(MOST_PARTS);
        let mut parts: Vec<Part> = parts.map(|part| part.cut(q, &mut room)).collect();
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

    /// Bytes of its texts.
    #[must_use]
    pub fn weight(&self) -> usize {
        let texts = self.parts.iter().flat_map(Part::texts);
        texts.map(str::len).sum()
    }
}

impl Messages {
    /// The messages of a window, and where what is looked for occurs.
    #[must_use]
    pub fn page(&self, step: RecordedStep, window: &Window) -> MessagesPage {
        let total = count(self.messages.len());
        let q = window.q.trim();
        let with_hits: Vec<(u32, u32)> = match q {
            "" => Vec::new(),
            q => {
                let counted = self.messages.iter().map(|m| (m.number, m.hits(q)));
                counted.filter(|(_, hits)| *hits > 0).collect()
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
    /// `with_hits`: numbers of messages, in order, and their hits.
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

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
