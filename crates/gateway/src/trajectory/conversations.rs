//! Groups exchanges into conversations. A harness sends the whole conversation
//! each time, and in between makes other requests: for a title, a summary, a
//! sub-agent. An exchange continues an earlier one if it repeats its messages.

use std::cmp::Reverse;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::parsers;
use super::transcript::{Answer, Call, CallResult, Message, Request, Speaker};
use crate::{Exchange, Lines};

/// Exchanges that each continue the previous one.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    /// The system prompts at the start.
    pub instructions: Vec<String>,
    /// The tools offered at the start, in OpenAI's function format.
    pub tools: Vec<Value>,
    pub turns: Vec<Turn>,
    /// Messages after the last answer; a gateway records none.
    pub rest: Vec<Message>,
}

#[derive(Debug, Clone)]
pub struct Turn {
    /// Without request and response: the other fields hold their content.
    pub exchange: Exchange,
    /// The harness's messages since the previous turn, except results of calls;
    /// in the first turn all messages.
    pub added: Vec<Message>,
    pub answer: Answer,
    /// The results of the answer's calls, from the next turn's request.
    pub results: Vec<CallResult>,
}

/// All conversations, the main one first: the one with tools that spans the most
/// exchanges, since side requests lie within it. It reads one exchange at a time, in
/// the order of ordinals: each request repeats all earlier messages, so all
/// exchanges together are far larger than their transcript.
///
/// # Errors
/// A line of the recording cannot be parsed.
pub fn conversations(lines: &Lines) -> anyhow::Result<Vec<Conversation>> {
    let mut links: Vec<Link> = Vec::with_capacity(lines.count());
    for index in 0..lines.count() {
        let link = Link::new(&lines.exchange(index)?, &links);
        links.push(link);
    }
    let mut chains = chains(&links);
    let size = |chain: &[usize]| {
        let (first, last) = (chain.first().copied()?, chain.last().copied()?);
        Some((links[first].offers_tools, last - first, Reverse(first)))
    };
    if let Some(main) = (0..chains.len()).max_by_key(|&index| size(&chains[index])) {
        chains[..=main].rotate_right(1);
    }
    let conversations = chains.iter().map(|chain| {
        let first = chain.first().copied().unwrap_or_default();
        let whole = parsers::request(&lines.exchange(first)?);
        Ok(chain_conversation(chain, whole, &mut links))
    });
    conversations.collect()
}

/// An exchange and the earlier one it continues.
#[derive(Debug)]
struct Link {
    /// Without request and response.
    exchange: Exchange,
    fingerprints: Vec<u64>,
    /// The longest system prompt; short ones hold varying data.
    instructions: Option<String>,
    offers_tools: bool,
    answer: Answer,
    parent: Option<usize>,
    /// The messages that the parent does not have.
    new: Vec<Message>,
    /// The request, if no message of it can be parsed.
    unreadable: Option<Message>,
}

impl Link {
    fn new(exchange: &Exchange, earlier: &[Self]) -> Self {
        let mut request = parsers::request(exchange);
        let instructions = request.instructions.drain(..).max_by_key(String::len);
        let fingerprints: Vec<u64> = request.messages.iter().map(fingerprint).collect();
        let unreadable = fingerprints
            .is_empty()
            .then(|| Message::unreadable(&exchange.request));
        let mut link = Self {
            exchange: exchange.head(),
            fingerprints,
            instructions,
            offers_tools: !request.tools.is_empty(),
            answer: parsers::answer(exchange),
            parent: None,
            new: Vec::new(),
            unreadable,
        };
        // Without messages, as in a request too long to be recorded, assume that
        // it continues the previous exchange.
        let mut all = earlier.iter().enumerate().rev();
        let found = match request.messages.is_empty() {
            true => all.next().map(|(last, _)| (last, 0)),
            false => all.find_map(|(index, one)| Some((index, link.continues(&request, one)?))),
        };
        if let Some((parent, from)) = found {
            link.parent = Some(parent);
            link.new = request.messages.split_off(from);
        }
        link
    }

