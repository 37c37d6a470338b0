//! The figures: their page, their pictures and numbers, and framing by other
//! sites.

use crate::fixture::TestApp;

const FIGURES: [&str; 16] = [
    "evoscore-by-release",
    "rank-by-gamma",
    "zero-regression",
    "regression-correlation",
    "style-wins",
    "changed-lines",
    "solved",
    "turns",
    "best-change",
    "zrr",
    "evoscore-gamma",
    "score-by-tokens",
    "score-by-cost",
    "score-by-time",
    "score-by-budget",
    "style-trend",
];

/// Those whose numbers depend on γ.
const WEIGHED: [&str; 7] = [
    "evoscore-by-release",
    "rank-by-gamma",
    "evoscore-gamma",
    "score-by-tokens",
    "score-by-cost",
    "score-by-time",
    "score-by-budget",
];

#[tokio::test]
async fn every_figure_is_a_picture_and_a_table() {
    let app = TestApp::public("https://bench.example.org").await;
    for figure in FIGURES {
        let query = "split=demo&gamma=1.2&convention=paper";
        let svg = app
            .get(&format!("/api/v1/plots/{figure}.svg?{query}"))
            .await;
        assert_eq!(svg.status, 200, "{figure}: {}", svg.text());
        assert_eq!(svg.header("content-type"), "image/svg+xml");
        let text = svg.text();
        assert!(text.starts_with("<svg xmlns=") && text.ends_with("</svg>\n"));
        assert!(!text.contains("<script"), "{figure}");
        // It explains itself where there is no page around it.
        let settings = match WEIGHED.contains(&figure) {
            true => "Split demo, γ\u{a0}1.20, paper convention; ",
            false => "Split demo, paper convention; ",
        };
        let address = format!(
            "https://bench.example.org/figures?split=demo&amp;gamma=1.20&amp;convention=paper#{figure}\n"
        );
        for part in [settings, &address] {
            assert!(text.contains(part), "{figure}: {part} in {text}");
        }

        let csv = app
            .get(&format!("/api/v1/plots/{figure}.csv?{query}"))
            .await;
        assert_eq!(csv.status, 200, "{figure}");
        assert!(csv.header("content-type").starts_with("text/csv"));
        let text = csv.text();
        assert!(text.starts_with("model,provider,run_id,kind,"), "{text}");
        // Published scores are of γ = 1, published rates of any.
        let has_published = text.contains(",published,");
        assert_eq!(
            has_published,
            figure == "zero-regression",
            "{figure}: {text}"
        );
    }
}

/// A figure for a paper has the width of a column or of a page, and no letters that
/// another program may not have.
#[tokio::test]
async fn figures_are_printed_as_wide_as_a_paper_wants_them() {
    let app = TestApp::ranked().await;
    let solved = async |rest: &str| app.get(&format!("/api/v1/plots/solved.{rest}")).await;
    for (width, points) in [(84, "238.1"), (174, "493.2")] {
        let svg = solved(&format!("svg?split=demo&width={width}"))
            .await
            .text();
        assert!(!svg.contains("<text") && svg.contains("<path"), "{svg}");
        let pdf = solved(&format!("pdf?split=demo&width={width}")).await;
        assert_eq!(pdf.header("content-type"), "application/pdf");
        let pdf = String::from_utf8_lossy(&pdf.bytes).into_owned();
        assert!(pdf.starts_with("%PDF-1."));
        let size = format!("/MediaBox[0 0 {points}");
        assert!(pdf.contains(&size), "{size} in {pdf}");
        let png = solved(&format!("png?split=demo&width={width}")).await;
        assert!(png.bytes.starts_with(b"\x89PNG"));
        let bare = solved(&format!("pdf?split=demo&width={width}&caption=none")).await;
        assert!(bare.bytes.len() < pdf.len());
    }
    let bare = solved("svg?split=demo&caption=none").await.text();
    assert!(!bare.contains("paper convention"), "{bare}");
    for wrong in ["svg?width=85", "svg?caption=no", "png?width=84&scale=2"] {
        solved(wrong).await.problem(400, "bad-parameter");
    }
}

