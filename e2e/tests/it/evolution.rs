//! The page of an evolution: many tests, a frame that scrolls, filters.

use serde_json::json;
use swe_ci_engine::testing::TinyTask;

use crate::browser::{Browser, DESK, Look};
use crate::clicks::Clicks;
use crate::product::{Product, replay};

const TESTS: (&str, &str) = (
    "tests/test_tiny.py",
    "import pytest, tiny\n@pytest.mark.parametrize('i', range(600))\ndef test_it(i): assert i in tiny.PASS\n",
);

/// Of 600 tests 300 pass at first; on the way 50 are gained and lost again.
const VERSIONS: [&str; 4] = [
    "PASS = set(range(300))\n",
    "PASS = set(range(450))\n",
    "PASS = set(range(400))\n",
    "PASS = set(range(600))\n",
];

/// Rows of tests that are in the page.
const ROWS: &str = "document.querySelectorAll('.heat tbody tr').length";

async fn product() -> (Product, String) {
    let versions = VERSIONS.map(|code| [("tiny.py", code), TESTS]);
    let versions: Vec<&[(&str, &str)]> = versions.iter().map(<[_; 2]>::as_slice).collect();
    let task = TinyTask {
        name: "many-tests",
        versions: &versions,
    };
    let mut product = Product::with_split("many", &[task]).await;
    let run = product.submit(&replay("Stepper", "many", 3, 3));
    product.start().await;
    product.until_finished(&run).await;
    let page = format!("{}/runs/{run}/tasks/many-tests", product.url);
    (product, page)
}

