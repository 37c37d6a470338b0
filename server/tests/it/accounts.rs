//! Signing in, and the effects of pages' forms on accounts.

use axum::body::Body;
use axum::http::Request;
use secrecy::ExposeSecret;
use serde_json::json;
use swe_ci_engine::Error;
use swe_ci_views::account::{AccountRole, TokenScope};

use crate::fixture::{Answer, PROXY, TestApp};
use crate::people::{Browser, PASSWORD, account, bearer};

fn location(answer: &Answer) -> &str {
    assert_eq!(answer.status, 303, "{}", answer.text());
    answer.header("location")
}

#[tokio::test]
async fn from_the_first_link_to_signing_out() {
    let app = TestApp::seeded().await;
    let secret = app.engine.first_invitation().await.unwrap().unwrap();
    let path = format!("/invitation/{}", secret.expose_secret());
    let mut browser = Browser::new(&app);

    let page = browser.get(&path).await;
    assert!(page.text().contains("As an administrator"));
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    assert_eq!(page.header("cache-control"), "no-store");
    assert!(browser.cookie.is_none(), "a visitor gets no cookie");

    let fields = [("name", "Ada"), ("password", PASSWORD), ("again", PASSWORD)];
    assert_eq!(location(&browser.send(&path, &fields).await), "/account");
    let page = browser.get("/account").await;
    assert!(page.text().contains("<h1>ada"), "{}", page.text());
    assert_eq!(page.header("cache-control"), "no-store");
    // The link is used up, and nobody else becomes the first administrator.
    assert_eq!(Browser::new(&app).get(&path).await.status, 404);
    assert!(app.engine.first_invitation().await.unwrap().is_none());

    let kept = browser.cookie.clone();
    assert_eq!(location(&browser.send("/sign-out", &[]).await), "/");
    assert!(browser.cookie.is_none());
    // The server has forgotten the session too.
    browser.cookie = kept;
    assert_eq!(browser.get("/account").await.status, 401);
    let page = Browser::signed_in(&app, "ada").await.get("/").await;
    assert!(page.text().contains("/audit"));
}

#[tokio::test]
async fn the_session_is_new_and_the_cookie_kept_from_scripts() {
    let app = TestApp::seeded().await;
    account(&app, "ada", AccountRole::Reader).await;
    let mut browser = Browser::new(&app);
    // A session id planted by someone else is not accepted.
    browser.cookie = Some("swe_ci_session=AAAAAAAAAAAAAAAAAAAAAA".into());
    let planted = browser.cookie.clone();
    let answer = browser.sign_in("ada", PASSWORD).await;
    let cookie = answer.header("set-cookie");
    for part in [
        "swe_ci_session=",
        "HttpOnly",
        "SameSite=Lax",
        "Path=/",
        "Max-Age=1209600",
    ] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "{cookie}");
    let first = browser.cookie.clone();
    assert_ne!(first, planted);
    // Nor is a planted session of one's own.
    browser.sign_in("ada", PASSWORD).await;
    assert_ne!(browser.cookie, first);
    browser.cookie = first;
    assert_eq!(browser.get("/account").await.status, 401);
}

#[tokio::test]
async fn by_https_the_cookie_is_of_this_host_alone() {
    let app = TestApp::public("https://bench.example.org").await;
    account(&app, "ada", AccountRole::Reader).await;
    let mut browser = Browser::new(&app);
    let answer = browser.sign_in("ada", PASSWORD).await;
    let cookie = answer.header("set-cookie").to_owned();
    assert!(cookie.starts_with("__Host-swe_ci_session=") && cookie.contains("; Secure"));
    let answer = browser.send("/sign-out", &[]).await;
    let removed = answer.header("set-cookie");
    assert!(
        removed.contains("Max-Age=0") && removed.contains("; Secure"),
        "{removed}"
    );
}

#[tokio::test]
async fn guessing_locks_the_account_with_a_message() {
    let app = TestApp::seeded().await;
    account(&app, "ada", AccountRole::Reader).await;
    let mut browser = Browser::new(&app);
    let unknown = browser.sign_in("nobody", "wrong password").await;
    for _ in 0..5 {
        let answer = browser.sign_in("ada", "wrong password").await;
        assert_eq!(
            (answer.status, unknown.status),
            (401.try_into().unwrap(), 401.try_into().unwrap())
        );
        let html = answer.text();
        assert!(
            html.contains("aria-invalid=\"true\"") && html.contains("value=\"ada\""),
            "{html}"
        );
        assert!(!html.contains("wrong password"), "{html}");
    }
    let answer = browser.sign_in("ada", PASSWORD).await;
    assert_eq!(answer.status, 429, "{}", answer.text());
    let seconds: u64 = answer.header("retry-after").parse().unwrap();
    assert!((50..=60).contains(&seconds), "{seconds}");
    assert!(answer.text().contains("try again in"));
    assert!(browser.cookie.is_none());
}