    /// The index of the first new message, if the request continues `earlier`: it
    /// repeats the answer, or all messages of the earlier request. A request
    /// without the earlier one's tools is a side request.
    fn continues(&self, request: &Request, earlier: &Self) -> Option<usize> {
        if earlier.offers_tools && !self.offers_tools {
            return None;
        }
        let messages = &request.messages;
        let repeated = |message: &Message| repeats(message, &earlier.answer.message);
        if let Some(at) = messages.iter().rposition(repeated) {
            return Some(at + 1);
        }
        let is_repetition = !earlier.fingerprints.is_empty()
            && self.instructions == earlier.instructions
            && self.fingerprints.starts_with(&earlier.fingerprints);
        let repeated = messages.iter().skip(earlier.fingerprints.len());
        let repeated = repeated.take_while(|message| message.speaker == Speaker::Assistant);
        is_repetition.then(|| earlier.fingerprints.len() + repeated.count())
    }
}

fn repeats(message: &Message, answer: &Message) -> bool {
    if message.speaker != Speaker::Assistant {
        return false;
    }
    let same = |(one, other): (&Call, &Call)| {
        let ids = one.id.as_ref().zip(other.id.as_ref());
        ids.is_none_or(|(one, other)| one == other)
            && one.name == other.name
            && one.arguments == other.arguments
    };
    if answer.calls.is_empty() {
        let text = answer.text.trim();
        return message.calls.is_empty() && !text.is_empty() && message.text.trim() == text;
    }
    let mut pairs = message.calls.iter().zip(&answer.calls);
    message.calls.len() == answer.calls.len() && pairs.all(same)
}

/// A hash to recognise a message. Harnesses shorten old results and rewrite the
/// text beside calls, so the ids of calls and results count where there are any.
fn fingerprint(message: &Message) -> u64 {
    let mut hasher = DefaultHasher::new();
    message.speaker.hash(&mut hasher);
    for call in &message.calls {
        call.name.hash(&mut hasher);
        match &call.id {
            Some(id) => id.hash(&mut hasher),
            None => call.arguments.to_string().hash(&mut hasher),
        }
    }
    for result in &message.results {
        match &result.call {
            Some(call) => call.hash(&mut hasher),
            None => (&result.name, &result.text).hash(&mut hasher),
        }
    }
    if message.calls.is_empty() && message.results.is_empty() {
        message.text.trim().hash(&mut hasher);
    }
    hasher.finish()
}

/// Chains of exchanges that continue each other. If several continue the same
/// exchange, the longest continuation stays in its chain, and the others start
/// chains of their own.
fn chains(links: &[Link]) -> Vec<Vec<usize>> {
    let mut length = vec![1; links.len()];
    let mut next = vec![None; links.len()];
    for (index, link) in links.iter().enumerate().rev() {
        if let Some(parent) = link.parent
            && length[parent] <= length[index]
        {
            length[parent] = length[index] + 1;
            next[parent] = Some(index);
        }
    }
    let begins = |index: &usize| {
        let parent = links[*index].parent;
        parent.is_none_or(|parent| next[parent] != Some(*index))
    };
    let heads = (0..links.len()).filter(begins);
    let chain = |head| std::iter::successors(Some(head), |index| next[*index]).collect();
    heads.map(chain).collect()
}

/// `whole` is the first request of the chain, which may include earlier turns.
fn chain_conversation(chain: &[usize], whole: Request, links: &mut [Link]) -> Conversation {
    let mut conversation = Conversation {
        instructions: whole.instructions,
        tools: whole.tools,
        turns: Vec::with_capacity(chain.len()),
        rest: Vec::new(),
    };
    let mut first = Some(whole.messages);
    for &index in chain {
        let link = &mut links[index];
        let new = std::mem::take(&mut link.new);
        let mut added = first.take().unwrap_or(new);
        if let Some(before) = conversation.turns.last_mut() {
            before.results = take_results(&mut added);
        }
        // Show a request that cannot be parsed as it is.
        added.extend(link.unreadable.take());
        conversation.turns.push(Turn {
            exchange: link.exchange.clone(),
            added,
            answer: std::mem::take(&mut link.answer),
            results: Vec::new(),
        });
    }
    conversation
}

/// Removes the results before the agent's next message; later results belong to
/// that message.
fn take_results(new: &mut Vec<Message>) -> Vec<CallResult> {
    let is_agent = |message: &Message| message.speaker == Speaker::Assistant;
    let next = new.iter().position(is_agent).unwrap_or(new.len());
    let is_tool = |message: &mut Message| message.speaker == Speaker::Tool;
    let results = new.extract_if(..next, is_tool);
    results.flat_map(|message| message.results).collect()
}