/// The human baseline solves both of its tasks without a regression; the model
/// failed its only task.
#[tokio::test]
async fn the_numbers_are_those_of_the_leaderboard() {
    let app = TestApp::ranked().await;
    let csv = app
        .get("/api/v1/plots/zero-regression.csv?split=demo")
        .await
        .text();
    let lines: Vec<&str> = csv.split("\r\n").collect();
    assert_eq!(
        lines[0],
        "model,provider,run_id,kind,zero_regression_rate,low,high,\
         split,mode,gamma,convention,seen,made_on,snapshot,metric_version"
    );
    let made = |line: &str| line.contains(",demo,tdd,1.00,paper,include,20");
    assert!(lines[1..3].iter().all(|line| made(line)), "{csv}");
    assert!(lines[1].starts_with("Human (replayed history),,"));
    assert!(lines[1].contains(",human,1,1,1,demo,"), "{csv}");
    assert!(lines[2].starts_with("<script>alert(1)</script>,acme,"));
    assert!(lines[2].contains(",measured,0.5,0,1,demo,"), "{csv}");
    assert!(
        lines[3].contains("Claude-Opus-4.6,Claude,,published,0.71,,,"),
        "{csv}"
    );

    // The human has two iterations for one task and one for the other; the
    // leaderboard has the same numbers.
    let rows = app.get("/api/v1/leaderboard?split=demo").await.json();
    let turns = app.get("/api/v1/plots/turns.csv?split=demo").await.text();
    let human = turns.lines().find(|l| l.starts_with("Human")).unwrap();
    assert!(human.contains(",human,1.5,"), "{turns}");
    assert_eq!(rows["items"][0]["average_turns"], 1.5);
}

#[tokio::test]
async fn published_results_are_separate_and_labelled() {
    let app = TestApp::seeded().await;
    let csv = app
        .get("/api/v1/plots/evoscore-by-release.csv?split=demo")
        .await
        .text();
    assert_eq!(csv.matches(",published,").count(), 18);
    let page = app.get("/figures?split=demo").await.text();
    assert!(page.contains("18 models as published"));
    let elsewhere = app.get("/figures?split=demo&gamma=1.2").await.text();
    // They are known at γ = 1 alone.
    assert!(!elsewhere.contains("18 models as published"));
    // The files say it too.
    let svg = "/api/v1/plots/zero-regression.svg?split=demo&gamma=1.2";
    let picture = app.get(svg).await.text();
    assert!(picture.contains("5 models as published"), "{picture}");
}

#[tokio::test]
async fn invalid_requests_get_advice() {
    let app = TestApp::seeded().await;
    let check = async |path: &str, status: u16, kind: &str, expect: &str| {
        let problem = app.get(path).await.problem(status, kind);
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(expect), "{path}: {detail}");
    };
    let plots = |rest: &str| format!("/api/v1/plots/{rest}");
    for wrong in [
        "figure-8.svg",
        "figure-8",
        "SOLVED.svg",
        "..svg",
        "%3Cb%3E.csv",
    ] {
        check(&plots(wrong), 404, "not-found", "rank-by-gamma").await;
    }
    let bad = "bad-parameter";
    for wrong in ["solved.gif", "solved", "solved.SVG"] {
        let right = "`solved.svg`, `solved.pdf`, `solved.png` or `solved.csv`";
        check(&plots(wrong), 400, bad, right).await;
    }
    check(&plots("solved.csv?gamma=0"), 400, bad, "0.1 to 10").await;
    check(
        &plots("solved.csv?gamma=1&gamma=2"),
        400,
        bad,
        "more than once",
    )
    .await;
    check(&plots("solved.svg?convention=mine"), 400, bad, "`paper`").await;
    check(&plots("solved.svg?colour=red"), 400, bad, "not a parameter").await;
    let leader = plots("solved.svg?relative=leader");
    check(&leader, 400, bad, "only `evoscore-gamma`").await;
    let other = plots("evoscore-gamma.svg?relative=first");
    check(&other, 400, bad, "`leader`").await;
    let papers = plots("solved.svg?range=paper");
    check(&papers, 400, bad, "only `rank-by-gamma`").await;
    check(
        &plots("solved.svg?split=nothing"),
        404,
        "not-found",
        "`nothing`",
    )
    .await;
    // The previous figure is where it was.
    assert_eq!(app.get(&plots("evoscore-gamma.svg")).await.status, 200);
}

