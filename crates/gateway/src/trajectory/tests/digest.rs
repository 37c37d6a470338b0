//! Tests of the numbers of a recording.

use swe_ci_views::conversation::Part;
use swe_ci_views::trajectories::{StepDigest, Use};

use super::*;
use crate::trajectory::{is_too_long, tokens_of_refusal};

fn read(exchanges: &[Exchange]) -> StepDigest {
    recorded(exchanges).digest()
}

#[test]
fn calls_by_tool_and_by_program_in_every_protocol() {
    for protocol in Protocol::ALL {
        let exchanges = usual((protocol, true));
        let found = read(&exchanges);
        let bash = found.tools["bash"];
        assert_eq!((bash.calls, bash.failed), (2, 0), "{}", protocol.name());
        assert_eq!(bash.result_bytes, "double.py\ntests1 passed".len() as u64);
        // The first answer's tokens and time, and half of the second's. From its
        // end to the next request the first took 16 s, because the exchange in
        // between is another conversation; the second took 6 s.
        assert_eq!(bash.output_tokens, 20 + 10);
        assert_eq!(bash.ms, 16_000 + 3_000);
        assert_eq!(found.tools["write"].calls, 1);
        let commands: Vec<&str> = found.commands.keys().map(String::as_str).collect();
        assert_eq!(commands, ["ls", "pytest"]);
        // Pages number messages in the same way.
        let all = recorded(&exchanges).into_messages().messages;
        let is_call = |part: &Part| matches!(part, Part::Call { tool, .. } if tool == "bash");
        let first = all.iter().find(|m| m.parts.iter().any(is_call)).unwrap();
        assert_eq!(bash.first, first.number);
    }
}

#[test]
fn trouble() {
    const HOW: (Protocol, bool) = (Protocol::Chat, false);
    let list = |id: &str| calling("", &[(id, "bash", json!({"command": "ls"}))]);
    let mut history = vec![user(PROMPT)];
    let mut exchanges = Vec::new();
    for (ordinal, output) in (1..).zip(["a", "Exit code: 1", "a", "a"]) {
        let id = format!("call_{ordinal}");
        let answer = list(&id);
        exchanges.push(exchange(HOW, ordinal, SYSTEM, &history, &answer));
        history.extend([answer, result(&id, output)]);
    }
    let mut cut = exchange(HOW, 5, SYSTEM, &history, &agent("I think that"));
    cut.response = cut.response.replace("\"stop\"", "\"length\"");
    let mut refused = exchange(HOW, 6, SYSTEM, &history, &agent(""));
    (refused.status, refused.error) = (500, Some("no".into()));
    let empty = exchange(HOW, 7, SYSTEM, &history, &agent(""));
    let mut long = exchange(HOW, 8, SYSTEM, &history, &agent(""));
    long.status = 400;
    long.response =
        r#"{"error": {"message": "This model's maximum context length is 8192 tokens"}}"#.into();
    exchanges.extend([cut, refused, empty, long]);

    let found = read(&exchanges);
    let bash = found.tools["bash"];
    assert_eq!((bash.calls, bash.failed), (4, 1));
    let all = recorded(&exchanges).into_messages().messages;
    let message = |number: u32| &all[number as usize - 1];
    assert!(
        matches!(&message(bash.first_failed + 1).parts[0], Part::Result { said, .. } if said.text == "Exit code: 1")
    );
    // Three times `ls` came to the same; once it failed.
    let [repeated] = &*found.repeated else {
        panic!("{:?}", found.repeated);
    };
    assert_eq!(
        (repeated.times, &*repeated.call),
        (2, r#"bash {"command":"ls"}"#)
    );
    let said = |numbers: &[u32]| -> Vec<Option<String>> {
        let parts = numbers.iter().map(|number| message(*number).parts.last());
        let text = |part: Option<&Part>| match part {
            Some(Part::Said { said } | Part::Note { said }) => Some(said.text.clone()),
            _ => None,
        };
        parts.map(text).collect()
    };
    assert_eq!(said(&found.truncated), [Some("I think that".to_owned())]);
    assert_eq!(said(&found.unanswered)[0], Some("no".to_owned()));
    // The request that was too long is one without an answer, and the last.
    assert_eq!(found.overflows, [found.last_answer]);
    assert_eq!(found.unanswered[1..], found.overflows);
    assert_eq!(said(&found.empty), [None]);
}

/// Texts of refusals as providers and servers of models send them.
#[test]
fn a_refusal_tells_how_long_the_conversation_was() {
    const HOW: (Protocol, bool) = (Protocol::Chat, false);
    let check = |text: &str, expect: &[u64]| {
        let mut long = exchange(HOW, 1, SYSTEM, &[user(PROMPT)], &agent(""));
        long.status = 400;
        assert!(is_too_long(&long, text), "{text}");
        assert_eq!(tokens_of_refusal(text), expect, "{text}");
    };
    let known = [18_341, 16_384];
    check(
        "This model's maximum context length is 16384 tokens. However, you requested 18341 tokens (17341 in the messages, 1000 in the completion).",
        &known,
    );
    check(
        r#"{"error":{"message":"prompt is too long: 18341 tokens > 16384 maximum"}}"#,
        &known,
    );
    check(
        r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":18341,"n_ctx":16384}}"#,
        &known,
    );
    check(
        "The input token count (18341) exceeds the maximum number of tokens allowed (16384).",
        &known,
    );
    check("gpt-4-0613: context_length_exceeded, 8192", &[]);
}

#[test]
fn an_agent_cannot_make_it_large() {
    const HOW: (Protocol, bool) = (Protocol::Chat, false);
    let name = |n: usize| format!("p{n:04}{}", "é".repeat(500));
    let names: Vec<String> = (0..300).map(name).collect();
    let ids: Vec<String> = (0..300).map(|n| format!("call_{n}")).collect();
    let calls = ids.iter().zip(&names);
    let calls: Vec<(&str, &str, Value)> = calls
        .map(|(id, name)| (&**id, &**name, json!({"command": name})))
        .collect();
    let answer = calling("", &calls);
    let found = read(&[exchange(HOW, 1, SYSTEM, &[user(PROMPT)], &answer)]);
    assert_eq!((found.tools.len(), found.commands.len()), (65, 129));
    let calls = |uses: &std::collections::BTreeMap<String, Use>| -> u32 {
        uses.values().map(|one| one.calls).sum()
    };
    assert_eq!((calls(&found.tools), calls(&found.commands)), (300, 300));
    assert!(found.tools.keys().all(|name| name.len() <= 120));
}
