//! Answers requests from a recording; each request must match the recorded one.

use std::ops::Range;

use serde_json::Value;
use swe_ci_core::agent::Protocol;

use super::protocol::{AgentRequest, Call, Route, parse_request};
use super::recording::Exchange;

const MAX_DIFFERENCES: usize = 10;
/// Maximum reported characters of a value, and how many of them precede the
/// difference.
const MAX_SHOWN: usize = 80;
const CONTEXT: usize = 20;

/// The recorded exchanges of a step, to be replayed.
#[derive(Debug)]
pub struct Recording {
    /// In the order of the requests, without immediate repetitions.
    exchanges: Vec<Exchange>,
    /// For each, the exchanges concurrent with it: these may arrive in another
    /// order.
    concurrent: Vec<Range<usize>>,
}

impl Recording {
    pub fn new(mut exchanges: Vec<Exchange>) -> Self {
        exchanges.sort_by_key(|exchange| exchange.ordinal);
        exchanges.dedup_by(|next, previous| {
            let repeated = next.protocol == previous.protocol && next.request == previous.request;
            // The harness repeated a request that failed: replay the good answer.
            if repeated && (is_good(next) || !is_good(previous)) {
                std::mem::swap(next, previous);
            }
            repeated
        });
        let concurrent = concurrent_ranges(&exchanges);
        Self {
            exchanges,
            concurrent,
        }
    }

    /// The recorded answer. `ordinal` counts from 1, without immediate
    /// repetitions (retries of the harness).
    ///
    /// # Errors
    /// The request does not match; the text lists the differences.
    pub fn answer(&self, ordinal: u32, request: &AgentRequest) -> Result<&Exchange, String> {
        let index = (ordinal as usize).checked_sub(1);
        let Some((index, due)) = index.and_then(|at| Some((at, self.exchanges.get(at)?))) else {
            let recorded = self.exchanges.len();
            return Err(format!(
                "there is no recorded request {ordinal}; the recording has {recorded}"
            ));
        };
        let now = request.normalised();
        let matches = |exchange: &&Exchange| {
            exchange.protocol == request.protocol && normalised(exchange) == now
        };
        let others = &self.exchanges[self.concurrent[index].clone()];
        let mut candidates = std::iter::once(due).chain(others);
        candidates
            .find(matches)
            .ok_or_else(|| mismatch(ordinal, due, request.protocol, &now))
    }
}

fn is_good(exchange: &Exchange) -> bool {
    exchange.complete && exchange.status == 200
}

/// Normalises a recorded request like a new one. A request too long to be
/// recorded matches none.
fn normalised(exchange: &Exchange) -> Value {
    let call = Call::Ask(Route {
        model: Some(String::new()),
        ..Route::new(exchange.protocol)
    });
    let written = exchange.request.to_string();
    let parsed = parse_request(&call, written.as_bytes());
    parsed.map_or_else(|_| exchange.request.clone(), |request| request.normalised())
}

/// For each exchange, the range of exchanges that overlap in time, directly or
/// through others.
fn concurrent_ranges(exchanges: &[Exchange]) -> Vec<Range<usize>> {
    let mut ranges = Vec::with_capacity(exchanges.len());
    let mut from = 0;
    while from < exchanges.len() {
        let mut until = from + 1;
        let mut busy = exchanges[from].finished_at;
        while let Some(next) = exchanges.get(until).filter(|next| next.started_at < busy) {
            busy = busy.max(next.finished_at);
            until += 1;
        }
        ranges.extend((from..until).map(|_| from..until));
        from = until;
    }
    ranges
}

/// How a request differs from the recorded one, in words.
fn mismatch(ordinal: u32, due: &Exchange, requested: Protocol, now: &Value) -> String {
    let recorded = due.protocol;
    if recorded != requested {
        return format!("request {ordinal} is in {requested}; the recorded one is in {recorded}");
    }
    let then = normalised(due);
    let mut all = Vec::new();
    compare("", Some(&then), Some(now), &mut all);
    let mut text = format!("request {ordinal} is not the recorded one; they differ in");
    for difference in all.iter().take(MAX_DIFFERENCES) {
        text.push_str(&format!("\n  {}", described(difference)));
    }
    if let Some(more @ 1..) = all.len().checked_sub(MAX_DIFFERENCES) {
        text.push_str(&format!("\n  and {more} more places"));
    }
    text
}

