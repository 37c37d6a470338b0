//! Sign-in through an identity provider, end to end: the provider is a server
//! of its own, which misbehaves on request.

use swe_ci_engine::PageRequest;
use swe_ci_views::account::{AccountRole, Actor};

use crate::fixture::{Answer, TestApp};
use crate::people::{Browser, PASSWORD, account, bearer};
use crate::provider::{CLIENT_ID, Lie, Provider};

const ANYONE: &str = "allow = \"anyone\"\nrole = \"submitter\"";

/// A site with a provider `corp`.
async fn site(provider: &Provider, allow: &str) -> TestApp {
    TestApp::offering(&corp(provider, allow), false).await
}

fn corp(provider: &Provider, allow: &str) -> String {
    let url = &provider.url;
    entry(
        "corp",
        "Corp SSO",
        &format!("kind = \"oidc\"\nissuer = \"{url}\"\n{allow}"),
    )
}

fn github(provider: &Provider, allow: &str) -> String {
    let url = &provider.url;
    entry(
        "github",
        "GitHub",
        &format!("kind = \"github\"\nurl = \"{url}\"\n{allow}"),
    )
}

fn entry(id: &str, name: &str, rest: &str) -> String {
    format!(
        "[[provider]]\nid = \"{id}\"\nname = \"{name}\"\nclient-id = \"{CLIENT_ID}\"\nclient-secret-env = \"S\"\n{rest}\n"
    )
}

/// Presses a provider's button; returns the address it leads to.
async fn leave(browser: &mut Browser<'_>, id: &str, fields: &[(&str, &str)]) -> String {
    let page = browser.send(&format!("/sign-in/{id}"), fields).await;
    assert_eq!(page.status, 200, "{}", page.text());
    assert_eq!(page.header("cache-control"), "no-store");
    let html = page.text();
    let address = |before: &str| {
        let (_, rest) = html.split_once(before).unwrap();
        rest.split('"').next().unwrap().replace("&amp;", "&")
    };
    let link = address("href=\"");
    // Automatically, or by hand.
    assert_eq!(address("content=\"0; url="), link);
    link
}

/// Opens the provider, agrees, and comes back.
async fn go(
    browser: &mut Browser<'_>,
    provider: &Provider,
    id: &str,
    fields: &[(&str, &str)],
) -> Answer {
    let address = leave(browser, id, fields).await;
    let back = provider.visit(&address).await;
    browser.get(&back).await
}

#[track_caller]
fn location(answer: &Answer) -> &str {
    assert_eq!(answer.status, 303, "{}", answer.text());
    answer.header("location")
}

/// The browser is on the page that explains the failure.
async fn assert_failure_page(browser: &mut Browser<'_>, answer: &Answer, why: &str, status: u16) {
    let to = location(answer).to_owned();
    assert!(to.ends_with(&format!("?problem={why}")), "{to}");
    let page = browser.get(&to).await;
    assert_eq!(page.status, status, "{to}");
    assert!(page.text().contains("role=\"alert\""), "{}", page.text());
    assert_eq!(browser.get("/account").await.status, 401, "{to}");
}

async fn log(app: &TestApp, subject: &str) -> Vec<String> {
    let page = app
        .engine
        .audit(&PageRequest::default(), Some(subject))
        .await;
    let entries = page.unwrap().items.into_iter().rev();
    let line =
        |e: swe_ci_views::account::AuditEntry| format!("{}: {} {}", e.actor, e.action, e.detail);
    entries.map(line).collect()
}

