//! Pages, files, and the headers every response carries.

use crate::fixture::{Answer, HUMAN, MODEL, PATIENT, TestApp};

fn nonce(answer: &Answer) -> String {
    let policy = answer.header("content-security-policy");
    let (_, rest) = policy.split_once("script-src 'self' 'nonce-").unwrap();
    rest.split_once('\'').unwrap().0.to_owned()
}

#[tokio::test]
async fn a_page_is_bound_to_its_nonce() {
    let app = TestApp::seeded().await;
    // Cached pages, such as those of finished runs, have hashes instead.
    let run = format!("/runs/{MODEL}");
    let pages = [app.get(&run).await, app.get(&run).await];
    for page in &pages {
        assert_eq!(page.status, 200);
        assert!(page.header("content-type").starts_with("text/html"));
        let nonce = nonce(page);
        assert!(nonce.len() >= 22, "{nonce}");
        let html = page.text();
        let own = format!("nonce=\"{nonce}\"");
        let scripts: Vec<&str> = html
            .match_indices("<script")
            .map(|(at, _)| &html[at..])
            .collect();
        assert!(!scripts.is_empty());
        for script in scripts {
            let tag = script.split_once('>').unwrap().0;
            assert!(tag.contains(&own), "{tag}");
        }
        // The policy forbids them, so a page must not rely on them.
        assert!(!html.contains(" style=\"") && !html.contains(" onclick="));
        assert!(
            html.contains("/pkg/0123456789abcdef/swe-ci.js"),
            "the program"
        );
        assert!(
            html.contains("/pkg/0123456789abcdef/swe-ci.css"),
            "the styles"
        );
        assert!(html.contains("&lt;script&gt;alert"), "names are text");
        assert!(!html.contains("<script>alert"), "names are text");
    }
    assert_ne!(nonce(&pages[0]), nonce(&pages[1]));
}

/// The browser fetches the program only for pages with islands.
#[tokio::test]
async fn only_live_pages_have_islands() {
    let app = TestApp::seeded().await;
    let check = async |path: &str, islands: &[&str]| {
        let html = app.get(path).await.text();
        let tags = html.match_indices("<leptos-island data-component=\"");
        let name = |(at, tag): (usize, &str)| {
            let (name, _) = html[at + tag.len()..].split_once('_').unwrap();
            name.to_owned()
        };
        let mut found: Vec<String> = tags.map(name).collect();
        found.sort();
        found.dedup();
        assert_eq!(found, islands, "{path}");
    };
    check("/?split=demo", &["InPlace", "LiveGamma", "Picture"]).await;
    check("/tasks?split=demo", &["InPlace"]).await;
    for still in ["/about", "/datasets", "/sign-in", "/nothing/here"] {
        check(still, &[]).await;
    }
}

#[tokio::test]
async fn the_leaderboard_has_intervals() {
    let app = TestApp::ranked().await;
    let html = app.get("/?split=demo").await.text();
    for part in [
        "[0.88, 1.00]",
        "95\u{a0}% interval 1.0 to 2.0",
        ", to the next row ",
        " tied<",
        "2000 resamples of the 2 repositories",
        "2 repositories are few",
    ] {
        assert!(html.contains(part), "{part}");
    }
}

#[tokio::test]
async fn a_row_opens_in_place() {
    let app = TestApp::ranked().await;
    let check = async |path: &str, expect: bool, link: &str| {
        let html = app.get(path).await.text();
        assert_eq!(html.contains("What breaks"), expect, "{path}");
        assert!(html.contains(&format!("href=\"{link}\"")), "{path}: {link}");
    };
    let open = format!("/?split=demo&amp;open={HUMAN}");
    check("/?split=demo", false, &open).await;
    let path = format!("/?split=demo&open={HUMAN}");
    check(&path, true, "/?split=demo").await;
    check(&path, true, &format!("/runs/{HUMAN}/tasks/alpha-1")).await;
    check("/?split=demo&open=gone", false, &open).await;
}

#[tokio::test]
async fn runs_without_a_rank_stand_below_the_others() {
    let app = TestApp::seeded().await;
    let html = app.get("/?split=demo").await.text();
    assert!(html.contains("Not ranked: 1 incomplete"));
    assert!(html.contains("1 of 2 tasks have a score"));
}

#[tokio::test]
async fn an_empty_board_tells_of_its_baseline() {
    let sql = format!(
        "UPDATE runs SET kind = 'human', split = 'other', \
         config = replace(replace(config, '\"measured\"', '\"human\"'), '\"demo\"', '\"other\"') \
         WHERE id = '{PATIENT}';"
    );
    let app = TestApp::changed(&sql).await;
    let html = app.get("/?split=other").await.text();
    assert!(html.contains("Human baseline queued: 0 of 1 task<"));
    assert!(!html.contains("No results on other yet"));
    // Results from the paper are all there is to see.
    let opens = |html: &str| {
        let mut tags = html.split("<input").filter_map(|tag| tag.split_once('>'));
        let tag = tags.find(|(tag, _)| tag.contains("published-shown"));
        tag.unwrap().0.contains("checked")
    };
    assert!(opens(&html));
    assert!(!opens(&app.get("/?split=demo").await.text()));
}

