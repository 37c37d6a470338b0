//! Rankings of tasks that no model can have seen: the same by every address,
//! and cached as long as the state of the data.

use crate::fixture::{HUMAN, MODEL, TestApp};

/// The human's run counts as a model's, released between the two targets.
const DATED: &str = "
    UPDATE runs SET config = replace(config, '\"provider\":\"\"', '\"provider\":\"\",\"release_date\":\"2025-06-01\"')
      WHERE kind = 'human';
    UPDATE task_revisions SET target_time = 1735689600000 WHERE id = 'alpha-1';
    UPDATE task_revisions SET target_time = 1767225600000 WHERE id = 'beta-2';
    UPDATE changes SET n = n + 1";

#[tokio::test]
async fn page_json_and_table_agree() {
    let app = TestApp::ranked_and_changed(DATED).await;
    let all = app.get("/api/v1/leaderboard?split=demo").await.json();
    assert_eq!(all["items"][0]["tasks"], 2);
    // Twice: rendered, and cached.
    for _ in 0..2 {
        let rows = app
            .get("/api/v1/leaderboard?split=demo&seen=exclude")
            .await
            .json();
        let [row] = rows["items"].as_array().unwrap().as_slice() else {
            panic!("{rows}")
        };
        // Only beta-2 is younger, and reaches its target at once.
        assert_eq!((&row["tasks"], &row["evoscore"]), (&1.into(), &1.0.into()));
        let table = app
            .get("/api/v1/leaderboard.csv?split=demo&seen=exclude&columns=evoscore,tasks")
            .await
            .text();
        let line = table.lines().nth(1).unwrap();
        assert!(line.starts_with("demo,1,paper,exclude,1,"), "{line}");
        assert!(line.ends_with(",1,,,1,2,0"), "{line}");
    }
    let page = app.get("/?split=demo&seen=exclude").await.text();
    let (_, notes) = page.split_once("Unseen tasks only: ").unwrap();
    assert!(notes.contains("No release date, so not ranked: "));

    // One more known release date changes all of them.
    app.execute("UPDATE task_revisions SET target_time = 1767225600000 WHERE id = 'alpha-1'; UPDATE changes SET n = n + 1")
        .await;
    let rows = app
        .get("/api/v1/leaderboard?split=demo&seen=exclude")
        .await
        .json();
    assert_eq!(rows["items"][0]["tasks"], 2);
    assert_eq!(rows["items"][0]["evoscore"], all["items"][0]["evoscore"]);
}

/// Of the human's two tasks one is of before the release, one of after.
#[tokio::test]
async fn scores_by_month() {
    let app = TestApp::changed(DATED).await;
    let path = format!("/api/v1/runs/{HUMAN}/freshness");
    let fresh = app.get(&path).await.json();
    assert_eq!(fresh["learnt_until"], "2025-06-01");
    let months = fresh["months"].as_array().unwrap();
    assert_eq!((months.len(), &months[0]["month"]), (2, &"2025-01".into()));
    assert_eq!(
        (&months[0]["unseen"], &months[1]["unseen"]),
        (&0.into(), &1.into())
    );
    // Half the gap of alpha, then all of it: (0.5 + 3) / 4; beta is solved at once.
    let change = &fresh["unseen"];
    assert_eq!(
        (&change["from"], &change["to"]),
        (&0.875.into(), &1.0.into())
    );
    assert_eq!(change["change"], 0.125);
    let other = app.get(&format!("{path}?against={MODEL}")).await.json();
    assert_eq!(other["against"]["from_tasks"], 1);
    app.get(&format!("{path}?against=nobody"))
        .await
        .problem(404, "not-found");
    app.get(&format!("{path}?month=1"))
        .await
        .problem(400, "bad-parameter");

    let csv = app.get(&format!("{path}.csv")).await.text();
    let lines: Vec<&str> = csv.split_terminator("\r\n").collect();
    assert!(
        lines[1].ends_with(",1,paper,2025-01,1,1,0,0.875,,"),
        "{csv}"
    );
    let page = app.get(&format!("/runs/{HUMAN}")).await.text();
    assert!(page.contains("By the month of the task") && page.contains("2025-01"));
    assert!(page.contains("The model may know code up to 2025-06-01."));
}