#[tokio::test]
async fn sign_in_by_openid_connect() {
    let provider = Provider::start().await;
    let app = site(&provider, ANYONE).await;
    let mut browser = Browser::new(&app);
    let page = browser.get("/sign-in?next=/runs").await.text();
    assert!(page.contains("Sign in with Corp SSO"), "{page}");
    assert!(page.contains("action=\"/sign-in/corp\""), "{page}");
    assert!(browser.cookie.is_none(), "a visitor gets no cookie");

    let back = go(&mut browser, &provider, "corp", &[("next", "/runs?a=b")]).await;
    assert_eq!(location(&back), "/runs?a=b");
    let cookie = back.header("set-cookie");
    for part in [
        "__Host-swe_ci_session=",
        "; HttpOnly",
        "; SameSite=Lax",
        "; Secure",
    ] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let page = browser.get("/account").await.text();
    assert!(page.contains("<h1>octocat"), "{page}");
    assert!(page.contains("Set the password") && page.contains("Unlink octocat at Corp SSO"));

    // The provider's account is the same, whatever its current name.
    provider.says().login = "octopus".into();
    let mut other = Browser::new(&app);
    let back = go(&mut other, &provider, "corp", &[]).await;
    assert_eq!(location(&back), "/");
    let page = other.get("/account").await.text();
    assert!(
        page.contains("<h1>octocat") && page.contains("octopus"),
        "{page}"
    );
    assert_eq!(app.engine.accounts().await.unwrap().len(), 1);
    assert_eq!(provider.says().described, 1);
    assert_eq!(
        log(&app, "octocat").await,
        [
            "octocat: account.make as submitter by corp: octocat",
            "octocat: account.sign_in corp: octopus",
        ]
    );
}

#[tokio::test]
async fn sign_in_by_github() {
    let provider = Provider::start().await;
    let app = TestApp::offering(&github(&provider, "allow = \"anyone\""), false).await;
    let mut browser = Browser::new(&app);
    let back = go(&mut browser, &provider, "github", &[]).await;
    assert_eq!(location(&back), "/");
    assert!(browser.get("/account").await.text().contains("<h1>octocat"));
    // Logins change hands: its next owner is another person.
    provider.says().subject = "43".into();
    let mut next = Browser::new(&app);
    go(&mut next, &provider, "github", &[]).await;
    assert!(next.get("/account").await.text().contains("<h1>octocat-2"));

    provider.says().lie = Lie::NoToken;
    let mut refused = Browser::new(&app);
    let back = go(&mut refused, &provider, "github", &[]).await;
    assert_failure_page(&mut refused, &back, "unverified", 403).await;
}

#[tokio::test]
async fn without_providers_pages_do_not_change() {
    let app = TestApp::seeded().await;
    account(&app, "ada", AccountRole::Reader).await;
    let page = app.get("/sign-in").await.text();
    assert!(!page.contains("Sign in with") && !page.contains("Without a password"));
    let mut ada = Browser::signed_in(&app, "ada").await;
    let page = ada.get("/account").await.text();
    assert!(
        !page.contains("Other sites") && page.contains("Change the password"),
        "{page}"
    );
    for (method, path) in [("POST", "/sign-in/corp"), ("GET", "/sign-in/corp/callback")] {
        let form = ("content-type", "application/x-www-form-urlencoded");
        app.ask(method, path, &[form])
            .await
            .problem(404, "not-found");
    }
}

#[tokio::test]
async fn a_callback_is_bound_to_its_browser() {
    let provider = Provider::start().await;
    let both = corp(&provider, ANYONE) + &github(&provider, ANYONE);
    let app = TestApp::offering(&both, false).await;
    let mut ada = Browser::new(&app);
    let address = leave(&mut ada, "corp", &[]).await;
    let back = provider.visit(&address).await;

    // Another browser, opened with this address by someone else.
    let mut eve = Browser::new(&app);
    let answer = eve.get(&back).await;
    assert_failure_page(&mut eve, &answer, "expired", 400).await;
    // A browser with a sign-in of its own: the state differs.
    let hers = provider.visit(&leave(&mut eve, "corp", &[]).await).await;
    let answer = eve.get(&back).await;
    assert_failure_page(&mut eve, &answer, "expired", 400).await;
    // Another provider's address, a truncated state, or none.
    for forged in [
        back.replace("/corp/", "/github/"),
        back[..back.len() - 1].to_owned(),
        back.replace("state=", "stat="),
        format!("{back}&state=twice"),
        "/sign-in/corp/callback".to_owned(),
    ] {
        let answer = ada.get(&forged).await;
        assert!(location(&answer).ends_with("?problem=expired"), "{forged}");
    }
    // None of that has ended the pending sign-in.
    assert_eq!(location(&ada.get(&back).await), "/");
    assert_eq!(location(&eve.get(&hers).await), "/");
}

