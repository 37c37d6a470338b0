//! Tasks against runs: sorted by a click, in a frame of its own.

use serde_json::json;
use swe_ci_engine::testing::TinyTask;

use crate::browser::{Browser, DESK, Look};
use crate::product::{Product, replay};

const TESTS: (&str, &str) = (
    "tests/test_tiny.py",
    "import pytest, tiny\n@pytest.mark.parametrize('i', range(1, 7))\ndef test_it(i): assert i in tiny.PASS\n",
);
/// Forth and back before it arrives.
const WINDING: [&str; 5] = [
    "PASS = {1, 2}\n",
    "PASS = {1, 2, 3, 4, 5}\n",
    "PASS = {1, 2}\n",
    "PASS = {1}\n",
    "PASS = set(range(7))\n",
];
/// A test more each time.
const STRAIGHT: [&str; 5] = [
    "PASS = {1, 2}\n",
    "PASS = {1, 2, 3}\n",
    "PASS = {1, 2, 3, 4}\n",
    "PASS = {1, 2, 3, 4, 5}\n",
    "PASS = set(range(7))\n",
];

/// The rows as text, cells parted by bars.
const ROWS: &str = "return [...document.querySelectorAll('.matrix tbody tr')].map(row => \
                    [...row.cells].map(cell => cell.innerText.trim()).join('|'))";

/// One who takes every step and one who takes two at a time, both finished.
pub async fn stepper_and_leaper() -> Product {
    Product::finished("stepper-and-leaper", replayed).await
}

async fn replayed() -> Product {
    let roads = [WINDING, STRAIGHT].map(|road| road.map(|code| [("tiny.py", code), TESTS]));
    let versions = roads
        .iter()
        .map(|road| road.iter().map(<[_; 2]>::as_slice).collect::<Vec<_>>());
    let versions: Vec<_> = versions.collect();
    let named = ["winding", "straight"].into_iter().zip(&versions);
    let tasks: Vec<TinyTask<'_>> = named
        .map(|(name, versions)| TinyTask { name, versions })
        .collect();
    let mut product = Product::with_split("roads", &tasks).await;
    let runs = [
        product.submit(&replay("Stepper", "roads", 4, 4)),
        product.submit(&replay("Leaper", "roads", 2, 4)),
    ];
    product.start().await;
    for run in runs {
        product.until_finished(&run).await;
    }
    product
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_against_runs() {
    let product = stepper_and_leaper().await;
    let browser = Browser::open(DESK).await;
    browser
        .go(&format!("{}/tasks?split=roads", product.url))
        .await;
    browser.hydrated().await;
    let there = "document.querySelector('a[href=\"/matrix?split=roads\"]').click()";
    browser.eval(there).await;
    let shown = "return document.querySelectorAll('.matrix tbody tr').length === 2";
    browser.until("the matrix is there", shown).await;

    // Winding: (3/4 + 0 − 1/2 + 1) / 4 and (0 + 1 + 1 + 1) / 4; straight: (1/4 + 2/4
    // + 3/4 + 1) / 4 and (2/4 + 1 + 1 + 1) / 4. Whoever leaps is ahead; both arrive,
    // and on the winding road nobody but the leaper without a loss.
    let hardest = json!([
        "winding|0.53|0.44|2 of 2|1 of 2|0.75✓◇|0.31✓",
        "straight|0.75|0.25|2 of 2|2 of 2|0.88✓◇|0.62✓◇"
    ]);
    assert_eq!(rows(&browser).await, hardest);
    let models = browser.eval("return [...document.querySelectorAll('.matrix thead a[href^=\"/models/\"]')].map(a => a.textContent)").await;
    assert_eq!(models, json!(["Leaper", "Stepper"]));

    // The same head again turns the order around, without a load of the page.
    browser.eval("window.untouched = true").await;
    for (head, address, first) in [
        ("Mean", "?split=roads&sort=-mean", "straight"),
        ("Spread", "?split=roads&sort=-spread", "winding"),
        ("Task", "?split=roads&sort=task", "straight"),
        ("Task", "?split=roads&sort=-task", "winding"),
    ] {
        let click = format!(
            "[...document.querySelectorAll('.matrix .head')].find(a => a.textContent.trim() === '{head}').click()"
        );
        browser.eval(&click).await;
        let sorted = format!(
            "return location.search === '{address}' && document.querySelector('.matrix tbody th').textContent.startsWith('{first}') \
             && document.querySelector('.matrix [aria-sort] .head').textContent.trim() === '{head}'"
        );
        browser.until(&format!("sorted by {head}"), &sorted).await;
    }
    assert_eq!(browser.eval("return window.untouched").await, json!(true));

    // A cell leads to how it went.
    let cell = "document.querySelector('.matrix td[data-level] a').click()";
    browser.eval(cell).await;
    let evolution = "return document.querySelector('h1')?.textContent === 'winding' && location.pathname.endsWith('/tasks/winding')";
    browser.until("the evolution is there", evolution).await;
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;
    looks(&product).await;
}

async fn rows(browser: &Browser) -> serde_json::Value {
    let rows = browser.eval(ROWS).await;
    let text = rows.to_string().replace("\\n", " ");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    serde_json::from_str(&text).unwrap()
}

/// Narrow and dark; nothing scrolls but the frame.
async fn looks(product: &Product) {
    for (width, dark) in [(1440, true), (390, false)] {
        let look = Look {
            width,
            dark,
            ..DESK
        };
        let browser = Browser::open(look).await;
        browser.go(&format!("{}/matrix", product.url)).await;
        browser.hydrated().await;
        let overflow =
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(browser.eval(overflow).await, json!(0), "at {width} px");
        let head = "const frame = document.querySelector('.matrix-frame'); frame.scrollLeft = 10000; \
                    const edge = frame.getBoundingClientRect().left; \
                    return Math.abs(document.querySelector('.matrix tbody th').getBoundingClientRect().left - edge) < 3";
        assert_eq!(browser.eval(head).await, json!(true), "names stay in sight");
        browser.picture(&format!("matrix-{width}")).await;
        assert_eq!(browser.complaints().await, Vec::<String>::new());
        browser.close().await;
    }
}
