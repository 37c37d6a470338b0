//! The time to read a step's conversation: a recording of 50 MB, opened, paged
//! and searched. Prints milliseconds; judges nothing.
#![allow(clippy::print_stdout, reason = "a benchmark reports on stdout")]

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use sqlx::Connection;
use swe_ci_core::step::Role;
use swe_ci_engine::{Config, Engine};
use swe_ci_testing::measurements::lower_is_better;
use swe_ci_views::conversation::Window;

const BYTES: usize = 50_000_000;
const ROWS: &str = r#"
    INSERT INTO splits (name, created_at) VALUES ('s', 1);
    INSERT INTO suites (id, base_in_target, target_passed, base_passed, counts_only, tests, base_outcomes)
        VALUES ('u', 0, 1, 0, 0, '["a"]', 'f');
    INSERT INTO tasks (id) VALUES ('t');
    INSERT INTO task_revisions (id, repo, base_sha, target_sha, state, reason, image, suite, suite_seconds,
                                commits, span_days, extra, imported_at)
        VALUES ('t', 'r', 'a', 'b', 'ready', '', '', 'u', 1.0, 1, 1.0, '[]', 1);
    INSERT INTO runs (id, split, kind, config, provenance, progress, created_at)
        VALUES ('r', 's', 'measured', '{"model":"m","kind":"measured","split":"s","harness":{"name":"builtin"}}',
                '{}', 'finished', 1);
    INSERT INTO evolutions (id, run_id, task_id, sample, progress, ending, lease_until, expected_seconds,
                            queued_at, at_iteration, at_role, at_attempt, suite)
        VALUES ('e', 'r', 't', 1, 'finished', 'solved', 0, 1.0, 1, 1, 'test', 1, 'u');
    INSERT INTO steps (evolution_id, seq, iteration, role, attempt, outcome, detail, trajectory, started_at, finished_at)
        VALUES ('e', 1, 1, 'programmer', 1, '"done"', '', 'said.zst', 1, 2);
"#;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let engine = Engine::open(Config::new(folder.path().to_owned())).await?;
    let lines = recording();
    let artifact = folder.path().join("artifacts/said.zst");
    std::fs::write(artifact, zstd::encode_all(lines.as_slice(), 3)?)?;
    seed(folder.path()).await?;
    println!("a recording of {:.1} MB", lines.len() as f64 / 1e6);
    for (what, from, q) in [
        ("opened", None, ""),
        ("its last page", Some(u32::MAX), ""),
        ("looked through", None, "no such words"),
    ] {
        let window = Window {
            from,
            limit: None,
            q: q.to_owned(),
        };
        let began = Instant::now();
        let page = engine.messages("e", 1, Role::Programmer, None, window);
        page.await?;
        let took = began.elapsed().as_secs_f64() * 1e3;
        lower_is_better(&format!("recording: {what}"), took, "ms");
    }
    Ok(())
}

async fn seed(folder: &Path) -> anyhow::Result<()> {
    let url = format!("sqlite:{}", folder.join("swe-ci.sqlite").display());
    let mut database = sqlx::SqliteConnection::connect(&url).await?;
    sqlx::raw_sql(ROWS).execute(&mut database).await?;
    Ok(())
}

/// A long step as real harnesses have it: each request repeats everything
/// before it, calls and file contents included.
fn recording() -> Vec<u8> {
    let mut messages = vec![json!({"role": "user", "content": "Make the tests pass."})];
    let mut lines = Vec::new();
    let tools = json!([{"type": "function", "function": {"name": "bash", "parameters": {}}}]);
    for ordinal in 1.. {
        let id = format!("call_{ordinal}");
        let arguments = json!({"command": format!("sed -n '1,80p' src/module_{ordinal}.py")});
        let answer = json!({"role": "assistant", "content": "Let me look.", "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "bash", "arguments": arguments.to_string()}}]});
        let exchange = exchange(ordinal, &messages, &tools, &answer);
        lines.extend(exchange.to_string().into_bytes());
        lines.push(b'\n');
        if lines.len() > BYTES {
            break;
        }
        let text: String = (0..80)
            .map(|line| format!("    value_{line} = compute(ordinal={ordinal}, \"line {line}\")\n"))
            .collect();
        messages.push(answer);
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
    }
    lines
}

fn exchange(ordinal: u32, messages: &[Value], tools: &Value, answer: &Value) -> Value {
    let answer = json!({"choices": [{"message": answer, "finish_reason": "tool_calls"}]});
    json!({
        "ordinal": ordinal, "protocol": "chat", "status": 200, "streamed": false, "complete": true,
        "request": {"model": "m", "messages": messages, "tools": tools}, "response": answer.to_string(),
        "usage": null, "started_at": 1_000, "finished_at": 2_000, "waiting_ms": 0,
    })
}
