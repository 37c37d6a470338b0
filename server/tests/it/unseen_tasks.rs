//! Rankings of tasks that no model can have seen: the same by every address,
//! and cached as long as the state of the data.

use crate::fixture::TestApp;

/// The human's run counts as a model's, released between the two targets.
const DATED: &str = "
    UPDATE runs SET config = replace(config, '\"provider\":\"\"', '\"provider\":\"\",\"release_date\":\"2025-06-01\"')
      WHERE kind = 'human';
    UPDATE tasks SET target_time = 1735689600000 WHERE id = 'alpha-1';
    UPDATE tasks SET target_time = 1767225600000 WHERE id = 'beta-2';
    UPDATE changes SET n = n + 1";

#[tokio::test]
async fn page_json_and_table_agree() {
    let app = TestApp::changed(DATED).await;
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
    app.execute("UPDATE tasks SET target_time = 1767225600000 WHERE id = 'alpha-1'; UPDATE changes SET n = n + 1")
        .await;
    let rows = app
        .get("/api/v1/leaderboard?split=demo&seen=exclude")
        .await
        .json();
    assert_eq!(rows["items"][0]["tasks"], 2);
    assert_eq!(rows["items"][0]["evoscore"], all["items"][0]["evoscore"]);
}
