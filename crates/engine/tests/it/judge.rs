//! A model judges a run: through the gateway, with a scripted judge.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use swe_ci_core::agent::Protocol;
use swe_ci_core::run::HarnessConfig;
use swe_ci_engine::{EXAMPLE_JUDGE, Error, judge_plan};
use swe_ci_testing::scripted::{Script, ScriptedLlm};
use swe_ci_views::judge::{Answer, JudgePlan, Section};

use crate::agents::{KEY, KEY_NAME, config, mend_one_by_one, ready};

/// A judge's model: what it was sent, and how it answers.
#[derive(Clone)]
struct Provider {
    seen: Arc<Mutex<Vec<(String, Value)>>>,
    reply: fn(usize, &str) -> String,
}

impl Provider {
    /// Its address, and itself.
    async fn start(reply: fn(usize, &str) -> String) -> (String, Self) {
        let provider = Self {
            seen: Arc::default(),
            reply,
        };
        let app = Router::new()
            .route("/v1/chat/completions", post(answer))
            .with_state(provider.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        (url, provider)
    }

    fn seen(&self) -> Vec<(String, Value)> {
        self.seen.lock().unwrap().clone()
    }
}

async fn answer(
    State(provider): State<Provider>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Json<Value> {
    let key = headers["authorization"].to_str().unwrap().to_owned();
    let shown = body["messages"][1]["content"].as_str().unwrap().to_owned();
    let mut seen = provider.seen.lock().unwrap();
    let content = (provider.reply)(seen.len(), &shown);
    seen.push((key, body));
    Json(json!({
        "choices": [{"message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": 1_000, "completion_tokens": 100},
    }))
}

fn plan(url: &str) -> JudgePlan {
    let plan = json!({
        "endpoint": {
            "url": url, "model": "judge-1", "key": KEY_NAME,
            "prices": {"input": 1.0, "output": 10.0},
        },
        "criterion": [{"name": "general", "question": "Is it general?"}],
    });
    serde_json::from_value(plan).unwrap()
}

/// The first reply is no JSON, later ones quote the change and make one up.
fn reply(n: usize, shown: &str) -> String {
    let two = shown.contains("+def two(): return 2");
    let quote = if two {
        "def two(): return 2"
    } else {
        "def three(): return 3"
    };
    match n {
        0 => "Certainly!".into(),
        _ => json!({"answers": [{
            "name": "general", "answer": if two { "no" } else { "yes" },
            "quotes": [quote, "as everybody knows"], "why": "It returns a number.",
        }]})
        .to_string(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_judge_answers_with_quotes_and_counts_its_cost() {
    let fixture = ready().await;
    let llm = ScriptedLlm::start(Script::with(mend_one_by_one), KEY)
        .await
        .unwrap();
    let run = fixture
        .run(config(&llm, HarnessConfig::Builtin, Protocol::Chat))
        .await;
    let id = &run.summary.run_id;
    let before = serde_json::to_value(fixture.engine.run(id).await.unwrap()).unwrap();

    let (url, provider) = Provider::start(reply).await;
    let engine = &fixture.engine;
    let judged = engine.judge(id, plan(&url), &|_| {}).await.unwrap();
    let answers: Vec<(u32, Answer)> = judged
        .judgements
        .iter()
        .map(|one| (one.iteration, one.answers[0].answer))
        .collect();
    assert_eq!(answers, [(1, Answer::No), (2, Answer::Yes)]);
    for judgement in &judged.judgements {
        let places: Vec<Option<Section>> = judgement.answers[0]
            .quotes
            .iter()
            .map(|quote| quote.found_in)
            .collect();
        assert_eq!(places, [Some(Section::Change), None]);
    }
    // Two iterations, and one reply that could not be read.
    assert_eq!(provider.seen().len(), 3);
    assert_eq!(judged.usage().total(), 3 * 1_100);
    assert_eq!(judged.micro_usd(), Some(3 * 2_000));
    for (key, body) in provider.seen() {
        assert_eq!(key, format!("Bearer {KEY}"));
        let text = body["messages"][1]["content"].as_str().unwrap();
        for part in [
            "two() gives 2",
            "<change>",
            "<tests>",
            "cat /app/code/tiny.py",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!body.to_string().contains(KEY));
    }

    // A second pass has nothing to ask; the run is as before.
    engine.judge(id, plan(&url), &|_| {}).await.unwrap();
    assert_eq!(provider.seen().len(), 3);
    assert_eq!(engine.judgements(id).await.unwrap(), [judged]);
    let after = serde_json::to_value(engine.run(id).await.unwrap()).unwrap();
    assert_eq!(before, after);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_judge_cannot_do_is_said_and_asked_again() {
    let fixture = ready().await;
    let run = fixture.replay().await;
    let (id, engine) = (&run.summary.run_id, &fixture.engine);
    let (url, _) = Provider::start(|_, _| "no idea".into()).await;
    let judged = engine.judge(id, plan(&url), &|_| {}).await.unwrap();
    let problem = judged.judgements[0].problem.as_deref();
    assert_eq!(problem, Some("the reply has no JSON object"));
    // The budget of a pass holds.
    let mut limited = plan(&url);
    limited.budget.requests = Some(1);
    let judged = engine.judge(id, limited, &|_| {}).await.unwrap();
    let problem = judged.judgements[0].problem.clone().unwrap();
    assert!(problem.contains("requests"), "{problem}");

    let mut unknown = plan(&url);
    unknown.endpoint.key = Some("nobodys".into());
    unknown.criteria.clear();
    let refused = engine.judge(id, unknown, &|_| {}).await;
    assert!(matches!(refused, Err(Error::Rejected(_))), "{refused:?}");
    let mut keyless = plan(&url);
    keyless.endpoint.key = Some("nobodys".into());
    let refused = engine.judge(id, keyless, &|_| {}).await;
    assert!(matches!(refused, Err(Error::Rejected(_))), "{refused:?}");
}

#[test]
fn the_example_is_a_plan() {
    let example = judge_plan(EXAMPLE_JUDGE).unwrap();
    assert_eq!(example.problems(), []);
    assert_eq!(example.criteria.len(), 4);
    let wrong = judge_plan(
        "[endpoint]\nurl = \"https://a.example/v1\"\nmodel = \"m\"\nkeys = \"k\"\n[[criterion]]\nname = \"n\"\nquestion = \"q\"\n",
    );
    assert_eq!(wrong.unwrap_err(), "endpoint.keys: there is no such field");
    assert!(
        judge_plan("criterion = 1")
            .unwrap_err()
            .contains("criterion")
    );
}