async fn until_status(browser: &Browser, status: &str) {
    let script = format!(
        "return document.querySelector('.heat-status [role=status]').textContent === '{status}'"
    );
    browser.until(status, &script).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: a suite of 600 tests, five times"]
async fn every_test_of_an_evolution() {
    let (_product, page) = product().await;
    let browser = Browser::open(DESK).await;
    browser.go(&page).await;
    browser.hydrated().await;
    // At first those that did not pass all the time, and of these a part.
    until_status(&browser, "300 of 600 tests. Here: 1 to 200.").await;
    assert_eq!(browser.eval(&format!("return {ROWS}")).await, json!(200));
    pages(&browser).await;
    filters(&browser).await;
    browser.go(&page).await;
    browser.hydrated().await;
    iterations(&browser).await;
    why_were_tests_lost(&browser, page.split("/tasks/").next().unwrap()).await;
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;
    looks(&page).await;
}

/// From the page of the run to the error of the lost tests in two clicks.
async fn why_were_tests_lost(browser: &Browser, run: &str) {
    browser.go(run).await;
    browser.hydrated().await;
    let mut clicks = Clicks::of(browser);
    clicks
        .click("a[href$='/trajectories']", "#losses-title")
        .await;
    // The changes of the code were counted too, and one file came back to nothing.
    let files = "return [...document.querySelector('#file-title').parentElement.querySelectorAll('tbody tr')].map(row => row.innerText.split(/\\s+/).join(' '))";
    assert_eq!(browser.eval(files).await, json!(["tiny.py 3 0 3 3"]));
    clicks
        .click(
            "#losses-title ~ * tbody a",
            ".lost-tests, .failures, .tests",
        )
        .await;
    let cause = browser.text("main").await;
    assert!(cause.contains("Lost: 50 tests"), "{cause}");
    assert!(cause.contains("AssertionError"), "{cause}");
    assert_eq!(clicks.count, 2);
    // The whole of it within two screens.
    let height = "return document.querySelector('main').offsetHeight <= 1800";
    assert_eq!(browser.eval(height).await, json!(true));
}

/// The filters are links and a text; both are in the address.
async fn filters(browser: &Browser) {
    let click = "document.querySelector('.choices-links a[href*=\"show=regressed\"]').click()";
    browser.eval(click).await;
    until_status(browser, "50 of 600 tests.").await;
    let lost = "return document.querySelectorAll('.heat [data-cell=lost]').length > 20";
    assert_eq!(browser.eval(lost).await, json!(true));
    let typed = "const text = document.querySelector('#heat-text'); text.value = '[44'; \
                 text.dispatchEvent(new Event('input', {bubbles: true}));";
    browser.eval(typed).await;
    until_status(browser, "10 of 600 tests.").await;
    let address = "return location.search === '?show=regressed&q=%5B44'";
    browser.until("the address follows", address).await;
    assert_eq!(browser.eval(&format!("return {ROWS}")).await, json!(10));
    // To and fro more than twice: passed, broken, repaired and broken again.
    let click = "document.querySelector('.choices-links a[href*=\"show=flaky\"]').click()";
    browser.eval(click).await;
    let address = "return location.search === '?show=flaky&q=%5B44'";
    browser.until("the address follows", address).await;
    until_status(browser, "10 of 600 tests.").await;
    let sign = "return document.querySelector('.heat .heat-flaky').getAttribute('aria-label')";
    let sign = browser.eval(sign).await;
    assert_eq!(sign, json!("changed more than twice"));
    browser.eval("history.back()").await;
    let address = "return location.search === '?show=regressed&q=%5B44'";
    browser.until("back", address).await;
    // The same by its address, and back to all by a link and an empty text.
    let there = browser.eval("return location.href").await;
    browser.go(there.as_str().unwrap()).await;
    browser.hydrated().await;
    until_status(browser, "10 of 600 tests.").await;
    // The text is emptied before the link's view is there: both count.
    browser
        .eval(
            "const ask = window.fetch; window.fetch = async (...of) => \
             { await new Promise(done => setTimeout(done, 1000)); return ask(...of); };",
        )
        .await;
    let all = "document.querySelector('.choices-links a[title^=Every]').click()";
    browser.eval(all).await;
    let typed = "const text = document.querySelector('#heat-text'); text.value = ''; \
                 text.dispatchEvent(new Event('input', {bubbles: true}));";
    browser.eval(typed).await;
    until_status(browser, "All 600 tests. Here: 1 to 200.").await;
}

/// The others come by a link, and the page stays.
async fn pages(browser: &Browser) {
    browser
        .eval("window.untouched = true; document.querySelector('.heat-status a[rel=next]').click()")
        .await;
    until_status(browser, "300 of 600 tests. Here: 201 to 300.").await;
    let address =
        "return location.search === '?from=200' && location.hash === '#tests' && window.untouched";
    browser.until("the address follows", address).await;
    browser
        .eval("document.querySelector('.heat-status a[rel=prev]').click()")
        .await;
    until_status(browser, "300 of 600 tests. Here: 1 to 200.").await;
}

/// A number, a column or a point leads to what was done there; the address
/// says which, and what was filtered stays.
async fn iterations(browser: &Browser) {
    let shows = |number: u32, says: &str| {
        format!(
            "return document.querySelector('#inspect-title')?.textContent === 'Iteration {number}' \
             && location.search === '?iteration={number}' && document.querySelector('.inspect').innerText.includes('{says}')"
        )
    };
    browser
        .eval("window.untouched = true; document.querySelector('.iterations tbody a').click()")
        .await;
    browser
        .until(
            "the first is shown",
            &shows(1, "since the base: 1 line added, 1 removed"),
        )
        .await;
    let changed = "return [...document.querySelectorAll('.diff ins, .diff del')].map(line => line.textContent)";
    let expect = json!([
        "Removed: -PASS = set(range(300))",
        "Added: +PASS = set(range(450))"
    ]);
    assert_eq!(browser.eval(changed).await, expect);
    browser
        .eval("document.querySelectorAll('.heat thead a')[1].click()")
        .await;
    browser
        .until("the second is shown", &shows(2, "Lost: 50 tests"))
        .await;
    let current = "return document.querySelector('.heat thead a[aria-current]').textContent";
    assert_eq!(browser.eval(current).await, json!("2"));
    let point = "const mark = document.querySelector('.points [data-mark=\"3\"]'); mark.focus(); \
                 mark.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}));";
    browser.eval(point).await;
    browser
        .until("the third is shown", &shows(3, "Gained: 200 tests"))
        .await;
    // The base is no iteration.
    browser.eval("document.querySelector('.points [data-mark=\"0\"]').dispatchEvent(new MouseEvent('click', {bubbles: true}))").await;
    browser
        .eval("document.querySelector('.inspect a[rel=prev]').click()")
        .await;
    browser
        .until("back to the second", &shows(2, "Lost: 50 tests"))
        .await;
    browser
        .eval("document.querySelector('.inspect .tests a[href*=\"400\"]').click()")
        .await;
    until_status(browser, "1 of 600 tests.").await;
    let kept = "return location.search === '?q=tests%2Ftest_tiny.py%3A%3Atest_it%5B400%5D&iteration=2' && location.hash === '#tests'";
    browser.until("the test is in the map", kept).await;
    let close = "[...document.querySelectorAll('.inspect-steering a')].pop().click()";
    browser.eval(close).await;
    let closed =
        "return !document.querySelector('.inspect') && !location.search.includes('iteration')";
    browser.until("it is closed", closed).await;
    assert_eq!(browser.eval("return window.untouched").await, json!(true));
}

/// Narrow, dark, and without JavaScript.
async fn looks(page: &str) {
    for (width, dark) in [(1440, false), (1440, true), (390, false), (390, true)] {
        let browser = Browser::open(Look {
            width,
            dark,
            javascript: true,
        })
        .await;
        browser.go(&format!("{page}?iteration=2")).await;
        browser.hydrated().await;
        let overflow =
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(browser.eval(overflow).await, json!(0), "at {width} px");
        let scheme = if dark { "dark" } else { "light" };
        browser
            .picture(&format!("evolution-{width}-{scheme}"))
            .await;
        assert_eq!(browser.complaints().await, Vec::<String>::new());
        browser.close().await;
    }
    let plain = Browser::open(Look {
        javascript: false,
        ..DESK
    })
    .await;
    plain.go(page).await;
    let source = plain.source_with("</footer>").await;
    assert!(source.contains("Here: 1 to 200."));
    // The same links lead to the iteration.
    let first = plain.find(".iterations tbody a").await;
    first.click().await.unwrap();
    // The changed number is marked.
    plain
        .source_with("+PASS = set(range(<mark class=\"t-constant\">450")
        .await;
    assert!(
        plain
            .page
            .current_url()
            .await
            .unwrap()
            .as_str()
            .ends_with("?iteration=1#iteration")
    );
    plain.close().await;
}
