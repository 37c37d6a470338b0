//! The list of runs: its filters and scores, by API and on its page.

use serde_json::{Value, json};
use swe_ci_views::account::AccountRole;

use crate::fixture::{HUMAN, MODEL, PATIENT, TestApp};
use crate::people::{Browser, account, bearer};

fn ids(page: &Value) -> Vec<&str> {
    let items = page["items"].as_array().unwrap().iter();
    items.map(|run| run["run_id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_api_filters_runs() {
    let app = TestApp::seeded().await;
    let check = async |query: &str, expect: &[&str]| {
        let page = app.get(&format!("/api/v1/runs?{query}")).await.json();
        assert_eq!(ids(&page), expect, "{query}");
    };
    check("", &[PATIENT, MODEL, HUMAN]).await;
    check("progress=finished", &[HUMAN]).await;
    check("progress=running&split=demo", &[MODEL]).await;
    check("split=other", &[]).await;
    check("kind=human", &[HUMAN]).await;
    check("kind=measured,imported&split=demo", &[PATIENT, MODEL]).await;
    check("text=acme", &[PATIENT, MODEL]).await;
    check("text=Patient%20REPLAY", &[PATIENT]).await;
    check(
        "text=acme&after=00000000-0000-7000-8000-000000000003",
        &[MODEL],
    )
    .await;
    // Of a run that is gone.
    check(
        "after=00000000-0000-7000-8000-000000000009",
        &[PATIENT, MODEL, HUMAN],
    )
    .await;
    check("mine=no&text=nobody", &[]).await;
    let first = app.get("/api/v1/runs?text=acme&limit=1").await.json();
    assert_eq!(
        (ids(&first), &first["next"]),
        (vec![PATIENT], &json!(PATIENT))
    );

    let unknown = app.get("/api/v1/runs?split=nothing").await;
    unknown.problem(404, "not-found");
    for wrong in ["progress=done", "mine=true", "split=..%2F", "kind=robot"] {
        let answer = app.get(&format!("/api/v1/runs?{wrong}")).await;
        answer.problem(400, "bad-parameter");
    }
}

#[tokio::test]
async fn only_accounts_have_runs_of_their_own() {
    let app = TestApp::seeded().await;
    let visitor = app.get("/api/v1/runs?mine=yes").await;
    visitor.problem(401, "unauthenticated");
    assert_eq!(app.get("/runs?mine=yes").await.status, 401);
    assert!(!app.get("/runs").await.text().contains("Only mine"));

    let ada = account(&app, "ada", AccountRole::Submitter).await;
    let id = &ada.identity().unwrap().account_id;
    let own = format!(
        "UPDATE runs SET owner = '{id}', visibility = 'private' WHERE id = '{MODEL}';
         UPDATE runs SET owner = 'somebody', visibility = 'private' WHERE id = '{PATIENT}'"
    );
    app.execute(&own).await;
    let bearer = bearer(&app, &ada, AccountRole::Reader).await;
    let list = async |query: &str| {
        let path = format!("/api/v1/runs{query}");
        app.ask("GET", &path, &[("authorization", &bearer)]).await
    };
    assert_eq!(ids(&list("").await.json()), [MODEL, HUMAN]);
    assert_eq!(ids(&list("?mine=yes").await.json()), [MODEL]);
    let mut browser = Browser::signed_in(&app, "ada").await;
    let page = browser.get("/runs?mine=yes").await.text();
    assert!(page.contains("Only mine") && page.contains(MODEL));
    assert!(!page.contains(HUMAN) && !page.contains(PATIENT));
}

#[tokio::test]
async fn solved_and_gave_up_look_different() {
    let app = TestApp::seeded().await;
    app.execute("UPDATE evolutions SET ending = 'agent_gave_up' WHERE id = 'e-human-beta'")
        .await;
    let page = app.get("/runs").await.text();
    for part in [
        "✓ <!></span>1 solved",
        "✕ <!></span>1 gave up",
        "2 scored of 2",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[tokio::test]
async fn a_run_that_waits_for_a_decision_says_so() {
    let app = TestApp::seeded().await;
    app.execute(&format!(
        r#"INSERT INTO preflights (run_id, state, at, findings) VALUES ('{PATIENT}', 'failed', 1763600200000,
           '[{{"subject":"agents","good":false,"says":"key refused","advice":[],"last_lines":[]}}]')"#
    ))
    .await;
    let says = "preflight failed: key refused";
    let list = app.get("/runs").await.text();
    assert!(list.contains(says), "{list}");
    let page = app.get(&format!("/runs/{PATIENT}")).await.text();
    for part in [
        "<title>patient on demo: preflight failed: key refused · swe-ci</title>",
        "Nothing has started, because the preflight failed: key refused.",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let api = app.get(&format!("/api/v1/runs/{PATIENT}")).await.json();
    assert_eq!(api["preflight"]["state"], "failed");
}

/// The numbers of the leaderboard, for runs that take a rank or have some tasks only.
#[tokio::test]
async fn finished_runs_have_scores() {
    let app = TestApp::seeded().await;
    let run = async |id: &str| {
        let page = app.get("/api/v1/runs").await.json();
        let items = page["items"].as_array().unwrap().clone();
        let found = items.into_iter().find(|run| run["run_id"] == id);
        found.unwrap()
    };
    let human = run(HUMAN).await;
    assert_eq!(
        (&human["evoscore"], &human["iterations"]),
        (&json!(0.9375), &json!(3))
    );
    let model = run(MODEL).await;
    assert_eq!(
        (&model["evoscore"], &model["iterations"]),
        (&Value::Null, &json!(2))
    );

    let finding = r#"[{"grade":"suspicious","kind":"equality","text":"x == y"}]"#;
    for (changed, why) in [
        (
            "config = replace(config, '\"samples\"', '\"tasks\":[\"alpha-1\"],\"samples\"')",
            "",
        ),
        (
            "config = replace(config, '\"tasks\":[\"alpha-1\"],', '')",
            "",
        ),
        (
            "visibility = 'withdrawn', withdrawn = 'a mistake'",
            "withdrawn",
        ),
        ("visibility = 'public', withdrawn = ''", ""),
        (
            "config = replace(config, '\"samples\"', '\"allow_hosted_tools\":true,\"samples\"')",
            "hosted tools",
        ),
        (
            "config = replace(config, '\"allow_hosted_tools\":true,', '')",
            "",
        ),
    ] {
        app.execute(&format!("UPDATE runs SET {changed} WHERE id = '{HUMAN}'"))
            .await;
        let page = app
            .engine
            .runs(&Default::default(), &Default::default())
            .await
            .unwrap();
        let human = page
            .items
            .iter()
            .find(|run| run.summary.run_id == HUMAN)
            .unwrap();
        assert_eq!(human.evoscore.is_none(), !why.is_empty(), "{changed}");
    }
    app.execute(&format!(
        "UPDATE iterations SET findings = '{finding}' WHERE evolution_id = 'e-human-beta';
         UPDATE runs SET revision = 'another'"
    ))
    .await;
    let held = run(HUMAN).await;
    assert_eq!(held["evoscore"], Value::Null);
    assert_eq!(
        held["unranked"],
        json!({"why": "held_for_review", "open": 1}),
        "{held}"
    );
    let page = app.get("/runs").await.text();
    assert!(page.contains("held for review"));
}

#[tokio::test]
async fn the_page_keeps_its_filters() {
    let app = TestApp::changed(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 59)
         INSERT INTO runs (id, split, kind, config, provenance, progress, created_at)
         SELECT printf('00000000-0000-7000-9000-%012d', i), split, kind, replace(config, 'patient', 'crowd'),
                provenance, progress, created_at
         FROM runs JOIN n ON runs.id = '00000000-0000-7000-8000-000000000003'",
    )
    .await;
    let page = app
        .get("/runs?text=crowd&progress=queued&split=demo")
        .await
        .text();
    assert!(!page.contains(HUMAN));
    let next = "/runs?progress=queued&amp;split=demo&amp;text=crowd&amp;after=00000000-0000-7000-9000-000000000010";
    assert!(page.contains(next), "{page}");
    let rest = app.get(&next.replace("&amp;", "&")).await.text();
    assert!(rest.contains("00000000-0000-7000-9000-000000000009"));
    assert!(!rest.contains("href=\"/runs/00000000-0000-7000-9000-000000000010\""));
    assert!(rest.contains("value=\"crowd\""), "the form keeps its text");
    assert!(!rest.contains("rel=\"next\""));

    let none = app.get("/runs?text=nobody").await;
    assert_eq!(none.status, 200);
    assert!(none.text().contains("No runs match these filters."));
    assert!(
        none.text()
            .contains("<a href=\"/runs\">Clear the filters</a>")
    );
    assert_eq!(app.get("/runs?split=nothing").await.status, 404);
}