/// A place as a JSON pointer, and the values there.
type Differing<'a> = (String, Option<&'a Value>, Option<&'a Value>);

fn compare<'a>(
    pointer: &str,
    then: Option<&'a Value>,
    now: Option<&'a Value>,
    all: &mut Vec<Differing<'a>>,
) {
    match (then, now) {
        (Some(Value::Object(then)), Some(Value::Object(now))) => {
            let new = now.keys().filter(|key| !then.contains_key(*key));
            for key in then.keys().chain(new) {
                let name = key.replace('~', "~0").replace('/', "~1");
                let pointer = format!("{pointer}/{name}");
                compare(&pointer, then.get(key), now.get(key), all);
            }
        }
        (Some(Value::Array(then)), Some(Value::Array(now))) => {
            for index in 0..then.len().max(now.len()) {
                let pointer = format!("{pointer}/{index}");
                compare(&pointer, then.get(index), now.get(index), all);
            }
        }
        _ if then == now => {}
        _ => all.push((pointer.to_owned(), then, now)),
    }
}

/// A difference with both values as text. Long texts are cut around the first
/// difference.
fn described((pointer, then, now): &Differing<'_>) -> String {
    let from = match (then, now) {
        (Some(Value::String(then)), Some(Value::String(now))) => {
            let pairs = then.chars().zip(now.chars());
            let same = pairs.take_while(|(one, other)| one == other).count();
            same.saturating_sub(CONTEXT)
        }
        _ => 0,
    };
    let shown = |value: &Option<&Value>| match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) => cut(text, from, |shown| format!("{shown:?}")),
        Some(other) => cut(&other.to_string(), 0, str::to_owned),
    };
    let place = match pointer.as_str() {
        "" => "the whole",
        pointer => pointer,
    };
    format!("{place}: {} then, {} now", shown(then), shown(now))
}

