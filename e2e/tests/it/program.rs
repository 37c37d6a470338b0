//! The program of the islands may not come, as after the site was built anew
//! under an open page: then a page is the document that it is without scripts.

use serde_json::json;

use crate::browser::{Browser, DESK};
use crate::world::world;

async fn block(browser: &Browser, files: &[&str]) {
    browser.cdp("Network.enable", json!({})).await;
    browser
        .cdp("Network.setBlockedURLs", json!({"urls": files}))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_without_its_program_is_a_document() {
    let product = world().await;
    let browser = Browser::open(DESK).await;
    block(&browser, &["*/swe-ci_bg.wasm"]).await;
    browser.go(&format!("{}/?split=field", product.url)).await;
    let rows = "return document.querySelectorAll('.ranked tr').length";
    assert_eq!(browser.eval(rows).await, json!(13));
    let live = "return document.documentElement.hasAttribute('data-hydrated')";
    assert_eq!(browser.eval(live).await, json!(false));

    // What every page does by itself still works, and links load pages.
    browser
        .eval("document.querySelector('.theme-switch').click()")
        .await;
    let dark = "return document.documentElement.dataset.theme === 'dark'";
    assert_eq!(browser.eval(dark).await, json!(true));
    browser
        .eval("window.stayed = true; document.querySelector('thead th:nth-child(2) a').click()")
        .await;
    let sorted = "return !window.stayed && location.search === '?split=field&sort=model' && document.querySelector('th[aria-sort]') !== null";
    browser.until("the rows are sorted", sorted).await;

    block(&browser, &[]).await;
    browser.go(&format!("{}/?split=field", product.url)).await;
    browser.hydrated().await;
    browser.close().await;
}

/// A page without islands asks for none.
#[tokio::test(flavor = "multi_thread")]
async fn a_document_fetches_no_program() {
    let product = world().await;
    let browser = Browser::open(DESK).await;
    let code = "return performance.getEntriesByType('resource').filter(r => /\\.(js|wasm)$/.test(r.name)).length";
    for (path, files) in [("/about", 0), ("/datasets", 0), ("/?split=field", 2)] {
        browser.go(&format!("{}{path}", product.url)).await;
        browser.hydrated().await;
        assert_eq!(browser.eval(code).await, json!(files), "{path}");
    }
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;
}
