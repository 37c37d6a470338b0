//! The account page leads a new submitter to a first result.

use secrecy::SecretString;
use swe_ci_views::account::AccountRole;
use swe_ci_views::notification::Occasion;

use crate::fixture::{PATIENT, TestApp};
use crate::people::{Browser, account};

/// The steps on the account page, each with whether it is done; none without
/// the section.
async fn steps(browser: &mut Browser<'_>) -> Vec<(String, bool)> {
    let page = browser.get("/account").await.text();
    let Some((_, section)) = page.split_once("<ol class=\"first-steps\">") else {
        return Vec::new();
    };
    let (section, _) = section.split_once("</ol>").unwrap();
    let step = |item: &str| {
        let (_, rest) = item.split_once("href=\"").unwrap();
        let (href, rest) = rest.split_once('"').unwrap();
        (href.to_owned(), rest.contains(">done<"))
    };
    section.split("<li>").skip(1).map(step).collect()
}

#[tokio::test]
async fn steps_are_marked_until_all_are_done() {
    let app = TestApp::seeded().await;
    let ada = account(&app, "ada", AccountRole::Submitter).await;
    let mut browser = Browser::signed_in(&app, "ada").await;
    let mut check = async |done: [bool; 3]| {
        let hrefs = ["/keys", "/runs/new", "/notifications"].map(str::to_owned);
        let expect: Vec<(String, bool)> = hrefs.into_iter().zip(done).collect();
        assert_eq!(steps(&mut browser).await, expect);
    };
    check([false; 3]).await;
    let own = app.engine.acting_for(ada.clone());
    let key = SecretString::from("sk-of-a-test");
    own.set_key("example", &key).await.unwrap();
    check([true, false, false]).await;
    let id = &ada.identity().unwrap().account_id;
    let submitted = format!("UPDATE runs SET owner = '{id}' WHERE id = '{PATIENT}'");
    app.execute(&submitted).await;
    check([true, true, false]).await;
    let hook = own.add_webhook("https://hooks.example.org/runs", &[Occasion::ALL[0]]);
    hook.await.unwrap();
    assert_eq!(steps(&mut browser).await, []);
}

#[tokio::test]
async fn readers_have_no_steps() {
    let app = TestApp::seeded().await;
    account(&app, "bob", AccountRole::Reader).await;
    let mut browser = Browser::signed_in(&app, "bob").await;
    let page = browser.get("/account").await;
    assert_eq!(page.status, 200);
    assert!(!page.text().contains("First steps"));
}
