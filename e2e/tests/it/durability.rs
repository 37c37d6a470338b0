//! Servers that end in the middle of a run, by `kill -9` or for a new version:
//! the next start goes on where the rows say it stands, and does no finished
//! step again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fantoccini::Locator;
use serde_json::{Value, json};
use swe_ci_core::agent::Protocol;
use swe_ci_core::step::StepOutcome;
use swe_ci_engine::testing::TinyTask;
use swe_ci_testing::scripted::{Fault, Script, ScriptedLlm};

use crate::accounts::{become_administrator, press};
use crate::browser::{Browser, DESK};
use crate::journey::{mend, product};
use crate::product::{Product, replay};

const KEY: &str = "sk-killed-2b9e";

/// Within so long a server that is asked to has put everything down.
const GRACE: Duration = Duration::from_secs(10);

/// Each version passes one test more; each suite takes a second.
fn versions() -> Vec<[(&'static str, String); 2]> {
    let tests = "import time, pytest, tiny\n\
                 def test_slow(): time.sleep(1)\n\
                 @pytest.mark.parametrize('i', range(1, 7))\n\
                 def test_it(i): assert i <= tiny.N\n";
    (1..=6)
        .map(|n| {
            [
                ("tiny.py", format!("N = {n}\n")),
                ("tests/test_tiny.py", tests.to_owned()),
            ]
        })
        .collect()
}

/// A server at work on a run, whose id it is, that has done two iterations.
async fn at_work() -> (Product, String) {
    let versions = versions();
    let borrowed: Vec<Vec<(&str, &str)>> = versions
        .iter()
        .map(|files| {
            files
                .iter()
                .map(|(path, text)| (*path, text.as_str()))
                .collect()
        })
        .collect();
    let slices: Vec<&[(&str, &str)]> = borrowed.iter().map(Vec::as_slice).collect();
    let slow = TinyTask {
        name: "slow",
        versions: &slices,
    };
    let mut product = Product::with_split("tiny", &[slow]).await;
    let id = product.submit(&replay("m", "tiny", 5, 5));
    product.start().await;
    product
        .until("two iterations are done", || async {
            iterations(&product.run(&id).await).len() >= 2
        })
        .await;
    (product, id)
}

fn iterations(run: &Value) -> Vec<Value> {
    run["evolution_list"][0]["iterations"]
        .as_array()
        .cloned()
        .unwrap_or_default()
}

/// Starts the server again; the run goes on from how it stood to its end.
async fn goes_on(product: &mut Product, id: &str, before: &Value) {
    product.start().await;
    product.until_finished(id).await;
    let after = product.run(id).await;
    let (done, all) = (iterations(before), iterations(&after));
    assert_eq!(all.len(), 5);
    // What was done stands as it was, down to the second it was finished.
    assert_eq!(all[..done.len()], done[..]);
    assert_eq!(after["evolution_list"][0]["ending"], "solved");
    product
        .until("nothing is left in the engine", || async {
            product.containers().is_empty()
        })
        .await;
    // The steps of every iteration were recorded once.
    let evolution = after["evolution_list"][0]["evolution_id"].as_str().unwrap();
    assert!(product.log().contains(evolution));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_resumes() {
    let (mut product, id) = at_work().await;
    product.kill();
    let before = product.run(&id).await;
    assert_eq!(before["progress"], "running");
    assert!(
        !product.containers().is_empty(),
        "a killed server cannot have tidied up"
    );
    goes_on(&mut product, &id, &before).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deployment_loses_nothing() {
    let (mut product, id) = at_work().await;
    let (took, well) = product.stop();
    assert!(well && took < GRACE, "{took:?}\n{}", product.log());
    // Asked to remove them, a busy container engine does so after we are gone.
    product
        .until("it has tidied up behind itself", || async {
            product.containers().is_empty()
        })
        .await;
    let before = product.run(&id).await;
    assert_eq!(before["progress"], "running");
    goes_on(&mut product, &id, &before).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: two runs of many steps"]
async fn grading_again_survives_a_kill() {
    let (mut product, original) = at_work().await;
    product.until_finished(&original).await;
    let browser = Browser::open(DESK).await;
    become_administrator(&browser, &product).await;
    browser
        .go(&format!("{}/runs/{original}", product.url))
        .await;
    browser.hydrated().await;
    unfold(&browser, "Grade again…").await;
    press(&browser, "Grade it again").await;
    let path = browser.eval("return location.pathname").await;
    let id = path.as_str().unwrap().replace("/runs/", "");
    assert_ne!(id, original);

    product
        .until("two iterations are graded", || async {
            iterations(&product.run(&id).await).len() >= 2
        })
        .await;
    // The page would complain about the server that is gone.
    browser.go("about:blank").await;
    product.kill();
    let before = product.run(&id).await;
    assert_eq!(before["progress"], "running");
    goes_on(&mut product, &id, &before).await;

    browser.go(&format!("{}/runs/{id}", product.url)).await;
    browser.hydrated().await;
    let moved = browser.text(".moved").await;
    assert!(
        moved.contains("0 verdicts of 5 iterations moved."),
        "{moved}"
    );
    browser.picture("graded-again").await;
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;
}

/// Opens what asks before an action.
pub async fn unfold(browser: &Browser, summary: &str) {
    let words = format!("//main//summary[.='{summary}']");
    let found = browser.page.find(Locator::XPath(&words)).await;
    found.unwrap().click().await.unwrap();
}

/// Neither the answers before a `kill -9` nor the request under way are lost from the
/// account of the run.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_servers_usage_is_counted() {
    let llm = ScriptedLlm::start(Script::with(mend), KEY).await.unwrap();
    let asked = AtomicUsize::new(0);
    llm.fault_when(move |_| (asked.fetch_add(1, Ordering::Relaxed) == 2).then_some(Fault::Hang));
    let mut product = product().await;
    let engine = product.engine().await;
    engine.set_key("scripted", &KEY.into()).await.unwrap();
    let id = product.submit(&json!({
        "model": "Killed",
        "kind": "measured",
        "split": "tiny",
        "harness": { "name": "builtin" },
        "endpoint": { "protocol": "chat", "url": llm.url(Protocol::Chat), "model": "scripted-1", "key": "scripted" },
    }));
    let streamed = async || {
        let run = product.run(&id).await;
        run["spent"]["traffic"]["streamed_tokens"].as_u64()
    };
    product
        .until("its third answer is under way", || async {
            streamed().await > Some(0)
        })
        .await;
    let estimate = streamed().await;
    product.kill();
    product.start_with(&["--allow-private-endpoints"]).await;
    product.until_finished(&id).await;
    let run = product.run(&id).await;
    assert_eq!(run["evolution_list"][0]["ending"], "solved");
    let spent = &run["spent"];
    let sent = llm.sent();
    assert_eq!(spent["usage"]["input_tokens"], sent.input_tokens, "{spent}");
    assert_eq!(
        spent["usage"]["output_tokens"], sent.output_tokens,
        "{spent}"
    );
    let requests = llm.seen().len();
    assert_eq!(spent["traffic"]["requests"], requests, "{spent}");
    assert_eq!(spent["traffic"]["unfinished"], 1, "{spent}");
    let streamed = &spent["traffic"]["streamed_tokens"];
    assert_eq!(streamed.as_u64(), estimate, "{spent}");
    let evolution = run["evolution_list"][0]["evolution_id"].as_str().unwrap();
    let steps = product.engine().await.steps(evolution).await.unwrap();
    assert_eq!(steps[1].outcome, StepOutcome::Interrupted);
}
