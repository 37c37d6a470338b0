//! The marks of results: verified or self-reported.

use swe_ci_views::account::AccountRole;

use crate::fixture::{HUMAN, MODEL, TestApp};
use crate::people::{Browser, account, bearer};

/// A run made elsewhere.
const ELSEWHERE: &str = r#"
    UPDATE runs SET kind = 'imported', config = replace(config, '"kind":"human"', '"kind":"imported"')
        WHERE id = '00000000-0000-7000-8000-000000000001';
"#;

/// All iterations of the other run were checked and came out as recorded.
pub const CHECKED: &str = r#"
    INSERT INTO verifications (run_id, found) VALUES ('00000000-0000-7000-8000-000000000002',
        '{"at":"2026-11-20T14:00:00Z","by":"operator","platform_version":"0.1.0","checked":2,"iterations":2,"differences":[]}');
"#;

/// Not all of them.
const DIFFERS: &str = r#"
    UPDATE verifications SET found = '{"at":"2026-11-20T14:00:00Z","by":"operator","platform_version":"0.1.0","checked":2,"iterations":2,
        "differences":[{"evolution_id":"e-model-alpha","task_id":"alpha-1","sample":1,"iteration":1,"otherwise":"ran"}]}';
"#;

async fn app() -> TestApp {
    TestApp::ranked_and_changed(&format!("{ELSEWHERE}{CHECKED}")).await
}

async fn mark_of(app: &TestApp, run: &str) -> serde_json::Value {
    app.get(&format!("/api/v1/runs/{run}")).await.json()["mark"].clone()
}

#[tokio::test]
async fn administrators_mark_checked_runs() {
    let app = app().await;
    let root = account(&app, "root", AccountRole::Admin).await;
    let admin = bearer(&app, &root, AccountRole::Admin).await;
    let submitter = bearer(&app, &root, AccountRole::Submitter).await;
    let say = async |token: &str, path: &str| {
        let path = format!("/api/v1/runs/{path}");
        app.ask("POST", &path, &[("authorization", token)]).await
    };
    let mark = format!("{MODEL}/mark");
    app.get(&format!("/api/v1/runs/{MODEL}")).await.json();
    let nobody = app.ask("POST", &format!("/api/v1/runs/{mark}"), &[]).await;
    nobody.problem(401, "unauthenticated");
    say(&submitter, &mark).await.problem(403, "forbidden");
    say(&admin, "none/mark").await.problem(404, "not-found");
    let unchecked = say(&admin, &format!("{HUMAN}/mark")).await;
    let why = unchecked.problem(409, "conflict")["detail"].to_string();
    assert!(why.contains("was never checked"), "{why}");

    assert_eq!(mark_of(&app, MODEL).await, serde_json::Value::Null);
    for _ in 0..2 {
        let run = say(&admin, &mark).await.json();
        assert_eq!(
            (&run["mark"], &run["verified"]["by"]),
            (&"verified".into(), &"root".into())
        );
    }
    assert_eq!(mark_of(&app, HUMAN).await, "self-reported");
    let csv = app.get("/api/v1/leaderboard.csv?split=demo").await.text();
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].contains(",kind,mode,arm,mark,progress,"), "{csv}");
    assert!(
        csv.contains(",imported,tdd,,self-reported,finished,"),
        "{csv}"
    );
    assert!(csv.contains(",measured,tdd,,verified,running,"), "{csv}");
    let rows = app.get("/api/v1/leaderboard?split=demo").await.text();
    assert!(rows.contains(r#""mark":"verified""#) && rows.contains(r#""mark":"self-reported""#));

    let kinds_with = async |mark: &str| {
        let path = format!("/api/v1/leaderboard?split=demo&mark={mark}");
        let rows = app.get(&path).await.json()["items"].clone();
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| row["kind"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds_with("verified").await, ["measured"]);
    assert_eq!(kinds_with("self-reported").await, ["imported"]);
    let wrong = app.get("/api/v1/leaderboard?mark=good").await;
    wrong.problem(400, "bad-parameter");
    for _ in 0..2 {
        let run = say(&admin, &format!("{MODEL}/unmark")).await.json();
        assert_eq!(run["mark"], serde_json::Value::Null);
    }
    app.execute(DIFFERS).await;
    let differs = say(&admin, &mark).await.problem(409, "conflict")["detail"].to_string();
    assert!(differs.contains("came out otherwise"), "{differs}");
}

#[tokio::test]
async fn marked_from_the_page_and_seen_on_all_of_them() {
    let app = app().await;
    account(&app, "root", AccountRole::Admin).await;
    let page = format!("/runs/{MODEL}");
    let seen = app.get(&page).await.text();
    assert!(
        !seen.contains("mark-verified") && seen.contains(">checked<"),
        "{seen}"
    );
    let mut root = Browser::signed_in(&app, "root").await;
    let seen = root.get(&page).await.text();
    assert!(seen.contains("value=\"mark-verified\""), "{seen}");
    let done = root.send(&page, &[("deed", "mark-verified")]).await;
    assert_eq!(
        (done.status.as_u16(), done.header("location")),
        (303, page.as_str())
    );
    let seen = root.get(&page).await.text();
    for part in [
        "value=\"unmark\"",
        "Marked as verified by root on ",
        "The tests of 2 of 2 iterations were run again on 2026-11-20",
        "tip-verified",
    ] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    let model = "/models/%3Cscript%3Ealert%281%29%3C%2Fscript%3E";
    let compare = format!("/compare?runs={HUMAN},{MODEL}");
    for place in ["/?split=demo", "/runs", model, &compare] {
        let seen = app.get(place).await.text();
        let (shown, _) = seen.split_once("</main>").unwrap();
        assert!(shown.contains("verified"), "{place}: {shown}");
    }
    let seen = app.get("/?split=demo").await.text();
    assert!(
        seen.contains("self-reported") && seen.contains("Marks:"),
        "{seen}"
    );

    // A run that cannot be marked shows the reason above the forms.
    let refused = root
        .send(&format!("/runs/{HUMAN}"), &[("deed", "mark-verified")])
        .await;
    assert!(
        refused.text().contains("was never checked"),
        "{}",
        refused.text()
    );
    let done = root.send(&page, &[("deed", "unmark")]).await;
    assert_eq!(done.status, 303);
    let log = root.get("/audit").await.text();
    assert!(
        log.contains(">marked run<") && log.contains(">unmarked run<"),
        "{log}"
    );
}

#[tokio::test]
async fn withdrawn_runs_are_listed_with_their_reason_for_administrators() {
    let app = app().await;
    account(&app, "root", AccountRole::Admin).await;
    let taken = format!(
        "UPDATE runs SET visibility = 'withdrawn', withdrawn = 'the prompts <b>named</b> the tests' WHERE id = '{HUMAN}'"
    );
    app.execute(&taken).await;
    let mut root = Browser::signed_in(&app, "root").await;
    let seen = root.get("/runs").await.text();
    assert!(
        seen.contains("Withdrawn: the prompts &lt;b&gt;named&lt;/b&gt; the tests"),
        "{seen}"
    );
    let everybody = app.get("/runs").await.text();
    assert!(
        !everybody.contains("Withdrawn") && !everybody.contains(HUMAN),
        "{everybody}"
    );
}
