//! Tests of the trajectory: helpers that build exchanges and print conversations.

mod atif;
mod atif_of_others;
mod digest;
mod grouping;
mod messages;
mod protocols;
mod wire;

use serde_json::{Value, json};
use swe_ci_core::agent::Protocol;
use swe_ci_core::usage::Usage;

use super::Conversations;
use super::transcript::{Answer, Call, CallResult, Message, Speaker};
use crate::Exchange;

const PROMPT: &str = "Make `double` work.";
const SYSTEM: &str = "You are an agent that writes code.";

fn user(text: &str) -> Message {
    Message::new(Speaker::User, text)
}

fn agent(text: &str) -> Message {
    Message::new(Speaker::Assistant, text)
}

fn calling(text: &str, calls: &[(&str, &str, Value)]) -> Message {
    let call = |(id, name, arguments): &(&str, &str, Value)| Call {
        id: Some((*id).to_owned()),
        name: (*name).to_owned(),
        arguments: arguments.clone(),
    };
    Message {
        calls: calls.iter().map(call).collect(),
        ..agent(text)
    }
}

fn result(call: &str, text: &str) -> Message {
    Message::result(CallResult {
        call: Some(call.to_owned()),
        name: None,
        text: text.to_owned(),
        failed: false,
    })
}

/// An exchange of a harness, with tools if `system` is [`SYSTEM`].
fn exchange(
    (protocol, streamed): (Protocol, bool),
    ordinal: u32,
    system: &str,
    history: &[Message],
    answer: &Message,
) -> Exchange {
    Exchange {
        ordinal,
        protocol,
        request: wire::request(protocol, system, history, system == SYSTEM),
        parameters: serde_json::Map::new(),
        status: 200,
        streamed,
        response: wire::answer(protocol, streamed, answer),
        complete: true,
        usage: Some(Usage {
            input_tokens: 1_000 * u64::from(ordinal),
            cached_tokens: 500,
            output_tokens: 20,
            reasoning_tokens: 5,
        }),
        started_at: 1_795_287_600_000 + 10_000 * i64::from(ordinal),
        finished_at: 1_795_287_604_000 + 10_000 * i64::from(ordinal),
        waiting_ms: 0,
        retries: Vec::new(),
        error: None,
    }
}

/// As they are read when the gateway has written them.
fn recorded(exchanges: &[Exchange]) -> Conversations {
    let mut lines = Vec::new();
    for exchange in exchanges {
        serde_json::to_writer(&mut lines, exchange).unwrap();
        lines.push(b'\n');
    }
    Conversations::read("trajectory.jsonl", lines).unwrap()
}

/// Three turns with calls, and a request for a title after the first.
fn usual(how: (Protocol, bool)) -> Vec<Exchange> {
    let (look, edits, done) = usual_answers();
    let mut history = vec![user(PROMPT)];
    let first = exchange(how, 1, SYSTEM, &history, &look);
    let ask = [user(&format!("A title for this: {PROMPT}"))];
    let title = exchange(how, 2, "You make titles.", &ask, &agent("Doubling"));
    history.extend([look, result("call_1", "double.py\ntests")]);
    let second = exchange(how, 3, SYSTEM, &history, &edits);
    history.extend([
        edits,
        result("call_2", "done"),
        result("call_3", "1 passed"),
    ]);
    history.push(user("Two messages are left."));
    let third = exchange(how, 4, SYSTEM, &history, &done);
    // Recorded in the order of their ends, not of their starts.
    vec![title, first, second, third]
}

fn usual_answers() -> (Message, Message, Message) {
    let mut look = calling(
        "Let me look.",
        &[("call_1", "bash", json!({"command": "ls"}))],
    );
    look.add_reasoning("Where is it?");
    let text = "def double(x):\n\treturn 2 * x # “ä”\n";
    let edit = json!({"filePath": "double.py", "content": text});
    let edits = calling(
        "",
        &[
            ("call_2", "write", edit),
            (
                "call_3",
                "bash",
                json!({"command": "pytest", "timeout": 60}),
            ),
        ],
    );
    (look, edits, agent("It works now."))
}

/// All conversations as text, each with the ordinals of its exchanges.
fn transcript_text(exchanges: &[Exchange]) -> String {
    let mut lines = Vec::new();
    for conversation in recorded(exchanges).0 {
        let turns = conversation.turns.iter();
        let ordinals: Vec<_> = turns
            .map(|turn| turn.exchange.ordinal.to_string())
            .collect();
        lines.push(format!("-- {}", ordinals.join(" ")));
        lines.extend(
            conversation
                .instructions
                .iter()
                .map(|text| format!("system: {text}")),
        );
        for turn in &conversation.turns {
            lines.extend(turn.added.iter().map(line));
            lines.push(line(&turn.answer.message));
            let results = turn.results.iter();
            lines.extend(results.map(|result| format!("=> {}", result.text.replace('\n', " "))));
        }
    }
    lines.join("\n")
}

fn line(message: &Message) -> String {
    let mut words = match message.speaker {
        Speaker::System => vec!["system:".to_owned()],
        Speaker::User => vec!["user:".to_owned()],
        Speaker::Assistant => vec!["agent:".to_owned()],
        Speaker::Tool => vec!["tool:".to_owned()],
    };
    if !message.reasoning.is_empty() {
        words.push(format!("({})", message.reasoning));
    }
    words.push(message.text.clone());
    let calls = message.calls.iter();
    words.extend(calls.map(|call| format!("{}{}", call.name, call.arguments)));
    words.extend(message.results.iter().map(|result| result.text.clone()));
    words.extend(message.notes.iter().map(|note| format!("[{note}]")));
    words.retain(|word| !word.is_empty());
    words.join(" ").replace('\n', " ")
}