#[tokio::test]
async fn a_callback_works_once() {
    let provider = Provider::start().await;
    let app = site(&provider, ANYONE).await;
    let mut ada = Browser::new(&app);
    let back = provider.visit(&leave(&mut ada, "corp", &[]).await).await;
    let before = ada.cookie.clone();
    assert_eq!(location(&ada.get(&back).await), "/");
    // Replayed in the same browser, and with the session of that time.
    let again = ada.get(&back).await;
    assert!(location(&again).ends_with("?problem=expired"));
    assert_eq!(ada.get("/account").await.status, 200);
    let mut thief = Browser::new(&app);
    thief.cookie = before;
    let again = thief.get(&back).await;
    assert_failure_page(&mut thief, &again, "expired", 400).await;

    // A redeemed code, with a valid state.
    let mut eve = Browser::new(&app);
    let hers = provider.visit(&leave(&mut eve, "corp", &[]).await).await;
    let (_, state) = hers.split_once("&state=").unwrap();
    let (_, code) = back.split_once("code=").unwrap();
    let code = code.split('&').next().unwrap();
    let replayed = format!("/sign-in/corp/callback?code={code}&state={state}");
    let answer = eve.get(&replayed).await;
    assert_failure_page(&mut eve, &answer, "unverified", 403).await;
    assert_eq!(
        log(&app, "").await,
        [
            "visitor: account.sign_in_failed corp: the provider returned no token for the code: invalid_grant"
        ]
    );
}

#[tokio::test]
async fn a_pending_sign_in_expires() {
    let provider = Provider::start().await;
    let app = site(&provider, ANYONE).await;
    let mut ada = Browser::new(&app);
    let back = provider.visit(&leave(&mut ada, "corp", &[]).await).await;
    app.execute("UPDATE sessions SET data = json_set(data, '$.elsewhere.begun', json_extract(data, '$.elsewhere.begun') - 601)")
        .await;
    let late = ada.get(&back).await;
    assert_failure_page(&mut ada, &late, "expired", 400).await;
    // And a visitor's pending state expires.
    let mut eve = Browser::new(&app);
    let page = eve.send("/sign-in/corp", &[]).await;
    assert!(
        page.header("set-cookie").contains("Max-Age=600")
            || page.header("set-cookie").contains("Max-Age=599")
    );
}

#[tokio::test]
async fn answers_of_a_provider_are_verified() {
    let provider = Provider::start().await;
    let app = site(&provider, ANYONE).await;
    for (lie, words) in [
        (Lie::Nonce, "Invalid nonce"),
        (Lie::Audience, "Invalid audiences"),
        (Lie::Issuer, "Invalid issuer"),
        (Lie::Expired, "Expired"),
        (Lie::AnothersKey, "Signature verification failed"),
        (Lie::Unsigned, "Signature verification failed"),
        (Lie::NoToken, "no ID token"),
    ] {
        provider.says().lie = lie;
        let mut browser = Browser::new(&app);
        let back = go(&mut browser, &provider, "corp", &[]).await;
        assert_failure_page(&mut browser, &back, "unverified", 403).await;
        let last = log(&app, "").await.pop().unwrap();
        assert!(
            last.starts_with("visitor: account.sign_in_failed corp: "),
            "{last}"
        );
        assert!(last.contains(words), "{lie:?}: {last}");
        assert!(!last.contains("eyJ") && !last.contains("s3cret"), "{last}");
    }
    assert!(app.engine.accounts().await.unwrap().is_empty());
    provider.says().lie = Lie::Nothing;
    let mut browser = Browser::new(&app);
    let back = go(&mut browser, &provider, "corp", &[]).await;
    assert_eq!(location(&back), "/");
}

#[tokio::test]
async fn another_issuer_is_refused() {
    let provider = Provider::start().await;
    let app = site(&provider, ANYONE).await;
    let mut browser = Browser::new(&app);
    let back = provider
        .visit(&leave(&mut browser, "corp", &[]).await)
        .await;
    let mixed = format!("{back}&iss=https%3A%2F%2Fevil.example");
    let answer = browser.get(&mixed).await;
    assert_failure_page(&mut browser, &answer, "unverified", 403).await;
    let back = provider
        .visit(&leave(&mut browser, "corp", &[]).await)
        .await;
    let named = format!("{back}&iss={}", swe_ci_app::encode(&provider.url));
    assert_eq!(location(&browser.get(&named).await), "/");
}

