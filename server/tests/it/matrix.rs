//! Every task against every run: page, API and table.

use serde_json::json;

use crate::fixture::{HUMAN, MODEL, TestApp};

/// A run by counts alone, and a name that would break a page.
const COUNTS: &str = r#"
    INSERT INTO suites (id, base_in_target, target_passed, base_passed, counts_only, tests, base_outcomes)
        VALUES ('counts', 2, 4, 2, 1, '[]', '');
    UPDATE evolutions SET suite = 'counts' WHERE run_id = '00000000-0000-7000-8000-000000000001';
"#;

async fn page(app: &TestApp, path: &str) -> String {
    let answer = app.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    // The visible part of the page, without its embedded data.
    answer.text().split("<footer").next().unwrap().to_owned()
}

/// The tasks of the page, in its order.
fn tasks(html: &str) -> Vec<&str> {
    let heads = html.split("<th scope=\"row\"><a href=\"/tasks/").skip(1);
    heads.filter_map(|rest| rest.split('"').next()).collect()
}

#[tokio::test]
async fn a_matrix_without_a_script() {
    let app = TestApp::ranked().await;
    let html = page(&app, "/matrix?split=demo").await;
    // The model has lost a test of alpha-1 and gained none of beta-2.
    assert_eq!(tasks(&html), ["alpha-1", "beta-2"]);
    for part in [
        &format!("<a href=\"/runs/{HUMAN}/tasks/alpha-1\">") as &str,
        &format!("<a href=\"/runs/{MODEL}/tasks/alpha-1\">"),
        "aria-label=\"solved\"",
        "href=\"/about#term-zero-regression-resolution\"",
        "sort=-zrr",
        "aria-label=\"never regressed\"",
        "href=\"/api/v1/matrix.csv?split=demo\"",
        "data-level=\"low\"",
        "/models/%3Cscript%3Ealert%281%29%3C%2Fscript%3E",
    ] {
        assert!(html.contains(part), "lacks {part}: {html}");
    }
    for part in ["<script>alert", " style=\""] {
        assert!(!html.contains(part), "has {part}");
    }
    for (sort, expect) in [
        ("-mean", ["beta-2", "alpha-1"]),
        ("task", ["alpha-1", "beta-2"]),
        ("-task", ["beta-2", "alpha-1"]),
    ] {
        let html = page(&app, &format!("/matrix?split=demo&sort={sort}")).await;
        assert_eq!(tasks(&html), expect, "{sort}");
    }
    for from in ["/tasks?split=demo", "/tasks/alpha-1"] {
        let html = page(&app, from).await;
        assert!(html.contains("href=\"/matrix?split=demo\""), "{from}");
    }
}

#[tokio::test]
async fn unreadable_and_missing_recordings() {
    let app = TestApp::seeded().await;
    let plain = page(&app, "/matrix").await;
    for query in ["?sort=nonsense", "?view=nonsense", "?gamma=x&convention=x"] {
        let html = page(&app, &format!("/matrix{query}")).await;
        assert_eq!(tasks(&html), tasks(&plain), "{query}");
    }
    let html = page(&app, "/matrix?split=other").await;
    assert!(html.contains("No run has a score on this split"));
    let html = page(&app, "/tasks?view=nonsense").await;
    assert!(html.contains("alpha-1"));
    let nowhere = app.get("/matrix?split=nowhere").await;
    assert_eq!(nowhere.status, 404);
    let html = page(&TestApp::empty().await, "/matrix").await;
    assert!(html.contains("No tasks yet"));

    for path in ["/api/v1/matrix", "/api/v1/matrix.csv"] {
        let app = &app;
        let refused = async |query: &str| {
            let answer = app.get(&format!("{path}?{query}")).await;
            answer.problem(400, "bad-parameter")
        };
        assert_eq!(refused("sort=hardest").await["parameter"], "sort");
        assert_eq!(refused("gamma=0").await["parameter"], "gamma");
        assert_eq!(refused("view=matrix").await["parameter"], "view");
        let nowhere = app.get(&format!("{path}?split=nowhere")).await;
        nowhere.problem(404, "not-found");
    }
}

#[tokio::test]
async fn the_same_as_data() {
    let app = TestApp::ranked().await;
    let matrix = app.get("/api/v1/matrix?split=demo").await.json();
    let columns = matrix["columns"].as_array().unwrap();
    assert_eq!((&columns[0]["run_id"], columns.len()), (&json!(HUMAN), 2));
    assert_eq!(columns[1]["absence"], "not_yet");
    let rows = matrix["rows"].as_array().unwrap();
    assert_eq!(rows[0]["task_id"], "alpha-1");
    // (3/4 + 1 + 1 + 1) / 4 is the human's; people are no model.
    assert_eq!(
        (&rows[0]["models"], &rows[0]["solved_by"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(rows[0]["mean"], rows[0]["cells"][1]["evoscore"]);
    assert_eq!(
        (&columns[0]["zrr"], &rows[0]["zrr_by"]),
        (&json!(1.0), &json!(0))
    );
    assert_eq!(rows[0]["cells"][0]["zrr"], 1.0);
    assert_eq!(rows[1]["mean"], 0.0);

    let table = app.get("/api/v1/matrix.csv?split=demo&sort=-task").await;
    assert_eq!(table.header("content-type"), "text/csv; charset=utf-8");
    assert!(
        table
            .header("content-disposition")
            .contains("swe-ci-matrix.csv")
    );
    let text = table.text();
    let lines: Vec<&str> = text.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 5, "{text}");
    assert!(
        lines[1].contains(",,1,demo,1,paper,include,beta-2,beta,"),
        "{text}"
    );
    assert!(lines[2].ends_with(",measured,tdd,0,0,1,0,1,"), "{text}");

    // A run by counts alone has a column in one convention.
    let app = TestApp::ranked_and_changed(COUNTS).await;
    let html = page(&app, "/matrix?split=demo").await;
    assert!(html.contains("1 run known by counts alone"));
    let other = "/api/v1/matrix?split=demo&convention=reference";
    let columns = app.get(other).await.json()["columns"].clone();
    assert_eq!(columns.as_array().unwrap().len(), 2);
}
