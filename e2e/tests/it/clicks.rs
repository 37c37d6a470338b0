//! The journeys that people make most, counted in clicks: a reader's, a
//! researcher's and an agent builder's. The one from a run to the cause of its lost
//! tests is in `evolution`, an operator's in `journey`.

use serde_json::json;

use crate::browser::{Browser, DESK};
use crate::world::{run, world};

/// Counts the clicks of a journey.
pub struct Clicks<'a> {
    browser: &'a Browser,
    pub count: u32,
}

impl<'a> Clicks<'a> {
    pub fn of(browser: &'a Browser) -> Self {
        Self { browser, count: 0 }
    }

    /// Clicks the first element that matches, and waits until another is there.
    pub async fn click(&mut self, selector: &str, then: &str) {
        let (selector, then) = (json!(selector), json!(then));
        let found = format!("return !!document.querySelector({selector})");
        self.browser.until("it can be clicked", &found).await;
        let click = format!("document.querySelector({selector}).click()");
        self.browser.eval(&click).await;
        self.count += 1;
        let shown = format!("return !!document.querySelector({then})");
        self.browser
            .until(&format!("{then} is there"), &shown)
            .await;
        self.browser.hydrated().await;
    }
}

/// Whether an element is on the screen without scrolling.
async fn on_screen(browser: &Browser, selector: &str) -> bool {
    let script = format!(
        "const box = document.querySelector({}).getBoundingClientRect(); \
         return box.top >= 0 && box.bottom <= innerHeight",
        json!(selector)
    );
    browser.eval(&script).await == json!(true)
}

#[tokio::test(flavor = "multi_thread")]
async fn from_the_first_page_to_an_answer() {
    let world = world().await;
    let browser = Browser::open(DESK).await;
    let open = async |path: &str| {
        browser.go(&format!("{}{path}", world.url)).await;
        browser.hydrated().await;
        Clicks::of(&browser)
    };

    // A reader: who is ahead, without any click.
    open("/?split=field").await;
    assert!(on_screen(&browser, ".verdict").await);
    let sentence = browser.text(".verdict").await;
    assert!(sentence.contains("leads"), "{sentence}");

    // A researcher: a figure's data, with what to cite.
    let mut clicks = open("/?split=field").await;
    clicks
        .click("nav a[href='/figures']", "a[href*='.csv'][download]")
        .await;
    clicks.click(".cite summary", ".cite[open]").await;
    assert_eq!(clicks.count, 2);

    // Somebody who builds an agent: their run against another.
    let mut clicks = open(&format!("/runs/{}", run(3))).await;
    clicks
        .click("a[href^='/compare?with=']", ".choose [name=runs]")
        .await;
    clicks
        .click(
            ".choose [name=runs]:not(:checked)",
            ".choose [name=runs]:checked",
        )
        .await;
    clicks.click(".choose button", ".pairs").await;
    assert_eq!(clicks.count, 3);
    assert!(on_screen(&browser, ".verdict").await);
    // And how the agents of both worked.
    clicks
        .click("a[href*='/trajectories?with=']", ".trajectory-runs")
        .await;

    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;
}