#[tokio::test]
async fn published_rows_can_be_hidden() {
    let check = async |app: &TestApp, path: &str, shown: bool, other: bool| {
        let answer = app.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        // The visible part of the page, without its embedded data.
        let html = answer.text();
        let body = html.split("<footer").next().unwrap();
        assert_eq!(body.contains("As published"), shown, "{path}");
        assert_eq!(body.contains(">GLM-5<"), shown, "{path}");
        assert_eq!(
            body.contains("not comparable with its own"),
            other,
            "{path}"
        );
    };
    let app = TestApp::seeded().await;
    check(&app, "/", true, true).await;
    check(&app, "/?published=off", false, false).await;
    check(&app, "/?published=off&gamma=1.5", false, false).await;
    // A split without any result, and a site without any split.
    check(&app, "/?split=other", true, true).await;
    check(&app, "/?split=other&published=off", false, false).await;
    let empty = TestApp::empty().await;
    check(&empty, "/", true, false).await;
    check(&empty, "/?published=off", false, false).await;
    // The other controls keep the choice.
    let html = app.get("/?published=off").await.text();
    for link in [
        "/?convention=reference&amp;published=off",
        "/?split=other&amp;published=off",
        "name=\"published\" value=\"off\"",
    ] {
        assert!(html.contains(link), "{link}");
    }
}

#[tokio::test]
async fn a_run_shows_its_scores() {
    let app = TestApp::seeded().await;
    let human = app.get(&format!("/runs/{HUMAN}")).await.text();
    for part in [
        "[0.88, 1.00]",
        "no regressions",
        "fewer than three iterations",
        "/scores?gamma=1.00&amp;convention=reference",
        "Limits of a step",
        "[0.88, 1.00] over 2 tasks: rank 1",
        "No iteration broke a passing test.",
        "zero regression",
    ] {
        assert!(human.contains(part), "{part}");
    }
    let waiting = app.get(&format!("/runs/{PATIENT}")).await;
    assert_eq!(waiting.status, 200);
    assert!(
        waiting
            .text()
            .contains("as soon as the first evolution ends")
    );
    assert!(
        waiting
            .text()
            .contains("Nothing has started yet: 1 task in the queue.")
    );
}

/// The finished run as if imported by counts alone, under an earlier version of
/// the metric definitions.
const IMPORTED: &str = r#"
    INSERT INTO suites (id, base_in_target, target_passed, base_passed, counts_only, tests, base_outcomes)
        VALUES ('counts', 2, 4, 2, 1, '[]', '');
    UPDATE runs SET kind = 'imported',
        config = '{"model":"Elsewhere","provider":"acme","kind":"imported","harness":{"name":"elsewhere","program":"iFlow"},"split":"demo","plan":{"max_iterations":4,"max_attempts":10}}',
        provenance = '{"platform_version":"0.1.0","metric_version":0,"dataset_digest":"sha256:dd","harness_version":"unknown","imported":{"layout":"otter","experiment":"winter","digest":"sha256:0123456789abcdef","notes":["a task was never started"]}}'
        WHERE id = '00000000-0000-7000-8000-000000000001';
    UPDATE evolutions SET suite = 'counts' WHERE run_id = '00000000-0000-7000-8000-000000000001';
    UPDATE iterations SET test_seconds = 0.0, outcomes = '' WHERE evolution_id LIKE 'e-human-%';
    INSERT INTO steps (evolution_id, seq, iteration, role, attempt, outcome, detail, started_at, finished_at, input_tokens, output_tokens)
        VALUES ('e-human-alpha', 1, 1, 'architect', 1, '"done"', 'imported', 1000, 1000, 51234, 812);
"#;

#[tokio::test]
async fn results_made_elsewhere() {
    let app = TestApp::ranked_and_changed(IMPORTED).await;
    let check = async |path: &str, has: &[&str], lacks: &[&str]| {
        let answer = app.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        let html = answer.text();
        let body = html.split("<footer").next().unwrap();
        for part in has {
            assert!(body.contains(part), "{path} lacks {part}");
        }
        for part in lacks {
            assert!(!body.contains(part), "{path} has {part}");
        }
    };
    let other = "/?split=demo&amp;convention=reference";
    check(
        "/?split=demo",
        &["Not in this table", "Elsewhere", other],
        &["counts only"],
    )
    .await;
    let tags = ["imported", "counts only", "older metric", "swe-ci rescore"];
    check(
        "/?split=demo&convention=reference",
        &tags,
        &["Not in this table"],
    )
    .await;
    let run = format!("/runs/{HUMAN}");
    let from = [
        "otter layout",
        "winter",
        "0123456789",
        "never started",
        "iFlow · run elsewhere",
        "version 0",
    ];
    let not_here = [
        "Limits of a step",
        "Harness version",
        "attempts per step",
        ">Log<",
        "Submitted",
        "convention=paper",
    ];
    check(&run, &from, &not_here).await;
    let iteration = [
        "The imported results have none",
        "not which",
        "812 out",
        "Tests passing",
    ];
    check(
        &format!("{run}/e-human-alpha/1"),
        &iteration,
        &["Gained:", "Test run"],
    )
    .await;
}