#[tokio::test]
async fn a_provider_may_rotate_its_keys() {
    let provider = Provider::start().await;
    let app = site(&provider, ANYONE).await;
    go(&mut Browser::new(&app), &provider, "corp", &[]).await;
    provider.change_key();
    let back = go(&mut Browser::new(&app), &provider, "corp", &[]).await;
    assert_eq!(location(&back), "/");
    // Fetched once more, because the key was unknown.
    assert_eq!(provider.says().described, 2);
    assert_eq!(app.engine.accounts().await.unwrap().len(), 1);
}

#[tokio::test]
async fn provider_failures_are_reported_as_such() {
    let provider = Provider::start().await;
    let app = site(&provider, ANYONE).await;
    let mut browser = Browser::new(&app);
    for lie in [Lie::Broken, Lie::Description] {
        provider.says().lie = lie;
        let page = browser.send("/sign-in/corp", &[]).await;
        assert_eq!(page.status, 503, "{lie:?}");
        let html = page.text();
        assert!(
            html.contains("role=\"alert\"") && html.contains("Corp SSO"),
            "{html}"
        );
        assert!(browser.cookie.is_none());
    }
    provider.says().lie = Lie::Nothing;
    // The provider refuses.
    let back = provider
        .visit(&leave(&mut browser, "corp", &[]).await)
        .await;
    let (_, state) = back.split_once("&state=").unwrap();
    let denied = format!("/sign-in/corp/callback?error=access_denied&state={state}");
    let answer = browser.get(&denied).await;
    assert_failure_page(&mut browser, &answer, "denied", 403).await;
    // The provider fails during the sign-in.
    let back = provider
        .visit(&leave(&mut browser, "corp", &[]).await)
        .await;
    provider.says().lie = Lie::Broken;
    let answer = browser.get(&back).await;
    assert_failure_page(&mut browser, &answer, "unverified", 403).await;
    // The provider is unreachable.
    let nowhere = format!("kind = \"oidc\"\nissuer = \"http://127.0.0.1:9\"\n{ANYONE}");
    let app = TestApp::offering(&entry("corp", "Corp SSO", &nowhere), false).await;
    let page = Browser::new(&app).send("/sign-in/corp", &[]).await;
    assert_eq!(page.status, 503);
    assert!(page.text().contains("does not respond"), "{}", page.text());
}

#[tokio::test]
async fn signing_in_begins_a_new_session() {
    let provider = Provider::start().await;
    let app = site(&provider, ANYONE).await;
    let mut browser = Browser::new(&app);
    // A session id planted by someone else is not accepted.
    let planted = "__Host-swe_ci_session=AAAAAAAAAAAAAAAAAAAAAA";
    browser.cookie = Some(planted.into());
    let address = leave(&mut browser, "corp", &[]).await;
    let before = browser.cookie.clone().unwrap();
    assert_ne!(before, planted);
    let back = provider.visit(&address).await;
    assert_eq!(location(&browser.get(&back).await), "/");
    assert_ne!(browser.cookie.as_ref(), Some(&before));
    let mut old = Browser::new(&app);
    old.cookie = Some(before);
    assert_eq!(old.get("/account").await.status, 401);
}

#[tokio::test]
async fn a_callback_leads_to_no_other_site() {
    let provider = Provider::start().await;
    let app = site(&provider, ANYONE).await;
    for elsewhere in [
        "//evil.org",
        "/\\evil.org",
        "https://evil.org/",
        "/a\r\nx-evil: 1",
    ] {
        let mut browser = Browser::new(&app);
        let back = go(&mut browser, &provider, "corp", &[("next", elsewhere)]).await;
        assert_eq!(location(&back), "/", "{elsewhere:?}");
    }
    // Nor after a failure.
    provider.says().lie = Lie::Nonce;
    let mut browser = Browser::new(&app);
    let back = go(&mut browser, &provider, "corp", &[("next", "//evil.org")]).await;
    assert_eq!(location(&back), "/sign-in/corp?problem=unverified");
    let back = go(&mut browser, &provider, "corp", &[("next", "/runs")]).await;
    assert_eq!(
        location(&back),
        "/sign-in/corp?problem=unverified&next=%2Fruns"
    );
}

