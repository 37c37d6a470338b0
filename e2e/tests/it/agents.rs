//! Runs whose agents asked a model: what it took, and how it ended.

use serde_json::json;

use crate::accounts::{become_administrator, press};
use crate::browser::{Browser, DESK, Look};
use crate::durability::unfold;
use crate::product::Product;
use crate::world::{TRIAL, WORLD, trial, world};

/// What stands on a page, wide and narrow.
const PAGES: [(&str, &str, &[&str]); 4] = [
    (
        "solved",
        "00-of-otter__parsing?iteration=1",
        &["no usable document", "of it 55", "2 retries", "waited 12 s"],
    ),
    (
        "blocked",
        "01-of-heron__forms",
        &[
            "Iteration 1 was not tested",
            "provider failed",
            "62 retries",
            "waited 10 min",
        ],
    ),
    (
        "gave-up",
        "02-of-lynx__queues",
        &[
            "Iteration 3 was not tested",
            "agent out of time",
            "the architect left no requirement.xml",
        ],
    ),
    (
        "over-budget",
        "03-of-ibis__dates",
        &[
            "Iteration 1 was not tested",
            "budget of 25 US dollars is spent",
            "does not count against the agent",
        ],
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn how_it_ended_and_what_it_took() {
    let world = world().await;
    for (width, dark) in [(1440, false), (1440, true), (390, false), (390, true)] {
        let browser = Browser::open(Look {
            width,
            dark,
            ..DESK
        })
        .await;
        let scheme = if dark { "dark" } else { "light" };
        for (name, task, says) in PAGES {
            browser.go(&format!("{}{}", world.url, trial(task))).await;
            browser.hydrated().await;
            let text = browser.text("main").await;
            for part in says {
                assert!(text.contains(part), "{name} lacks {part}: {text}");
            }
            no_overflow(&browser, name).await;
            browser
                .picture(&format!("agents-{name}-{width}-{scheme}"))
                .await;
        }
        browser.go(&format!("{}/runs/{TRIAL}", world.url)).await;
        browser.hydrated().await;
        let text = browser.text(".taken").await;
        assert!(
            text.contains("of 20\u{202f}000\u{202f}000") && text.contains("of $25"),
            "{text}"
        );
        no_overflow(&browser, "run").await;
        browser
            .picture(&format!("agents-run-{width}-{scheme}"))
            .await;
        assert_eq!(browser.complaints().await, Vec::<String>::new());
        browser.close().await;
    }
}

async fn no_overflow(browser: &Browser, page: &str) {
    let overflow =
        "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(browser.eval(overflow).await, json!(0), "{page}");
}

/// The figures of the page are those of the API.
#[tokio::test(flavor = "multi_thread")]
async fn every_attempt_is_in_the_api() {
    let world = world().await;
    let browser = Browser::open(DESK).await;
    browser
        .go(&format!("{}{}", world.url, trial("01-of-heron__forms")))
        .await;
    browser.hydrated().await;
    let rows = "return [...document.querySelectorAll('.untested tbody tr')].map(row => row.querySelector('[data-label=Requests]').firstChild.textContent)";
    let api = "return (await (await fetch('/api/v1/evolutions/trial-1-01/steps')).json()).map(step => String(step.traffic.requests))";
    let shown = browser.eval(rows).await;
    assert_eq!(shown, json!(["0", "15", "4", "1", "1"]));
    assert_eq!(browser.eval(api).await, shown);
    // A file for each attempt that asked anything.
    let files = "return document.querySelectorAll('.untested a[download]').length";
    assert_eq!(browser.eval(files).await, json!(8));
    browser.close().await;
}

/// An administrator gives an agent that gave up its attempts again, which costs
/// the run its rank.
#[tokio::test(flavor = "multi_thread")]
async fn who_gave_up_is_run_again() {
    let product = Product::showing(WORLD).await;
    let browser = Browser::open(DESK).await;
    let run = format!("{}/runs/{TRIAL}", product.url);
    browser.go(&run).await;
    assert!(!browser.text("main").await.contains("Run again…"));

    become_administrator(&browser, &product).await;
    browser.go(&run).await;
    browser.hydrated().await;
    unfold(&browser, "Run again…").await;
    press(&browser, "Run 1 evolution again").await;
    let text = browser.text("main").await;
    let says = "1 evolution run again on ";
    assert!(text.contains(says), "{text}");
    let ending = &product.run(TRIAL).await["evolution_list"][2];
    assert_eq!(ending["ending"], serde_json::Value::Null, "{ending}");
    browser.go(&format!("{}/?split=trial", product.url)).await;
    let unranked = browser.text(".unranked summary").await;
    assert!(unranked.contains("run again"), "{unranked}");
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;
}
