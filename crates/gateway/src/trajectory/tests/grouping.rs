//! Tests of the grouping of exchanges into conversations.

use super::*;

const HOW: (Protocol, bool) = (Protocol::Chat, true);

fn check(exchanges: &[Exchange], expect: &[&str]) {
    let text = transcript_text(exchanges);
    let heads: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("-- "))
        .collect();
    assert_eq!(heads, expect, "{text}");
}

fn look(id: &str) -> Message {
    calling("", &[(id, "bash", json!({"command": "ls"}))])
}

/// Turns that list files, in a conversation that starts with `history`.
fn looks(
    from: u32,
    system: &str,
    history: &[Message],
    turns: u32,
) -> (Vec<Exchange>, Vec<Message>) {
    let mut history = history.to_vec();
    let mut exchanges = Vec::new();
    for ordinal in from..from + turns {
        let answer = look(&format!("call_{ordinal}"));
        exchanges.push(exchange(HOW, ordinal, system, &history, &answer));
        history.extend([answer, result(&format!("call_{ordinal}"), "a.py")]);
    }
    (exchanges, history)
}

#[test]
fn a_retried_request_continues_the_conversation() {
    let (mut exchanges, history) = looks(1, SYSTEM, &[user(PROMPT)], 2);
    let mut failed = exchange(HOW, 3, SYSTEM, &history, &agent(""));
    failed.status = 500;
    failed.response = "oops".into();
    exchanges.push(failed);
    exchanges.push(exchange(HOW, 4, SYSTEM, &history, &agent("Done.")));
    check(&exchanges, &["1 2 3 4"]);
}

#[test]
fn sub_agents_are_separate_however_long_they_are() {
    let (mut exchanges, mut history) = looks(1, SYSTEM, &[user(PROMPT)], 1);
    let (sub, _) = looks(2, SYSTEM, &[user("Explore.")], 4);
    exchanges.extend(sub);
    let answer = look("call_6");
    exchanges.push(exchange(HOW, 6, SYSTEM, &history, &answer));
    history.extend([answer, result("call_6", "b.py")]);
    exchanges.push(exchange(HOW, 7, SYSTEM, &history, &agent("Done.")));
    check(&exchanges, &["1 6 7", "2 3 4 5"]);
}

#[test]
fn a_side_request_is_a_conversation_of_its_own() {
    let (mut exchanges, history) = looks(1, SYSTEM, &[user(PROMPT)], 2);
    let mut beside = history.clone();
    beside.extend([user("Who speaks next?")]);
    exchanges.push(exchange(
        HOW,
        3,
        SYSTEM,
        &beside,
        &agent("{\"next\": \"user\"}"),
    ));
    exchanges.push(exchange(HOW, 4, SYSTEM, &history, &agent("Done.")));
    check(&exchanges, &["1 2 4", "3"]);
    // Without tools it is separate even at the end.
    exchanges.truncate(2);
    exchanges.push(exchange(
        HOW,
        3,
        "Summarise.",
        &beside,
        &agent("Files were listed."),
    ));
    check(&exchanges, &["1 2", "3"]);
}

#[test]
fn a_new_conversation_starts_after_a_summary() {
    let (mut exchanges, mut history) = looks(1, SYSTEM, &[user(PROMPT)], 4);
    history.push(user("Summarise all this."));
    exchanges.push(exchange(
        HOW,
        5,
        SYSTEM,
        &history,
        &agent("Files were listed."),
    ));
    let again = [user(PROMPT), user("So far: Files were listed.")];
    exchanges.extend(looks(6, SYSTEM, &again, 2).0);
    check(&exchanges, &["1 2 3 4 5", "6 7"]);
}

#[test]
fn a_conversation_is_recognised_after_the_harness_edits_it() {
    let (mut exchanges, mut history) = looks(1, SYSTEM, &[user(PROMPT)], 2);
    // The harness clears old results and rewrites the prompt, but not the answer.
    history[0] = user("Make `double` work. The time is 12:01.");
    history[2] = result("call_1", "[cleared]");
    exchanges.push(exchange(HOW, 3, SYSTEM, &history, &look("call_3")));
    // A harness that rewrites calls.
    let mut own = history.clone();
    own[3] = calling(
        "I list.",
        &[("call_2", "bash", json!({"command": "ls", "cwd": "."}))],
    );
    own.extend([
        look("call_3"),
        result("call_3", "a.py"),
        result("call_x", "?"),
    ]);
    exchanges.push(exchange(HOW, 4, SYSTEM, &own, &agent("Done.")));
    check(&exchanges, &["1 2 3 4"]);
    let all = recorded(&exchanges).0;
    let texts = |turn: usize| {
        all[0].turns[turn]
            .results
            .iter()
            .map(|result| result.text.as_str())
    };
    assert_eq!(texts(1).collect::<Vec<_>>(), ["a.py"]);
    assert_eq!(texts(2).collect::<Vec<_>>(), ["a.py", "?"]);
    assert!(all[0].turns[2].added.is_empty());
}

#[test]
fn without_tools_the_answer_is_recognised_by_its_text() {
    let ask = |files: &str| [user(files), user("Change it.")];
    let one = exchange(HOW, 1, "x", &ask("a.py: 1"), &agent("SEARCH 1 REPLACE 2"));
    let mut history = ask("a.py: 2").to_vec();
    history.extend([agent("SEARCH 1 REPLACE 2"), user("The tests fail.")]);
    let two = exchange(HOW, 2, "x", &history, &agent("I see."));
    let text = transcript_text(&[one, two]);
    let expect = "-- 1 2\nsystem: x\nuser: a.py: 1\nuser: Change it.\n\
        agent: SEARCH 1 REPLACE 2\nuser: The tests fail.\nagent: I see.";
    assert_eq!(text, expect);
}

#[test]
fn exchanges_without_bodies_stay_in_their_place() {
    let (mut exchanges, _) = looks(1, SYSTEM, &[user(PROMPT)], 3);
    exchanges[2].request = "left out".into();
    exchanges[2].response = "left out".into();
    exchanges[2].streamed = false;
    check(&exchanges, &["1 2 3"]);
    check(&exchanges[2..], &["3"]);
    check(&[], &[]);
}
