//! Tests of the pure parts. `server/tests/it/inspect_logs.rs` exports whole
//! runs, and `scripts/test-inspect.sh` reads them with Inspect.

use serde_json::{Map, Value, json};
use swe_ci_core::step::{Role, StepOutcome};
use swe_ci_core::task::TaskId;
use swe_ci_core::usage::{Prices, Usage};
use swe_ci_gateway::trajectory::atif::Trajectory;
use swe_ci_gateway::trajectory::{About, Conversations};
use swe_ci_views::conversation::RecordingFormat;
use swe_ci_views::leaderboard::EvolutionScore;
use swe_ci_views::view::{IterationView, StepView};

use super::RecordedStep;
use super::format::{ModelUsage, StopReason, Usages};
use super::numbers::mean_over_tasks;
use super::transcript::Transcript;

/// Of an architect: it looks, reads the result, and is done; beside that, the
/// harness asked for a title.
fn trajectory() -> Trajectory {
    let main = json!({
        "schema_version": "ATIF-v1.7",
        "agent": {"name": "opencode", "version": "1", "model_name": "m-1", "tool_definitions": [
            {"type": "function", "function": {"name": "bash", "description": "a long text"}}, {"name": "read"}]},
        "steps": [
            {"source": "system", "message": "You are careful.", "timestamp": "1970-01-01T00:00:02Z"},
            {"source": "user", "message": "Look."},
            {"source": "agent", "message": "Let me look.", "reasoning_content": "Where?", "model_name": "m-1-2026",
             "timestamp": "1970-01-01T00:00:05.5Z",
             "tool_calls": [{"tool_call_id": "c1", "function_name": "bash", "arguments": {"command": "ls", "timeout": 60}}],
             "observation": {"results": [
                 {"source_call_id": "c1", "content": "no such folder", "extra": {"is_error": true}},
                 {"content": "late", "extra": {"call": "c0", "name": "read"}}]},
             "metrics": {"prompt_tokens": 100, "completion_tokens": 7, "cached_tokens": 60, "extra": {"reasoning_tokens": 3}},
             "extra": {"finish_reason": "stop"}},
            {"source": "system", "message": "", "observation": {"results": [{"content": "of no call"}]}},
            {"source": "agent", "message": "An example.", "is_copied_context": true, "timestamp": "1970-01-01T00:00:08Z"},
            {"source": "agent", "message": "Done.", "timestamp": "1970-01-01T00:00:09Z",
             "extra": {"finish_reason": "max_tokens", "complete": false}}
        ],
        "subagent_trajectories": [{
            "schema_version": "ATIF-v1.7",
            "agent": {"name": "opencode", "version": "1", "model_name": "m-1"},
            "steps": [{"source": "user", "message": "A title?", "timestamp": "1970-01-01T00:00:06Z"},
                      {"source": "agent", "message": "Looking", "timestamp": "1970-01-01T00:00:07Z",
                       "extra": {"error": "refused"}}]
        }]
    });
    let about = About {
        session: "e1/1/architect/1".into(),
        harness: "opencode".into(),
        version: None,
        model: "m-1".into(),
        prices: Some(Prices {
            input: 5_000.0,
            cached: Some(1_500.0),
            output: 30_000.0,
        }),
        extra: Map::new(),
    };
    let read = Conversations::read(RecordingFormat::ATIF_NAME, main.to_string().into_bytes());
    let mut trajectory = read.unwrap().atif(&about);
    trajectory.steps[2].extra.retries = 2;
    trajectory
}

fn step(role: Role, attempt: u32, trajectory: Option<Trajectory>) -> RecordedStep {
    RecordedStep {
        view: StepView {
            iteration: 1,
            role,
            attempt,
            outcome: StepOutcome::Done,
            detail: String::new(),
            seconds: 9.0,
            usage: None,
            traffic: None,
            truncation: None,
            recording: None,
            container: None,
        },
        started_at: 1_000,
        finished_at: 10_000,
        trajectory,
    }
}

fn tested() -> IterationView {
    serde_json::from_value(json!({
        "iteration": 1, "verdict": "collapsed", "lost": 3, "gained": 0, "collapse": "pytest exit 4",
        "findings": [], "test_seconds": 1.5, "finished_at": "1970-01-01T00:00:10Z",
    }))
    .unwrap()
}

fn written(transcript: &Transcript) -> Vec<Value> {
    let events = transcript.events.iter();
    events
        .map(|event| serde_json::to_value(event).unwrap())
        .collect()
}

