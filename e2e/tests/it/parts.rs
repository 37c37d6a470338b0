//! The program comes in parts: what happens when one does not come, as after
//! the site was built anew under an open page.

use serde_json::json;

use crate::browser::{Browser, DESK};
use crate::world::world;

const HYDRATED: &str = "return document.documentElement.hasAttribute('data-hydrated')";

async fn block(browser: &Browser, parts: &[&str]) {
    browser.cdp("Network.enable", json!({})).await;
    browser
        .cdp("Network.setBlockedURLs", json!({"urls": parts}))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_whose_part_is_gone_comes_whole() {
    let product = world().await;
    let browser = Browser::open(DESK).await;
    browser.go(&format!("{}/?split=field", product.url)).await;
    browser.hydrated().await;
    block(&browser, &["*/split_text.wasm"]).await;
    browser.eval("window.stayed = true").await;

    // A link that the program would follow by itself.
    browser
        .eval("document.querySelector('header nav a[href=\"/about\"]').click()")
        .await;
    browser
        .until(
            "the page comes from the server",
            "return !window.stayed && location.pathname === '/about' && document.querySelector('h1')?.textContent === 'How to read this'",
        )
        .await;
    // It is there to be read; without its part it is not taken over, and is
    // not loaded over and over.
    browser.eval("window.stayed = true").await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(browser.eval("return window.stayed").await, json!(true));
    assert_eq!(browser.eval(HYDRATED).await, json!(false));

    // When the part is there again, so is everything.
    block(&browser, &[]).await;
    browser.go(&format!("{}/about", product.url)).await;
    browser.hydrated().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_that_cannot_rank_says_so() {
    let product = world().await;
    let browser = Browser::open(DESK).await;
    block(&browser, &["*/split_ranking.wasm"]).await;
    browser.go(&format!("{}/?split=field", product.url)).await;
    browser.hydrated().await;
    browser
        .until(
            "what is missing is said",
            "return document.querySelector('main')?.textContent.includes('A part of this page could not be fetched')",
        )
        .await;
    // The rows the server ranked stay.
    let rows = "return document.querySelectorAll('.ranked tr').length > 5";
    assert_eq!(browser.eval(rows).await, json!(true));
}
