//! Runs of different modes: ranked on boards of their own, and compared.

use serde_json::Value;

use crate::fixture::{HUMAN, MODEL, TestApp};

const RDD: &str = "
    UPDATE runs SET config = replace(config, '\"samples\"', '\"mode\":\"rdd\",\"samples\"'),
           revision = 'another'
      WHERE id = '00000000-0000-7000-8000-000000000002';
    UPDATE changes SET n = n + 1";

fn ids(rows: &Value) -> Vec<String> {
    let items = rows["items"].as_array().unwrap().iter();
    items
        .map(|row| row["run_id"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn each_mode_has_its_leaderboard() {
    let app = TestApp::ranked_and_changed(RDD).await;
    let board = async |query: &str| {
        let path = format!("/api/v1/leaderboard?split=demo{query}");
        ids(&app.get(&path).await.json())
    };
    assert_eq!(board("").await, [HUMAN]);
    assert_eq!(board("&mode=tdd").await, [HUMAN]);
    // The human baseline is the measure of both.
    assert_eq!(board("&mode=rdd").await, [HUMAN, MODEL]);
    let wrong = app.get("/api/v1/leaderboard?mode=both").await;
    wrong.problem(400, "bad-parameter");

    let csv = app.get("/api/v1/leaderboard.csv?split=demo&mode=rdd").await;
    let model = csv.text();
    let model = model.lines().find(|line| line.contains(MODEL)).unwrap();
    assert!(model.contains(",rdd,"), "{model}");
    for (page, shown) in [
        ("/?split=demo", false),
        ("/?split=demo&mode=rdd", true),
        ("/matrix?split=demo&mode=rdd", true),
        ("/api/v1/plots/solved.csv?split=demo", false),
        ("/api/v1/plots/solved.csv?split=demo&mode=rdd", true),
    ] {
        let html = app.get(page).await.text();
        assert_eq!(html.contains(MODEL), shown, "{page}");
    }
}

#[tokio::test]
async fn a_comparison_of_both_says_so() {
    let app = TestApp::ranked_and_changed(RDD).await;
    let path = format!("runs={HUMAN},{MODEL}");
    let versus = app.get(&format!("/api/v1/compare?{path}")).await.json();
    assert_eq!(versus["runs"][1]["mode"], "rdd");
    assert_eq!(versus["runs"][1]["unranked"]["why"], "other_mode");
    assert_eq!(versus["pairs"].as_array().unwrap().len(), 1);
    let page = app.get(&format!("/compare?{path}")).await.text();
    assert!(page.contains("These runs are of different "));
    let choice = app.get("/compare?split=demo").await.text();
    assert!(choice.contains(HUMAN) && choice.contains(MODEL));
}