#[tokio::test]
async fn nothing_to_show_is_no_error() {
    // Nothing of this split is scored; the other fixture has no split.
    for (app, query) in [
        (TestApp::seeded().await, "?split=other"),
        (TestApp::empty().await, ""),
    ] {
        for figure in FIGURES {
            let svg = app.get(&format!("/api/v1/plots/{figure}.svg{query}")).await;
            assert_eq!(svg.status, 200, "{figure}");
            let csv = app.get(&format!("/api/v1/plots/{figure}.csv{query}")).await;
            assert_eq!(csv.status, 200, "{figure}");
        }
    }
    let app = TestApp::seeded().await;
    let page = app.get("/figures?split=other").await;
    assert_eq!(page.status, 200);
    assert!(page.text().contains("No results on other yet"));
    let nothing = TestApp::empty().await.get("/figures").await;
    assert_eq!(nothing.status, 200);
    assert!(nothing.text().contains("No tasks yet"));
}

#[tokio::test]
async fn the_page_has_every_figure_with_its_numbers() {
    let app = TestApp::ranked().await;
    let answer = app.get("/figures?split=demo").await;
    assert_eq!(answer.status, 200);
    let page = answer.text();
    let is_drawn = |figure: &&str| page.contains(&format!("/api/v1/plots/{figure}.svg"));
    let drawn: Vec<&str> = FIGURES.into_iter().filter(is_drawn).collect();
    assert!(drawn.contains(&"solved") && !drawn.contains(&"score-by-tokens"));
    for figure in FIGURES {
        assert!(page.contains(&format!("id=\"{figure}\"")), "{figure}");
    }
    for figure in &drawn {
        for (form, more) in [
            ("svg", ""),
            ("csv", ""),
            ("png", "&amp;scale=2"),
            ("png", "&amp;scale=4"),
        ] {
            let link = format!(
                "/api/v1/plots/{figure}.{form}?split=demo&amp;gamma=1.00&amp;convention=paper{more}\""
            );
            assert!(page.contains(&link), "{link}");
        }
    }
    assert!(page.contains("2 tasks of 2 repositories, 2 runs"));
    assert!(page.contains("Figure 12 of the paper"));
    assert!(!page.contains("<script>alert(1)"));
    assert_eq!(page.matches("Cite this figure").count(), drawn.len());
    assert!(page.contains("SWE-CI figure “Solved rate”, split demo, γ = 1.00"));
    // An empty figure explains why, and has no files.
    assert_eq!(
        page.matches(" (no data)").count(),
        FIGURES.len() - drawn.len()
    );
    assert!(page.contains("No scored run has its tokens counted"));
}

/// The chart over γ has a form without scripts too: a link, and the file.
#[tokio::test]
async fn differences_from_the_leader() {
    let app = TestApp::seeded().await;
    let scores = app.get("/?split=demo").await.text();
    assert!(
        scores.contains("href=\"/?split=demo&amp;relative=leader\""),
        "{scores}"
    );
    let svg =
        "/api/v1/plots/evoscore-gamma.svg?split=demo&gamma=1.00&convention=paper&relative=leader";
    for path in [
        "/?split=demo&relative=leader",
        "/figures?split=demo&relative=leader",
    ] {
        let page = app.get(path).await.text();
        assert!(page.contains("EvoScore, difference from"), "{path}: {page}");
        assert!(page.contains(&svg.replace('&', "&amp;")), "{path}: {page}");
        assert!(page.contains(", 0.000 from the leader"), "{path}: {page}");
    }
    let picture = app.get(svg).await.text();
    assert!(picture.contains("EvoScore, difference from"), "{picture}");
    assert!(
        picture.contains("&amp;relative=leader#evoscore-gamma"),
        "{picture}"
    );
}

