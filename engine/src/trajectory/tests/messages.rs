use swe_ci_core::conversation::{Message as Shown, Messages, Part};

use super::*;
use crate::gateway::Lines;
use crate::trajectory::messages;

fn read(exchanges: &[Exchange]) -> Messages {
    let mut lines = Vec::new();
    for exchange in exchanges {
        serde_json::to_writer(&mut lines, exchange).unwrap();
        lines.push(b'\n');
    }
    messages(&Lines::new(lines).unwrap()).unwrap()
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
fn one_shape_for_four_protocols() {
    for protocol in Protocol::ALL {
        let all = read(&usual((protocol, true)));
        // Some protocols have room for more than one system prompt.
        let (system, said): (Vec<&Shown>, Vec<&Shown>) = all
            .messages
            .iter()
            .partition(|message| message.speaker.name() == "system");
        let told = format!("1 system: {SYSTEM}");
        assert!(system.iter().any(|message| written(message) == told));
        let text: Vec<String> = said.iter().map(|message| written(message)).collect();
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
        let answer = said[1].answered.as_ref().unwrap();
        assert_eq!((answer.exchange, answer.seconds), (1, 4));
        assert_eq!(said[0].answered, None);
    }
}

#[test]
fn what_went_wrong_is_said() {
    let how = (Protocol::Chat, false);
    let mut cut = exchange(how, 1, SYSTEM, &[user(PROMPT)], &agent("Let me"));
    cut.complete = false;
    let mut unread = exchange(how, 2, SYSTEM, &[user(PROMPT)], &agent(""));
    unread.request = json!("left out");
    unread.status = 500;
    unread.response = "oops".into();
    let text: Vec<String> = read(&[cut, unread]).messages.iter().map(written).collect();
    assert_eq!(
        text[2],
        "1 assistant: Let me [the answer did not come to its end]"
    );
    assert_eq!(
        text[3],
        "1 user: \"left out\" [this could not be read and is kept as it is]"
    );
    assert_eq!(
        text[4],
        "1 assistant: oops [an error with status 500, no answer]"
    );
}

#[test]
fn a_branch_begins_with_its_past() {
    let how = (Protocol::Chat, true);
    let mut said = vec![user(PROMPT)];
    let first = exchange(how, 1, SYSTEM, &said, &agent("One."));
    said.extend([agent("One."), user("And then?")]);
    let second = exchange(how, 2, SYSTEM, &said, &agent("Two."));
    said.extend([agent("Two."), user("More!")]);
    let third = exchange(how, 3, SYSTEM, &said, &agent("Three."));
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
fn a_line_that_is_none_is_named() {
    let error = Lines::new(b"{\"ordinal\": 1}\n\nnonsense\n".to_vec()).unwrap_err();
    assert!(error.to_string().contains("line 3"), "{error}");
    let lines = Lines::new(b"{\"ordinal\": 1}\n".to_vec()).unwrap();
    assert!(messages(&lines).is_err());
}
