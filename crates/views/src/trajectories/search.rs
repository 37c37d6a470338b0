//! The search for a text in all transcripts of a run.

use serde::{Deserialize, Serialize};

use super::Place;
use crate::conversation::{Message, hits};
use crate::count;

/// The longest search text, in bytes.
pub const LONGEST_SEARCH: usize = 200;
/// The most steps with hits on a page.
pub const MAX_HITS: usize = 50;
/// Bytes around the first hit.
const AROUND: usize = 120;

/// The texts of a step's messages: the message's number, and all it says.
pub type MessageTexts = Vec<(u32, String)>;

pub fn message_texts(messages: &[Message]) -> MessageTexts {
    let texts = messages
        .iter()
        .map(|message| (message.number, message.text()));
    texts.collect()
}

/// A part of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TranscriptSearch {
    pub run_id: String,
    pub model: String,
    pub split: String,
    pub q: String,
    /// Steps with hits, in the order of tasks and iterations.
    pub hits: Vec<TranscriptHit>,
    /// Recorded steps up to the end of this part.
    pub searched: u32,
    /// All recorded steps.
    pub recorded: u32,
    /// The server is still preparing transcripts, which it skipped: search again.
    pub skipped: u32,
    /// Pass it as `from` to search on; absent at the end.
    pub next: Option<u32>,
}

/// A step whose transcript has the text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TranscriptHit {
    /// Its `message` is the first with the text, its `times` are all hits.
    #[serde(flatten)]
    pub place: Place,
    /// The text around the first hit, in three parts: before, the hit, after.
    pub excerpt: (String, String, String),
}

/// The hits of `q` in a step: how many, the number of the first message with
/// one, and the text around that.
pub fn search(texts: &MessageTexts, q: &str) -> Option<(u32, u32, (String, String, String))> {
    let mut first = None;
    let mut all = 0;
    for (number, text) in texts {
        let mut found = hits(text, q).peekable();
        if let (None, Some(hit)) = (&first, found.peek()) {
            let from = text.floor_char_boundary(hit.start.saturating_sub(AROUND));
            let to = text.floor_char_boundary(hit.end + AROUND);
            let part = |range: std::ops::Range<usize>| text[range].to_owned();
            let excerpt = (part(from..hit.start), part(hit.clone()), part(hit.end..to));
            first = Some((*number, excerpt));
        }
        all += found.count();
    }
    first.map(|(number, excerpt)| (count(all), number, excerpt))
}
