//! Tests of plans, prompts and replies.

use serde_json::json;

use super::*;

fn criteria() -> Vec<Criterion> {
    let criterion = |name: &str| Criterion {
        name: name.into(),
        question: format!("Is it {name}?"),
    };
    vec![criterion("focused"), criterion("tested")]
}

fn record() -> Record {
    Record::new([
        (Section::Requirement, "Give two,\n  not zero".into()),
        (Section::Change, "-    return 0\n+    return 2".into()),
        (Section::Tests, "  \n".into()),
    ])
}

#[test]
fn a_record_shows_what_is_known() {
    let text = record().text();
    assert!(text.starts_with("<requirement>\nGive two,"), "{text}");
    assert!(!text.contains("tests"), "{text}");
    let long = Record::new([(Section::Conversation, "ä".repeat(40_000))]);
    assert!(long.text().len() < 30_000);
    assert!(long.text().contains("bytes left out]\nä"));
}

#[test]
fn quotes_are_looked_for() {
    let check = |passage: &str, expect: Option<Section>| {
        assert_eq!(record().section_of(passage), expect, "{passage}");
    };
    check("two, not zero", Some(Section::Requirement));
    check("+ return 2", Some(Section::Change));
    check("return 3", None);
    // A tag of ours is not evidence.
    check("<change>", None);
    check(" ", None);
}

#[test]
fn a_reply_becomes_answers() {
    let reply = "Here it is:\n```json\n{\"answers\": [
        {\"name\": \"tested\", \"answer\": \"Unclear\"},
        {\"name\": \"made up\", \"answer\": \"no\"},
        {\"name\": \"focused\", \"answer\": \"yes\", \"quotes\": [\"return 2\", \"return 3\"], \"why\": \" one line \"}
    ]}\n```";
    let given = answers(reply, &criteria(), &record()).unwrap();
    let focused = CriterionAnswer {
        name: "focused".into(),
        answer: Answer::Yes,
        quotes: vec![
            Quote {
                text: "return 2".into(),
                found_in: Some(Section::Change),
            },
            Quote {
                text: "return 3".into(),
                found_in: None,
            },
        ],
        why: "one line".into(),
    };
    assert_eq!(given[0], focused);
    assert_eq!((given.len(), given[1].answer), (2, Answer::Unclear));
}

#[test]
fn a_bad_reply_is_explained() {
    let check = |reply: &str, expect: &str| {
        let error = answers(reply, &criteria(), &record()).unwrap_err();
        assert!(error.contains(expect), "{error}");
    };
    check("yes to all", "no JSON object");
    check("} {", "no JSON object");
    check("{\"answers\": 1}", "cannot be read");
    check("{\"answers\": []}", "`focused` has no answer");
    let maybe = json!({"answers": [{"name": "focused", "answer": "maybe"}]});
    check(&maybe.to_string(), "must be yes, no or unclear");
}

#[test]
fn plans_are_checked() {
    let plan = json!({
        "endpoint": {"url": "https://api.example.org/v1", "model": "judge-1"},
        "criterion": [{"name": "focused", "question": "Is it?"}],
    });
    let plan: JudgePlan = serde_json::from_value(plan).unwrap();
    assert_eq!(plan.problems(), []);
    let check = |change: fn(&mut JudgePlan), field: &str| {
        let mut plan = plan.clone();
        change(&mut plan);
        let fields: Vec<String> = plan.problems().into_iter().map(|bad| bad.field).collect();
        assert_eq!(fields, [field]);
    };
    check(|plan| plan.criteria.clear(), "criterion");
    check(
        |plan| plan.criteria = vec![plan.criteria[0].clone(); 2],
        "criterion.name",
    );
    check(
        |plan| plan.criteria[0].question = " ".into(),
        "criterion.question",
    );
    check(
        |plan| plan.endpoint.protocol = Protocol::Gemini,
        "endpoint.protocol",
    );
    check(
        |plan| plan.endpoint.recording = Some("r".into()),
        "endpoint.recording",
    );
    check(|plan| plan.budget.requests = Some(0), "budget.requests");
}

#[test]
fn judgements_are_counted() {
    let judgement = |answer: Option<Answer>, micro_usd: Option<u64>| Judgement {
        task_id: TaskId::new("t").unwrap(),
        sample: 1,
        evolution_id: "e".into(),
        iteration: 1,
        answers: answer
            .into_iter()
            .map(|answer| CriterionAnswer {
                name: "focused".into(),
                answer,
                quotes: vec![Quote {
                    text: "x".into(),
                    found_in: None,
                }],
                why: String::new(),
            })
            .collect(),
        problem: answer.is_none().then(|| "no JSON".into()),
        usage: Usage {
            input_tokens: 10,
            ..Usage::default()
        },
        micro_usd,
        at: String::new(),
    };
    let judged = |judgements| JudgedRun {
        judge: Judge {
            judge_id: "j".into(),
            model: "m".into(),
            parameters: serde_json::Map::default(),
            prompt_digest: String::new(),
            criteria: criteria(),
            by: "operator".into(),
            at: String::new(),
        },
        judgements,
    };
    let run = judged(vec![
        judgement(Some(Answer::Yes), Some(3)),
        judgement(Some(Answer::No), Some(4)),
        judgement(None, Some(5)),
    ]);
    assert_eq!(run.count("focused", Answer::Yes), 1);
    assert_eq!(run.count("tested", Answer::Yes), 0);
    assert_eq!((run.unanswered(), run.invented_quotes()), (1, (2, 2)));
    assert_eq!((run.usage().input_tokens, run.micro_usd()), (30, Some(12)));
    assert_eq!(judged(vec![judgement(None, None)]).micro_usd(), None);
}