#[tokio::test]
async fn a_disabled_account_is_refused() {
    let provider = Provider::start().await;
    let app = site(&provider, ANYONE).await;
    account(&app, "root", AccountRole::Admin).await;
    let mut browser = Browser::new(&app);
    go(&mut browser, &provider, "corp", &[]).await;
    app.engine.set_disabled("octocat", true).await.unwrap();
    assert_eq!(browser.get("/account").await.status, 401);
    let back = go(&mut browser, &provider, "corp", &[]).await;
    assert_failure_page(&mut browser, &back, "disabled", 403).await;
}

#[tokio::test]
async fn people_without_admission_get_advice() {
    let provider = Provider::start().await;
    for allow in [
        "allow = \"linked\"",
        "allow = \"invited\"",
        "allow = \"anyone\"\nemail-domains = [\"other.example\"]",
    ] {
        let app = site(&provider, allow).await;
        let mut browser = Browser::new(&app);
        let back = go(&mut browser, &provider, "corp", &[]).await;
        assert_failure_page(&mut browser, &back, "not-linked", 403).await;
        let page = browser.get("/sign-in/corp?problem=not-linked").await.text();
        assert!(page.contains("ask an administrator"), "{page}");
        assert!(app.engine.accounts().await.unwrap().is_empty());
        assert_eq!(
            log(&app, "").await,
            ["visitor: account.sign_in_failed corp: no account is linked to `octocat`"]
        );
    }
    let domain = "allow = \"anyone\"\nemail-domains = [\"corp.example\"]";
    let app = site(&provider, domain).await;
    provider.says().verified = false;
    let mut browser = Browser::new(&app);
    let back = go(&mut browser, &provider, "corp", &[]).await;
    assert_failure_page(&mut browser, &back, "not-linked", 403).await;
    provider.says().verified = true;
    let back = go(&mut browser, &provider, "corp", &[]).await;
    assert_eq!(location(&back), "/");
    // The address's parameter selects one of the known texts and is shown as
    // text.
    let page = app
        .get("/sign-in/corp?problem=%3Cscript%3Ealert(1)%3C/script%3E")
        .await;
    assert!(page.status == 200 && !page.text().contains("role=\"alert\""));
}

#[tokio::test]
async fn an_invitation_is_accepted_without_a_password() {
    let provider = Provider::start().await;
    let app = site(&provider, "allow = \"invited\"").await;
    let invite = async || {
        let (_, secret) = app.engine.invite(AccountRole::Admin, "").await.unwrap();
        secrecy::ExposeSecret::expose_secret(&secret).to_owned()
    };
    let secret = invite().await;
    let mut browser = Browser::new(&app);
    let page = browser.get(&format!("/invitation/{secret}")).await.text();
    assert!(page.contains("Create it with Corp SSO"), "{page}");
    let along = [("invitation", secret.as_str())];
    let address = leave(&mut browser, "corp", &along).await;
    assert!(!address.contains(&secret));
    let back = provider.visit(&address).await;
    assert_eq!(location(&browser.get(&back).await), "/account");
    let page = browser.get("/account").await.text();
    assert!(
        page.contains("<h1>octocat") && page.contains("As an administrator"),
        "{page}"
    );
    // The invitation is used up.
    provider.says().subject = "43".into();
    let again = Browser::new(&app).send("/sign-in/corp", &along).await;
    assert_eq!(again.status, 404, "{}", again.text());
    // Also for a person who was away meanwhile.
    let secret = invite().await;
    let mut late = Browser::new(&app);
    let back = provider
        .visit(&leave(&mut late, "corp", &[("invitation", &secret)]).await)
        .await;
    for open in app.engine.invitations().await.unwrap() {
        app.engine
            .withdraw_invitation(&open.invitation_id)
            .await
            .unwrap();
    }
    let answer = late.get(&back).await;
    assert_failure_page(&mut late, &answer, "no-invitation", 404).await;

    let app = site(&provider, "allow = \"linked\"").await;
    let (_, secret) = app.engine.invite(AccountRole::Reader, "").await.unwrap();
    let secret = secrecy::ExposeSecret::expose_secret(&secret).to_owned();
    let page = app.get(&format!("/invitation/{secret}")).await.text();
    assert!(!page.contains("Create it with"), "{page}");
    let refused = Browser::new(&app)
        .send("/sign-in/corp", &[("invitation", &secret)])
        .await;
    assert_eq!(refused.status, 403);
}

