//! Whether an answer says something, and JSON as it is met.

use super::*;

/// As some providers write them into each event.
#[test]
fn fields_without_content_say_nothing() {
    for error in [
        json!(null),
        json!(""),
        json!(false),
        json!({"message": "", "type": "", "param": "", "code": null}),
    ] {
        let events = [
            json!({"choices": [{"delta": {"content": "rea"}, "finish_reason": ""}], "error": error}),
            json!({"choices": [{"delta": {"content": "dy"}, "finish_reason": "null"}], "error": error}),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1e300, "completion_tokens": u64::MAX}}),
        ];
        let mut meter = Meter::new(Chat);
        meter.take(b": waiting\n\n");
        assert_eq!(meter.work(), 0);
        for event in &events[..2] {
            meter.take(format!("data: {event}\n\n").as_bytes());
        }
        assert_eq!(meter.work(), 2);
        meter.take(format!("data: {}\n\n", events[2]).as_bytes());
        let found = meter.finish();
        assert!(found.complete && found.is_uncounted, "{found:?}");
        assert_eq!((found.error, found.unknown_end), (None, None));
        assert_eq!(found.said, "ready");
        let cut = format!("data: {}\n\n", events[0]);
        assert!(!metered(Chat, [cut.as_bytes()]).complete);
    }
    let mut queue = Meter::new(Messages);
    queue.take(b"event: ping\ndata: {\"type\": \"ping\"}\n\n");
    assert_eq!(queue.work(), 0);
}

#[test]
fn an_answer_says_something_or_does_not() {
    let check = |protocol, answer: Value, says: bool, unknown_end: Option<&str>| {
        let mut meter = Meter::new(protocol);
        meter.take(answer.to_string().as_bytes());
        let found = meter.finish();
        assert_eq!(
            (found.says, found.unknown_end.as_deref()),
            (says, unknown_end),
            "{answer}"
        );
    };
    let chat = |message: Value, end: &str| json!({"choices": [{"message": message, "finish_reason": end}]});
    check(Chat, chat(json!({"content": "hi"}), "stop"), true, None);
    check(Chat, chat(json!({"content": ""}), "stop"), false, None);
    check(
        Chat,
        chat(json!({"role": "assistant", "content": null}), "stop"),
        false,
        None,
    );
    check(
        Chat,
        chat(
            json!({"content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "ls"}}]}),
            "tool_calls",
        ),
        true,
        None,
    );
    for nothing in [
        json!({"content": " \n"}),
        json!({"content": [{"type": "text", "text": ""}]}),
        json!({"content": null, "provider_specific_fields": {"x": null}}),
        json!({"content": null, "tool_calls": [{"id": "a", "index": 0, "function": {"name": ""}}]}),
    ] {
        check(Chat, chat(nothing, "stop"), false, None);
    }
    check(
        Messages,
        json!({"content": [{"type": "text", "text": ""}], "stop_reason": "end_turn"}),
        false,
        None,
    );
    let item = json!({"type": "message", "id": "m", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "", "annotations": []}]});
    check(
        Responses,
        json!({"status": "completed", "output": [item]}),
        false,
        None,
    );
    check(
        Chat,
        chat(json!({"content": "", "reasoning_content": "hm"}), "stop"),
        true,
        None,
    );
    // All of the limit went into thoughts that are not shown.
    check(Chat, chat(json!({"content": ""}), "length"), true, None);
    check(
        Chat,
        chat(json!({"content": "ha"}), "network_error"),
        true,
        Some("network_error"),
    );
    check(Chat, json!({"choices": []}), false, None);
    check(
        Messages,
        json!({"content": [], "stop_reason": "end_turn"}),
        false,
        None,
    );
    check(
        Messages,
        json!({"content": [], "stop_reason": "refusal"}),
        true,
        None,
    );
    check(
        Responses,
        json!({"status": "completed", "output": []}),
        false,
        None,
    );
    check(
        Responses,
        json!({"status": "cancelled", "output": [{"text": "half"}]}),
        true,
        Some("cancelled"),
    );
    check(
        Gemini,
        json!({"candidates": [{"finishReason": "OTHER"}]}),
        false,
        Some("OTHER"),
    );
    check(
        Gemini,
        json!({"promptFeedback": {"blockReason": "SAFETY"}}),
        true,
        None,
    );
}

#[test]
fn json_is_read_as_it_is_met() {
    let check = |answer: &str, expect: Option<Usage>| {
        let mut meter = Meter::new(Chat);
        meter.take(answer.as_bytes());
        let found = meter.finish();
        assert_eq!((found.complete, found.usage), (true, expect), "{answer}");
    };
    let with = |text: &str, tokens: &str| {
        format!(
            r#"{{"choices":[{{"message":{{"content":"{text}"}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":{tokens},"completion_tokens":3,"x":[NaN,-Infinity]}}}}"#
        )
    };
    check(&with(r"half \ud83d", "7"), usage(7, 0, 3, 0));
    check(
        &with(r#"NaN \ud83d\ude00 \ude00 \" \\"#, "7.0"),
        usage(7, 0, 3, 0),
    );
    let (raw, tokens) = (
        "a line\nand \t \u{1b}, \\d \\u12 \\x41",
        ["+7", "07", "7.", r#""7""#],
    );
    for tokens in tokens {
        check(&with(raw, tokens), usage(7, 0, 3, 0));
    }
    let read = |text: &str| read_json(text.as_bytes()).unwrap();
    assert_eq!(read("[.5, -01, \"\\d\n\"]"), json!([0.5, -1, "\\d\n"]));
    let marked = b"\xef\xbb\xbf{\"model\":\"m\"}";
    let marked = parse_request(
        &call(&Method::POST, "/v1/chat/completions").unwrap(),
        marked,
    );
    assert_eq!(marked.unwrap().model, "m");

    let parts = r#"[{"candidates": [{"content": {"parts": [{"text": "a"}]}}]},
        {"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 7}}]"#;
    for list in [
        parts.to_owned().into_bytes(),
        events_of_list(parts.as_bytes()).unwrap(),
    ] {
        let mut meter = Meter::new(Gemini);
        meter.take(&list);
        let found = meter.finish();
        let read = (found.complete, found.says, found.usage);
        assert_eq!(read, (true, true, usage(7, 0, 0, 0)));
    }
}
