//! A run whose provider has no time for it: what its page says meanwhile, and
//! that it goes on.

use serde_json::json;
use swe_ci_core::agent::Protocol;
use swe_ci_testing::scripted::{Fault, Script, ScriptedLlm};

use crate::axe::equip;
use crate::browser::{Browser, DESK};
use crate::journey::{looked_at, mend, open, product, says};

const KEY: &str = "sk-waiting-77c0";
/// Long enough for axe to look at the page twice.
const LATER: Fault = Fault::Status {
    code: 429,
    retry_after: Some(30),
};

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_is_waited_for_and_comes_back() {
    let llm = ScriptedLlm::start(Script::with(mend), KEY).await.unwrap();
    llm.fault_first(1, LATER);
    let product = product().await;
    let engine = product.engine().await;
    engine.set_key("scripted", &KEY.into()).await.unwrap();
    let run = product.submit(&json!({
        "model": "Patient",
        "kind": "measured",
        "split": "tiny",
        "harness": { "name": "builtin" },
        "endpoint": { "protocol": "chat", "url": llm.url(Protocol::Chat), "model": "scripted-1", "key": "scripted" },
    }));
    let browser = Browser::open(DESK).await;
    equip(&browser).await;
    open(&browser, &product, &format!("/runs/{run}")).await;
    says(&browser, "it is told live", "Waiting for the provider").await;
    let text = browser.text("main").await;
    for part in ["waits for the provider", "HTTP 429", "load ", "GiB free"] {
        assert!(text.contains(part), "the page lacks {part}: {text}");
    }
    // Who comes now is told the same.
    open(&browser, &product, &format!("/runs/{run}")).await;
    let text = browser.text("main").await;
    assert!(text.contains("HTTP 429"), "{text}");
    let wrong = looked_at(&browser, "run-waiting").await;
    assert_eq!(wrong, Vec::<String>::new());
    product.until_finished(&run).await;
    let waits = "document.querySelector('main').textContent.includes('Waiting for the provider')";
    let script = format!("return !{waits}");
    browser.until("its page follows", &script).await;
    browser.close().await;
}