#[tokio::test]
async fn accounts_are_linked_and_unlinked() {
    let provider = Provider::start().await;
    let app = site(&provider, "allow = \"linked\"").await;
    account(&app, "ada", AccountRole::Reader).await;
    let mut ada = Browser::signed_in(&app, "ada").await;
    assert!(ada.get("/account").await.text().contains("Link Corp SSO"));
    let link = [("deed", "link")];
    let back = go(&mut ada, &provider, "corp", &link).await;
    assert_eq!(location(&back), "/account?done=linked");
    let page = ada.get("/account?done=linked").await.text();
    assert!(page.contains("Unlink octocat at Corp SSO") && page.contains("role=\"status\""));
    // The identity signs her in.
    let mut other = Browser::new(&app);
    go(&mut other, &provider, "corp", &[]).await;
    assert!(other.get("/account").await.text().contains("<h1>ada"));

    // It opens no other account.
    account(&app, "bob", AccountRole::Reader).await;
    let mut bob = Browser::signed_in(&app, "bob").await;
    let back = go(&mut bob, &provider, "corp", &link).await;
    assert_eq!(location(&back), "/sign-in/corp?problem=not-linkable");
    let page = bob.get("/sign-in/corp?problem=not-linkable").await;
    assert_eq!(page.status, 409);

    let unlink = [("deed", "unlink"), ("provider", "corp"), ("subject", "42")];
    assert_eq!(bob.send("/account", &unlink).await.status, 404);
    let done = ada.send("/account", &unlink).await;
    assert_eq!(location(&done), "/account?done=unlinked");
    let back = go(&mut Browser::new(&app), &provider, "corp", &[]).await;
    assert!(location(&back).ends_with("?problem=not-linked"));
    assert_eq!(
        log(&app, "ada").await[2..],
        [
            "ada: account.link_identity corp: octocat",
            "ada: account.sign_in corp: octocat",
            "ada: account.unlink_identity corp: octocat",
        ]
    );
}

#[tokio::test]
async fn a_pending_link_is_bound_to_its_account() {
    let provider = Provider::start().await;
    let app = site(&provider, "allow = \"linked\"").await;
    let link = [("deed", "link")];
    assert_eq!(
        Browser::new(&app).send("/sign-in/corp", &link).await.status,
        401
    );
    let ada = account(&app, "ada", AccountRole::Admin).await;
    account(&app, "bob", AccountRole::Reader).await;
    let mut browser = Browser::signed_in(&app, "ada").await;
    let back = provider
        .visit(&leave(&mut browser, "corp", &link).await)
        .await;
    // Another person signs in meanwhile, in the same browser.
    browser.sign_in("bob", PASSWORD).await;
    let answer = browser.get(&back).await;
    assert!(location(&answer).ends_with("?problem=expired"));
    // A program's token may have fewer rights than its account, and linking
    // would add some.
    let token = bearer(&app, &ada, AccountRole::Reader).await;
    let form = ("content-type", "application/x-www-form-urlencoded");
    let program = [form, ("authorization", token.as_str())];
    let request = async |path: &str, body: &'static str| {
        let mut request = axum::http::Request::post(path);
        for (name, value) in program {
            request = request.header(name, value);
        }
        let answer = app.read(request.body(body.into()).unwrap()).await;
        answer.status.as_u16()
    };
    assert_eq!(request("/sign-in/corp", "deed=link").await, 401);
    let unlink = "deed=unlink&provider=corp&subject=42";
    assert_eq!(request("/account", unlink).await, 401);
    let password = "deed=set-password&new=0123456789x&again=0123456789x";
    assert_eq!(request("/account", password).await, 401);
    let own = app.engine.acting_for(ada);
    assert!(own.ways_in().await.unwrap().identities.is_empty());
}

