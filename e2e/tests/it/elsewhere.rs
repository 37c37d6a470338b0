//! Signing in by another site, as somebody does it, and what is theirs then:
//! the links of their account, and what they are told by webhook.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::{Query, State};
use axum::response::Redirect;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::accounts::{fill, press};
use crate::axe::equip;
use crate::browser::{Browser, DESK};
use crate::journey::looked_at;
use crate::product::Product;
use crate::world::WORLD;

/// Where the site believes it is; the browser is told what that means.
const SITE: &str = "http://bench.test";

/// Whether who is asked agrees.
type Agrees = Arc<AtomicBool>;

/// A site that knows people as GitHub does; its address.
async fn forge(agrees: Agrees) -> String {
    let router = Router::new()
        .route("/login/oauth/authorize", get(authorize))
        .route("/login/oauth/access_token", post(token))
        .route("/api/v3/user", get(user))
        .with_state(agrees);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async { axum::serve(listener, router).await });
    url
}

async fn authorize(
    State(agrees): State<Agrees>,
    Query(asked): Query<HashMap<String, String>>,
) -> Redirect {
    let answer = match agrees.load(Ordering::Relaxed) {
        true => "code=good-once",
        false => "error=access_denied",
    };
    let (back, state) = (&asked["redirect_uri"], &asked["state"]);
    Redirect::to(&format!("{back}?{answer}&state={state}"))
}

async fn token() -> Json<Value> {
    Json(json!({ "access_token": "gho_1", "token_type": "bearer", "scope": "" }))
}

async fn user() -> Json<Value> {
    Json(json!({ "id": 583231, "login": "octocat", "email": null }))
}

async fn product(forge: &str) -> Product {
    let mut product = Product::showing(WORLD).await;
    product.stop();
    let file = product.folder.path().join("providers.toml");
    let provider = format!(
        "[[provider]]\nid = \"forge\"\nname = \"Forge\"\nkind = \"github\"\nurl = \"{forge}\"\n\
         client-id = \"bench\"\nclient-secret-env = \"FORGE_SECRET\"\nallow = \"anyone\"\nrole = \"submitter\"\n"
    );
    std::fs::write(&file, provider).unwrap();
    product.set_env("FORGE_SECRET", "between the two sites");
    let file = file.to_str().unwrap();
    let options = ["--public-url", SITE, "--sign-in-providers", file];
    product.start_with(&options).await;
    product
}

async fn open(browser: &Browser, path: &str) {
    browser.go(&format!("{SITE}{path}")).await;
    browser.hydrated().await;
}

/// Presses the button that leads to the other site, and waits to be back.
async fn go_there(browser: &Browser, back_at: &str) {
    press(browser, "Sign in with Forge").await;
    let back = format!("return location.href.startsWith('{SITE}{back_at}')");
    browser.until("the browser comes back", &back).await;
    browser.hydrated().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_in_by_another_site() {
    let agrees = Agrees::default();
    let product = product(&forge(agrees.clone()).await).await;
    let host = product.url.strip_prefix("http://").unwrap();
    let browser = Browser::open_mapping(DESK, &format!("bench.test {host}")).await;
    equip(&browser).await;

    open(&browser, "/sign-in?next=%2Fnotifications").await;
    let mut wrong = looked_at(&browser, "sign-in-elsewhere").await;
    go_there(&browser, "/sign-in/forge?problem=denied").await;
    let told = browser.text("main").await;
    assert!(told.contains("Forge did not tell this site"), "{told}");
    wrong.extend(looked_at(&browser, "sign-in-declined").await);

    agrees.store(true, Ordering::Relaxed);
    open(&browser, "/sign-in?next=%2Fnotifications").await;
    go_there(&browser, "/notifications").await;
    wrong.extend(looked_at(&browser, "notifications-none").await);
    fill(&browser, &[("field-url", "http://[::1]/hook")]).await;
    press(&browser, "Add the webhook").await;
    browser.hydrated().await;
    wrong.extend(looked_at(&browser, "notifications-refused").await);
    open(&browser, "/notifications").await;
    fill(&browser, &[("field-url", "https://hooks.example.org/runs")]).await;
    press(&browser, "Add the webhook").await;
    browser.hydrated().await;
    let secret = "return document.getElementById('shown-once').value";
    let secret = browser.eval(secret).await;
    assert!(secret.as_str().is_some_and(|s| s.starts_with("whsec_")));
    wrong.extend(looked_at(&browser, "notifications").await);

    open(&browser, "/account").await;
    assert_eq!(browser.text("h1").await, "octocat");
    assert!(browser.text("main").await.contains("Forge"));
    wrong.extend(looked_at(&browser, "account-elsewhere").await);
    for page in ["/runs/new", "/keys"] {
        open(&browser, page).await;
        let name = format!("elsewhere{}", page.replace('/', "-"));
        wrong.extend(looked_at(&browser, &name).await);
    }
    assert_eq!(wrong, Vec::<String>::new());
    browser.close().await;
}
