//! Runs side by side: the page and the API, and their errors for runs that
//! cannot be compared.

use crate::fixture::{Answer, HUMAN, MODEL, PATIENT, TestApp};

/// The finished run imported by counts alone, and a run of another split that
/// takes over the model's only evolution.
const COUNTS_ONLY: &str = r"
    INSERT INTO suites (id, base_in_target, target_passed, base_passed, counts_only, tests, base_outcomes)
        VALUES ('counts', 2, 4, 2, 1, '[]', '');
    UPDATE evolutions SET suite = 'counts' WHERE run_id = '00000000-0000-7000-8000-000000000001';
";
const ANOTHER_SPLIT: &str = "UPDATE runs SET split = 'other', config = replace(config, '\"demo\"', '\"other\"') \
     WHERE id = '00000000-0000-7000-8000-000000000002';";
const NOTHING_SHARED: &str = "UPDATE evolutions SET ending = 'blocked' WHERE id = 'e-human-alpha';";

/// The visible part of the page, without its embedded data.
fn body(answer: &Answer) -> String {
    answer.text().split("<footer").next().unwrap().to_owned()
}

#[tokio::test]
async fn two_runs_side_by_side() {
    let app = TestApp::seeded().await;
    let path = format!("/api/v1/compare?runs={HUMAN},{MODEL}&task=alpha-1");
    let found = app.get(&path).await.json();
    assert_eq!(found["runs"][0]["run_id"], HUMAN);
    assert_eq!(found["left_out"], serde_json::json!([1, 0]));
    let task = &found["tasks"][0];
    assert_eq!(task["task_id"], "alpha-1");
    // With base 2 and target 4: 3, then 4 until the end; and 1, then a collapse
    // until the end. (0.5 + 1 + 1 + 1) / 4 and (−0.5 − 1 − 1 − 1) / 4.
    assert_eq!(task["results"][0]["evoscore"], 0.875);
    assert_eq!(task["results"][1]["evoscore"], -0.875);
    assert_eq!(task["results"][1]["regressions"], 2.0);
    let comparison = &found["pairs"][0]["comparison"];
    assert_eq!(comparison["difference"], 1.75);
    assert_eq!(
        (&comparison["tasks"], &comparison["wins"]),
        (&1.into(), &1.into())
    );
    assert!(comparison["interval"].is_null(), "one repository");
    let course = &found["task"]["runs"][1][0];
    assert_eq!(course["passes"], serde_json::json!([1, 0]));
    assert_eq!(course["regressions"], serde_json::json!([1, 2]));

    // Samples of different weights, in the opposite order.
    let path = format!("/api/v1/compare?runs={MODEL},{HUMAN}&gamma=2&convention=reference");
    let found = app.get(&path).await.json();
    assert_eq!(found["gamma"], 2.0);
    assert!(
        found["pairs"][0]["comparison"]["difference"]
            .as_f64()
            .unwrap()
            < -1.75
    );
    assert!(found["task"].is_null());
}

#[tokio::test]
async fn the_matrix_as_a_table() {
    let app = TestApp::seeded().await;
    let answer = app
        .get(&format!("/api/v1/compare.csv?runs={HUMAN},{MODEL}"))
        .await;
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-type").starts_with("text/csv"));
    let text = answer.text();
    // The day of the request comes first.
    let day = text.lines().nth(1).and_then(|line| line.get(..10)).unwrap();
    let basis = format!("{day},,1,demo,1,paper,include,");
    let lines = [
        "made_on,snapshot,metric_version,split,gamma,convention,seen,\
         task_id,repo,run_id,model,mode,evoscore,turns,solved,zrr,regressions,\
         mi_win_rate,mi_tie_rate,mi_loss_rate,\
         pylint_win_rate,pylint_tie_rate,pylint_loss_rate,lines_ratio,\
         cognitive_complexity_difference,duplicated_lines_difference,\
         lines_per_test_difference,comments_per_line_difference,unused_code_difference,\
         broken_names_difference,changed_dependencies_difference"
            .to_owned(),
        format!(
            "{basis}alpha-1,alpha,{HUMAN},Human (replayed history),tdd,0.875,2,1,1,0,,,,,,,,,,,,,,"
        ),
        format!(
            "{basis}alpha-1,alpha,{MODEL},<script>alert(1)</script>,tdd,-0.875,2,0,0,2,,,,,,,,,,,,,,"
        ),
    ];
    assert_eq!(text.trim_end().split("\r\n").collect::<Vec<_>>(), lines);
}