#[tokio::test]
async fn an_address_may_try_ten_times() {
    let app = TestApp::seeded().await;
    let mut browser = Browser::new(&app);
    // Each attempt has another name, so no account lock applies. Places come
    // back while a busy machine hashes passwords, so more than ten may pass.
    let mut tries = 1;
    let mut answer = browser.sign_in("guess-1", "wrong password").await;
    while answer.status == 401 {
        assert!(tries < 40, "there is no limit");
        tries += 1;
        let name = format!("guess-{tries}");
        answer = browser.sign_in(&name, "wrong password").await;
    }
    assert!(tries > 10, "only {tries}");
    assert_eq!(answer.status, 429);
    let seconds: u64 = answer.header("retry-after").parse().unwrap();
    assert!((1..=6).contains(&seconds), "{seconds}");
}

#[tokio::test]
async fn clients_of_a_trusted_proxy_are_counted_one_by_one() {
    let app = TestApp::seeded().await;
    let attempt = async |peer: &str, forwarded_for: &str| {
        let mut request = axum::http::Request::post("/sign-in")
            .header("x-forwarded-for", forwarded_for)
            .header("sec-fetch-site", "same-origin")
            .header("content-type", "application/x-www-form-urlencoded")
            .body(axum::body::Body::from("name=&password="))
            .unwrap();
        let peer = std::net::SocketAddr::new(peer.parse().unwrap(), 4711);
        let peer = axum::extract::ConnectInfo(peer);
        request.extensions_mut().insert(peer);
        app.read(request).await.status.as_u16()
    };
    // Places come back while a busy machine hashes passwords, so no exact
    // number of tries reaches the limit.
    let first = "198.51.100.1";
    let mut tries = 1;
    while attempt(PROXY, first).await != 429 {
        tries += 1;
        assert!(tries < 40, "there is no limit");
    }
    // The same client through another proxy of its own has few places at most.
    let mut places = 0;
    while attempt(PROXY, &format!("203.0.113.9, {first}")).await != 429 {
        places += 1;
        assert!(places < 5, "another limit");
    }
    assert_ne!(attempt(PROXY, "203.0.113.9").await, 429);
    // Others may write what they want.
    let mut tries = 1;
    while attempt("192.0.2.1", &format!("203.0.113.{tries}")).await != 429 {
        tries += 1;
        assert!(
            tries < 40,
            "each address that it writes has a limit of its own"
        );
    }
}

