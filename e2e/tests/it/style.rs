//! Code style, from an evolution that ends to every page that speaks of it.

use std::time::Instant;

use swe_ci_engine::testing::TinyTask;

use crate::axe::equip;
use crate::browser::{Browser, DESK};
use crate::journey::{looked_at, open, says};
use crate::product::{PATIENCE, Product, replay};

const TESTS: (&str, &str) = (
    "tests/test_tiny.py",
    "import tiny\n\n\ndef test_it():\n    assert tiny.it(1) == 2\n",
);
const BASE: &str =
    "\"\"\"Tiny.\"\"\"\n\n\ndef it(number):\n    \"\"\"It.\"\"\"\n    return number\n";
/// Solves the task, and is worse to read than the oracle.
const CLUMSY: &str = "import os\n\n\ndef it(number, seen=[]):\n    if number == 1: return 2\n    if number > 1: return 3\n    return 4\n";
const NEAT: &str =
    "\"\"\"Tiny.\"\"\"\n\n\ndef it(number):\n    \"\"\"It.\"\"\"\n    return number + 1\n";

/// One task is solved clumsily, the other as people did.
async fn product() -> (Product, String) {
    let [base, clumsy, neat] = [BASE, CLUMSY, NEAT].map(|code| [("tiny.py", code), TESTS]);
    let tasks = [
        TinyTask {
            name: "clumsy",
            versions: &[&base, &clumsy, &neat],
        },
        TinyTask {
            name: "neat",
            versions: &[&base, &neat],
        },
    ];
    let mut product = Product::with_split("tiny", &tasks).await;
    product.set_env("SWE_CI_CODE_STYLE", "yes");
    let run = product.submit(&replay("Stepper", "tiny", 3, 3));
    product.start().await;
    product.until_finished(&run).await;
    (product, run)
}

/// The tools are installed first, which takes a while.
async fn until_measured(browser: &Browser, product: &Product, run: &str, task: &str) {
    let began = Instant::now();
    loop {
        open(browser, product, &format!("/runs/{run}/tasks/{task}/style")).await;
        if browser.text("main").await.contains("Version by version") {
            return;
        }
        assert!(began.elapsed() < 5 * PATIENCE, "{}", product.log());
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn style_is_seen_wherever_results_are() {
    let (product, run) = product().await;
    let browser = Browser::open(DESK).await;
    equip(&browser).await;
    until_measured(&browser, &product, &run, "clumsy").await;
    until_measured(&browser, &product, &run, "neat").await;

    open(&browser, &product, &format!("/runs/{run}/tasks/clumsy")).await;
    let follow = "document.querySelector('a[href$=\"/tasks/clumsy/style\"]').click()";
    browser.eval(follow).await;
    says(&browser, "its versions are there", "Version by version").await;
    says(&browser, "and its files", "tiny.py").await;
    let mut wrong = looked_at(&browser, "style").await;
    let rows = "return document.querySelectorAll('.style-versions tbody tr').length";
    assert_eq!(browser.eval(rows).await, 3, "base, oracle, iteration 1");
    let unfold = "document.querySelectorAll('.diff-file').forEach(file => { file.open = true })";
    browser.eval(unfold).await;
    wrong.extend(looked_at(&browser, "style-side").await);
    open(&browser, &product, &format!("/runs/{run}/tasks/neat/style")).await;
    says(&browser, "nothing differs", "file by file.").await;

    for figure in ["style-wins", "changed-lines", "style-trend"] {
        open(&browser, &product, &format!("/embed/{figure}")).await;
        says(&browser, "the run is in it", "Stepper").await;
        wrong.extend(looked_at(&browser, figure).await);
    }
    let said = product.swe_ci(&["leaderboard", "--split", "tiny", "--json"]);
    let rows: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap();
    assert!(
        rows.to_string().contains("\"win\":0.0"),
        "one lost, one tied: {rows}"
    );
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;
}
