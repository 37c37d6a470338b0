//! The pages in a real browser: with and without JavaScript, wide and narrow,
//! light and dark.

use serde_json::{Value, json};
use swe_ci_engine::testing::TinyTask;

use crate::axe::{Rules, equip, violations};
use crate::browser::{Browser, DESK, Look};
use crate::product::{Product, replay};

const TESTS: (&str, &str) = (
    "tests/test_tiny.py",
    "import pytest, tiny\n@pytest.mark.parametrize('i', range(1, 7))\ndef test_it(i): assert i in tiny.PASS\n",
);
/// The base passes 2 of 6 tests; on the way to the target it goes up, back
/// and below the base, so that who replays every step scores better early and
/// worse late than who takes two steps at a time.
const VERSIONS: [&str; 5] = [
    "PASS = {1, 2}\n",
    "PASS = {1, 2, 3, 4, 5}\n",
    "PASS = {1, 2}\n",
    "PASS = {1}\n",
    "PASS = set(range(7))\n",
];

/// The same in other repositories, so that there are intervals.
const BROOK: [&str; 5] = [
    "PASS = {1, 2}\n",
    "PASS = {1, 2, 3, 4, 5}\n",
    "PASS = {1, 2, 3}\n",
    "PASS = {1, 2}\n",
    "PASS = set(range(7))\n",
];
const CLIFF: [&str; 5] = [
    "PASS = {1, 2}\n",
    "PASS = {1, 2, 3, 4}\n",
    "PASS = {1}\n",
    "PASS = {1, 2}\n",
    "PASS = set(range(7))\n",
];

/// Both runs on the three roads, finished.
pub async fn product() -> Product {
    Product::finished("roads", walked).await
}

async fn walked() -> Product {
    let roads = [VERSIONS, BROOK, CLIFF].map(|road| road.map(|code| [("tiny.py", code), TESTS]));
    let roads: Vec<Vec<&[(&str, &str)]>> = roads
        .iter()
        .map(|versions| versions.iter().map(<[_; 2]>::as_slice).collect())
        .collect();
    let tasks: Vec<TinyTask<'_>> = ["winding-road", "brook", "cliff"]
        .into_iter()
        .zip(&roads)
        .map(|(name, versions)| TinyTask { name, versions })
        .collect();
    let mut product = Product::with_split("tiny", &tasks).await;
    let runs = [
        product.submit(&replay("Stepper", "tiny", 4, 4)),
        product.submit(&replay("Leaper", "tiny", 2, 4)),
    ];
    product.start().await;
    for run in runs {
        product.until_finished(&run).await;
    }
    product
}

async fn models(browser: &Browser) -> Value {
    browser
        .eval(
            "return [...document.querySelectorAll('.ranked th a')].map(a => a.textContent.trim())",
        )
        .await
}

/// All a ranked row says, in words, as it stands in the page.
async fn rows(browser: &Browser) -> Value {
    browser
        .eval("return [...document.querySelectorAll('.ranked tr')].map(r => r.textContent.trim())")
        .await
}

/// The same out of what the server sends for the present address.
async fn rows_sent(browser: &Browser) -> Value {
    let script = "const html = await (await fetch(location.href)).text(); \
                  const sent = new DOMParser().parseFromString(html, 'text/html'); \
                  return [...sent.querySelectorAll('.ranked tr')].map(r => r.textContent.trim())";
    browser.eval(script).await
}