#[tokio::test]
async fn every_response_has_the_security_headers() {
    let app = TestApp::seeded().await;
    for path in [
        "/",
        "/nothing",
        "/favicon.svg",
        "/pkg/0123456789abcdef/swe-ci.js",
        "/api/v1/runs",
        "/api/v1/runs/nothing",
        "/api/v1/openapi.json",
        "/health/live",
    ] {
        let answer = app.get(path).await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(
            answer.header("referrer-policy"),
            "strict-origin-when-cross-origin"
        );
        assert_eq!(answer.header("cross-origin-opener-policy"), "same-origin");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin");
        assert!(answer.header("permissions-policy").contains("camera=()"));
        let policy = answer.header("content-security-policy");
        for part in [
            "default-src 'none'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe-eval") || policy.contains("wasm-unsafe-eval"));
        assert!(!answer.header("x-request-id").is_empty());
    }
}

#[tokio::test]
async fn a_missing_page_is_a_page() {
    let app = TestApp::seeded().await;
    let answer = app.get("/no/such/page").await;
    assert_eq!(answer.status, 404);
    assert!(answer.header("content-type").starts_with("text/html"));
    assert!(answer.text().contains("</html>"));
    nonce(&answer);
    // Paths outside of the site lead to nothing.
    for path in [
        "/../Cargo.toml",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/pkg/..%2f..%2fetc/passwd",
    ] {
        assert_eq!(app.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn files_come_compressed_and_stay_in_the_cache() {
    let app = TestApp::empty().await;
    let program = "/pkg/0123456789abcdef/swe-ci.js";
    let ask = async |encoding: &str| {
        app.ask("GET", program, &[("accept-encoding", encoding)])
            .await
    };
    for (accepted, encoding, body) in [("gzip, br", "br", "brotli"), ("gzip", "gzip", "gzip")] {
        let answer = ask(accepted).await;
        assert_eq!(answer.header("content-encoding"), encoding);
        assert_eq!(answer.text(), body, "made beforehand");
        assert_eq!(
            answer.header("cache-control"),
            "public, max-age=31536000, immutable"
        );
        assert!(
            answer
                .header("vary")
                .to_lowercase()
                .contains("accept-encoding")
        );
        assert!(answer.header("content-type").contains("javascript"));
    }
    let plain = ask("identity").await;
    assert!(
        plain.headers.get("content-encoding").is_none() && plain.text().starts_with("// plain")
    );
    assert!(
        plain
            .header("vary")
            .to_lowercase()
            .contains("accept-encoding")
    );
    let wasm = app.get("/pkg/0123456789abcdef/swe-ci_bg.wasm").await;
    assert_eq!(wasm.header("content-type"), "application/wasm");
    for other in ["/pkg/unhashed.js", "/favicon.svg"] {
        assert_eq!(
            app.get(other).await.header("cache-control"),
            "public, max-age=3600",
            "{other}"
        );
    }
}

#[tokio::test]
async fn dynamic_responses_are_compressed() {
    let app = TestApp::seeded().await;
    for path in ["/", "/api/v1/openapi.json"] {
        let answer = app.ask("GET", path, &[("accept-encoding", "br")]).await;
        assert_eq!(answer.header("content-encoding"), "br", "{path}");
        assert_eq!(answer.header("cache-control"), "no-cache");
    }
}

#[tokio::test]
async fn a_request_keeps_the_id_its_proxy_gave_it() {
    let app = TestApp::empty().await;
    let answer = app
        .ask("GET", "/health/live", &[("x-request-id", "proxy-1")])
        .await;
    assert_eq!(answer.header("x-request-id"), "proxy-1");
    let ids = [app.get("/health/live").await, app.get("/health/live").await];
    assert_ne!(ids[0].header("x-request-id"), ids[1].header("x-request-id"));
}

/// Results that were imported name tasks of which nothing else is known.
#[tokio::test]
async fn unknown_counts_are_no_zeros() {
    let unknown = "INSERT INTO suites (id, base_in_target, target_passed, base_passed, counts_only, tests, base_outcomes)
                   VALUES ('unknown', 0, 0, 0, 1, '[]', '');
                   UPDATE task_revisions SET suite = 'unknown', commits = 0, span_days = 0, suite_seconds = 0,
                                    state = 'unusable', preparation = '{}'";
    let app = TestApp::changed(unknown).await;
    for page in ["/tasks", "/tasks/alpha-1"] {
        let html = app.get(page).await.text();
        let main = html.split_once("<main").unwrap().1;
        let words = main.split(['>', '<']).map(str::trim);
        for zero in ["0", "0 tests", "0.0 s", "0 days", "0.0 days"] {
            assert!(!words.clone().any(|word| word == zero), "{page}: {zero}");
        }
    }
    let dataset = app.get("/datasets/demo").await.text();
    assert!(!dataset.contains("– tests") && !dataset.contains("Sizes"));
}