/// The human's history replayed on the other split too, a year later.
const TWO_SPLITS: &str = "
    INSERT INTO runs (id, split, kind, config, provenance, progress, created_at, started_at, finished_at)
      SELECT '00000000-0000-7000-8000-00000000000a', 'other', kind,
             replace(config, '\"split\":\"demo\"', '\"split\":\"other\"'), provenance, progress,
             created_at, started_at, finished_at
        FROM runs WHERE kind = 'human';
    INSERT INTO evolutions (id, run_id, task_id, sample, progress, ending, lease_until, expected_seconds,
                            queued_at, started_at, finished_at, at_iteration, at_role, at_attempt, suite)
      SELECT 'e-other-beta', '00000000-0000-7000-8000-00000000000a', task_id, sample, progress, ending,
             lease_until, expected_seconds, queued_at, started_at, finished_at, at_iteration, at_role,
             at_attempt, suite
        FROM evolutions WHERE id = 'e-human-beta';
    INSERT INTO iterations (evolution_id, iteration, verdict, in_target, passed, lost, gained, outcomes,
                            findings, code, test_seconds, finished_at)
      SELECT 'e-other-beta', iteration, verdict, in_target, passed, lost, gained, outcomes, findings, code,
             test_seconds, finished_at
        FROM iterations WHERE evolution_id = 'e-human-beta';
    UPDATE changes SET n = n + 1";

#[tokio::test]
async fn a_model_from_split_to_split() {
    let app = TestApp::changed(DATED).await;
    const NAME: &str = "Human%20%28replayed%20history%29";
    let json = format!("/api/v1/models/{NAME}");
    let page = format!("/models/{NAME}");
    assert!(app.get(&json).await.json().get("splits").is_none());
    assert!(!app.get(&page).await.text().contains("From split to split"));

    app.execute(TWO_SPLITS).await;
    let detail = app.get(&json).await.json();
    let splits = &detail["splits"][0]["splits"];
    let seen = |at: usize, field: &str| splits[at][field].clone();
    // The youngest targets of both are of one day; the older one has half the gap
    // of alpha first, then all of it: (0.875 + 1) / 2.
    assert_eq!(
        (seen(0, "split"), seen(1, "split")),
        ("demo".into(), "other".into())
    );
    assert_eq!(
        (seen(0, "evoscore"), seen(1, "evoscore")),
        (0.9375.into(), 1.0.into())
    );
    assert_eq!(seen(1, "change")["change"], 0.0625);
    assert_eq!(
        (seen(1, "shared_tasks"), seen(0, "change")),
        (1.into(), serde_json::Value::Null)
    );
    let html = app.get(&page).await.text();
    for part in [
        "From split to split",
        "+0.06",
        "2025-01-01 to 2026-01-01",
        "data-label=\"ZRR\"",
    ] {
        assert!(html.contains(part), "{part}");
    }
    assert!(html.contains(&format!("href=\"{page}?seen=exclude\"")));
}

#[tokio::test]
async fn a_model_on_unseen_tasks() {
    let app = TestApp::changed(DATED).await;
    let name = "Human%20%28replayed%20history%29";
    let detail = app
        .get(&format!("/api/v1/models/{name}?seen=exclude"))
        .await
        .json();
    let row = &detail["runs"][0]["standings"][0]["row"];
    assert_eq!((&row["tasks"], &row["evoscore"]), (&1.into(), &1.0.into()));
    let html = app
        .get(&format!("/models/{name}?seen=exclude"))
        .await
        .text();
    assert!(
        html.contains("Only tasks count whose target is younger"),
        "{html}"
    );
    assert!(html.contains(&format!(
        "href=\"/models/{name}?convention=reference&amp;seen=exclude\""
    )));
    assert!(html.contains(&format!("href=\"/api/v1/models/{name}?seen=exclude\"")));
    let undated = "%3Cscript%3Ealert%281%29%3C%2Fscript%3E";
    let html = app
        .get(&format!("/models/{undated}?seen=exclude"))
        .await
        .text();
    assert!(
        html.contains("neither a training cutoff nor a release date"),
        "{html}"
    );
    app.get(&format!("/api/v1/models/{name}?seen=x"))
        .await
        .problem(400, "bad-parameter");
}

#[tokio::test]
async fn matrix_and_comparison_of_unseen_tasks() {
    let app = TestApp::changed(DATED).await;
    let matrix = app
        .get("/api/v1/matrix?split=demo&seen=exclude")
        .await
        .json();
    assert_eq!(matrix["rows"].as_array().unwrap().len(), 1);
    assert_eq!(matrix["rows"][0]["task_id"], "beta-2");
    let page = app.get("/matrix?split=demo&seen=exclude").await.text();
    assert!(page.contains("/tasks/beta-2") && !page.contains("/tasks/alpha-1"));
    let runs = format!("/api/v1/compare?runs={HUMAN},{MODEL}");
    let all = app.get(&runs).await.json();
    assert_eq!(all["months"].as_array().map(Vec::len), Some(2));
    // Nothing is known of the other model's training.
    let unseen = app.get(&format!("{runs}&seen=exclude")).await;
    unseen.problem(400, "bad-request");
    let wrong = app.get(&format!("{runs}&seen=x")).await;
    wrong.problem(400, "bad-parameter");
}
