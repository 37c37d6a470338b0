//! Tests of paging, search and cutting of transcripts.

use super::*;

fn message(number: u32, text: &str) -> Message {
    Message {
        number,
        conversation: 1,
        speaker: Speaker::User,
        at: String::new(),
        answered: None,
        parts: vec![Part::Said {
            said: text.to_owned().into(),
        }],
    }
}

fn messages(texts: &[&str]) -> Messages {
    let numbered = (1..).zip(texts);
    Messages {
        conversations: Vec::new(),
        messages: numbered.map(|(n, text)| message(n, text)).collect(),
    }
}

fn step() -> RecordedStep {
    RecordedStep {
        run_id: "r".into(),
        model: "m".into(),
        task_id: TaskId::new("t").unwrap(),
        sample: 1,
        evolution_id: "e".into(),
        iteration: 1,
        role: Role::Architect,
        attempt: 1,
        attempts: vec![1],
        nearby: Vec::new(),
        recording: RecordingFormat::Exchanges,
    }
}

fn page(all: &Messages, from: Option<u32>, limit: u32, q: &str) -> MessagesPage {
    let window = Window {
        from,
        limit: Some(limit),
        q: q.into(),
    };
    all.page(step(), &window)
}

#[test]
fn occurrences_of_a_text() {
    let check = |text: &str, q: &str, expect: &[(usize, usize)]| {
        let actual: Vec<_> = hits(text, q).map(|hit| (hit.start, hit.end)).collect();
        assert_eq!(actual, expect, "{q} in {text}");
    };
    check("Abc abC", "ABC", &[(0, 3), (4, 7)]);
    check("aaaa", "aa", &[(0, 2), (2, 4)]);
    check("ab", "abc", &[]);
    check("", "a", &[]);
    check("abc", "", &[]);
    check("Ärger ärger", "äR", &[(0, 3), (7, 10)]);
    // ASCII beside other characters, and a letter whose lower case is two.
    check("é(é)", "(", &[(2, 3)]);
    check("İi̇x", "i̇X", &[(2, 6)]);
    check("STRASSE", "straße", &[]);
    check("日本語", "本", &[(3, 6)]);
}

#[test]
fn pages() {
    let all = messages(&["a", "b", "c", "d", "e"]);
    let check = |from, limit, expect: (u32, &[u32], Option<u32>, Option<u32>)| {
        let page = page(&all, from, limit, "");
        let numbers: Vec<u32> = page.items.iter().map(|m| m.number).collect();
        assert_eq!(
            (page.from, numbers.as_slice(), page.previous, page.next),
            expect
        );
        assert_eq!((page.total, page.found), (5, None));
    };
    check(None, 2, (1, &[1, 2], None, Some(3)));
    check(Some(3), 2, (3, &[3, 4], Some(1), Some(5)));
    check(Some(2), 2, (2, &[2, 3], Some(1), Some(4)));
    check(Some(5), 2, (5, &[5], Some(3), None));
    // Numbers out of range are clamped.
    check(Some(0), 9, (1, &[1, 2, 3, 4, 5], None, None));
    check(Some(99), 1, (5, &[5], Some(4), None));
    let none = page(&Messages::default(), None, 2, "x");
    assert_eq!((none.from, none.items.len(), none.next), (1, 0, None));
    assert_eq!(none.found.map(|found| found.hits), Some(0));
}

#[test]
fn from_hit_to_hit() {
    let all = messages(&["x", "Needle needle", "x", "needle", "x"]);
    let check = |from, at: u32, here, previous, next| {
        let page = page(&all, from, 1, " needle ");
        let found = page.found.unwrap();
        assert_eq!(
            (found.q.as_str(), found.hits, found.messages),
            ("needle", 3, 2)
        );
        assert_eq!(
            (page.from, found.here, found.previous, found.next),
            (at, here, previous, next)
        );
    };
    check(None, 2, Some(1), None, Some(4));
    check(Some(1), 1, Some(1), None, Some(4));
    check(Some(3), 3, Some(2), Some(2), None);
    check(Some(4), 4, Some(2), Some(2), None);
    check(Some(5), 5, None, Some(4), None);
}

#[test]
fn arguments_and_results_are_searched() {
    let mut one = message(1, "");
    one.parts = vec![
        Part::Call {
            id: None,
            tool: "bash".into(),
            arguments: vec![Argument {
                name: "command".into(),
                value: "bash -c".to_owned().into(),
            }],
        },
        Part::Result {
            call: None,
            tool: Some("bash".into()),
            failed: true,
            said: "no bash".to_owned().into(),
        },
    ];
    assert_eq!(one.hits("BASH"), 4);
    assert_eq!(one.hits("comm"), 1);
}

#[test]
fn long_texts_are_cut_around_the_hit() {
    let long = format!("{}needle{}", "é".repeat(40_000), "y".repeat(50_000));
    let all = messages(&[&long]);
    let first_text = |q: &str| {
        let page = page(&all, None, 9, q);
        let Part::Said { said } = page.items[0].parts[0].clone() else {
            panic!("the part is a text")
        };
        let left_out = said.before + said.after;
        assert_eq!(said.text.len() as u64 + left_out, long.len() as u64);
        assert!(said.text.len() <= TEXT_BYTES);
        said
    };
    assert_eq!(first_text("").before, 0);
    let around = first_text("NEEDLE");
    assert!(around.before > 70_000 && around.text.contains("needle"));
}

#[test]
fn pages_have_a_size_limit() {
    let text = "z".repeat(40_000);
    let all = messages(&[text.as_str(); 30]);
    let first = page(&all, None, 50, "");
    let bytes: usize = first.items.iter().map(Message::weight).sum();
    assert!(first.items.len() > 1 && bytes <= PAGE_BYTES);
    assert_eq!(first.next, Some(count(first.items.len()) + 1));
    // The same holds for a message with many long parts.
    let mut one = message(1, "");
    one.parts = vec![one_part(&text); 1_000];
    let cut = one.cut("");
    assert_eq!(cut.parts.len(), MAX_PARTS + 1);
    assert!(cut.weight() < MESSAGE_BYTES + 100);
    assert_eq!(
        cut.parts.last(),
        Some(&Part::Note {
            said: "800 more parts are in the recording".to_owned().into()
        })
    );
}

fn one_part(text: &str) -> Part {
    Part::Reasoning {
        said: text.to_owned().into(),
    }
}
