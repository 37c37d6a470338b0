//! Tests of the messages that pages show.

use swe_ci_views::conversation::{Message as Shown, Messages, Part};

use super::*;

fn read(exchanges: &[Exchange]) -> Messages {
    recorded(exchanges).into_messages()
}

/// "2 assistant: (thought) text bash(command=ls) => result [note]".
fn written(message: &Shown) -> String {
    let mut words = vec![format!(
        "{} {}:",
        message.conversation,
        message.speaker.name()
    )];
    words.extend(message.parts.iter().map(|part| match part {
        Part::Said { said } => said.text.clone(),
        Part::Reasoning { said } => format!("({})", said.text),
        Part::Note { said } => format!("[{}]", said.text),
        Part::Result { tool, said, .. } => {
            format!("{} => {}", tool.as_deref().unwrap_or("?"), said.text)
        }
        Part::Call {
            tool, arguments, ..
        } => {
            let arguments = arguments
                .iter()
                .map(|a| format!("{}={}", a.name, a.value.text));
            format!("{tool}({})", arguments.collect::<Vec<_>>().join(", "))
        }
    }));
    words.join(" ").replace('\n', "|")
}

#[test]
fn the_four_protocols_give_the_same_messages() {
    for protocol in Protocol::ALL {
        let all = read(&usual((protocol, true)));
        // Some protocols allow several system prompts.
        let (system, others): (Vec<&Shown>, Vec<&Shown>) = all
            .messages
            .iter()
            .partition(|message| message.speaker.name() == "system");
        let expected = format!("1 system: {SYSTEM}");
        assert!(system.iter().any(|message| written(message) == expected));
        let text: Vec<String> = others.iter().map(|message| written(message)).collect();
        assert_eq!(text[0], format!("1 user: {PROMPT}"));
        assert!(text[1].contains("bash(command=ls)"), "{}", text[1]);
        assert_eq!(text[2], "1 tool: bash => double.py|tests");
        assert!(
            text[3].contains("def double(x):|\treturn 2 * x # “ä”|"),
            "{}",
            text[3]
        );
        assert!(
            text.iter()
                .any(|line| line == "1 user: Two messages are left.")
        );
        assert_eq!(text.last().unwrap(), "2 assistant: Doubling");
        let count = u32::try_from(all.messages.len()).unwrap();
        let numbers = all.messages.iter().map(|message| message.number);
        assert!(numbers.eq(1..=count));
        assert_eq!(all.conversations.len(), 2);
        assert_eq!(all.conversations[0].tools, ["bash"]);
        let second = &all.conversations[1];
        assert_eq!(second.first + second.messages - 1, count);
        let answer = others[1].answered.as_ref().unwrap();
        assert_eq!((answer.exchange, answer.seconds), (1, 4));
        assert_eq!(others[0].answered, None);
    }
}

#[test]
fn problems_become_notes() {
    let how = (Protocol::Chat, false);
    let mut cut = exchange(how, 1, SYSTEM, &[user(PROMPT)], &agent("Let me"));
    cut.complete = false;
    let mut unreadable = exchange(how, 2, SYSTEM, &[user(PROMPT)], &agent(""));
    unreadable.request = json!("left out");
    unreadable.status = 500;
    unreadable.response = "oops".into();
    let text: Vec<String> = read(&[cut, unreadable])
        .messages
        .iter()
        .map(written)
        .collect();
    assert_eq!(text[2], "1 assistant: Let me [the answer is incomplete]");
    assert_eq!(
        text[3],
        "1 user: \"left out\" [this could not be parsed and is shown unchanged]"
    );
    assert_eq!(
        text[4],
        "1 assistant: oops [an error with status 500, no answer]"
    );
}

#[test]
fn a_branch_starts_with_its_history() {
    let how = (Protocol::Chat, true);
    let mut history = vec![user(PROMPT)];
    let first = exchange(how, 1, SYSTEM, &history, &agent("One."));
    history.extend([agent("One."), user("And then?")]);
    let second = exchange(how, 2, SYSTEM, &history, &agent("Two."));
    history.extend([agent("Two."), user("More!")]);
    let third = exchange(how, 3, SYSTEM, &history, &agent("Three."));
    let other = [user(PROMPT), agent("One."), user("Or else?")];
    let fourth = exchange(how, 4, SYSTEM, &other, &agent("Other."));
    let all = read(&[first, second, third, fourth]);
    let branch = &all.conversations[1];
    let begins = all.messages[branch.first as usize - 1..].iter();
    let text: Vec<String> = begins.map(written).collect();
    assert_eq!(
        text,
        [
            format!("2 system: {SYSTEM}"),
            format!("2 user: {PROMPT}"),
            "2 assistant: One.".to_owned(),
            "2 user: Or else?".to_owned(),
            "2 assistant: Other.".to_owned(),
        ]
    );
    let answered = all.messages.iter().filter_map(|m| m.answered.as_ref());
    let exchanges: Vec<u32> = answered.map(|answered| answered.exchange).collect();
    assert_eq!(exchanges, [1, 2, 3, 4]);
}

#[test]
fn errors_name_the_bad_line() {
    let read = |lines: &str| {
        let read = Conversations::read("trajectory.jsonl", lines.as_bytes().to_vec());
        read.unwrap_err().to_string()
    };
    let error = read("{\"ordinal\": 1}\n\nnonsense\n");
    assert!(error.contains("line 3"), "{error}");
    let error = read("{\"ordinal\": 1}\n");
    assert!(error.contains("cannot be read"), "{error}");
}