#[tokio::test]
async fn only_forms_of_this_site_are_taken() {
    let app = TestApp::seeded().await;
    let ada = account(&app, "ada", AccountRole::Reader).await;
    let cookie = Browser::signed_in(&app, "ada").await.cookie.unwrap();
    let token = bearer(&app, &ada, AccountRole::Reader).await;
    let here = ("host", "localhost:3000");
    let with_cookie = ("cookie", cookie.as_str());
    let check = async |headers: &[(&str, &str)], expect: u16| {
        let answer = app.ask("POST", "/sign-in", headers).await;
        let refused = answer.status == 403;
        assert_eq!(refused, expect == 403, "{headers:?} → {}", answer.status);
        if refused {
            answer.problem(403, "forbidden");
        }
    };
    for from in ["cross-site", "same-site"] {
        check(&[here, with_cookie, ("sec-fetch-site", from)], 403).await;
        check(&[here, ("sec-fetch-site", from)], 403).await;
    }
    check(&[here, with_cookie, ("origin", "http://evil.org")], 403).await;
    check(&[here, with_cookie, ("origin", "null")], 403).await;
    check(&[here, with_cookie], 403).await;
    check(&[here, with_cookie, ("sec-fetch-site", "same-origin")], 400).await;
    check(
        &[here, with_cookie, ("origin", "http://localhost:3000")],
        400,
    )
    .await;
    check(&[here], 400).await;
    // A program: no other site can make a browser send its token.
    let cross = ("sec-fetch-site", "cross-site");
    check(&[here, cross, ("authorization", &token)], 400).await;
    // Read-only requests may come from anywhere.
    let answer = app.ask("GET", "/about", &[here, with_cookie, cross]).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn signing_in_leads_back_and_to_no_other_site() {
    let app = TestApp::seeded().await;
    account(&app, "ada", AccountRole::Reader).await;
    let check = async |next: &str, expect: &str| {
        let fields = [("name", "ada"), ("password", PASSWORD), ("next", next)];
        let answer = Browser::new(&app).send("/sign-in", &fields).await;
        assert_eq!(location(&answer), expect, "{next:?}");
        assert!(answer.headers.get("x-evil").is_none());
    };
    check("/runs?after=x", "/runs?after=x").await;
    check("//evil.org", "/").await;
    check("/\\evil.org", "/").await;
    check("https://evil.org/", "/").await;
    check("/runs\r\nx-evil: 1", "/").await;
    // The page shows the address's parameter as text.
    let page = app
        .get("/sign-in?next=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")
        .await;
    assert!(!page.text().contains("<script>alert"), "{}", page.text());
}

#[tokio::test]
async fn user_text_is_escaped() {
    let app = TestApp::seeded().await;
    account(&app, "root", AccountRole::Admin).await;
    let mut root = Browser::signed_in(&app, "root").await;
    let evil = "<script>alert(1)</script>";
    let answer = root.sign_in(evil, "wrong password").await;
    assert!(!answer.text().contains("<script>alert"));
    let mut root = Browser::signed_in(&app, "root").await;
    let invite = [("deed", "invite"), ("role", "submitter"), ("note", evil)];
    let answer = root.send_for_secret("/accounts", &invite).await;
    assert_eq!(answer.status, 200);
    let token = [
        ("deed", "make-token"),
        ("name", evil),
        ("scope", "reader"),
        ("days", "7"),
    ];
    let made = root.send_for_secret("/account", &token).await;
    assert!(made.text().contains("value=\"sweci_"));
    // Reloading makes no other one, and shows this one no more.
    let again = root.get("/account").await.text();
    assert!(!again.contains("value=\"sweci_"), "{again}");
    assert_eq!(again.matches("name=\"token\"").count(), 1, "{again}");
    for page in [
        answer,
        made,
        root.get("/accounts").await,
        root.get("/account").await,
        root.get("/audit").await,
    ] {
        let html = page.text();
        assert!(
            html.contains("&lt;script") && !html.contains("<script>alert"),
            "{html}"
        );
        assert!(
            !html.contains("sweci_") || html.contains("Your new token") || html.contains("sweci_…")
        );
    }
}

#[tokio::test]
async fn an_invitation_link_is_shown_to_its_creator_and_works_once() {
    let app = TestApp::public("https://bench.example.org").await;
    account(&app, "root", AccountRole::Admin).await;
    let mut root = Browser::signed_in(&app, "root").await;
    let invite = [
        ("deed", "invite"),
        ("role", "submitter"),
        ("note", "for Bob"),
    ];
    let html = root.send_for_secret("/accounts", &invite).await.text();
    let (_, rest) = html
        .split_once("https://bench.example.org/invitation/")
        .unwrap();
    let secret = rest.split('"').next().unwrap();
    assert!(!root.get("/accounts").await.text().contains(secret));
    let path = format!("/invitation/{secret}");

    let mut bob = Browser::new(&app);
    let check = async |bob: &mut Browser<'_>, fields: [&str; 3], field: &str, status: u16| {
        let [name, password, again] = fields;
        let fields = [("name", name), ("password", password), ("again", again)];
        let answer = bob.send(&path, &fields).await;
        assert_eq!(answer.status, status, "{}", answer.text());
        let html = answer.text();
        assert!(
            html.contains(&format!("id=\"field-{field}-problem\"")),
            "{html}"
        );
        assert!(
            html.contains(&format!("aria-describedby=\"field-{field}-problem")),
            "{html}"
        );
        assert!(!html.contains(password) || password.is_empty(), "{html}");
    };
    check(&mut bob, ["b", PASSWORD, PASSWORD], "name", 400).await;
    check(&mut bob, ["bob", "too short", "too short"], "password", 400).await;
    check(&mut bob, ["bob", PASSWORD, "something else"], "again", 400).await;
    check(&mut bob, ["root", PASSWORD, PASSWORD], "name", 400).await;
    let fields = [("name", "bob"), ("password", PASSWORD), ("again", PASSWORD)];
    assert_eq!(location(&bob.send(&path, &fields).await), "/account");
    let again = [("name", "eve"), ("password", PASSWORD), ("again", PASSWORD)];
    assert_eq!(Browser::new(&app).send(&path, &again).await.status, 404);
    // A submitter cannot invite.
    assert_eq!(bob.send("/accounts", &invite).await.status, 403);
    assert_eq!(bob.get("/audit").await.status, 403);
}

