//! Which exchanges belong together. A harness sends the whole conversation
//! each time, and between its turns asks for other things: a title, a summary,
//! what a sub-agent shall do. What continues what is seen by what is repeated.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::read;
use super::said::{Answer, Call, CallResult, Message, Request, Speaker};
use crate::gateway::Exchange;

/// Exchanges of which each continues the one before.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// The system prompts it began with.
    pub instructions: Vec<String>,
    /// The tools on offer at its beginning, as OpenAI describes functions.
    pub tools: Vec<Value>,
    pub turns: Vec<Turn>,
}

/// One exchange inside a conversation.
#[derive(Debug, Clone)]
pub struct Turn {
    /// Without request and response: what they say is below.
    pub exchange: Exchange,
    /// What the harness said since the turn before, beside results of calls;
    /// in the first turn everything.
    pub added: Vec<Message>,
    pub answer: Answer,
    /// What the calls of the answer came to, as the next turn tells.
    pub results: Vec<CallResult>,
}

/// All conversations, the main one first. It is the one with tools that takes
/// the longest from its beginning to its end: what is asked beside it lies
/// within.
pub fn conversations(exchanges: &[Exchange]) -> Vec<Conversation> {
    let mut exchanges: Vec<&Exchange> = exchanges.iter().collect();
    exchanges.sort_by_key(|exchange| exchange.ordinal);
    let read = |index: usize| Ok::<_, Infallible>(Cow::Borrowed(exchanges[index]));
    let Ok(told) = gathered(exchanges.len(), read);
    told
}

/// The same of exchanges that are read one at a time, in the order of their
/// ordinals: each request holds again all that was said before, so that
/// together they are far larger than what is said in them.
pub fn gathered<'a, E>(
    count: usize,
    exchange: impl Fn(usize) -> Result<Cow<'a, Exchange>, E>,
) -> Result<Vec<Conversation>, E> {
    let mut links: Vec<Link> = Vec::with_capacity(count);
    for index in 0..count {
        let link = Link::of(&*exchange(index)?, &links);
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
    let told = chains.iter().map(|chain| {
        let first = chain.first().copied().unwrap_or_default();
        let whole = read::request(&*exchange(first)?);
        Ok(told(chain, whole, &mut links))
    });
    told.collect()
}

/// An exchange and the earlier one it continues.
#[derive(Debug)]
struct Link {
    /// Without request and response.
    exchange: Exchange,
    /// A number for each message asked with; equal messages have equal ones.
    marks: Vec<u64>,
    /// The longest system prompt; short ones hold what varies.
    instructions: Option<String>,
    offers_tools: bool,
    answer: Answer,
    parent: Option<usize>,
    /// What was said that the parent does not know.
    new: Vec<Message>,
    /// The request, where nothing can be read in it.
    unread: Option<Message>,
}

impl Link {
    fn of(exchange: &Exchange, earlier: &[Self]) -> Self {
        let mut request = read::request(exchange);
        let instructions = request.instructions.drain(..).max_by_key(String::len);
        let marks: Vec<u64> = request.said.iter().map(mark).collect();
        let unread = marks.is_empty().then(|| Message::unread(&exchange.request));
        let mut link = Self {
            exchange: exchange.head(),
            marks,
            instructions,
            offers_tools: !request.tools.is_empty(),
            answer: read::answer(exchange),
            parent: None,
            new: Vec::new(),
            unread,
        };
        // Where nothing can be read, such as in a request that was too long to
        // be kept, the order is all there is.
        let found = match request.said.is_empty() {
            true => earlier.len().checked_sub(1).map(|last| (last, 0)),
            false => (0..earlier.len()).rev().find_map(|index| {
                let from = link.continues(&request, &earlier[index])?;
                Some((index, from))
            }),
        };
        if let Some((parent, from)) = found {
            link.parent = Some(parent);
            link.new = request.said.split_off(from);
        }
        link
    }

    /// Where in the request begins what is new, if it continues `earlier`: it
    /// repeats the answer, or everything asked with. Without the tools it is
    /// something asked beside it.
    fn continues(&self, request: &Request, earlier: &Self) -> Option<usize> {
        if earlier.offers_tools && !self.offers_tools {
            return None;
        }
        let answer = &earlier.answer.message;
        let said = &request.said;
        if let Some(at) = said.iter().rposition(|message| repeats(message, answer)) {
            return Some(at + 1);
        }
        let asked_again = !earlier.marks.is_empty()
            && self.instructions == earlier.instructions
            && self.marks.starts_with(&earlier.marks);
        let echo = said.iter().skip(earlier.marks.len());
        let echo = echo.take_while(|message| message.speaker == Speaker::Agent);
        asked_again.then(|| earlier.marks.len() + echo.count())
    }
}

/// Whether a message of the agent is that answer again.
fn repeats(message: &Message, answer: &Message) -> bool {
    if message.speaker != Speaker::Agent {
        return false;
    }
    let same = |one: &Call, other: &Call| {
        let ids = one.id.as_ref().zip(other.id.as_ref());
        ids.is_none_or(|(one, other)| one == other)
            && one.name == other.name
            && one.arguments == other.arguments
    };
    if answer.calls.is_empty() {
        let text = answer.text.trim();
        return message.calls.is_empty() && !text.is_empty() && message.text.trim() == text;
    }
    let all = message.calls.len() == answer.calls.len();
    let mut pairs = message.calls.iter().zip(&answer.calls);
    all && pairs.all(|(one, other)| same(one, other))
}

/// A number by which a message is known again. Harnesses shorten old results
/// and rewrite what they said beside calls, so calls and results are known by
/// their ids where they have some.
fn mark(message: &Message) -> u64 {
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

/// The exchanges in chains by who continues whom. Where several continue the
/// same, the chain goes on with the one that goes on the longest; the others
/// begin chains of their own.
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

/// `whole` is the request a chain begins with, which may have a past.
fn told(chain: &[usize], whole: Request, links: &mut [Link]) -> Conversation {
    let mut told = Conversation {
        instructions: whole.instructions,
        tools: whole.tools,
        turns: Vec::with_capacity(chain.len()),
    };
    let mut first = Some(whole.said);
    for &index in chain {
        let link = &mut links[index];
        let mut added = first
            .take()
            .unwrap_or_else(|| std::mem::take(&mut link.new));
        if let Some(before) = told.turns.last_mut() {
            before.results = take_results(&mut added);
        }
        // A request that cannot be read is at least told of.
        added.extend(link.unread.take());
        told.turns.push(Turn {
            exchange: link.exchange.clone(),
            added,
            answer: std::mem::take(&mut link.answer),
            results: Vec::new(),
        });
    }
    told
}

/// The results before the agent's next word; those after belong to that.
fn take_results(new: &mut Vec<Message>) -> Vec<CallResult> {
    let next = new
        .iter()
        .position(|message| message.speaker == Speaker::Agent);
    let later = new.split_off(next.unwrap_or(new.len()));
    let (results, said): (Vec<_>, Vec<_>) = new
        .drain(..)
        .partition(|message| message.speaker == Speaker::Tool);
    *new = said;
    new.extend(later);
    results
        .into_iter()
        .flat_map(|message| message.results)
        .collect()
}
