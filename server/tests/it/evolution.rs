//! One evolution, one task over all runs, one model: pages and API.

use serde_json::{Value, json};

use crate::fixture::{HUMAN, MODEL, PATIENT, TestApp};

/// A second sample of the model's first task, imported by counts alone.
const COUNTS: &str = r#"
    INSERT INTO suites (id, base_in_target, target_passed, base_passed, counts_only, tests, base_outcomes)
        VALUES ('counts', 2, 4, 2, 1, '[]', '');
    UPDATE evolutions SET suite = 'counts' WHERE run_id = '00000000-0000-7000-8000-000000000001';
    UPDATE iterations SET outcomes = '' WHERE evolution_id LIKE 'e-human-%';
"#;

/// The model usage of the model's first iteration, as the engine records it.
const STEPS: &str = r#"
    INSERT INTO steps (evolution_id, seq, iteration, role, attempt, outcome, detail, product, log, started_at,
                       finished_at, input_tokens, output_tokens)
    VALUES ('e-model-alpha', 1, 1, 'programmer', 1, '"done"', '', NULL, NULL, 1763600100000, 1763600220000, 1234, 56),
           ('e-model-alpha', 2, 1, 'test', 1, '{"scored":{"solved":false}}', '', NULL, NULL, 1763600220000,
            1763600221000, NULL, NULL);
"#;

/// The human baseline with imported results.
const IMPORTED: &str = r#"
    UPDATE iterations SET code = '' WHERE evolution_id LIKE 'e-human-%';
    UPDATE runs SET kind = 'imported',
        config = replace(replace(config, '"kind":"human"', '"kind":"imported"'),
                         '"harness":{"name":"replay","max_chunks":4}', '"harness":{"name":"elsewhere","program":"x"}')
        WHERE id = '00000000-0000-7000-8000-000000000001';
"#;

async fn check(app: &TestApp, path: &str, has: &[&str], lacks: &[&str]) {
    let answer = app.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    // The visible part of the page, without its embedded data.
    let html = answer.text();
    let body = html.split("<footer").next().unwrap();
    for part in has {
        assert!(body.contains(part), "{path} lacks {part}: {body}");
    }
    for part in lacks {
        assert!(!body.contains(part), "{path} has {part}");
    }
}

