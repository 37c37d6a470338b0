//! The figures in a real browser: walked by keyboard, wide and narrow.

use serde_json::json;
use swe_ci_engine::testing::TinyTask;

use crate::browser::{Browser, DESK, Key, Look};
use crate::product::{Product, replay};
use crate::world::{embeds, world};

const TESTS: (&str, &str) = (
    "tests/test_tiny.py",
    "import pytest, tiny\n@pytest.mark.parametrize('i', range(1, 5))\ndef test_it(i): assert i in tiny.PASS\n",
);
const VERSIONS: [&str; 4] = [
    "PASS = {1, 2}\n",
    "PASS = {1, 2, 3}\n",
    "PASS = {1}\n",
    "PASS = set(range(5))\n",
];

async fn product() -> Product {
    let versions = VERSIONS.map(|code| [("tiny.py", code), TESTS]);
    let versions: Vec<&[(&str, &str)]> = versions.iter().map(<[_; 2]>::as_slice).collect();
    let tasks = ["one", "two"].map(|name| TinyTask {
        name,
        versions: &versions,
    });
    let mut product = Product::with_split("tiny", &tasks).await;
    let run = product.submit(&replay("Stepper", "tiny", 3, 3));
    product.start().await;
    product.until_finished(&run).await;
    product
}

#[tokio::test(flavor = "multi_thread")]
async fn figures_are_walked_by_keyboard_and_fit() {
    let product = product().await;
    let browser = Browser::open(DESK).await;
    browser.go(&format!("{}/figures", product.url)).await;
    browser.hydrated().await;
    // One tab stop for each picture; an arrow goes to the next mark, which
    // then says what it is.
    let marks =
        "const marks = [...document.querySelectorAll('#score-by-budget .only-wide .mark')];";
    let walk = "marks[0].focus(); \
                marks[0].dispatchEvent(new KeyboardEvent('keydown', {key: 'End', bubbles: true}));";
    browser.eval(&format!("{marks} {walk}")).await;
    browser
        .until(
            "the last mark has the focus and is the tab stop",
            &format!(
                "{marks} const last = marks[marks.length - 1]; \
                 return document.activeElement === last && last.tabIndex === 0 && marks[0].tabIndex === -1 \
                   && getComputedStyle(last.querySelector('.mark-tip')).visibility === 'visible'"
            ),
        )
        .await;
    let said = format!("{marks} return marks[marks.length - 1].getAttribute('aria-label')");
    assert_eq!(
        browser.eval(&said).await,
        json!("Stepper, iterations counted 3: 0.333")
    );
    // Another γ by a link: the page stays, the address and the words follow.
    browser.eval("window.untouched = true; document.querySelector('.choices a[href*=\"gamma=2.00\"]').click()").await;
    browser
        .until(
            "the figures are of another γ",
            "return document.querySelector('#score-by-budget figcaption').textContent.includes('γ\\u00a02.00')",
        )
        .await;
    assert_eq!(
        browser
            .eval("return [window.untouched, new URL(location).search]")
            .await,
        json!([true, "?gamma=2.00"])
    );
    browser.go(&format!("{}/embed/solved", product.url)).await;
    browser.hydrated().await;
    assert!(browser.text(".embed").await.contains("Solved rate"));
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;

    let narrow = Browser::open(Look {
        width: 390,
        dark: true,
        javascript: true,
    })
    .await;
    for path in ["/figures", "/embed/rank-by-gamma"] {
        narrow.go(&format!("{}{path}", product.url)).await;
        narrow.hydrated().await;
        let over =
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(narrow.eval(over).await, json!(0), "{path} scrolls sideways");
        let name = path.trim_start_matches('/').replace('/', "-");
        narrow.picture(&format!("{name}-390-dark")).await;
    }
    assert_eq!(narrow.complaints().await, Vec::<String>::new());
    narrow.close().await;
}

/// Every figure tells what a mark stands for to whoever points at it; what it
/// tells can be pointed at as well, and put away (WCAG 1.4.13).
#[tokio::test(flavor = "multi_thread")]
async fn marks_are_pointed_at() {
    let world = world().await;
    let browser = Browser::open(DESK).await;
    for (name, path) in embeds() {
        browser.go(&format!("{}{path}", world.url)).await;
        browser.hydrated().await;
        // The first mark that no other lies over.
        let free = "const marks = [...document.querySelectorAll('.mark')].filter(m => m.checkVisibility()); \
                    const middle = m => { const r = m.querySelector('.mark-reach').getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; }; \
                    const mark = marks.find(m => m.contains(document.elementFromPoint(...middle(m)))); \
                    window.mark = mark; return [...middle(mark), mark.ariaLabel];";
        let found = browser.eval(free).await;
        assert!(!found[2].as_str().unwrap().is_empty(), "{name}");
        browser
            .point(found[0].as_f64().unwrap(), found[1].as_f64().unwrap())
            .await;
        let tip = "getComputedStyle(mark.querySelector('.mark-tip')).visibility";
        browser
            .until(
                &format!("{name} tells"),
                &format!("return {tip} === 'visible'"),
            )
            .await;
        let tip_at = "const r = mark.querySelector('.mark-tip rect').getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2, r.width]";
        let at = browser.eval(tip_at).await;
        assert!(at[2].as_f64().unwrap() > 20.0, "{name} has words");
        browser.press(Key::Escape).await;
        browser
            .until(
                &format!("{name} is silent"),
                &format!("return {tip} === 'hidden'"),
            )
            .await;
    }
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;
}