/// Moves the slider as a hand would: the value changes, `input` is heard.
async fn slide(browser: &Browser, gamma: &str) {
    let script = format!(
        "const slider = document.querySelector('#gamma'); slider.value = '{gamma}'; \
         slider.dispatchEvent(new Event('input', {{bubbles: true}}));"
    );
    browser.eval(&script).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_slider_ranks_anew_in_the_browser() {
    let product = product().await;
    let browser = Browser::open(DESK).await;
    browser.go(&format!("{}/?gamma=0.2", product.url)).await;
    browser.hydrated().await;
    assert_eq!(models(&browser).await, json!(["Stepper", "Leaper"]));
    let exact = "return document.querySelector('#gamma-exact').value";
    assert_eq!(browser.eval(exact).await, json!("0.20"));
    // While it moves, rows and chart follow at once, without a request.
    let moving = "
        const requests = () => performance.getEntriesByType('resource').length;
        const [slider, before] = [document.querySelector('#gamma'), requests()];
        slider.value = '2';
        slider.dispatchEvent(new Event('input', { bubbles: true }));
        await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
        const rows = [...document.querySelectorAll('.ranked tr')];
        rows.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
        const text = name => rows.map(row => row.querySelector(name).textContent);
        return [text('.col-model a'), text('.rank-number'), text('.score-number'),
                document.querySelector('.gamma-cursor text').textContent, requests() - before]";
    assert_eq!(
        browser.eval(moving).await,
        json!([
            ["Leaper", "Stepper"],
            ["1", "2"],
            ["0.928", "0.522"],
            "γ 2.00",
            0
        ])
    );
    // When it rests, the page is the server's.
    browser
        .until(
            "the order is turned around",
            "return document.querySelector('.ranked th a').textContent.trim() === 'Leaper'",
        )
        .await;
    browser
        .until(
            "the address follows",
            "return parseFloat(new URL(location).searchParams.get('gamma')) === 2",
        )
        .await;
    // For the one (0·2 + 4 + 8 + 16) / 30, 0.95 and 0.9 on the three roads, for the
    // other (0.75·2 + 0·4 − 0.5·8 + 1·16) / 30, 0.617 and 0.5.
    let scores = browser
        .eval("return [...document.querySelectorAll('.ranked .score-number')].map(s => s.textContent)")
        .await;
    assert_eq!(scores, json!(["0.928", "0.522"]));

    // The same view by its address, and the same numbers from the API.
    let api = "return await (await fetch('/api/v1/leaderboard?split=tiny&gamma=2')).json()";
    let rows = browser.eval(api).await;
    assert_eq!(rows["items"][0]["model"], "Leaper");
    assert!((rows["items"][1]["evoscore"].as_f64().unwrap() - 47.0 / 90.0).abs() < 1e-9);
    browser.go(&format!("{}/?gamma=2", product.url)).await;
    assert_eq!(models(&browser).await, json!(["Leaper", "Stepper"]));
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn server_and_browser_are_equally_sure() {
    let product = product().await;
    let browser = Browser::open(DESK).await;
    browser.go(&format!("{}/?gamma=0.5", product.url)).await;
    browser.hydrated().await;
    let sent = rows_sent(&browser).await;
    assert!(
        sent[0].as_str().unwrap().contains("95\u{a0}% interval [0."),
        "{sent}"
    );
    assert_eq!(rows(&browser).await, sent, "after hydration");
    // All three repositories favour the same run, and are too few to tell it apart.
    let next = "return document.querySelector('.ranked tr .next').textContent";
    let text = browser.eval(next).await;
    assert!(text.as_str().unwrap().ends_with(" tied"), "{text}");

    slide(&browser, "2").await;
    let arrived = "return new URL(location).searchParams.get('gamma') === '2.00'";
    browser.until("the address follows", arrived).await;
    let later = rows(&browser).await;
    assert_ne!(later, sent);
    assert_eq!(rows_sent(&browser).await, later, "at another γ");

    slide(&browser, "0.5").await;
    let arrived = "return new URL(location).searchParams.get('gamma') === '0.50'";
    browser.until("the address follows back", arrived).await;
    assert_eq!(rows(&browser).await, sent, "there and back");
    published_rows(&browser, &product).await;
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;
}

/// They stand below the ranking until a link hides them, and the address says
/// so.
async fn published_rows(browser: &Browser, product: &Product) {
    let count = "document.querySelectorAll('.published tr:not(.published-head)').length";
    browser.go(&format!("{}/?gamma=1.5", product.url)).await;
    browser.hydrated().await;
    assert_eq!(browser.eval(&format!("return {count}")).await, json!(18));
    // Of other tasks, and so folded until somebody wants them.
    let seen = "return document.querySelector('.published tr:last-child').offsetHeight > 0";
    assert_eq!(browser.eval(seen).await, json!(false));
    browser
        .eval("document.querySelector('.published-shown').click()")
        .await;
    assert_eq!(browser.eval(seen).await, json!(true));
    assert!(
        browser
            .text(".published-head")
            .await
            .contains("tasks of tiny differ")
    );
    let hide = "document.querySelector('.choices-links a[href*=\"published=off\"]').click()";
    browser.eval(hide).await;
    browser
        .until("they are gone", &format!("return {count} === 0"))
        .await;
    let query = "return new URL(location).search";
    assert_eq!(
        browser.eval(query).await,
        json!("?gamma=1.50&published=off")
    );
    // The slider keeps the choice, and so does loading the page anew.
    slide(browser, "2").await;
    let moved = "return new URL(location).search === '?gamma=2.00&published=off'";
    browser.until("the address keeps it", moved).await;
    let address = browser.eval("return location.href").await;
    browser.go(address.as_str().unwrap()).await;
    browser.hydrated().await;
    assert_eq!(browser.eval(&format!("return {count}")).await, json!(0));
    browser.eval("history.back()").await;
    browser
        .until("they are back", &format!("return {count} === 18"))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_watched_live() {
    let tests = format!(
        "import time\n{}\ndef test_slow(): time.sleep(1.5)\n",
        TESTS.1
    );
    let versions = VERSIONS.map(|code| [("tiny.py", code), (TESTS.0, tests.as_str())]);
    let versions: Vec<&[(&str, &str)]> = versions.iter().map(<[_; 2]>::as_slice).collect();
    let mut product = Product::with_split(
        "slow",
        &[TinyTask {
            name: "slow-road",
            versions: &versions,
        }],
    )
    .await;
    product.start().await;
    let browser = Browser::open(DESK).await;
    let id = product.submit(&replay("Watched", "slow", 4, 4));
    browser.go(&format!("{}/runs/{id}", product.url)).await;
    browser.hydrated().await;
    let iterations = "document.querySelectorAll('details.evolution tbody tr').length";
    // The page is never loaded again: what changes comes by itself. More lines of
    // output than the first few are kept.
    browser
        .eval("window.untouched = true; document.querySelector('.log .link-button').click()")
        .await;
    browser
        .until(
            "a first iteration appears",
            &format!("return {iterations} >= 1"),
        )
        .await;
    browser
        .until(
            "the log tells what is printed",
            "return document.body.textContent.includes('test session starts')",
        )
        .await;
    browser.picture("run-live-1440-light").await;
    browser
        .until(
            "the fourth iteration appears",
            &format!("return {iterations} >= 4"),
        )
        .await;
    browser
        .until(
            "the run is over",
            "return document.querySelector('.hero .tags').textContent.includes('finished')",
        )
        .await;
    assert_eq!(browser.eval("return window.untouched").await, json!(true));
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;
}

/// What every page must show, with or without a script.
async fn addresses(product: &Product) -> Vec<(&'static str, String, &'static str)> {
    let list = product.swe_ci(&["read", "runs", "--json"]);
    let runs: Value = serde_json::from_slice(&list.stdout).unwrap();
    let run = runs["items"]
        .as_array()
        .or(runs.as_array())
        .unwrap()
        .iter()
        .find(|r| r["config"]["model"] == "Stepper")
        .unwrap()
        .clone();
    let run_id = run["run_id"].as_str().unwrap();
    let detail = product.run(run_id).await;
    let evolutions = detail["evolution_list"].as_array().unwrap();
    let winding = evolutions.iter().find(|e| e["task_id"] == "winding-road");
    let evolution = winding.unwrap()["evolution_id"]
        .as_str()
        .unwrap()
        .to_owned();
    vec![
        ("leaderboard", "/".into(), "Stepper"),
        ("runs", "/runs".into(), "Leaper"),
        ("run", format!("/runs/{run_id}"), "winding-road"),
        (
            "iteration",
            format!("/runs/{run_id}/{evolution}/2"),
            "test_it[3]",
        ),
        ("tasks", "/tasks?split=tiny".into(), "winding-road"),
        ("task", "/tasks/winding-road".into(), "Version 3"),
        ("about", "/about".into(), "EvoScore"),
        ("not-found", "/nothing/here".into(), "404"),
    ]
}

/// The pages of results that have their files (documents, code, logs): without
/// JavaScript, wide and narrow, with pictures kept for people to look at. All
/// other looks and states are in `axe`.
#[tokio::test(flavor = "multi_thread")]
async fn every_page_of_real_results() {
    let product = product().await;
    let pages = addresses(&product).await;

    let plain = Browser::open(Look {
        javascript: false,
        ..DESK
    })
    .await;
    for (_, path, expect) in &pages {
        plain.go(&format!("{}{path}", product.url)).await;
        plain.source_with(expect).await;
    }
    plain.close().await;

    for (width, dark) in [(1440, true), (390, false)] {
        let look = Look {
            width,
            dark,
            javascript: true,
        };
        let browser = Browser::open(look).await;
        equip(&browser).await;
        for (name, path, expect) in &pages {
            browser.go(&format!("{}{path}", product.url)).await;
            browser.hydrated().await;
            let text = browser.text("body").await;
            assert!(
                text.contains(expect),
                "{name} at {width} px lacks {expect}: {text}"
            );
            let overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(
                browser.eval(overflow).await,
                json!(0),
                "{name} scrolls sideways at {width} px"
            );
            let picture = format!("{name}-{width}-{}", look.scheme());
            browser.picture(&picture).await;
            let (grave, _) = violations(&browser, name, Rules::All).await;
            assert!(grave.is_empty(), "{}", grave.join("\n"));
        }
        let complaints: Vec<String> = browser
            .complaints()
            .await
            .into_iter()
            .filter(|c| !c.contains("/nothing/here"))
            .collect();
        assert_eq!(complaints, Vec::<String>::new());
        browser.close().await;
    }
}
