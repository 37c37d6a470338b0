//! Every page walked with the keyboard alone: what can be used gets the focus,
//! in its order, looks like it, and lies behind nothing (WCAG 2.1.1, 2.1.2,
//! 2.4.3, 2.4.7, 2.4.11).

use std::time::Duration;

use serde_json::{Value, json};

use crate::browser::{Browser, DESK, Key, Look};
use crate::product::Product;
use crate::world::{Pages, embeds, pages, run, world};

/// What of the world is walked; the others are made of the same parts.
const WALKED: [&str; 14] = [
    "leaderboard",
    "leaderboard-wide",
    "leaderboard-nothing",
    "figures",
    "compare-choose",
    "compare-four",
    "model",
    "tasks",
    "task",
    "runs",
    "run-live",
    "evolution",
    "iteration",
    "about",
];

const SETTLED: Duration = Duration::from_millis(300);

fn walked() -> Pages {
    let one = embeds().swap_remove(0);
    let known = pages().into_iter();
    let mut walked: Pages = known.filter(|(name, _)| WALKED.contains(name)).collect();
    walked.push(one);
    walked
}

async fn open(browser: &Browser, product: &Product, path: &str) {
    browser.go(&format!("{}{path}", product.url)).await;
    browser.hydrated().await;
    browser.eval(include_str!("scripts/keyboard.js")).await;
}

/// Where the focus is: a stop's place in the order, its name, what is wrong.
async fn here(browser: &Browser) -> (i64, String, String) {
    let mut here = browser.eval("return keyboard.here()").await;
    if here[2] != "" {
        // What the stop before has opened may be on its way out.
        tokio::time::sleep(SETTLED).await;
        here = browser.eval("return keyboard.here()").await;
    }
    let text = |at: usize| here[at].as_str().unwrap_or_default().to_owned();
    (here[0].as_i64().unwrap(), text(1), text(2))
}

/// From the top to the end by Tab, and back by Shift and Tab.
async fn walk(browser: &Browser, page: &str) -> Vec<String> {
    let Value::Array(stops) = browser.eval("return keyboard.learn()").await else {
        panic!("stops are a list")
    };
    let last = i64::try_from(stops.len()).unwrap() - 1;
    let mut wrong = Vec::new();
    let mut at = -1;
    while at < last {
        browser.tab(false).await;
        let (next, name, problem) = here(browser).await;
        if !problem.is_empty() {
            wrong.push(format!("{page}: {name} {problem}"));
        }
        match next {
            // A box that scrolls, a stop by the browser's own choice.
            -2 => continue,
            next if next == at + 1 => at = next,
            _ => {
                let expected = &stops[usize::try_from(at + 1).unwrap()];
                wrong.push(format!(
                    "{page}: after stop {at} comes {name} ({next}) instead of {expected}"
                ));
                return wrong;
            }
        }
    }
    while at > 0 {
        browser.tab(true).await;
        let (next, name, problem) = here(browser).await;
        if !problem.is_empty() {
            wrong.push(format!("{page}: going back, {name} {problem}"));
        }
        if next >= at || next == -1 {
            wrong.push(format!("{page}: going back, {name} follows stop {at}"));
            return wrong;
        }
        at = if next == -2 { at } else { next };
    }
    wrong
}

