//! Benchmark of the released site in a real browser without a graphics processor:
//! when pages are painted and live, what they fetch for that, and how long frames
//! take while γ moves over 14 and over 100 rows. It asserts nothing.
#![allow(clippy::print_stdout, reason = "a benchmark reports on stdout")]

#[path = "../tests/it/browser.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod browser;
#[path = "../tests/it/product.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod product;

use std::path::Path;

use serde_json::{Value, json};
use swe_ci_testing::measurements::lower_is_better;

use crate::browser::{Browser, DESK};
use crate::product::Product;

/// The world of the tests, and a split with a hundred runs.
fn world() -> String {
    let large = include_str!("../../server/benches/pages/large.sql").replace("RUNS", "100");
    format!("{}{large}", include_str!("../tests/it/world.sql"))
}

const PAGES: [(&str, &str); 8] = [
    ("leaderboard, 14 rows", "/?split=field"),
    ("leaderboard, 100 rows", "/?split=large"),
    ("figures", "/figures?split=field"),
    ("matrix", "/matrix?split=field"),
    ("tasks, 100", "/tasks?split=large"),
    (
        "run, 24 tasks",
        "/runs/00000000-0000-7000-a000-000000000003",
    ),
    (
        "evolution",
        "/runs/00000000-0000-7000-a000-000000000003/tasks/task-00-of-otter__parsing",
    ),
    ("about", "/about"),
];

/// First contentful paint and the moment controls work, in ms; the kilobytes of
/// code.
const LOAD: &str = "
    const paint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0;
    const code = performance.getEntriesByType('resource').filter(r => /\\.(js|wasm)$/.test(r.name));
    return [paint, window.live, code.reduce((sum, r) => sum + r.encodedBodySize, 0) / 1000]";

/// Moves the slider once a frame, for 120 frames: median, 95th percentile and
/// longest, in ms.
const SLIDE: &str = "
    const slider = document.querySelector('#gamma');
    const times = [];
    let last = performance.now();
    await new Promise(done => requestAnimationFrame(function step(now) {
        times.push(now - last);
        last = now;
        slider.value = (0.5 + 1.5 * ((times.length * 7) % 100) / 100).toFixed(2);
        slider.dispatchEvent(new Event('input', { bubbles: true }));
        times.length < 120 ? requestAnimationFrame(step) : done();
    }));
    const sorted = times.slice(5).sort((a, b) => a - b);
    return [0.5, 0.95, 1].map(share => sorted[Math.floor((sorted.length - 1) * share)])";

#[tokio::main]
async fn main() {
    let site = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dist/site");
    match site.is_dir() {
        true => measure(&site).await,
        false => println!("browser: left out, there is no dist/site; `make release` builds it"),
    }
}

async fn measure(site: &Path) {
    let product = Product::showing_site(&world(), site).await;
    let browser = Browser::open(DESK).await;
    for (name, path) in PAGES {
        // The first visit makes the server rank; the second finds that done, and
        // no code in the browser's cache.
        browser.go(&format!("{}{path}", product.url)).await;
        browser.hydrated().await;
        browser.cdp("Network.clearBrowserCache", json!({})).await;
        let moment = "new MutationObserver((_, o) => { if ('hydrated' in document.documentElement.dataset) \
            { window.live = performance.now(); o.disconnect() } }).observe(document, { attributes: true, subtree: true })";
        let script = json!({ "source": moment });
        let added = browser
            .cdp("Page.addScriptToEvaluateOnNewDocument", script)
            .await;
        browser.go(&format!("{}{path}", product.url)).await;
        browser.hydrated().await;
        let painted = "return performance.getEntriesByName('first-contentful-paint').length > 0";
        browser.until("the page is painted", painted).await;
        let units = [("painted", "ms"), ("live", "ms"), ("code", "kB")];
        report(name, &browser.eval(LOAD).await, units);
        let added = json!({ "identifier": added["identifier"] });
        browser
            .cdp("Page.removeScriptToEvaluateOnNewDocument", added)
            .await;
    }
    for (name, path) in &PAGES[..2] {
        browser.go(&format!("{}{path}", product.url)).await;
        browser.hydrated().await;
        let units = [
            ("frame, median", "ms"),
            ("frame, p95", "ms"),
            ("frame, longest", "ms"),
        ];
        report(name, &browser.eval(SLIDE).await, units);
    }
    browser.close().await;
}

fn report(page: &str, values: &Value, units: [(&str, &str); 3]) {
    for (at, (what, unit)) in units.into_iter().enumerate() {
        let value = values[at].as_f64().unwrap_or_default();
        lower_is_better(&format!("browser: {page}, {what}"), value, unit);
    }
}