fn cut(text: &str, from: usize, written: impl Fn(&str) -> String) -> String {
    let mut rest = text.chars().skip(from);
    let shown: String = rest.by_ref().take(MAX_SHOWN).collect();
    let before = if from > 0 { "…" } else { "" };
    let after = if rest.next().is_some() { "…" } else { "" };
    format!("{before}{}{after}", written(&shown))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Sequential exchanges from second 1 on; those named `long` last until the
    /// end.
    fn recorded(requests: &[&str]) -> Vec<Exchange> {
        let one = |(ordinal, name): (u32, &&str)| Exchange {
            ordinal,
            protocol: Protocol::Chat,
            request: request(name),
            parameters: serde_json::Map::new(),
            status: 200,
            streamed: false,
            response: format!("{name} {ordinal}"),
            complete: true,
            usage: None,
            started_at: i64::from(ordinal) * 1_000,
            finished_at: if name.starts_with("long") {
                99_000
            } else {
                i64::from(ordinal) * 1_000 + 500
            },
            waiting_ms: 0,
            retries: Vec::new(),
            error: None,
        };
        (1..).zip(requests).map(one).collect()
    }

    fn request(name: &str) -> Value {
        json!({"model": "m", "messages": [{"role": "user", "content": name}]})
    }

    fn agent_request(protocol: Protocol, body: &Value) -> AgentRequest {
        let call = Call::Ask(Route {
            protocol,
            model: None,
            streamed: None,
            query: None,
        });
        parse_request(&call, body.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn the_answer_is_the_recorded_one() {
        let check = |exchanges: &[Exchange], asks: &[(u32, &str)], expect: &[&str]| {
            let recording = Recording::new(exchanges.to_vec());
            let answers = asks.iter().map(|(ordinal, name)| {
                let request = agent_request(Protocol::Chat, &request(name));
                let found = recording.answer(*ordinal, &request);
                found.map_or("-", |exchange| exchange.response.as_str())
            });
            let answers: Vec<&str> = answers.collect();
            assert_eq!(answers, expect, "{asks:?}");
        };
        let plain = recorded(&["a", "b", "a"]);
        let asks = [
            (1, "a"),
            (2, "b"),
            (2, "b"),
            (3, "a"),
            (4, "a"),
            (0, "a"),
            (1, "b"),
        ];
        let answers = ["a 1", "b 2", "b 2", "a 3", "-", "-", "-"];
        check(&plain, &asks, &answers);
        // Recorded in another order than requested.
        let mut turned = plain.clone();
        turned.reverse();
        check(&turned, &asks, &answers);
        // The harness retried; the replay gives the good answer at once.
        let mut repeated = recorded(&["a", "a", "b", "b", "c", "c"]);
        repeated[0].status = 500;
        repeated[3].complete = false;
        let asks = [(1, "a"), (2, "b"), (3, "c")];
        check(&repeated, &asks, &["a 2", "b 3", "c 6"]);
        // Concurrent requests may arrive in any order.
        let together = recorded(&["a", "long b", "c", "d"]);
        let asks = [(1, "a"), (2, "d"), (3, "long b"), (4, "c"), (2, "a")];
        check(&together, &asks, &["a 1", "d 4", "long b 2", "c 3", "-"]);
    }

    #[test]
    fn a_mismatch_lists_the_differences() {
        let check = |then: Value, protocol: Protocol, now: &Value, expect: &str| {
            let mut exchanges = recorded(&["a"]);
            exchanges[0].request = then;
            let recording = Recording::new(exchanges);
            let found = recording.answer(1, &agent_request(protocol, now));
            assert_eq!(found.unwrap_err().to_string(), expect);
        };
        let body = |content: &str, more: Value| {
            let mut body = request(content);
            body["more/~"] = more;
            body
        };
        check(
            request("a"),
            Protocol::Messages,
            &request("a"),
            "request 1 is in messages; the recorded one is in chat",
        );
        let long = "A long prompt, of which the beginning is the same in both. ".repeat(9);
        let (one, other) = (format!("{long}2+2 is 4\n{long}"), format!("{long}2+2 is 5"));
        check(
            body(&one, json!([1, {"a": 2}])),
            Protocol::Chat,
            &body(&other, json!([1, {"b": 3}, null])),
            "request 1 is not the recorded one; they differ in\n  \
             /messages/0/content: …\"ame in both. 2+2 is 4\\nA long prompt, of which the \
             beginning is the same in both.\"… then, …\"ame in both. 2+2 is 5\" now\n  \
             /more~1~0/1/a: 2 then, nothing now\n  \
             /more~1~0/1/b: nothing then, 3 now\n  \
             /more~1~0/2: nothing then, null now",
        );
        let numbers = |from: u32| Value::from((from..from + 12).collect::<Vec<_>>());
        let differ = (0..10u32).map(|at| format!("\n  /more~1~0/{at}: {at} then, {} now", at + 1));
        let differ: String = differ.collect();
        check(
            body("a", numbers(0)),
            Protocol::Chat,
            &body("a", numbers(1)),
            &format!(
                "request 1 is not the recorded one; they differ in{differ}\n  and 2 more places"
            ),
        );
        check(
            "left out".into(),
            Protocol::Chat,
            &request("a"),
            "request 1 is not the recorded one; they differ in\n  the whole: \"left out\" then, \
             {\"messages\":[{\"content\":\"a\",\"role\":\"user\"}],\"model\":\"m\"} now",
        );
        let beyond = Recording::new(recorded(&["a"]));
        let beyond = beyond.answer(2, &agent_request(Protocol::Chat, &request("b")));
        let expect = "there is no recorded request 2; the recording has 1";
        assert_eq!(beyond.unwrap_err().to_string(), expect);
    }
}