async fn walk_all(width: u32) {
    let world = world().await;
    let browser = Browser::open(Look { width, ..DESK }).await;
    let mut wrong = Vec::new();
    for (name, path) in walked() {
        open(&browser, &world, &path).await;
        wrong.extend(walk(&browser, name).await);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: some thousand key strokes"]
async fn every_page_is_walked_on_a_desk() {
    walk_all(1440).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: some thousand key strokes"]
async fn every_page_is_walked_narrow() {
    walk_all(390).await;
}

async fn focus(browser: &Browser, selector: &str) {
    let script = format!("document.querySelector('{selector}').focus()");
    browser.eval(&script).await;
}

async fn until(browser: &Browser, what: &str, condition: &str) {
    browser.until(what, &format!("return {condition}")).await;
}

/// What is operated does what a hand on the keyboard expects of it.
#[tokio::test(flavor = "multi_thread")]
async fn controls_answer_to_keys() {
    let world = world().await;
    let browser = Browser::open(DESK).await;
    open(&browser, &world, "/?split=field").await;

    // The first stop of a page leads past its header.
    browser.press(Key::Tab).await;
    until(
        &browser,
        "the skip link comes first",
        "document.activeElement.matches('.skip')",
    )
    .await;
    browser.press(Key::Enter).await;
    until(
        &browser,
        "the content has the focus",
        "document.activeElement.id === 'main'",
    )
    .await;
    browser.press(Key::Tab).await;
    until(
        &browser,
        "and the next stop is in it",
        "!!document.activeElement.closest('main a, main input')",
    )
    .await;

    // Arrows move γ by hundredths, the ranking follows, then the address.
    let scores =
        "[...document.querySelectorAll('.ranked .score-number')].map(s => s.textContent).join()";
    let before = browser.eval(&format!("return {scores}")).await;
    focus(&browser, "#gamma").await;
    browser.press(Key::Right).await;
    until(
        &browser,
        "γ is a hundredth more",
        "document.querySelector('#gamma-exact').value === '1.01'",
    )
    .await;
    browser.press(Key::End).await;
    until(
        &browser,
        "γ is the most",
        "location.search === '?split=field&gamma=2.00'",
    )
    .await;
    let after = browser.eval(&format!("return {scores}")).await;
    assert_ne!(before, after);
    browser.press(Key::Home).await;
    until(
        &browser,
        "γ is the least",
        "location.search === '?split=field&gamma=0.50'",
    )
    .await;

    // Links that choose are links in a menu: Enter follows them, the focus stays.
    focus(&browser, ".ranking-settings > summary").await;
    browser.press(Key::Enter).await;
    until(
        &browser,
        "the menu is open",
        "document.querySelector('.ranking-settings').open",
    )
    .await;
    focus(&browser, ".choices-links a[href*=\"convention=reference\"]").await;
    browser.press(Key::Enter).await;
    until(&browser, "the other convention", "document.activeElement.getAttribute('aria-current') === 'true' && location.search.includes('convention=reference')").await;

    // The column chooser opens, is used, and closes by Escape where it was opened.
    focus(&browser, ".columns > summary").await;
    browser.press(Key::Enter).await;
    until(
        &browser,
        "columns can be chosen",
        "document.querySelector('.columns').open",
    )
    .await;
    browser.press(Key::Tab).await;
    browser.press(Key::Space).await;
    until(
        &browser,
        "a column is gone",
        "location.search.includes('columns=')",
    )
    .await;
    browser.press(Key::Escape).await;
    until(&browser, "the chooser is closed", "!document.querySelector('.columns').open && document.activeElement.matches('.columns > summary')").await;

    // The theme switch is a button.
    focus(&browser, ".theme-switch").await;
    browser.press(Key::Space).await;
    until(
        &browser,
        "it is dark",
        "document.documentElement.dataset.theme === 'dark'",
    )
    .await;
    marks(&browser, &world).await;
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;
}

/// The marks of a figure are one stop; arrows go from one to the next, and
/// Escape hides what covers the picture (WCAG 1.4.13).
async fn marks(browser: &Browser, world: &Product) {
    open(browser, world, "/embed/solved?split=field").await;
    let shown = "document.activeElement.matches('.mark') && document.querySelector('.mark-tip') && getComputedStyle(document.querySelector('.mark-tip')).visibility";
    focus(browser, ".mark[tabindex=\"0\"]").await;
    let first = browser
        .eval("return document.activeElement.dataset.mark")
        .await;
    browser.press(Key::Down).await;
    until(
        browser,
        "its words are shown",
        &format!("{shown} === 'visible'"),
    )
    .await;
    assert_ne!(
        browser
            .eval("return document.activeElement.dataset.mark")
            .await,
        first
    );
    browser.press(Key::Escape).await;
    until(
        browser,
        "its words are hidden",
        &format!("{shown} === 'hidden'"),
    )
    .await;
    browser.press(Key::Left).await;
    until(
        browser,
        "the words of another are shown",
        &format!("{shown} === 'visible'"),
    )
    .await;
    assert_eq!(
        browser
            .eval("return document.activeElement.dataset.mark")
            .await,
        first
    );
}

/// A link to another view of the page leaves the focus where it is, so that one
/// can go on from there; the browser starts another page anew.
#[tokio::test(flavor = "multi_thread")]
async fn the_focus_stays_in_another_view() {
    let world = world().await;
    let browser = Browser::open(Look { width: 390, ..DESK }).await;
    open(&browser, &world, "/figures?split=field").await;
    focus(&browser, ".choices-links a[href*=\"convention=\"]").await;
    browser.press(Key::Enter).await;
    until(
        &browser,
        "the figures count in another way",
        "location.search.includes('convention=') && document.activeElement.getAttribute('aria-current') === 'true'",
    )
    .await;
    // Folded, and opened by a key.
    open(&browser, &world, &format!("/runs/{}", run(3))).await;
    focus(&browser, "details.fold > summary").await;
    browser.press(Key::Enter).await;
    until(
        &browser,
        "the fold is open",
        "document.activeElement.parentElement.open",
    )
    .await;
    assert_eq!(
        browser.eval("return document.title").await,
        json!("Bramble Large on field · swe-ci")
    );
    browser.close().await;
}
