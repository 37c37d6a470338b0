//! The page cache: a response lasts as long as the state of the data.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use swe_ci_views::account::AccountRole;

use crate::fixture::{HUMAN, MODEL, TestApp};
use crate::people::{account, bearer};

#[tokio::test]
async fn a_page_is_rendered_again_when_the_data_changes() {
    let app = TestApp::seeded().await;
    let first = app.get("/").await;
    assert!(first.text().contains("Human (replayed history)"));
    let etag = first.header("etag").to_owned();
    let again = app.ask("GET", "/", &[("if-none-match", &etag)]).await;
    assert_eq!((again.status.as_u16(), again.bytes.len()), (304, 0));
    assert_eq!(again.header("etag"), etag);

    // An uncounted change is not noticed; a counted one is.
    let renamed =
        "UPDATE runs SET config = replace(config, 'Human (replayed history)', 'Somebody else')";
    app.execute(renamed).await;
    assert!(!app.get("/").await.text().contains("Somebody else"));
    app.execute("UPDATE changes SET n = n + 1").await;
    let fresh = app.ask("GET", "/", &[("if-none-match", &etag)]).await;
    assert_eq!(fresh.status, 200);
    assert!(fresh.text().contains("Somebody else"));
    assert_ne!(fresh.header("etag"), etag);
}

/// The policy allows exactly the inline scripts of the page, and nothing made
/// for another reader.
#[tokio::test]
async fn the_policy_of_a_cached_page_names_its_scripts() {
    let app = TestApp::seeded().await;
    let page = app.get("/").await;
    let policy = page.header("content-security-policy");
    assert!(!policy.contains("nonce") && !policy.contains("unsafe-inline"));
    let text = page.text();
    assert!(!text.contains("nonce="));
    let mut inline = 0;
    for script in text.split("<script").skip(1) {
        let (attributes, rest) = script.split_once('>').unwrap();
        let (content, _) = rest.split_once("</script>").unwrap();
        if !attributes.contains(" src=") {
            let hash = BASE64_STANDARD.encode(Sha256::digest(content.as_bytes()));
            assert!(policy.contains(&format!("'sha256-{hash}'")), "{content}");
            inline += 1;
        }
    }
    assert!(inline > 1, "{text}");
    // A page rendered for each request keeps its nonce.
    let run = app.get(&format!("/runs/{HUMAN}/trajectories")).await;
    assert!(run.header("content-security-policy").contains("'nonce-"));
    assert!(run.headers.get("etag").is_none());
}

#[tokio::test]
async fn failures_are_not_cached() {
    let app = TestApp::seeded().await;
    assert_eq!(app.get("/tasks/nobody").await.status, 404);
    assert_eq!(app.get("/tasks/nobody").await.status, 404);
    assert!(app.get("/tasks/nobody").await.headers.get("etag").is_none());
    let problem = app.get("/api/v1/leaderboard?gamma=99").await;
    problem.problem(400, "bad-parameter");
    assert!(
        app.get("/api/v1/leaderboard")
            .await
            .headers
            .contains_key("etag")
    );
}

/// The pages of a run are cached when it is over, and only for visitors.
#[tokio::test]
async fn pages_of_finished_runs_are_cached() {
    let app = TestApp::seeded().await;
    let renamed =
        "UPDATE runs SET config = replace(config, 'Human (replayed history)', 'Somebody else')";
    let pages = [
        format!("/runs/{HUMAN}"),
        format!("/runs/{HUMAN}/tasks/alpha-1"),
    ];
    for page in &pages {
        let first = app.get(page).await;
        assert!(first.text().contains("Human (replayed history)"), "{page}");
        let etag = first.header("etag").to_owned();
        let again = app.ask("GET", page, &[("if-none-match", &etag)]).await;
        assert_eq!(again.status, 304, "{page}");
    }
    app.execute(renamed).await;
    for page in &pages {
        // Nobody has counted a change.
        assert!(!app.get(page).await.text().contains("Somebody else"));
    }
    let at_work = app.get(&format!("/runs/{MODEL}")).await;
    assert_eq!(at_work.status, 200);
    assert!(at_work.headers.get("etag").is_none());
    let back_at_work = format!("UPDATE runs SET progress = 'running' WHERE id = '{HUMAN}'");
    app.execute(&back_at_work).await;
    for page in &pages {
        assert!(app.get(page).await.text().contains("Somebody else"));
    }
}

/// Reports are read later than their run ends, which counts no change of the data.
#[tokio::test]
async fn losses_that_are_read_later_are_shown() {
    let app = TestApp::seeded().await;
    let pages = [
        format!("/runs/{HUMAN}"),
        "/models/Human%20(replayed%20history)".to_owned(),
    ];
    for page in &pages {
        let text = app.get(page).await.text();
        assert!(!text.contains("Why tests were lost"), "{page}");
    }
    let read = format!(
        r#"INSERT INTO evolution_digests (evolution_id, format, digest, losses)
           SELECT id, 3, '', '{{"losses": {{"1": [{{"class": "wrong_value", "frame": null, "tests": 2}}]}}}}'
           FROM evolutions WHERE run_id = '{HUMAN}';
           UPDATE stored_digests SET n = n + 1"#
    );
    app.execute(&read).await;
    for page in &pages {
        let text = app.get(page).await.text();
        assert!(text.contains("Why tests were lost"), "{page}");
    }
}

/// Whatever the cache has, nobody but its owner sees a private run.
#[tokio::test]
async fn a_hidden_run_never_comes_from_the_cache() {
    let app = TestApp::seeded().await;
    let ada = account(&app, "ada", AccountRole::Submitter).await;
    let owner = ada.identity().unwrap().account_id.clone();
    let ada = bearer(&app, &ada, AccountRole::Reader).await;
    let page = format!("/runs/{HUMAN}");
    let as_owner = [("authorization", ada.as_str())];
    let hide = |visibility: &str| {
        format!(
            "UPDATE runs SET owner = '{owner}', visibility = '{visibility}' WHERE id = '{HUMAN}'"
        )
    };
    app.get(&page).await.header("etag");
    // The changes are not counted: the cache still has the page.
    for visibility in ["private", "withdrawn"] {
        app.execute(&hide(visibility)).await;
        assert_eq!(app.get(&page).await.status, 404, "{visibility}");
        let own = app.ask("GET", &page, &as_owner).await;
        assert_eq!(own.status, 200);
        assert!(own.headers.get("etag").is_none());
        // The owner's page is not there for others now.
        assert_eq!(app.get(&page).await.status, 404, "{visibility}");
    }
    app.execute(&hide("public")).await;
    app.get(&page).await.header("etag");
}