#[tokio::test]
async fn the_last_identity_stays_until_there_is_a_password() {
    let provider = Provider::start().await;
    let app = site(&provider, ANYONE).await;
    let mut browser = Browser::new(&app);
    go(&mut browser, &provider, "corp", &[]).await;
    let unlink = [("deed", "unlink"), ("provider", "corp"), ("subject", "42")];
    let refused = browser.send("/account", &unlink).await;
    assert_eq!(refused.status, 400);
    assert!(
        refused.text().contains("last way into your account"),
        "{}",
        refused.text()
    );
    assert_eq!(Browser::new(&app).sign_in("octocat", "").await.status, 401);

    let set = |new, again| [("deed", "set-password"), ("new", new), ("again", again)];
    let differs = browser
        .send("/account", &set(PASSWORD, "something else"))
        .await;
    assert!(
        differs.text().contains("field-again-problem"),
        "{}",
        differs.text()
    );
    let done = browser.send("/account", &set(PASSWORD, PASSWORD)).await;
    assert_eq!(location(&done), "/account?done=password-set");
    // An account with a password needs the old one to set a new one.
    let again = browser
        .send("/account", &set("another password", "another password"))
        .await;
    assert_eq!(again.status, 400);
    Browser::signed_in(&app, "octocat").await;
    let done = browser.send("/account", &unlink).await;
    assert_eq!(location(&done), "/account?done=unlinked");
}

#[tokio::test]
async fn only_forms_of_this_site_begin_it_and_tries_are_counted() {
    let provider = Provider::start().await;
    let app = site(&provider, ANYONE).await;
    let form = ("content-type", "application/x-www-form-urlencoded");
    let cross = [form, ("sec-fetch-site", "cross-site")];
    let answer = app.ask("POST", "/sign-in/corp", &cross).await;
    answer.problem(403, "forbidden");
    // A callback comes from another site by nature.
    let mut browser = Browser::new(&app);
    let back = provider
        .visit(&leave(&mut browser, "corp", &[]).await)
        .await;
    let cookie = browser.cookie.clone().unwrap();
    let from_there = [
        ("sec-fetch-site", "cross-site"),
        ("cookie", cookie.as_str()),
    ];
    assert_eq!(location(&app.ask("GET", &back, &from_there).await), "/");

    // All at once: a try comes back every six seconds, and a busy machine may
    // need longer than that for ten in a row.
    let at_once = (0..20).map(|_| async { Browser::new(&app).send("/sign-in/corp", &[]).await });
    let pages = futures::future::join_all(at_once).await;
    let (taken, refused): (Vec<_>, Vec<_>) = pages.into_iter().partition(|page| page.status == 200);
    assert!(taken.len() >= 9, "only {}", taken.len());
    let page = refused.first().expect("there is no limit");
    assert_eq!(page.status, 429);
    let seconds: u64 = page.header("retry-after").parse().unwrap();
    assert!((1..=6).contains(&seconds), "{seconds}");
    assert!(page.text().contains("try again in"), "{}", page.text());
}

#[tokio::test]
async fn a_closed_site_redirects_back_after_signing_in() {
    let provider = Provider::start().await;
    let app = TestApp::offering(&corp(&provider, ANYONE), true).await;
    let mut browser = Browser::new(&app);
    let back = go(&mut browser, &provider, "corp", &[("next", "/runs")]).await;
    assert_eq!(location(&back), "/runs");
    assert_eq!(browser.get("/runs").await.status, 200);
}

#[tokio::test]
async fn the_session_contains_no_invitation_secret() {
    let provider = Provider::start().await;
    let app = site(&provider, "allow = \"invited\"").await;
    let (_, secret) = app.engine.invite(AccountRole::Reader, "").await.unwrap();
    let secret = secrecy::ExposeSecret::expose_secret(&secret).to_owned();
    let mut browser = Browser::new(&app);
    leave(&mut browser, "corp", &[("invitation", &secret)]).await;
    let cookie = browser.cookie.unwrap();
    let (_, id) = cookie.split_once('=').unwrap();
    let kept = app
        .engine
        .acting_for(Actor::Visitor)
        .session(id)
        .await
        .unwrap()
        .unwrap();
    assert!(kept.account_id.is_none() && kept.data.contains("verifier"));
    assert!(!kept.data.contains(&secret), "{}", kept.data);
}