#[tokio::test]
async fn the_page_shows_all_of_it() {
    let app = TestApp::seeded().await;
    let runs = format!("/compare?runs={HUMAN},{MODEL}");
    let check = async |path: &str, has: &[&str], lacks: &[&str]| {
        let answer = app.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        let body = body(&answer);
        for part in has {
            assert!(body.contains(part), "{path} lacks {part}");
        }
        for part in lacks {
            let at = body
                .find(part)
                .map(|at| &body[at.saturating_sub(80)..at + 60]);
            assert_eq!(at, None, "{path}");
        }
    };
    let task = format!("/runs/{MODEL}/tasks/alpha-1");
    let shared = [
        "1 task of 1 repository is shared",
        "1 left out",
        "is ahead of",
        "a single repository says nothing",
        "A ahead on 1 task",
        "/tasks/alpha-1",
        &task,
        "+1.750",
        "not significant",
        "compare.csv?runs=",
    ];
    check(&runs, &shared, &["id=\"course\"", "<script>alert"]).await;
    let course = ["id=\"course\"", "lost tests at 1", "target 4"];
    check(&format!("{runs}&task=alpha-1"), &course, &[]).await;
    check(
        &format!("{runs}&only=significant"),
        &["No pair differs significantly"],
        &["class=\"pair\""],
    )
    .await;
    // A form without a script sends the runs one by one.
    check(
        &format!("/compare?runs={HUMAN}&runs={MODEL}"),
        &["is ahead of"],
        &[],
    )
    .await;
    // Invalid γ and convention fall back to the default, as on every page.
    check(
        &format!("{runs}&gamma=x&convention=x"),
        &["is ahead of"],
        &[],
    )
    .await;
}

#[tokio::test]
async fn runs_are_chosen_in_a_form() {
    let app = TestApp::seeded().await;
    let form = async |path: &str| {
        let answer = app.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        body(&answer)
    };
    let all = form("/compare").await;
    for part in [
        HUMAN,
        MODEL,
        "name=\"runs\"",
        "action=\"/compare\"",
        "/compare?split=other",
    ] {
        assert!(all.contains(part), "{part}");
    }
    assert!(!all.contains(PATIENT), "nothing of it is scored");
    assert!(!all.contains(" checked"));
    let with = form(&format!("/compare?with={MODEL}")).await;
    assert_eq!(with.matches(" checked").count(), 1);
    assert!(
        form("/compare?split=other")
            .await
            .contains("No results on other yet")
    );
    assert_eq!(app.get("/compare?split=nothing").await.status, 404);
    let empty = TestApp::empty().await.get("/compare").await;
    assert_eq!(empty.status, 200);
    assert!(body(&empty).contains("No tasks yet"));
}

/// A failing case: changes to the data, the requested runs with the rest of the
/// query, and the response.
type Wrong<'a> = (&'a str, String, u16, &'a str);

