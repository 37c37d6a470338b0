//! The pages as they are read large, narrow, spaced out, at rest and in the
//! system's own colours (WCAG 1.4.4, 1.4.10, 1.4.11, 1.4.12, 2.3.3).

use serde_json::Value;

use crate::browser::{Browser, DESK, Look};
use crate::world::{Pages, embeds, empty, empty_pages, pages, world};

/// A window of 1280 pixels at 400 %, and one of 1440 at 200 %.
const WIDTHS: [u32; 2] = [320, 720];

async fn said(browser: &Browser, page: &str, question: &str) -> Vec<String> {
    let found = browser.eval(&format!("return reading.{question}()")).await;
    let Value::Array(found) = found else {
        panic!("{question} gives a list")
    };
    let lines = found.iter().filter_map(Value::as_str);
    lines.map(|line| format!("{page}: {line}")).collect()
}

async fn open(browser: &Browser, url: &str) {
    browser.go(url).await;
    browser.hydrated().await;
    browser.eval(include_str!("scripts/reading.js")).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: every page in three shapes"]
async fn nothing_is_lost_narrow_large_and_spaced_out() {
    let (world, empty) = (world().await, empty().await);
    let browser = Browser::open(Look { width: 320, ..DESK }).await;
    let sites: [(&str, Pages); 3] = [
        (&world.url, pages()),
        (&world.url, embeds()),
        (&empty.url, empty_pages()),
    ];
    let mut wrong = Vec::new();
    for (url, pages) in sites {
        for (name, path) in pages {
            browser.resize(WIDTHS[0]).await;
            open(&browser, &format!("{url}{path}")).await;
            for width in WIDTHS {
                browser.resize(width).await;
                let page = format!("{name} at {width} px");
                wrong.extend(said(&browser, &page, "sideways").await);
            }
            browser.resize(WIDTHS[0]).await;
            browser.eval("reading.spaceOut()").await;
            let page = format!("{name} at {} px, spaced out", WIDTHS[0]);
            wrong.extend(said(&browser, &page, "sideways").await);
            wrong.extend(said(&browser, &page, "cutOff").await);
            browser.resize(DESK.width).await;
            let page = format!("{name} at {} px, spaced out", DESK.width);
            wrong.extend(said(&browser, &page, "sideways").await);
            wrong.extend(said(&browser, &page, "cutOff").await);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_rest_and_take_the_colours_of_the_system() {
    let world = world().await;
    let browser = Browser::open(DESK).await;
    let mut wrong = Vec::new();
    for (name, path) in pages() {
        browser
            .emulate(&[("prefers-reduced-motion", "reduce")])
            .await;
        open(&browser, &format!("{}{path}", world.url)).await;
        wrong.extend(said(&browser, name, "moving").await);
        browser.emulate(&[("forced-colors", "active")]).await;
        wrong.extend(said(&browser, name, "colourless").await);
        if ["leaderboard", "evolution", "compare-two", "run-live"].contains(&name) {
            browser.picture(&format!("tour-{name}-1440-forced")).await;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    browser.close().await;
}