#[test]
fn conversations_become_model_events() {
    let steps = [step(Role::Architect, 2, Some(trajectory()))];
    let transcript = Transcript::new("e1", &steps, &[]);
    let events = written(&transcript);
    let calls: Vec<&Value> = events.iter().filter(|e| e["event"] == "model").collect();
    let ranges: Vec<&Value> = calls.iter().map(|call| &call["input_refs"]).collect();
    // System, user, answer, its two results, one of no call, an example; answer.
    assert_eq!(
        ranges,
        [&json!([[0, 2]]), &json!([[0, 7]]), &json!([[8, 9]])]
    );

    let first = calls[0];
    assert_eq!(
        (&first["role"], &first["model"]),
        (&json!("architect"), &json!("m-1-2026"))
    );
    assert_eq!(
        first["tools"],
        json!([{"name": "bash", "description": ""}, {"name": "read", "description": ""}])
    );
    assert_eq!(
        (
            &first["timestamp"],
            &first["completed"],
            &first["working_start"],
            &first["working_time"]
        ),
        (
            &json!("1970-01-01T00:00:02Z"),
            &json!("1970-01-01T00:00:05Z"),
            &json!(1.0),
            &json!(3.5)
        )
    );
    let began: Vec<&Value> = calls.iter().map(|call| &call["timestamp"]).collect();
    assert_eq!(
        began,
        [
            "1970-01-01T00:00:02Z",
            "1970-01-01T00:00:08Z",
            "1970-01-01T00:00:06Z"
        ]
    );
    assert_eq!(
        (&first["retries"], &first["error"]),
        (&json!(2), &Value::Null)
    );
    let output = &first["output"];
    assert_eq!(output["choices"][0]["stop_reason"], "tool_calls");
    let expected = json!({"input_tokens": 40, "output_tokens": 7, "total_tokens": 107,
                          "input_tokens_cache_read": 60, "reasoning_tokens": 3, "total_cost": 0.5});
    assert_eq!(output["usage"], expected);
    let message = &output["choices"][0]["message"];
    assert_eq!(
        message["content"],
        json!([{"type": "reasoning", "reasoning": "Where?"}, {"type": "text", "text": "Let me look."}])
    );
    assert_eq!(
        message["tool_calls"],
        json!([{"id": "c1", "function": "bash", "arguments": {"command": "ls", "timeout": 60}}])
    );
    assert_eq!(
        message["metadata"],
        json!({"iteration": 1, "role": "architect", "attempt": 2})
    );

    // Neither of the result without a call, nor of the one of an earlier call.
    let runs: Vec<&Value> = events.iter().filter(|e| e["event"] == "tool").collect();
    let [run] = runs.as_slice() else {
        panic!("{runs:?}");
    };
    assert_eq!(
        (&run["id"], &run["function"], &run["type"], &run["result"]),
        (
            &json!("c1"),
            &json!("bash"),
            &json!("function"),
            &json!("no such folder")
        )
    );
    assert_eq!(run["error"]["message"], "no such folder");
    assert_eq!(run["message_id"], transcript.pool[3].id.as_str());

    assert_eq!(calls[1]["error"], "the answer is incomplete");
    assert_eq!(
        calls[1]["output"]["choices"][0]["stop_reason"],
        "max_tokens"
    );
    assert_eq!(calls[2]["error"], "refused");
}

#[test]
fn messages_are_the_main_conversations() {
    let steps = [step(Role::Architect, 1, Some(trajectory()))];
    let transcript = Transcript::new("e1", &steps, &[]);
    let messages = serde_json::to_value(transcript.messages()).unwrap();
    let roles: Vec<&Value> = messages
        .as_array()
        .unwrap()
        .iter()
        .map(|m| &m["role"])
        .collect();
    assert_eq!(
        roles,
        [
            "system",
            "user",
            "assistant",
            "tool",
            "tool",
            "tool",
            "assistant",
            "assistant"
        ]
    );
    assert_eq!(transcript.pool.len(), 10);
    let said = |n: usize| {
        let mut message = messages[n].clone();
        let fields = message.as_object_mut().unwrap();
        fields.retain(|name, _| !["id", "metadata", "role"].contains(&name.as_str()));
        message
    };
    let failed = json!({"type": "unknown", "message": "no such folder"});
    assert_eq!(
        said(3),
        json!({"content": "no such folder", "tool_call_id": "c1", "function": "bash", "error": failed})
    );
    assert_eq!(
        said(4),
        json!({"content": "late", "tool_call_id": "c0", "function": "read"})
    );
    assert_eq!(said(5), json!({"content": "of no call"}));
    assert_eq!(said(6), json!({"content": "An example.", "model": "m-1"}));
    assert_eq!(
        said(7),
        json!({"content": "Done.", "model": "m-1", "source": "generate"})
    );
}

