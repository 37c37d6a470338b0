//! Tests of reading ATIF that other programs wrote.

use super::*;
use swe_ci_views::conversation::RecordingFormat;

fn read(trajectory: &Value) -> anyhow::Result<Conversations> {
    let key = format!("any/{}.zst", RecordingFormat::ATIF_NAME);
    Conversations::read(&key, trajectory.to_string().into_bytes())
}

/// With these steps, numbered.
fn with(steps: &[Value]) -> Value {
    let numbered = (1..).zip(steps).map(|(number, step)| {
        let mut step = step.clone();
        step["step_id"] = Value::from(number);
        step
    });
    json!({
        "schema_version": "ATIF-v1.5",
        "agent": {"name": "terminus-2", "version": "2.0.0", "model_name": "openai/m", "extra": {}},
        "steps": numbered.collect::<Vec<_>>(),
    })
}

/// Speaker, time and text of each message.
fn told(trajectory: &Value) -> Vec<String> {
    let all = read(trajectory).unwrap().into_messages().messages;
    let told = all.iter().map(|message| {
        let parts = serde_json::to_value(&message.parts).unwrap();
        let texts = parts.as_array().unwrap().iter().map(|part| {
            let text = part["said"]["text"].as_str();
            text.or(part["tool"].as_str())
                .unwrap_or_default()
                .to_owned()
        });
        let texts: Vec<String> = texts.collect();
        format!(
            "{} {}: {}",
            message.at,
            message.speaker.name(),
            texts.join(" | ")
        )
    });
    told.collect()
}

#[test]
fn what_this_program_exports_says_the_same_when_it_is_read() {
    for protocol in Protocol::ALL {
        let mut exchanges = usual((protocol, true));
        exchanges[3].complete = false;
        exchanges[3].error = Some("broke off".into());
        let own = recorded(&exchanges);
        let again = read(&super::atif::exported(&own)).unwrap();
        assert_eq!(again.0.len(), own.0.len());
        let mut digests = [own.digest(), again.digest()];
        for tool in digests
            .iter_mut()
            .flat_map(|digest| digest.tools.values_mut())
        {
            // The format has one time for each step.
            tool.ms = 0;
        }
        assert_eq!(digests[0].tools, digests[1].tools, "{protocol}");
        let said = |conversations: Conversations| {
            let messages = conversations.into_messages().messages;
            let said = messages.into_iter().map(|message| {
                let usage = message.answered.and_then(|answered| answered.usage);
                (message.speaker, message.parts, usage)
            });
            said.collect::<Vec<_>>()
        };
        let (before, after) = (said(own), said(again));
        // Protocols without ids of calls get some when they are exported.
        if protocol != Protocol::Gemini {
            assert_eq!(before, after, "{protocol}");
        }
        assert_eq!(before.len(), after.len(), "{protocol}");
    }
}

#[test]
fn steps_of_other_programs_become_messages() {
    let trajectory = with(&[
        json!({"source": "system", "message": "You are an agent.", "timestamp": "2026-11-27T01:00:00.5+00:00"}),
        json!({"source": "user", "message": [
            {"type": "text", "text": "Look at this."},
            {"type": "image", "source": {"media_type": "image/png", "path": "images/a.png"}},
        ]}),
        json!({
            "source": "agent", "message": "I look.", "timestamp": "2026-11-27T01:00:10",
            "reasoning_content": "Where?", "reasoning_effort": "high",
            "tool_calls": [{"tool_call_id": "c1", "function_name": "bash", "arguments": {"keystrokes": "ls\n"}}],
            "observation": {"results": [
                {"source_call_id": "c1", "content": "a.py"},
                {"content": null, "subagent_trajectory_ref": [{"trajectory_path": "sub.json"}]},
            ]},
            "metrics": {"prompt_tokens": 70, "completion_tokens": 30, "logprobs": [0.1], "extra": {"reasoning_tokens": "?"}},
            "extra": {"finish_reason": 7},
        }),
        json!({"source": "agent", "message": "as before", "is_copied_context": true}),
        json!({"source": "system", "message": "", "observation": {"results": [{"content": "restarted"}]}}),
    ]);
    assert_eq!(
        told(&trajectory),
        [
            "2026-11-27T01:00:00Z system: You are an agent.",
            "2026-11-27T01:00:00Z user: Look at this.\n[{\"media_type\":\"image/png\",\"path\":\"images/a.png\"}]",
            "2026-11-27T01:00:10Z assistant: Where? | I look. | bash",
            "2026-11-27T01:00:10Z tool: a.py",
            "2026-11-27T01:00:10Z tool: [the trajectory of a sub-agent: [{\"trajectory_path\":\"sub.json\"}]]",
            "2026-11-27T01:00:10Z assistant: as before",
            "2026-11-27T01:00:10Z tool: restarted",
        ]
    );
    let conversations = read(&trajectory).unwrap();
    let answered = &conversations.0[0].turns[0];
    let usage = answered.exchange.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (70, 30));
    assert_eq!(answered.answer.model.as_deref(), Some("openai/m"));
    assert_eq!(conversations.digest().tools["bash"].output_tokens, 30);
}