#[tokio::test]
async fn an_evolution_test_by_test() {
    let app = TestApp::seeded().await;
    let path = format!("/api/v1/runs/{MODEL}/tasks/alpha-1");
    let detail = app.get(&path).await.json();
    assert_eq!(detail["evolution_id"], "e-model-alpha");
    assert_eq!(detail["base_outcomes"], "ppf-");
    assert_eq!(detail["outcomes"], json!(["fpff", null]));
    assert_eq!(detail["node_ids"][3], "tests/test_a.py::four");
    assert_eq!(
        (&detail["samples"], &detail["sample"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(detail["iterations"][1]["verdict"], "collapsed");
    assert_eq!(app.get(&format!("{path}?sample=1")).await.json(), detail);

    let page = format!("/runs/{MODEL}/tasks/alpha-1");
    let row = "aria-label=\"failed, regression\">▾F<";
    let link = format!("{page}?iteration=2#iteration");
    check(
        &app,
        &page,
        &[
            row,
            "✕",
            "::four",
            "3 of 4 tests.",
            &link,
            "all iterations used",
            "regressed · 1",
        ],
        &["<script>alert", " style=\""],
    )
    .await;
    let other = format!("{page}?show=regressed");
    check(&app, &other, &["::one", "1 of 4 tests."], &["::two"]).await;
    let other = format!("{page}?show=never");
    check(
        &app,
        &other,
        &["::three", "::four", "2 of 4 tests."],
        &["::one"],
    )
    .await;
    let other = format!("{page}?q=TWO");
    check(&app, &other, &["::two", "value=\"TWO\""], &["::one"]).await;
    let other = format!("{page}?show=gained");
    check(&app, &other, &["No test matches."], &["::one"]).await;
    let other = format!("{page}?show=flaky");
    check(&app, &other, &["No test matches."], &["::one"]).await;
}

#[tokio::test]
async fn an_iteration_in_detail() {
    let app = TestApp::changed(STEPS).await;
    let page = format!("/runs/{MODEL}/tasks/alpha-1");
    check(&app, &page, &[], &["inspect-title"]).await;
    let chosen = format!("{page}?show=regressed&iteration=1");
    let test = format!("{page}?q=tests%2Ftest_a.py%3A%3Aone&amp;iteration=1#tests");
    check(
        &app,
        &chosen,
        &[
            "id=\"inspect-title\">Iteration 1<",
            "conftest.py was changed",
            "1234 in · 56 out",
            "2 min",
            "Gained: none",
            "Lost: 1 test",
            &test,
            // The filter stays, and the neighbour keeps it.
            "1 of 4 tests.",
            "?show=regressed&amp;iteration=2#iteration",
            "/runs/00000000-0000-7000-8000-000000000002/e-model-alpha/1",
            // The rows of this fixture have no code.
            "cannot be read on this server any more",
            "The steps printed nothing.",
        ],
        &["rel=\"prev\"", "<script>alert"],
    )
    .await;
    let collapsed = format!("{page}?iteration=2");
    let why = "The code no longer runs: ";
    check(&app, &collapsed, &[why, "pytest exit 4"], &["rel=\"next\""]).await;

    let diff = "/api/v1/evolutions/e-model-alpha/iterations/1/diff";
    app.get(diff).await.problem(404, "not-found");
    let log = "/api/v1/evolutions/e-model-alpha/iterations/1/logs";
    app.get(&format!("{log}/test/1"))
        .await
        .problem(404, "not-found");
    app.get(&format!("{log}/tester/1"))
        .await
        .problem(400, "bad-parameter");
    app.get(&format!("{log}/test/x"))
        .await
        .problem(400, "bad-parameter");
}

#[tokio::test]
async fn a_missing_iteration() {
    let app = TestApp::seeded().await;
    for number in ["0", "3", "4294967295"] {
        let page = format!("/runs/{MODEL}/tasks/alpha-1?iteration={number}");
        let says = "There is no such iteration: this evolution has had 2 iterations.";
        check(&app, &page, &[says, "4 tests."], &["<h3>Changes"]).await;
    }
    for nonsense in ["x", "-1", "1.5", "4294967296", ""] {
        let page = format!("/runs/{MODEL}/tasks/alpha-1?iteration={nonsense}");
        check(&app, &page, &["4 tests."], &["inspect-title"]).await;
    }
    let waiting = format!("/runs/{PATIENT}/tasks/alpha-1?iteration=1");
    check(&app, &waiting, &["has had none so far"], &[]).await;
    let nobody = "/api/v1/evolutions/nobody/iterations/1/diff";
    app.get(nobody).await.problem(404, "not-found");
}

#[tokio::test]
async fn the_same_code_twice() {
    let twice = "UPDATE iterations SET code = 'code/1', outcomes = 'pfpp' WHERE evolution_id = 'e-human-alpha'
                 AND iteration = 2; UPDATE iterations SET code = 'code/1' WHERE evolution_id = 'e-human-alpha';";
    let app = TestApp::changed(twice).await;
    let page = format!("/runs/{HUMAN}/tasks/alpha-1");
    let detail = app.get(&format!("/api/v1{page}")).await.json();
    assert_eq!(detail["same_code"], json!([null, 1]));
    let flaky = format!("{page}?show=flaky");
    let sign = "different outcomes on the same code";
    check(
        &app,
        &flaky,
        &["::two", "::four", "2 of 4 tests.", sign],
        &["::one"],
    )
    .await;
}

#[tokio::test]
async fn imported_iterations_name_unknown_values() {
    let app = TestApp::changed(IMPORTED).await;
    let page = format!("/runs/{HUMAN}/tasks/alpha-1?iteration=1");
    let says = [
        "The imported results have none.",
        "the imported results came without the code",
        "The imported results have no logs.",
        "None were recorded.",
    ];
    check(&app, &page, &says, &["Finished"]).await;
    let own = format!("/runs/{HUMAN}/e-human-alpha/1");
    check(&app, &own, &says, &[]).await;
}

#[tokio::test]
async fn pages_ignore_invalid_parameters() {
    let app = TestApp::seeded().await;
    for query in [
        "?show=x&q=&sample=x",
        "?show=%00",
        "?sample=-1",
        "?sample=1.5&foo=bar",
    ] {
        let page = format!("/runs/{HUMAN}/tasks/alpha-1{query}");
        check(&app, &page, &["4 tests."], &[]).await;
    }
    let text = "%3Cscript%3Ealert(1)%3C/script%3E";
    let page = format!("/runs/{HUMAN}/tasks/alpha-1?q={text}");
    check(&app, &page, &["No test matches."], &["<script>alert"]).await;
    let long = format!("/runs/{HUMAN}/tasks/alpha-1?q={}", "x".repeat(5_000));
    check(&app, &long, &["No test matches."], &[]).await;
}

#[tokio::test]
async fn missing_things() {
    let app = TestApp::seeded().await;
    for path in [
        "/runs/nothing/tasks/alpha-1".to_owned(),
        format!("/runs/{HUMAN}/tasks/nothing"),
        format!("/runs/{HUMAN}/tasks/gamma-3"),
        format!("/runs/{HUMAN}/tasks/a%20b"),
        format!("/runs/{HUMAN}/tasks/alpha-1?sample=2"),
        format!("/runs/{HUMAN}/tasks/alpha-1?sample=0"),
        "/models/nobody".to_owned(),
        "/tasks/nothing".to_owned(),
    ] {
        let answer = app.get(&path).await;
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.text().contains("</html>"), "{path}");
    }
    let nobody = app.get("/models/nobody").await.text();
    assert!(nobody.contains("including capitals"));

    for path in [
        "/api/v1/runs/nothing/tasks/alpha-1".to_owned(),
        format!("/api/v1/runs/{HUMAN}/tasks/nothing"),
        format!("/api/v1/runs/{HUMAN}/tasks/alpha-1?sample=2"),
        "/api/v1/models/nobody".to_owned(),
        "/api/v1/tasks/nothing/results".to_owned(),
    ] {
        app.get(&path).await.problem(404, "not-found");
    }
    for query in [
        "sample=0",
        "sample=x",
        "sample=-1",
        "sample=1&sample=2",
        "show=all",
    ] {
        let path = format!("/api/v1/runs/{HUMAN}/tasks/alpha-1?{query}");
        app.get(&path).await.problem(400, "bad-parameter");
    }
    let path = format!("/api/v1/runs/{HUMAN}/tasks/a%20b");
    app.get(&path).await.problem(400, "bad-parameter");
}

#[tokio::test]
async fn a_running_evolution_and_a_queued_one() {
    let app = TestApp::seeded().await;
    let running = format!("/runs/{MODEL}/tasks/beta-2");
    check(
        &app,
        &running,
        &["still running", "scored when it ends"],
        &[],
    )
    .await;
    let waiting = format!("/runs/{PATIENT}/tasks/alpha-1");
    check(&app, &waiting, &["4 tests.", "scored when it ends"], &[]).await;
}

#[tokio::test]
async fn known_by_counts_alone() {
    let app = TestApp::changed(COUNTS).await;
    let page = format!("/runs/{HUMAN}/tasks/alpha-1");
    check(
        &app,
        &page,
        &["not which", "reference"],
        &["heat-frame", ">paper<"],
    )
    .await;
    let detail = app.get(&format!("/api/v1{page}")).await.json();
    assert_eq!(
        (&detail["node_ids"], &detail["outcomes"]),
        (&json!([]), &json!([]))
    );
    check(&app, "/tasks/alpha-1", &["known by counts alone"], &[]).await;
}

#[tokio::test]
async fn a_task_over_all_runs() {
    let app = TestApp::seeded().await;
    let results = app.get("/api/v1/tasks/beta-2/results").await.json();
    // It is in two splits, and one of them has runs.
    assert_eq!(results.as_array().unwrap().len(), 1);
    assert_eq!(results[0]["run_id"], HUMAN);
    assert_eq!(results[0]["scores"][0]["convention"], "paper");
    assert_eq!(results[0]["scores"][0]["evoscore"], 1.0);
    let link = format!("/runs/{HUMAN}/tasks/alpha-1");
    check(
        &app,
        "/tasks/alpha-1?tests=all&convention=reference",
        &[
            "Results of models",
            &link,
            "tests/test_a.py",
            "/tasks/alpha-1?convention=reference",
        ],
        &["<script>alert"],
    )
    .await;
    check(
        &app,
        "/tasks/gamma-3",
        &["No run is scored on this task yet"],
        &[],
    )
    .await;
}

#[tokio::test]
async fn a_model_over_all_runs() {
    let app = TestApp::ranked().await;
    // Its name has a slash, which stays within one path segment.
    let name = "%3Cscript%3Ealert%281%29%3C%2Fscript%3E";
    let detail = app.get(&format!("/api/v1/models/{name}")).await.json();
    assert_eq!(detail["model"], "<script>alert(1)</script>");
    assert_eq!(detail["runs"][0]["run_id"], MODEL);
    let standing = &detail["runs"][0]["standings"][0];
    assert_eq!(
        (
            &standing["convention"],
            &standing["of"],
            &standing["row"]["rank"]
        ),
        (&json!("paper"), &json!(2), &json!(2))
    );
    // EvoScore at γ = 1 is the mean height of the trend.
    let trend = &detail["runs"][0]["trends"][0];
    assert_eq!(trend["convention"], "paper");
    let changes = trend["changes"].as_array().unwrap();
    let mean = changes.iter().filter_map(Value::as_f64).sum::<f64>() / changes.len() as f64;
    let score = standing["row"]["evoscore"].as_f64().unwrap();
    assert!((mean - score).abs() < 1e-5, "{mean} {score}");
    let groups = detail["strengths"][0]["groups"].as_array().unwrap();
    let of_alpha = json!({"by": "repository", "name": "alpha"});
    assert!(groups.iter().any(|group| group["common"] == of_alpha));

    let link = format!("/runs/{MODEL}");
    let page = format!("/models/{name}");
    check(
        &app,
        &page,
        &[
            &link,
            "2 of 2",
            "few tasks",
            "1 run on 1 split",
            "The state of its code",
        ],
        &["<script>alert"],
    )
    .await;
    check(&app, &format!("{page}?convention=x"), &["2 of 2"], &[]).await;
    let waiting = ["queued", "Nothing is scored in this convention yet"];
    check(&app, "/models/patient", &waiting, &[]).await;
}
