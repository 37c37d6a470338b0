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
        assert!(line.contains(",,demo,1,paper,exclude,1,"), "{line}");
        assert!(line.ends_with(",1,,,1,2,0"), "{line}");
    }
    let page = app.get("/?split=demo&seen=exclude").await.text();
    let (_, notes) = page.split_once("Unseen tasks only: ").unwrap();
    assert!(notes.contains("No release date, so not ranked: "));
    assert!(notes.contains("count only tasks that both models have"));

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
    assert_eq!(app.get(&runs).await.status, 200);
    // Nothing is known of the other model's training.
    let unseen = app.get(&format!("{runs}&seen=exclude")).await;
    unseen.problem(400, "bad-request");
    let wrong = app.get(&format!("{runs}&seen=x")).await;
    wrong.problem(400, "bad-parameter");
}
