//! Model usage and conversations of agents: API and pages.

use serde_json::{Value, json};

use crate::fixture::{Answer, MODEL, TestApp};

/// The model's run with an endpoint: an evolution with a tested iteration, and
/// one blocked in its first.
const ASKED: &str = r#"
    UPDATE runs SET config = '{"model":"Juniper","provider":"acme","kind":"measured","harness":{"name":"builtin"},"endpoint":{"url":"https://llm.example.org/v1","protocol":"chat","model":"juniper-1","key":"acme","prices":{"input":3.0,"output":15.0}},"split":"demo","samples":1,"plan":{"max_iterations":4,"max_attempts":2},"budget":{"tokens":1000000,"usd":25.0}}'
        WHERE id = '00000000-0000-7000-8000-000000000002';
    UPDATE evolutions SET progress = 'finished', ending = 'blocked', reason = 'the provider answered 503'
        WHERE id = 'e-model-beta';
    INSERT INTO steps (evolution_id, seq, iteration, role, attempt, outcome, detail, started_at, finished_at,
                       input_tokens, output_tokens, cached_tokens, reasoning_tokens, requests, retries, waiting_ms,
                       micro_usd, trajectory, log)
    VALUES ('e-model-alpha', 1, 1, 'architect', 1, '"malformed_requirement"', 'no requirement.xml', 1763600100000,
            1763600160000, 12000, 300, 8000, 120, 4, 0, 0, 40500, 'first.zst', NULL),
           ('e-model-alpha', 2, 1, 'architect', 2, '"done"', '', 1763600160000, 1763600220000, 12000, 300, 8000, 0, 4,
            2, 12000, 40500, 'second.zst', NULL),
           ('e-model-alpha', 3, 1, 'programmer', 1, '"done"', '', 1763600220000, 1763600221000, 0, 0, 0, 0, 0, 0, 0, 0,
            NULL, NULL),
           ('e-model-beta', 1, 1, 'architect', 1, '"done"', '', 1763600160000, 1763600220000, 12000, 300, 8000, 0, 4, 0,
            0, 40500, 'second.zst', NULL),
           ('e-model-beta', 2, 1, 'programmer', 1, '"provider_failed"', 'the provider answered <503>', 1763600220000,
            1763600221000, 0, 0, 0, 0, 1, 61, 600000, 0, 'gone.zst', 'printed.zst'),
           ('e-model-beta', 3, 1, 'programmer', 2, '"provider_failed"', 'the provider answered <503>', 1763600220000,
            1763600221000, 0, 0, 0, 0, 1, 60, 600000, 0, NULL, NULL);
"#;

const STEP: &str = "/api/v1/evolutions/e-model-alpha/iterations/1";

async fn asked() -> TestApp {
    asked_and_changed("").await
}

async fn asked_and_changed(sql: &str) -> TestApp {
    let app = TestApp::changed(&format!("{ASKED}{sql}")).await;
    for (key, says) in [("first.zst", "one"), ("second.zst", "two")] {
        app.keep(key, format!("{}\n", exchange(says)).as_bytes());
    }
    app.keep("printed.zst", b"asking again\n");
    app
}

/// As the gateway records it.
fn exchange(says: &str) -> Value {
    let answer = json!({
        "choices": [{"message": {"role": "assistant", "content": says}, "finish_reason": "stop"}],
    });
    json!({
        "ordinal": 1, "protocol": "chat", "status": 200, "streamed": false, "complete": true,
        "request": {"model": "juniper-1", "messages": [{"role": "user", "content": "Write."}]},
        "response": answer.to_string(), "usage": null,
        "started_at": 1_763_600_160_000_u64, "finished_at": 1_763_600_161_000_u64, "waiting_ms": 0,
    })
}

#[track_caller]
fn lines(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), "application/jsonl");
    let text = answer.text();
    text.lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect()
}

