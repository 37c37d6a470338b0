//! The files of an iteration.

use crate::fixture::{MODEL, TestApp};

const KEPT: &str = r#"
    INSERT INTO steps (evolution_id, seq, iteration, role, attempt, outcome, detail, product, started_at, finished_at)
    VALUES ('e-model-alpha', 1, 1, 'architect', 1, '"malformed_requirement"', '', NULL, 1, 2),
           ('e-model-alpha', 2, 1, 'architect', 2, '"done"', '', 'asked.zst', 2, 3),
           ('e-model-alpha', 3, 1, 'test', 1, '{"scored":{"solved":false}}', '', 'report.zst', 3, 4),
           ('e-model-alpha', 4, 2, 'test', 1, '"collapsed"', '', 'gone.zst', 4, 5);
"#;

const STEP: &str = "/api/v1/evolutions/e-model-alpha/iterations/1";

const DOCUMENT: &str = "<?xml version=\"1.0\"?>\n<requirements><requirement><location>a.py &lt;script&gt;alert(1)&lt;/script&gt;</location><description>d</description><contract>c</contract><acceptance>t</acceptance></requirement></requirements>\n";

async fn app_with_files() -> TestApp {
    let app = TestApp::changed(KEPT).await;
    app.keep("asked.zst", DOCUMENT.as_bytes());
    app.keep("report.zst", b"{\"tests\": \"<script>alert(1)</script>\"}");
    app.keep("code/4", b"a tar");
    app
}

#[tokio::test]
async fn each_file_has_a_name_of_its_own() {
    let app = app_with_files().await;
    let check = async |path: &str, media_type: &str, name: &str| {
        let answer = app.get(&format!("{STEP}/{path}")).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), media_type);
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        let disposition = format!("attachment; filename=\"{name}\"");
        assert_eq!(answer.header("content-disposition"), disposition);
        answer.bytes
    };
    let document = check(
        "requirement.xml",
        "application/xml",
        "e-model-alpha-1-requirement.xml",
    );
    assert_eq!(document.await, DOCUMENT.as_bytes());
    let report = check(
        "report.json",
        "application/json",
        "e-model-alpha-1-report.json",
    );
    assert!(report.await.starts_with(b"{\"tests\""));
    let code = check("code.tar.gz", "application/gzip", "e-model-alpha-1.tar.gz").await;
    assert_eq!(ungzipped(&code), "a tar");
}

/// A page's program or a browser asks for compressed answers.
#[tokio::test]
async fn files_arrive_whole_when_compressed() {
    let app = app_with_files().await;
    let report = format!("{{\"tests\": \"{}\"}}", "passed ".repeat(15_000));
    app.keep("report.zst", report.as_bytes());
    let compressed = [("accept-encoding", "gzip")];
    let path = format!("{STEP}/report.json");
    let answer = app.ask("GET", &path, &compressed).await;
    assert_eq!(answer.header("content-encoding"), "gzip");
    assert_eq!(ungzipped(&answer.bytes), report);

    // The server does not compress an archive again.
    let path = format!("{STEP}/code.tar.gz");
    let answer = app.ask("GET", &path, &compressed).await;
    assert!(!answer.headers.contains_key("content-encoding"));
    assert_eq!(ungzipped(&answer.bytes), "a tar");
}

fn ungzipped(bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut decoder = flate2::read::GzDecoder::new(bytes);
    std::io::Read::read_to_string(&mut decoder, &mut text).unwrap();
    text
}

#[tokio::test]
async fn missing_and_deleted_files() {
    let app = app_with_files().await;
    for path in [
        "e-model-alpha/iterations/2/report.json",
        "e-model-alpha/iterations/2/code.tar.gz",
        "e-model-alpha/iterations/2/requirement.xml",
        "e-model-alpha/iterations/9/code.tar.gz",
        "e-human-alpha/iterations/1/report.json",
        "nobody/iterations/1/code.tar.gz",
    ] {
        let answer = app.get(&format!("/api/v1/evolutions/{path}")).await;
        answer.problem(404, "not-found");
    }
    let asked = app.get(&format!("{STEP}/code.tar.gz?x=1")).await;
    asked.problem(400, "bad-parameter");
    app.execute("UPDATE runs SET visibility = 'private'").await;
    for file in ["code.tar.gz", "report.json", "requirement.xml"] {
        app.get(&format!("{STEP}/{file}"))
            .await
            .problem(404, "not-found");
    }
}

#[tokio::test]
async fn links_on_the_page() {
    let app = app_with_files().await;
    let html = app
        .get(&format!("/runs/{MODEL}/e-model-alpha/1"))
        .await
        .text();
    let html = html.split("<footer").next().unwrap();
    for file in ["code.tar.gz", "report.json", "requirement.xml"] {
        let link = format!("href=\"{STEP}/{file}\"");
        assert!(html.contains(&link), "{link}: {html}");
    }
    assert!(html.contains("a.py &lt;script&gt;alert(1)") && !html.contains("<script>alert(1)"));
    // Nothing to download, no link.
    let human = crate::fixture::HUMAN;
    let html = app
        .get(&format!("/runs/{human}/e-human-alpha/1"))
        .await
        .text();
    assert!(!html.contains("report.json") && !html.contains("requirement.xml"));
}

#[tokio::test]
async fn the_pytest_reports_before_and_after() {
    let app = app_with_files().await;
    let report = |tests: &str| {
        format!(r#"{{"exitcode": 1, "summary": {{}}, "tests": [{tests}]}}"#).into_bytes()
    };
    app.keep(
        "tasks/alpha-1/base-report.json.zst",
        &report(r#"{"nodeid": "tests/test_a.py::three", "outcome": "failed"}"#),
    );
    let failed = r#"{"nodeid": "tests/test_a.py::one", "outcome": "failed",
                     "call": {"longrepr": "E   assert '<script>alert(1)</script>'\u001b"}}"#;
    app.keep("report.zst", &report(failed));
    for page in [
        format!("/runs/{MODEL}/e-model-alpha/1"),
        format!("/runs/{MODEL}/tasks/alpha-1?iteration=1"),
    ] {
        let html = app.get(&page).await.text();
        assert!(!html.contains("<script>alert(1)"), "{page}");
        for part in [
            "missing → failed",
            "E   assert '&lt;script&gt;alert(1)&lt;/script&gt;'␛",
        ] {
            assert!(html.contains(part), "{page}: {part}: {html}");
        }
    }
}
