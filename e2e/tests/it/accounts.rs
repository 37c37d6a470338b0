//! From an invitation to an API token, as somebody does it.

use fantoccini::Locator;

use crate::axe::{Rules, equip, violations};
use crate::browser::{Browser, DESK, Look};
use crate::product::Product;
use crate::world::world;

pub const PASSWORD: &str = "correct horse battery";

/// The link the server prints at its first start.
pub fn first_link(product: &Product) -> String {
    let log = product.log();
    let (_, rest) = log.split_once("/invitation/").expect("a link is printed");
    let secret = rest.split_whitespace().next().unwrap();
    format!("{}/invitation/{secret}", product.url)
}

pub async fn fill(browser: &Browser, fields: &[(&str, &str)]) {
    for (name, text) in fields {
        let field = browser.find(&format!("[id='{name}']")).await;
        field.send_keys(text).await.unwrap();
    }
}

/// Presses a button, and waits for the page that comes.
pub async fn press(browser: &Browser, button: &str) {
    browser.eval("window.before = true").await;
    let found = browser
        .page
        .find(Locator::XPath(&format!("//main//button[.='{button}']")))
        .await;
    found
        .unwrap_or_else(|e| panic!("{button}: {e}"))
        .click()
        .await
        .unwrap();
    browser
        .until(
            "another page comes, or the answer in this one",
            "return (!window.before || document.querySelector('main [data-result]') !== null) && document.readyState === 'complete'",
        )
        .await;
}

/// Fills in the form of an invitation.
pub async fn make_account(browser: &Browser, name: &str) {
    let fields = [
        ("field-name", name),
        ("field-password", PASSWORD),
        ("field-again", PASSWORD),
    ];
    fill(browser, &fields).await;
    press(browser, "Create the account").await;
    browser.hydrated().await;
}

/// Signs the browser in as the first administrator.
pub async fn become_administrator(browser: &Browser, product: &Product) {
    browser.go(&first_link(product)).await;
    browser.hydrated().await;
    make_account(browser, "ada").await;
}

/// What axe has against it; keeps a picture.
pub async fn judged(browser: &Browser, name: &str) -> Vec<String> {
    browser.picture(name).await;
    let (mut grave, light) = violations(browser, name, Rules::All).await;
    grave.extend(light);
    grave
}

/// Every page on the way, as it looks in this look.
async fn the_whole_way(look: Look) -> Vec<String> {
    let product = world().await;
    let browser = Browser::open(look).await;
    equip(&browser).await;
    let picture = |page: &str| format!("{page}-{}-{}", look.width, look.scheme());
    let mut wrong = Vec::new();

    browser.go(&first_link(&product)).await;
    browser.hydrated().await;
    wrong.extend(judged(&browser, &picture("invitation")).await);
    make_account(&browser, "ada").await;
    assert_eq!(browser.text("h1").await, "ada");

    fill(&browser, &[("field-name", "nightly runs")]).await;
    press(&browser, "Create a token").await;
    browser.hydrated().await;
    let token = browser
        .eval("return document.getElementById('shown-once').value")
        .await;
    assert!(
        token
            .as_str()
            .is_some_and(|text| text.starts_with("sweci_")),
        "{token}"
    );
    wrong.extend(judged(&browser, &picture("account")).await);

    browser.go(&format!("{}/accounts", product.url)).await;
    browser.hydrated().await;
    fill(&browser, &[("field-note", "Bob, for the nightly runs")]).await;
    press(&browser, "Create a link").await;
    browser.hydrated().await;
    wrong.extend(judged(&browser, &picture("accounts")).await);
    browser.go(&format!("{}/audit", product.url)).await;
    browser.hydrated().await;
    wrong.extend(judged(&browser, &picture("audit")).await);

    // Out by the menu of the header, and in again.
    browser
        .eval("document.querySelector('.account-menu > summary').click()")
        .await;
    wrong.extend(judged(&browser, &picture("account-menu")).await);
    browser
        .eval("window.before = true; document.querySelector('.account-menu form').requestSubmit()")
        .await;
    browser
        .until(
            "the leaderboard comes",
            "return !window.before && location.pathname === '/'",
        )
        .await;
    browser.hydrated().await;
    browser
        .go(&format!("{}/sign-in?next=%2Fabout", product.url))
        .await;
    browser.hydrated().await;
    fill(
        &browser,
        &[("field-name", "ada"), ("field-password", "wrong password")],
    )
    .await;
    press(&browser, "Sign in").await;
    browser.hydrated().await;
    let focused = browser.eval("return document.activeElement.id").await;
    assert_eq!(
        focused, "field-password",
        "who is refused begins at what is wrong"
    );
    wrong.extend(judged(&browser, &picture("sign-in")).await);
    fill(&browser, &[("field-password", PASSWORD)]).await;
    press(&browser, "Sign in").await;
    assert_eq!(browser.eval("return location.pathname").await, "/about");
    browser.hydrated().await;
    let refused = ["401", "Unauthorized"];
    let complaints = browser.complaints().await.into_iter();
    wrong.extend(complaints.filter(|said| !refused.iter().any(|r| said.contains(r))));
    browser.close().await;
    wrong
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invitation_leads_to_a_token() {
    let small = Look {
        width: 390,
        dark: true,
        ..DESK
    };
    let mut wrong = the_whole_way(small).await;
    wrong.extend(the_whole_way(DESK).await);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_in_needs_no_script() {
    let product = world().await;
    let browser = Browser::open(Look {
        javascript: false,
        ..DESK
    })
    .await;
    browser.go(&first_link(&product)).await;
    let fields = [
        ("field-name", "ada"),
        ("field-password", PASSWORD),
        ("field-again", PASSWORD),
    ];
    fill(&browser, &fields).await;
    let button = browser.find("main form button").await;
    button.click().await.unwrap();
    // The menu of whoever is signed in.
    browser.find(".account-menu").await;
    assert_eq!(browser.text("h1").await, "ada");
    browser.close().await;
}