#[tokio::test]
async fn a_disabled_account_loses_access_at_once() {
    let app = TestApp::seeded().await;
    let bob = account(&app, "bob", AccountRole::Submitter).await;
    account(&app, "root", AccountRole::Admin).await;
    let token = bearer(&app, &bob, AccountRole::Submitter).await;
    let mut browser = Browser::signed_in(&app, "bob").await;
    assert_eq!(browser.get("/account").await.status, 200);

    let mut root = Browser::signed_in(&app, "root").await;
    let disable = [("deed", "disable"), ("account", "bob")];
    assert_eq!(
        location(&root.send("/accounts", &disable).await),
        "/accounts?done=disabled"
    );
    assert_eq!(browser.get("/account").await.status, 401);
    let me = app
        .ask("GET", "/api/v1/me", &[("authorization", &token)])
        .await;
    me.problem(401, "unauthenticated");
    assert_eq!(browser.sign_in("bob", PASSWORD).await.status, 401);
    // An administrator must remain.
    let alone = [("deed", "disable"), ("account", "root")];
    let refused = root.send("/accounts", &alone).await;
    assert!(refused.status.is_client_error() && refused.text().contains("role=\"alert\""));
}

#[tokio::test]
async fn a_new_password_ends_other_sessions() {
    let app = TestApp::seeded().await;
    account(&app, "ada", AccountRole::Reader).await;
    let mut here = Browser::signed_in(&app, "ada").await;
    let mut there = Browser::signed_in(&app, "ada").await;
    let new = "another good password";
    let fields = |old, again| {
        [
            ("deed", "change-password"),
            ("old", old),
            ("new", new),
            ("again", again),
        ]
    };
    let wrong = here.send("/account", &fields("wrong password", new)).await;
    assert!(
        wrong.text().contains("field-old-problem"),
        "{}",
        wrong.text()
    );
    let differs = here.send("/account", &fields(PASSWORD, PASSWORD)).await;
    assert!(differs.text().contains("field-again-problem"));
    let done = here.send("/account", &fields(PASSWORD, new)).await;
    assert_eq!(location(&done), "/account?done=password");
    let page = here.get("/account?done=password").await;
    assert!(page.text().contains("Your password is changed"));
    assert_eq!(there.get("/account").await.status, 401);
    assert_eq!(there.sign_in("ada", PASSWORD).await.status, 401);
    assert_eq!(there.sign_in("ada", new).await.status, 303);
}

#[tokio::test]
async fn tokens() {
    let app = TestApp::seeded().await;
    let ada = account(&app, "ada", AccountRole::Submitter).await;
    let token = bearer(&app, &ada, AccountRole::Reader).await;
    let by = [("authorization", token.as_str())];
    let me = app.ask("GET", "/api/v1/me", &by).await.json();
    assert_eq!(
        (&me["name"], &me["role"]),
        (&json!("ada"), &json!("reader"))
    );
    let bare = token.strip_prefix("Bearer ").unwrap();
    for (bad, expect) in [
        ("Bearer sweci_wrong", "unknown"),
        ("Bearer x", "unknown"),
        (&token[..token.len() - 1], "unknown"),
        // A variable that is not set, a scheme that is not ours, and none.
        ("", "`Bearer sweci_…`"),
        ("Bearer ", "`Bearer sweci_…`"),
        ("Basic YWRhOmFkYQ==", "`Bearer sweci_…`"),
        (bare, "`Bearer sweci_…`"),
    ] {
        for path in ["/api/v1/runs", "/runs", "/health/live"] {
            let answer = app.ask("GET", path, &[("authorization", bad)]).await;
            let problem = answer.problem(401, "unauthenticated");
            let detail = problem["detail"].as_str().unwrap();
            assert!(detail.contains(expect), "{bad} → {detail}");
            assert!(!detail.contains(bare), "{detail}");
            assert_eq!(answer.header("www-authenticate"), "Bearer");
        }
    }
    // Nor does a session make up for them.
    let cookie = Browser::signed_in(&app, "ada").await.cookie.unwrap();
    let both = [("authorization", bare), ("cookie", cookie.as_str())];
    let refused = app.ask("GET", "/api/v1/me", &both).await;
    refused.problem(401, "unauthenticated");
    // A token takes precedence over a session.
    let cookie = Browser::signed_in(&app, "ada").await.cookie.unwrap();
    let both = [by[0], ("cookie", cookie.as_str())];
    let me = app.ask("GET", "/api/v1/me", &both).await.json();
    assert_eq!(me["role"], "reader");

    let list = app.ask("GET", "/api/v1/tokens", &by).await.json();
    assert!(!list.to_string().contains("sweci_"), "{list}");
    let id = list[0]["token_id"].as_str().unwrap();
    let gone = app
        .ask("DELETE", &format!("/api/v1/tokens/{id}"), &by)
        .await;
    assert_eq!(gone.status, 204);
    app.ask("GET", "/api/v1/me", &by)
        .await
        .problem(401, "unauthenticated");
}

