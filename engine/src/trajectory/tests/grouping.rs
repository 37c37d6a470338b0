use super::*;

const HOW: (Protocol, bool) = (Protocol::Chat, true);

fn check(exchanges: &[Exchange], expect: &[&str]) {
    let told = told(exchanges);
    let heads: Vec<&str> = told
        .lines()
        .filter_map(|line| line.strip_prefix("-- "))
        .collect();
    assert_eq!(heads, expect, "{told}");
}

fn look(id: &str) -> Message {
    calling("", &[(id, "bash", json!({"command": "ls"}))])
}

/// Turns that list files, in a conversation that begins with `said`.
fn looks(from: u32, system: &str, said: &[Message], turns: u32) -> (Vec<Exchange>, Vec<Message>) {
    let mut said = said.to_vec();
    let mut exchanges = Vec::new();
    for ordinal in from..from + turns {
        let answer = look(&format!("call_{ordinal}"));
        exchanges.push(exchange(HOW, ordinal, system, &said, &answer));
        said.extend([answer, result(&format!("call_{ordinal}"), "a.py")]);
    }
    (exchanges, said)
}

#[test]
fn what_is_asked_again_goes_on_where_it_stopped() {
    let (mut exchanges, said) = looks(1, SYSTEM, &[user(PROMPT)], 2);
    let mut failed = exchange(HOW, 3, SYSTEM, &said, &agent(""));
    failed.status = 500;
    failed.response = "oops".into();
    exchanges.push(failed);
    exchanges.push(exchange(HOW, 4, SYSTEM, &said, &agent("Done.")));
    check(&exchanges, &["1 2 3 4"]);
}

#[test]
fn sub_agents_are_apart_however_long_they_are() {
    let (mut exchanges, mut said) = looks(1, SYSTEM, &[user(PROMPT)], 1);
    let (sub, _) = looks(2, SYSTEM, &[user("Explore.")], 4);
    exchanges.extend(sub);
    let answer = look("call_6");
    exchanges.push(exchange(HOW, 6, SYSTEM, &said, &answer));
    said.extend([answer, result("call_6", "b.py")]);
    exchanges.push(exchange(HOW, 7, SYSTEM, &said, &agent("Done.")));
    check(&exchanges, &["1 6 7", "2 3 4 5"]);
}

#[test]
fn a_question_beside_does_not_stay_in_what_follows() {
    let (mut exchanges, said) = looks(1, SYSTEM, &[user(PROMPT)], 2);
    let mut beside = said.clone();
    beside.extend([user("Who speaks next?")]);
    exchanges.push(exchange(
        HOW,
        3,
        SYSTEM,
        &beside,
        &agent("{\"next\": \"user\"}"),
    ));
    exchanges.push(exchange(HOW, 4, SYSTEM, &said, &agent("Done.")));
    check(&exchanges, &["1 2 4", "3"]);
    // Without tools it is apart even at the end.
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
fn what_follows_a_summary_is_a_conversation_of_its_own() {
    let (mut exchanges, mut said) = looks(1, SYSTEM, &[user(PROMPT)], 4);
    said.push(user("Summarise all this."));
    exchanges.push(exchange(
        HOW,
        5,
        SYSTEM,
        &said,
        &agent("Files were listed."),
    ));
    let again = [user(PROMPT), user("So far: Files were listed.")];
    exchanges.extend(looks(6, SYSTEM, &again, 2).0);
    check(&exchanges, &["1 2 3 4 5", "6 7"]);
}

#[test]
fn a_conversation_is_known_again_though_the_harness_tidies_it() {
    let (mut exchanges, mut said) = looks(1, SYSTEM, &[user(PROMPT)], 2);
    // Old results are cleared, the prompt is written anew, the answer stays.
    said[0] = user("Make `double` work. The time is 12:01.");
    said[2] = result("call_1", "[cleared]");
    exchanges.push(exchange(HOW, 3, SYSTEM, &said, &look("call_3")));
    // A harness that tells calls in its own words.
    let mut own = said.clone();
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
    let all = conversations(&exchanges);
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
fn without_tools_the_answer_is_known_by_its_words() {
    let ask = |files: &str| [user(files), user("Change it.")];
    let one = exchange(HOW, 1, "x", &ask("a.py: 1"), &agent("SEARCH 1 REPLACE 2"));
    let mut said = ask("a.py: 2").to_vec();
    said.extend([agent("SEARCH 1 REPLACE 2"), user("The tests fail.")]);
    let two = exchange(HOW, 2, "x", &said, &agent("I see."));
    let told = told(&[one, two]);
    let expect = "-- 1 2\nsystem: x\nuser: a.py: 1\nuser: Change it.\n\
        agent: SEARCH 1 REPLACE 2\nuser: The tests fail.\nagent: I see.";
    assert_eq!(told, expect);
}

#[test]
fn what_was_left_out_stands_in_its_place() {
    let (mut exchanges, _) = looks(1, SYSTEM, &[user(PROMPT)], 3);
    exchanges[2].request = "left out".into();
    exchanges[2].response = "left out".into();
    exchanges[2].streamed = false;
    check(&exchanges, &["1 2 3"]);
    check(&exchanges[2..], &["3"]);
    check(&[], &[]);
}