#[test]
fn results_without_a_call_belong_to_the_call_in_their_place() {
    let step = |ids: [&str; 2], of: [Option<&str>; 2]| {
        let call = |id: &str, name: &str| json!({"tool_call_id": id, "function_name": name, "arguments": {}});
        let result = |of: Option<&str>, text: &str| json!({"source_call_id": of, "content": text});
        let trajectory = with(&[json!({
            "source": "agent", "message": "Both.", "reasoning_content": "Both.",
            "tool_calls": [call(ids[0], "look"), call(ids[1], "run")],
            "observation": {"results": [result(of[0], "long: seen"), result(of[1], "done")]},
        })]);
        let digest = read(&trajectory).unwrap().digest();
        ["look", "run"].map(|tool| digest.tools[tool].result_bytes)
    };
    assert_eq!(step(["a", "b"], [Some("b"), Some("a")]), [4, 10]);
    assert_eq!(step(["a", "b"], [None, None]), [10, 4]);
    assert_eq!(step(["", ""], [None, None]), [10, 4]);
}

#[test]
fn trajectories_inside_are_conversations_beside_the_main_one() {
    let step = |text: &str| json!({"source": "agent", "message": text});
    let mut trajectory = with(&[step("main")]);
    let mut inner = with(&[step("inner")]);
    inner["subagent_trajectories"] = json!([with(&[step("innermost")])]);
    trajectory["subagent_trajectories"] = json!([inner, with(&[step("other")])]);
    trajectory["continued_trajectory_ref"] = "trajectory.cont-1.json".into();
    let all = read(&trajectory).unwrap().into_messages();
    let answers = all.messages.iter().filter_map(|m| m.answered.as_ref());
    let numbers: Vec<u32> = answers.map(|answer| answer.exchange).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    let of: Vec<u32> = all
        .messages
        .iter()
        .map(|message| message.conversation)
        .collect();
    assert_eq!(of, [1, 1, 2, 3, 4]);
    let texts = told(&trajectory);
    let texts: Vec<&str> = texts
        .iter()
        .map(|text| text.split(": ").nth(1).unwrap())
        .collect();
    let more = "[the trajectory goes on in another file";
    assert_eq!(texts, ["main", more, "inner", "innermost", "other"]);
}

#[test]
fn what_is_no_trajectory_is_refused() {
    let check = |change: &dyn Fn(&mut Value), expect: &str| {
        let mut trajectory = with(&[json!({"source": "user", "message": "?"})]);
        change(&mut trajectory);
        let error = format!("{:#}", read(&trajectory).unwrap_err());
        assert!(error.contains(expect), "{error}");
    };
    check(
        &|all| all["schema_version"] = "ATIF-v2.0".into(),
        "`schema_version` is `ATIF-v2.0`",
    );
    check(&|all| all["steps"] = json!([]), "`steps` is empty");
    check(&|all| all["steps"] = Value::Null, "invalid type: null");
    check(
        &|all| all["steps"][0]["source"] = "tool".into(),
        "unknown variant `tool`",
    );
    check(
        &|all| all["steps"][0]["message"] = 7.into(),
        "line 1 column",
    );
    check(
        &|all| all["agent"] = Value::Null,
        "this is no trajectory in ATIF",
    );
    check(
        &|all| all["subagent_trajectories"] = json!([{}]),
        "missing field `schema_version`",
    );
}