#[tokio::test]
async fn incomparable_runs_are_refused() {
    let both = format!("{HUMAN},{MODEL}");
    let wrong: [Wrong<'_>; 10] = [
        ("", HUMAN.to_owned(), 400, "2 to 6"),
        ("", "a,b,c,d,e,f,g".to_owned(), 400, "2 to 6"),
        ("", format!("{HUMAN},{HUMAN}"), 400, ""),
        ("", format!("{HUMAN},nobody"), 404, "no run `nobody`"),
        (
            "",
            format!("{HUMAN},{PATIENT}"),
            400,
            "is not on the leaderboard",
        ),
        (
            "",
            format!("{both}&task=beta-2"),
            404,
            "no shared task `beta-2`",
        ),
        ("", format!("{both}&task=.hidden"), 0, "task"),
        (COUNTS_ONLY, both.clone(), 400, "`reference` convention"),
        (ANOTHER_SPLIT, both.clone(), 400, "different splits"),
        (NOTHING_SHARED, both.clone(), 400, "no task that all"),
    ];
    for (world, query, status, said) in wrong {
        let app = TestApp::changed(world).await;
        for path in ["compare", "compare.csv"] {
            let answer = app.get(&format!("/api/v1/{path}?runs={query}")).await;
            let status = if status == 0 { 400 } else { status };
            assert_eq!(answer.status, status, "{query}: {}", answer.text());
            assert_eq!(answer.header("content-type"), "application/problem+json");
            assert!(answer.text().contains(said), "{query}: {}", answer.text());
        }
        // The page shows the same error and offers comparable runs.
        let page = app.get(&format!("/compare?runs={query}")).await;
        let status = if status == 0 { 404 } else { status };
        assert_eq!(page.status, status, "{query}");
        let body = body(&page);
        assert!(
            body.contains("not compared") && body.contains(said),
            "{query}: {body}"
        );
        assert!(
            body.contains("name=\"runs\"") || body.contains("<h2>Only one run"),
            "{query}"
        );
    }
}

#[tokio::test]
async fn parameters_are_read_strictly() {
    let app = TestApp::seeded().await;
    let check = async |query: &str, parameter: &str, expect: &str| {
        for path in ["compare", "compare.csv"] {
            let answer = app.get(&format!("/api/v1/{path}{query}")).await;
            let problem = answer.problem(400, "bad-parameter");
            assert_eq!(problem["parameter"], parameter, "{query}");
            let detail = problem["detail"].as_str().unwrap();
            assert!(detail.contains(expect), "{query} → {detail}");
        }
    };
    check("", "runs", "`runs` is missing").await;
    check("?runs=", "runs", "`runs` is missing").await;
    check("?runs=a", "runs", "`runs` is `a`").await;
    check("?runs=a,a", "runs", "2 to 6 different ids").await;
    check("?runs=a&runs=b", "runs", "more than once").await;
    check("?runs=a,b&gama=2", "gama", "runs, gamma, convention, task").await;
    check("?runs=a,b&gamma=11", "gamma", "from 0.1 to 10").await;
    check(
        "?runs=a,b&convention=Paper",
        "convention",
        "`paper` or `reference`",
    )
    .await;
    check("?runs=a,b&task=.x", "task", "the id of a task").await;
}

#[tokio::test]
async fn two_runs_on_one_task_stand_side_by_side() {
    let app = TestApp::seeded().await;
    let path = format!("/compare/alpha-1?runs={HUMAN},{MODEL}");
    let page = app.get(&path).await;
    assert_eq!(page.status, 200, "{}", page.text());
    let html = page.text();
    for part in [
        "Human (replayed history)",
        "&lt;script&gt;alert(1)",
        "Tests passing on",
        "Iteration 1",
        "iteration=2#iteration",
        &format!("/runs/{MODEL}/e-model-alpha/1"),
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    // The page of the comparison leads there, and that of a task with two results.
    let whole = app.get(&format!("/compare?runs={HUMAN},{MODEL}")).await;
    assert!(whole.text().contains(&path), "{}", whole.text());
    let task = app.get("/tasks/alpha-1").await.text();
    assert!(!task.contains("action=\"/compare/alpha-1\""), "one result");
    let form = format!("/compare/alpha-1?convention=paper&runs={HUMAN}&runs={MODEL}");
    assert_eq!(app.get(&form).await.status, 200);
    for wrong in [
        "/compare/alpha-1".to_owned(),
        format!("/compare/alpha-1?runs={HUMAN}"),
        format!("/compare/none?runs={HUMAN},{MODEL}"),
    ] {
        let status = app.get(&wrong).await.status.as_u16();
        assert!([400, 404].contains(&status), "{status} {wrong}");
    }
}
