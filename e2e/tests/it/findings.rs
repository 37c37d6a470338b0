//! Findings, as readers and an administrator see them.

use crate::accounts::{become_administrator, press};
use crate::browser::{Browser, DESK};
use crate::product::Product;
use crate::world::{WORLD, run};

/// The run of this number gets a suspicious finding.
const SUSPECT: u32 = 5;
const SUSPICIOUS: &str = r#"
    UPDATE iterations SET findings = '[
        {"grade":"suspicious","kind":"construct","text":"src/a.py reads the stack"}]'
    WHERE evolution_id = 'field-05-00' AND iteration = 1;
"#;

/// The words for the run below the leaderboard, and whether the table has it.
async fn standing(browser: &Browser, product: &Product) -> (String, bool) {
    browser.go(&format!("{}/?split=field", product.url)).await;
    let id = run(SUSPECT);
    let words = format!(
        "const link = document.querySelector('.unranked a[href*=\"{id}\"]');
         return link ? link.parentElement.textContent : '';"
    );
    let words = browser.eval(&words).await;
    let row = format!("return document.querySelector('.ranked a[href*=\"{id}\"]') !== null");
    let ranked = browser.eval(&row).await;
    (
        words.as_str().unwrap().to_owned(),
        ranked.as_bool().unwrap(),
    )
}

/// Decides about the finding on the page of its run.
async fn decide(browser: &Browser, product: &Product, button: &str) {
    let page = format!("{}/runs/{}", product.url, run(SUSPECT));
    browser.go(&page).await;
    // Notes, and forms of decided findings, are folded.
    let unfold = "document.querySelectorAll('#findings details').forEach(d => { d.open = true })";
    browser.eval(unfold).await;
    let reason = browser.find("#findings textarea[name=reason]").await;
    reason.send_keys("read the code").await.unwrap();
    press(browser, button).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_held_until_an_administrator_decides() {
    let product = Product::showing(&format!("{WORLD}{SUSPICIOUS}")).await;
    let browser = Browser::open(DESK).await;
    let (words, ranked) = standing(&browser, &product).await;
    assert_eq!(
        words,
        "Cobalt: held for review (1 open finding) (EvoScore 0.194)"
    );
    assert!(!ranked);
    // A visitor cannot decide.
    let page = format!("{}/runs/{}#findings", product.url, run(SUSPECT));
    browser.go(&page).await;
    let finding = browser.text("#findings").await;
    assert!(finding.contains("src/a.py reads the stack"), "{finding}");
    let forms = "return document.querySelectorAll('#findings form').length";
    assert_eq!(browser.eval(forms).await, 0);

    become_administrator(&browser, &product).await;

    decide(&browser, &product, "Clear").await;
    let (words, ranked) = standing(&browser, &product).await;
    assert_eq!((&*words, ranked), ("", true));

    decide(&browser, &product, "Confirm").await;
    let (words, ranked) = standing(&browser, &product).await;
    assert!(words.starts_with("Cobalt: "), "{words}");
    assert!(words.contains("src/a.py reads the stack"), "{words}");
    assert!(!ranked);
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;
}