#[tokio::test]
async fn a_token_is_made_by_a_program() {
    let app = TestApp::seeded().await;
    let ada = account(&app, "ada", AccountRole::Submitter).await;
    let token = bearer(&app, &ada, AccountRole::Submitter).await;
    let post = async |body: &str| {
        let request = Request::post("/api/v1/tokens")
            .header("authorization", &token)
            .header("content-type", "application/json");
        app.read(request.body(Body::from(body.to_owned())).unwrap())
            .await
    };
    let made = post(r#"{"name": "nightly", "scope": "reader", "days": 30}"#).await;
    assert_eq!(made.status, 201);
    let made: serde_json::Value = serde_json::from_slice(&made.bytes).unwrap();
    let text = format!("Bearer {}", made["text"].as_str().unwrap());
    let me = app
        .ask("GET", "/api/v1/me", &[("authorization", &text)])
        .await
        .json();
    assert_eq!(me["role"], "reader");
    for bad in [
        "{}",
        "x",
        "[]",
        r#"{"name": "a", "scope": "king", "days": 1}"#,
        r#"{"name": "a", "scope": "reader", "days": 366}"#,
    ] {
        post(bad).await.problem(400, "bad-request");
    }
}

#[tokio::test]
async fn a_token_for_metrics_reads_them_and_nothing_else() {
    let app = TestApp::seeded().await;
    let root = account(&app, "root", AccountRole::Admin).await;
    let ada = account(&app, "ada", AccountRole::Submitter).await;
    let scraper = bearer(&app, &root, TokenScope::Metrics).await;
    let ask = async |path: &str| app.ask("GET", path, &[("authorization", &scraper)]).await;
    let metrics = ask("/metrics").await;
    assert_eq!(metrics.status, 200);
    assert!(metrics.text().contains("swe_ci_build_info"));
    assert_eq!(ask("/api/v1/me").await.json()["role"], "reader");
    ask("/api/v1/workers").await.problem(403, "forbidden");
    let own = app.engine.acting_for(ada);
    let refused = own.make_token("mine", TokenScope::Metrics, 1).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
}

#[tokio::test]
async fn answers_to_somebody_are_nobody_elses() {
    let app = TestApp::seeded().await;
    account(&app, "ada", AccountRole::Reader).await;
    let mut ada = Browser::signed_in(&app, "ada").await;
    for path in ["/", "/runs", "/api/v1/leaderboard"] {
        let hers = ada.get(path).await;
        assert_eq!(hers.header("cache-control"), "no-store", "{path}");
        // A tag of the API is of her answer alone; pages have none.
        let is_tagged = hers.headers.get("etag").is_some();
        assert_eq!(is_tagged, path.starts_with("/api/"), "{path}");
    }
    assert!(ada.get("/").await.text().contains("Signed in as"));
    let kept = app.get("/").await;
    assert!(!kept.text().contains("Signed in as") && kept.text().contains("Sign in"));
    let vary = kept.header("vary").to_lowercase();
    assert!(
        vary.contains("cookie") && vary.contains("authorization"),
        "{vary}"
    );
}

#[tokio::test]
async fn a_closed_site_shows_visitors_the_sign_in_page() {
    let app = TestApp::closed().await;
    let ada = account(&app, "ada", AccountRole::Reader).await;
    for path in ["/sign-in", "/robots.txt", "/favicon.svg", "/health/live"] {
        assert_eq!(app.get(path).await.status, 200, "{path}");
    }
    let pkg = format!("/pkg/{}/swe-ci.js", crate::fixture::HASH);
    assert_eq!(app.get(&pkg).await.status, 200);
    assert_eq!(
        location(&app.get("/runs?after=x").await),
        "/sign-in?next=%2Fruns%3Fafter%3Dx"
    );
    for path in ["/api/v1/runs", "/feed.xml"] {
        app.get(path).await.problem(401, "unauthenticated");
    }
    let mut browser = Browser::signed_in(&app, "ada").await;
    assert_eq!(browser.get("/runs").await.status, 200);
    let token = bearer(&app, &ada, AccountRole::Reader).await;
    let runs = app
        .ask("GET", "/api/v1/runs", &[("authorization", &token)])
        .await;
    assert_eq!(runs.status, 200);
}