#[tokio::test]
async fn every_attempt_at_a_step() {
    let app = asked().await;
    let steps = app
        .get("/api/v1/evolutions/e-model-beta/steps")
        .await
        .json();
    let seen = steps.as_array().unwrap().iter();
    let seen: Vec<_> = seen
        .map(|s| (s["role"].clone(), s["attempt"].clone()))
        .collect();
    let expect = [("architect", 1), ("programmer", 1), ("programmer", 2)];
    assert_eq!(seen, expect.map(|(role, n)| (json!(role), json!(n))));
    assert_eq!(
        steps[1],
        json!({
            "iteration": 1, "role": "programmer", "attempt": 1, "outcome": "provider_failed",
            "detail": "the provider answered <503>", "seconds": 1.0,
            "finished_at": "2025-11-20T00:57:01Z",
            "usage": {"input_tokens": 0, "output_tokens": 0, "cached_tokens": 0, "reasoning_tokens": 0},
            "traffic": {"requests": 1, "retries": 61, "waiting_ms": 600_000, "micro_usd": 0},
            "recording": "exchanges",
        })
    );
    // For results recorded before there was a gateway.
    let none = app.get("/api/v1/evolutions/e-human-alpha/steps").await;
    assert_eq!(none.json(), json!([]));
    let nobody = app.get("/api/v1/evolutions/nobody/steps").await;
    nobody.problem(404, "not-found");
    let more = app
        .get("/api/v1/evolutions/e-model-beta/steps?limit=1")
        .await;
    more.problem(400, "bad-parameter");
}

#[tokio::test]
async fn the_conversation_as_recorded() {
    let app = asked().await;
    // The latest recorded attempt, unless the request names another.
    let last = app.get(&format!("{STEP}/architect/trajectory")).await;
    assert_eq!(lines(&last), [exchange("two")]);
    assert_eq!(
        last.header("content-disposition"),
        "attachment; filename=\"e-model-alpha-1-architect-2.jsonl\""
    );
    let path = format!("{STEP}/architect/trajectory?attempt=1&format=jsonl");
    assert_eq!(lines(&app.get(&path).await), [exchange("one")]);
}

#[tokio::test]
async fn the_conversation_as_atif() {
    let app = asked().await;
    let path = format!("{STEP}/architect/trajectory?format=atif&attempt=1");
    let answer = app.get(&path).await;
    let told = answer.json();
    assert_eq!(
        answer.header("content-disposition"),
        "attachment; filename=\"e-model-alpha-1-architect-1.atif.json\""
    );
    assert_eq!(told["schema_version"], "ATIF-v1.7");
    assert_eq!(told["agent"]["name"], "builtin");
    let steps = told["steps"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["message"], "one");
}

#[tokio::test]
async fn steps_without_a_conversation() {
    let app = asked().await;
    for path in [
        // A step without requests; an unknown step; one without a file.
        "e-model-alpha/iterations/1/programmer/trajectory",
        "e-model-alpha/iterations/1/programmer/trajectory?attempt=1",
        "e-model-alpha/iterations/1/architect/trajectory?attempt=3",
        "e-model-alpha/iterations/2/architect/trajectory",
        "e-human-alpha/iterations/1/architect/trajectory?format=atif",
        "e-model-beta/iterations/1/programmer/trajectory?attempt=2",
        "nobody/iterations/1/architect/trajectory",
    ] {
        let answer = app.get(&format!("/api/v1/evolutions/{path}")).await;
        let problem = answer.problem(404, "not-found");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.starts_with("there is no "), "{path}: {detail}");
    }
    for (path, parameter) in [
        ("test/trajectory", "role"),
        ("tester/trajectory", "role"),
        ("architect/trajectory?attempt=0", "attempt"),
        ("architect/trajectory?attempt=x", "attempt"),
        ("architect/trajectory?format=xml", "format"),
        ("architect/trajectory?form=atif", "form"),
    ] {
        let problem = app.get(&format!("{STEP}/{path}")).await;
        let problem = problem.problem(400, "bad-parameter");
        assert_eq!(problem["parameter"], parameter, "{path}");
    }
}

