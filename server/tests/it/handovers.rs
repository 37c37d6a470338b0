//! Handovers: the matrix, its data, and the pages of a run that goes on with the
//! code of another.

use crate::fixture::{HUMAN, TestApp};

const HANDOVER: &str = "00000000-0000-7000-8000-000000000009";

/// `Juniper` goes on with the human's code after the first iteration: one of
/// four tests of alpha-1 is left, and beta-2 is solved.
const SEED: &str = r#"
    INSERT INTO suites (id, base_in_target, target_passed, base_passed, counts_only, tests, base_outcomes)
      SELECT 'suite-handed', 3, 4, 3, 0, tests, 'pppf' FROM suites WHERE id = 'suite-alpha';
    INSERT INTO runs (id, split, kind, config, provenance, progress, created_at, started_at, finished_at)
    VALUES ('00000000-0000-7000-8000-000000000009', 'demo', 'measured',
      '{"model":"Juniper","provider":"acme","kind":"measured","harness":{"name":"builtin"},"split":"demo","samples":1,"plan":{"max_iterations":2,"max_attempts":10},"handover":{"run":"00000000-0000-7000-8000-000000000001","iteration":1}}',
      '{"platform_version":"0.1.0","metric_version":1,"dataset_digest":"sha256:dd","harness_version":"1","not_handed_over":[{"task_id":"beta-2","sample":1,"why":"solved_at_start"}]}',
      'finished', 1763700000000, 1763700001000, 1763700060000);
    INSERT INTO evolutions (id, run_id, task_id, sample, progress, ending, lease_until, expected_seconds, queued_at,
                            started_at, finished_at, at_iteration, at_role, at_attempt, suite,
                            start_run, start_evolution, start_iteration, start_code)
    VALUES ('e-handed', '00000000-0000-7000-8000-000000000009', 'alpha-1', 1, 'finished', 'iterations_spent', 0, 14.0,
      1763700000000, 1763700001000, 1763700050000, 2, 'test', 1, 'suite-handed',
      '00000000-0000-7000-8000-000000000001', 'e-human-alpha', 1, 'code/0123456789abcdef.tar.zst');
    INSERT INTO iterations (evolution_id, iteration, verdict, in_target, passed, lost, gained, outcomes, collapse,
                            findings, code, test_seconds, finished_at)
    VALUES ('e-handed', 1, 'scored', 3, 3, 1, 1, 'fppp', NULL, '[]', 'code/9', 0.7, 1763700020000),
           ('e-handed', 2, 'scored', 2, 2, 1, 0, 'ffpp', NULL, '[]', 'code/8', 0.7, 1763700050000);
    UPDATE changes SET n = n + 1"#;

#[tokio::test]
async fn the_matrix_by_every_way() {
    let app = TestApp::changed(SEED).await;
    let matrix = app.get("/api/v1/handovers?split=demo").await.json();
    assert_eq!(
        (&matrix["after"], &matrix["choices"][0]),
        (&"1".into(), &"1".into())
    );
    assert_eq!(matrix["writers"][0]["run_id"], HUMAN);
    assert_eq!(matrix["continuers"][0]["model"], "Juniper");
    let cell = &matrix["cells"][0];
    assert_eq!((&cell["tasks"], &cell["left_out"]), (&1.into(), &1.into()));
    // The one open test is closed at once; of three others one is lost, then two.
    let after = cell["by_iteration"].as_array().unwrap();
    let closed: Vec<f64> = after
        .iter()
        .map(|i| i["closed_gap"].as_f64().unwrap())
        .collect();
    assert_eq!(closed, [1.0, 1.0]);
    let lost: Vec<f64> = after.iter().map(|i| i["lost"].as_f64().unwrap()).collect();
    assert_eq!(lost, [1.0 / 3.0, 2.0 / 3.0]);

    let csv = app.get("/api/v1/handovers.csv?split=demo&after=1").await;
    assert!(
        csv.header("content-disposition")
            .contains("swe-ci-handovers.csv")
    );
    let text = csv.text();
    let lines: Vec<&str> = text.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[1].contains(",Juniper,builtin,tdd,"), "{text}");

    for (query, shown) in [
        ("", "2 iterations later"),
        ("?split=demo&at=1", "1 iteration later"),
        ("?at=99", "2 iterations later"),
        (
            "?after=7",
            "No public handover on this split is finished yet",
        ),
        (
            "?split=other",
            "No public handover on this split is finished yet",
        ),
    ] {
        let page = app.get(&format!("/handover{query}")).await;
        assert_eq!(page.status, 200, "{query}");
        assert!(page.text().contains(shown), "{query}: {}", page.text());
    }
    let page = app.get("/handover?split=demo").await.text();
    for part in [
        &format!("href=\"/runs/{HANDOVER}\"") as &str,
        "lost 0.67",
        "href=\"/api/v1/handovers.csv?split=demo\"",
    ] {
        assert!(page.contains(part), "lacks {part}");
    }
    let empty = TestApp::empty().await;
    assert!(empty.get("/handover").await.text().contains("No tasks yet"));
}

#[tokio::test]
async fn it_is_another_benchmark() {
    let app = TestApp::changed(SEED).await;
    for path in [
        "/api/v1/leaderboard?split=demo",
        "/api/v1/matrix?split=demo",
    ] {
        assert!(!app.get(path).await.text().contains(HANDOVER), "{path}");
    }
    let compared = app
        .get(&format!("/api/v1/compare?runs={HUMAN},{HANDOVER}"))
        .await;
    let problem = compared.problem(400, "bad-request").to_string();
    assert!(problem.contains("start from different code"), "{problem}");
    let model = app.get("/api/v1/models/Juniper").await.json();
    assert_eq!(
        model["runs"][0]["standings"].as_array().map(Vec::len),
        Some(0)
    );

    let run = app.get(&format!("/runs/{HANDOVER}")).await.text();
    for part in [
        "Goes on with the code of",
        "already solved when it would be handed over",
        "handover",
    ] {
        assert!(run.contains(part), "lacks {part}");
    }
    let run = app.get(&format!("/api/v1/runs/{HANDOVER}")).await.json();
    let start = &run["evolution_list"][0]["start"];
    assert_eq!(
        (&start["code"], &start["iteration"]),
        (&"0123456789abcdef".into(), &1.into())
    );
    let evolution = app
        .get(&format!("/runs/{HANDOVER}/tasks/alpha-1"))
        .await
        .text();
    assert!(evolution.contains("iteration 1 of another run"));
    let card = app
        .get(&format!("/api/v1/runs/{HANDOVER}/card"))
        .await
        .json();
    assert_eq!(card["handover"]["run"], HUMAN);
}

#[tokio::test]
async fn invalid_queries_are_named() {
    let app = TestApp::changed(SEED).await;
    for path in ["/api/v1/handovers", "/api/v1/handovers.csv"] {
        let wrong = app.get(&format!("{path}?after=0")).await;
        assert_eq!(wrong.problem(400, "bad-parameter")["parameter"], "after");
        let wrong = app.get(&format!("{path}?at=1")).await;
        wrong.problem(400, "bad-parameter");
        app.get(&format!("{path}?split=nowhere"))
            .await
            .problem(404, "not-found");
    }
    // The writer's run is withdrawn: nobody sees what became of its code.
    app.execute("UPDATE runs SET visibility = 'withdrawn' WHERE kind = 'human'; UPDATE changes SET n = n + 1")
        .await;
    let matrix = app.get("/api/v1/handovers?split=demo").await.json();
    assert_eq!(matrix["cells"].as_array().map(Vec::len), Some(0));
}