#[test]
fn ids_are_unique_and_spans_nest() {
    let steps = [
        step(Role::Architect, 1, Some(trajectory())),
        // The repetition of an interrupted attempt has its number.
        step(Role::Architect, 1, Some(trajectory())),
        step(Role::Programmer, 1, None),
        step(Role::Test, 1, None),
    ];
    let transcript = Transcript::new("e/1", &steps, &[tested()]);
    let events = written(&transcript);
    let mut ids: Vec<String> = events
        .iter()
        .map(|event| event["uuid"].to_string())
        .collect();
    ids.extend(transcript.pool.iter().map(|message| message.id.clone()));
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count);

    let mut open: Vec<&Value> = Vec::new();
    let mut shape = Vec::new();
    for event in &events {
        match event["event"].as_str().unwrap() {
            "span_begin" => {
                assert_eq!(
                    event["parent_id"],
                    open.last().copied().cloned().unwrap_or_default()
                );
                shape.push(format!(
                    "{}{}",
                    "  ".repeat(open.len()),
                    event["name"].as_str().unwrap()
                ));
                open.push(&event["id"]);
            }
            "span_end" => assert_eq!(open.pop(), Some(&event["id"])),
            _ => assert_eq!(Some(&&event["span_id"]), open.last()),
        }
    }
    assert!(open.is_empty());
    assert_eq!(
        shape,
        [
            "iteration 1",
            "  architect",
            "    conversation 2",
            "  architect",
            "    conversation 2",
            "  programmer",
            "  test"
        ]
    );
    let verdict = events.iter().rfind(|event| event["event"] == "info");
    assert_eq!(
        verdict.unwrap()["data"]["iteration"]["collapse"],
        "pytest exit 4"
    );
}

#[test]
fn an_evolution_without_steps_has_no_events() {
    let transcript = Transcript::new("e1", &[], &[]);
    assert!(transcript.events.is_empty() && transcript.messages().is_empty());
}

#[test]
fn stop_reasons_of_all_protocols() {
    let check = |word: Option<&str>, expect: StopReason| {
        assert_eq!(StopReason::from_provider(word), expect, "{word:?}");
    };
    check(Some("stop"), StopReason::Stop);
    check(Some("end_turn"), StopReason::Stop);
    check(Some("STOP"), StopReason::Stop);
    check(Some("length"), StopReason::MaxTokens);
    check(Some("MAX_TOKENS"), StopReason::MaxTokens);
    check(Some("max_output_tokens"), StopReason::MaxTokens);
    check(Some("tool_use"), StopReason::ToolCalls);
    check(Some("refusal"), StopReason::ContentFilter);
    check(Some("of tomorrow"), StopReason::Unknown);
    check(None, StopReason::Unknown);
}

#[test]
fn a_sum_has_a_cost_only_if_every_part_has_one() {
    let usage = |input_tokens, cost| {
        let usage = Usage {
            input_tokens,
            cached_tokens: 1,
            output_tokens: 10,
            reasoning_tokens: 2,
        };
        ModelUsage::new(usage, cost)
    };
    let mut all = Usages::default();
    all.add("m", "architect", usage(5, Some(0.25)));
    all.add("m", "programmer", usage(7, Some(0.5)));
    assert_eq!(all.model_usage["m"].total_cost, Some(0.75));
    assert_eq!(
        (
            all.model_usage["m"].input_tokens,
            all.model_usage["m"].total_tokens
        ),
        (10, 32)
    );
    assert_eq!(all.role_usage["programmer"], usage(7, Some(0.5)));
    let mut more = Usages::default();
    more.add("m", "programmer", usage(1, None));
    all += &more;
    assert_eq!(all.model_usage["m"].total_cost, None);
    assert_eq!(all.role_usage["architect"].total_cost, Some(0.25));
}

#[test]
fn samples_are_averaged_before_tasks() {
    let score = |task: &str, sample, gap_closed| EvolutionScore {
        task_id: TaskId::new(task).unwrap(),
        sample,
        evoscore: 0.0,
        gap_closed,
        solved: false,
        regressions: 0,
        zero_regression: true,
        zrr: false,
        turns: 1,
    };
    let scores = [score("a", 1, 1.0), score("b", 1, 0.0), score("a", 2, 0.5)];
    assert_eq!(
        mean_over_tasks(&scores, |score| score.gap_closed),
        Some(0.375)
    );
    assert_eq!(mean_over_tasks(&[], |score| score.gap_closed), None);
}