#[tokio::test]
async fn the_usage_of_a_run() {
    let app = asked().await;
    let run = app.get(&format!("/api/v1/runs/{MODEL}")).await.json();
    assert_eq!(
        run["spent"],
        json!({
            "usage": {"input_tokens": 36_000, "output_tokens": 900, "cached_tokens": 24_000, "reasoning_tokens": 120},
            "traffic": {"requests": 14, "retries": 123, "waiting_ms": 1_212_000, "micro_usd": 121_500},
        })
    );
    let page = body(&app.get(&format!("/runs/{MODEL}")).await);
    for part in [
        "36\u{202f}900 of 1\u{202f}000\u{202f}000",
        "of it 24\u{202f}000 cached · 120 reasoning",
        "$0.12 of $25",
        "juniper-1 at llm.example.org by chat",
        "$3 in · $15 out",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let human = crate::fixture::HUMAN;
    let replayed = app.get(&format!("/api/v1/runs/{human}")).await.json();
    assert_eq!(replayed["spent"], Value::Null);
    let page = body(&app.get(&format!("/runs/{human}")).await);
    assert!(!page.contains("class=\"facts taken\""));
}

#[tokio::test]
async fn the_steps_on_the_page_of_their_evolution() {
    let app = asked().await;
    let page = format!("/runs/{MODEL}/tasks/alpha-1?iteration=1");
    let html = body(&app.get(&page).await);
    for part in [
        "no usable document",
        "12\u{202f}000 in · 300 out",
        "of it 8000 cached · 120 reasoning",
        "2 retries",
        "waited 12 s",
        "$0.0405",
        "architect/trajectory?attempt=2&amp;format=jsonl",
        "architect/trajectory?attempt=1&amp;format=atif",
        // All of them together.
        "24\u{202f}000 in · 600 out",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    // A step without requests has no recording.
    assert!(!html.contains("programmer/trajectory"));
    assert!(!html.contains("was not tested"));
}

#[tokio::test]
async fn evolutions_without_a_tested_iteration() {
    let app = asked().await;
    let html = body(&app.get(&format!("/runs/{MODEL}/tasks/beta-2")).await);
    for part in [
        "Iteration 1 was not tested",
        "the platform or the model's provider failed, not the agent",
        "provider failed",
        "the provider answered &lt;503&gt;",
        "60 retries",
        "waited 10 min",
        "asking again",
        "It ended before an iteration was tested.",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    // A completed human baseline has nothing to explain.
    let human = format!("/runs/{}/tasks/beta-2", crate::fixture::HUMAN);
    assert!(!body(&app.get(&human).await).contains("was not tested"));
}

#[tokio::test]
async fn cost_is_a_column() {
    // A split of the one task that both runs have a score of.
    let one = "; DELETE FROM split_tasks WHERE split = 'demo' AND task_id <> 'alpha-1'";
    let app = asked_and_changed(one).await;
    let html = body(&app.get("/?split=demo&columns=tokens,cost").await);
    for part in ["data-label=\"Cost\"", ">$0.12<", "37 k"] {
        assert!(html.contains(part), "{part}");
    }
    let rows = app.get("/api/v1/leaderboard?split=demo&sort=-cost").await;
    let rows = rows.json();
    assert_eq!(rows["items"][0]["micro_usd"], 121_500);
    // Of the scored evolution alone; 12 of 121 seconds its agent waited. It closed
    // no test.
    assert_eq!(
        rows["items"][0]["effort"],
        json!({
            "tokens_per_task": 24_600.0, "usd_per_task": 0.081,
            "tokens_per_closed_test": null, "usd_per_closed_test": null,
            "agent_seconds_per_task": 109.0, "agent_seconds_per_iteration": 54.5,
            "wall_seconds_per_iteration": 60.5,
        })
    );
    assert!(rows["items"][1].get("effort").is_none(), "not recorded");
    let columns = "tokens-per-task,cost-per-task,cost-per-test,agent-time,wall-time";
    let path = format!("/?split=demo&sort=agent-time&columns={columns}");
    let html = body(&app.get(&path).await);
    for part in [
        "25 k",
        ">$0.0810<",
        "data-label=\"Cost/test\"",
        "54 s",
        "1.0 min",
    ] {
        assert!(html.contains(part), "{part}");
    }
    let csv = app
        .get("/api/v1/leaderboard.csv?split=demo&columns=cost&sort=-cost")
        .await;
    let csv = csv.text();
    let mut table = csv.split("\r\n");
    assert!(
        table
            .next()
            .unwrap()
            .ends_with(",counts_only,unranked,cost_usd")
    );
    assert!(table.next().unwrap().ends_with(",false,,0.121500"));
    assert!(table.next().unwrap().ends_with(",false,,"), "no prices");
    let model = body(&app.get("/models/Juniper").await);
    assert!(
        model.contains("data-label=\"Cost\" class=\"number\">$0.12<"),
        "{model}"
    );
    let human = body(&app.get("/models/Human%20%28replayed%20history%29").await);
    assert!(!human.contains("data-label=\"Cost\""));
    let pair = format!("/compare?runs={MODEL},{}", crate::fixture::HUMAN);
    let pair = body(&app.get(&pair).await);
    for part in ["$0.0810", "no prices"] {
        assert!(pair.contains(part), "{part}");
    }
}

/// The visible part of the page, without its embedded data.
fn body(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let html = answer.text();
    html.split("<footer").next().unwrap().to_owned()
}