/// Pages read their parameters leniently: an invalid value is the default.
#[tokio::test]
async fn the_page_ignores_invalid_parameters() {
    let app = TestApp::seeded().await;
    for query in [
        "?gamma=x",
        "?gamma=NaN&convention=%00",
        "?gamma=&convention=&split=",
        "?what=ever",
        "?gamma=1e999",
    ] {
        let page = app.get(&format!("/figures{query}")).await;
        assert_eq!(page.status, 200, "{query}");
        assert!(page.text().contains("at γ\u{a0}1.00"), "{query}");
    }
    let beyond = app.get("/figures?gamma=99").await;
    assert!(beyond.text().contains("at γ\u{a0}10.00"));
    assert_eq!(app.get("/figures?split=nothing").await.status, 404);
    assert_eq!(app.get("/embed/solved?split=nothing").await.status, 404);
    assert_eq!(app.get("/embed/figure-8").await.status, 404);
}

#[tokio::test]
async fn one_figure_may_be_framed_and_nothing_else() {
    let app = TestApp::seeded().await;
    for _ in 0..2 {
        // The second response comes from the cache.
        let embed = app.get("/embed/solved?split=demo").await;
        assert_eq!(embed.status, 200);
        let policy = embed.header("content-security-policy");
        assert!(policy.contains("frame-ancestors *"), "{policy}");
        assert!(policy.contains("default-src 'none'"), "{policy}");
        assert!(embed.headers.get("x-frame-options").is_none());
        let page = embed.text();
        assert!(page.contains("<svg") && !page.contains("site-header"));
    }
    for path in [
        "/figures?split=demo",
        "/",
        "/api/v1/plots/solved.svg",
        "/embed",
    ] {
        let answer = app.get(path).await;
        let policy = answer.header("content-security-policy");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}");
        assert_eq!(answer.header("x-frame-options"), "DENY", "{path}");
    }
}

/// Pages and pictures draw the best 30 runs and the median of the others; the numbers are
/// of all of them.
#[tokio::test]
async fn a_picture_is_of_the_best_runs_and_the_numbers_of_all() {
    let app = TestApp::ranked_and_changed(SIXTY_MORE).await;
    let svg = app.get("/api/v1/plots/solved.svg?split=demo").await.text();
    assert!(svg.contains("Solved rate: 30 runs."), "{svg}");
    assert!(svg.contains("median of 32 others"), "{svg}");
    let csv = app.get("/api/v1/plots/solved.csv?split=demo").await.text();
    assert_eq!(csv.lines().count(), 1 + 62);
    let embedded = app.get("/embed/solved?split=demo").await.text();
    assert!(embedded.contains("Solved rate: 30 runs."), "{embedded}");
    let page = app.get("/figures?split=demo").await.text();
    assert!(page.contains("the best 30 of 62 runs"), "{page}");
}

/// Sixty runs that solved `alpha-1` in one iteration.
const SIXTY_MORE: &str = r#"
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 59)
INSERT INTO runs (id, split, kind, config, provenance, progress, created_at, started_at, finished_at)
SELECT printf('00000000-0000-7000-9000-%012d', i), 'demo', 'measured',
       printf('{"model":"model-%02d","provider":"acme","kind":"measured","harness":{"name":"replay","max_chunks":4},"split":"demo","samples":1,"plan":{"max_iterations":4,"max_attempts":10}}', i),
       '{"platform_version":"0.1.0","metric_version":1,"dataset_digest":"sha256:dd","harness_version":"1"}',
       'finished', 1763600300000, 1763600300000, 1763600400000 FROM n;
INSERT INTO evolutions (id, run_id, task_id, sample, progress, ending, lease_until, expected_seconds, queued_at,
                        started_at, finished_at, at_iteration, at_role, at_attempt, suite)
SELECT 'e-' || r.id || t.id, r.id, t.id, 1, 'finished', 'solved', 0, 1.0, 1763600300000, 1763600300000, 1763600400000, 2,
       'architect', 1, t.suite
FROM runs r JOIN task_revisions t ON t.state = 'ready' WHERE r.id LIKE '%-9000-%';
INSERT INTO iterations (evolution_id, iteration, verdict, in_target, passed, lost, gained, outcomes, findings, code,
                        test_seconds, finished_at)
SELECT e.id, 1, 'scored', s.target_passed, s.target_passed, 0, s.target_passed - s.base_passed,
       substr('pppp', 1, s.target_passed), '[]', 'code/1', 1.0, 1763600400000
FROM evolutions e JOIN suites s ON s.id = e.suite WHERE e.id LIKE 'e-%-9000-%';
"#;
