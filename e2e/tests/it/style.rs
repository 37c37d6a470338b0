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

/// The first run solves one task clumsily, the other as people did; the second
/// both as people did.
async fn product() -> (Product, [String; 2]) {
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
    let runs = [("Stepper", 3), ("Leaper", 1)]
        .map(|(model, chunks)| product.submit(&replay(model, "tiny", chunks, 3)));
    product.start().await;
    for run in &runs {
        product.until_finished(run).await;
    }
    (product, runs)
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
#[ignore = "slow: measures code after real evolutions"]
async fn style_is_seen_wherever_results_are() {
    let (product, [run, leaper]) = product().await;
    let browser = Browser::open(DESK).await;
    equip(&browser).await;
    until_measured(&browser, &product, &run, "clumsy").await;
    until_measured(&browser, &product, &run, "neat").await;
    until_measured(&browser, &product, &leaper, "clumsy").await;
    until_measured(&browser, &product, &leaper, "neat").await;

    open(&browser, &product, &format!("/runs/{run}/tasks/clumsy")).await;
    let follow = "document.querySelector('a[href$=\"/tasks/clumsy/style\"]').click()";
    browser.eval(follow).await;
    says(&browser, "its versions are there", "Version by version").await;
    says(&browser, "and its files", "tiny.py").await;
    let mut wrong = looked_at(&browser, "style").await;
    let rows = "return document.querySelectorAll('.style-versions tbody tr').length";
    assert_eq!(browser.eval(rows).await, 3, "base, oracle, iteration 1");
    let rows = "return document.querySelectorAll('.erosion-versions tbody tr').length";
    assert_eq!(browser.eval(rows).await, 3, "the same versions");
    let unfold = "document.querySelectorAll('.diff-file').forEach(file => { file.open = true })";
    browser.eval(unfold).await;
    wrong.extend(looked_at(&browser, "style-side").await);
    open(&browser, &product, &format!("/runs/{run}/tasks/neat/style")).await;
    says(&browser, "nothing differs", "file by file.").await;

    open(&browser, &product, &format!("/runs/{run}")).await;
    says(&browser, "the run tells it", "0.50 equal, 0.50 worse").await;
    wrong.extend(looked_at(&browser, "style-run").await);
    let compared = format!("/compare?runs={run},{leaper}");
    open(&browser, &product, &compared).await;
    let block = "better of 2; 0.50 equal, 0.50 worse";
    says(&browser, "one lost, one tied", block).await;
    says(&browser, "both tied", "better of 2; 1.00 equal, 0.00 worse").await;
    wrong.extend(looked_at(&browser, "style-compare").await);
    let columns = "evoscore,mi-wins,pylint-wins,tasks";
    let leaderboard = format!("/?split=tiny&columns={columns}");
    open(&browser, &product, &leaderboard).await;
    says(&browser, "both are ranked", "Leaper").await;
    wrong.extend(looked_at(&browser, "style-leaderboard").await);

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

/// What the leaderboard has of the code beside the oracle's.
fn style_on_leaderboard(product: &Product) -> serde_json::Value {
    let said = product.swe_ci(&["leaderboard", "--split", "tiny", "--json"]);
    assert!(said.status.success(), "{said:?}");
    let rows: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap();
    rows[0]["style"].clone()
}

/// Files that are all alike keep Pylint busy for some seconds.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: Pylint on large files"]
async fn a_killed_server_measures_later() {
    let alike: String = (0..1_000).map(|n| format!("VALUE_{n} = {n}\n")).collect();
    let names: Vec<String> = (0..4).map(|n| format!("alike{n}.py")).collect();
    let code = |own| {
        let alike = names.iter().map(|name| (name.as_str(), alike.as_str()));
        alike.chain([("tiny.py", own), TESTS]).collect::<Vec<_>>()
    };
    let versions = [code(BASE), code(NEAT)];
    let task = TinyTask {
        name: "slow",
        versions: &[&versions[0], &versions[1]],
    };
    let mut product = Product::with_split("tiny", &[task]).await;
    let run = product.submit(&replay("Stepper", "tiny", 1, 1));
    product.start().await;
    product.until_finished(&run).await;
    product
        .until("nothing of the run is left", || async {
            product.containers().is_empty()
        })
        .await;
    product.kill();

    product.set_env("SWE_CI_CODE_STYLE", "yes");
    product.start().await;
    product
        .until_within(5 * PATIENCE, "it measures", || async {
            !product.containers().is_empty()
        })
        .await;
    product.kill();
    assert!(!product.containers().is_empty(), "it was killed at work");
    assert!(style_on_leaderboard(&product).is_null());
    product.start().await;
    product
        .until_within(5 * PATIENCE, "its successor has measured", || async {
            !style_on_leaderboard(&product).is_null()
        })
        .await;
    product
        .until("nothing is left in the engine", || async {
            product.containers().is_empty()
        })
        .await;
    let style = style_on_leaderboard(&product);
    assert_eq!(style["mi"]["tie"], 1.0, "as people did: {style}");
}
