//! The leaderboard: its views as pages without a script, as JSON and as CSV.

use crate::fixture::{Answer, TestApp};

/// The visible part of the page, without its embedded data.
fn body(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let html = answer.text();
    html.split("<footer").next().unwrap().to_owned()
}

/// The names in the ranking of a page, in order.
fn ranked(html: &str) -> Vec<String> {
    let Some((_, rows)) = html.split_once("class=\"ranked\"") else {
        return Vec::new();
    };
    let rows = rows.split("</tbody>").next().unwrap();
    let names = rows.split("href=\"/runs/").skip(1);
    let name = |rest: &str| {
        let (_, name) = rest.split_once('>').unwrap();
        name.split('<').next().unwrap().to_owned()
    };
    names.map(name).collect()
}

#[tokio::test]
async fn a_view_needs_no_script() {
    let app = TestApp::ranked().await;
    let all = ranked(&body(&app.get("/?split=demo").await));
    assert!(all.len() >= 2, "{all:?}");
    let turned: Vec<String> = all.iter().rev().cloned().collect();
    let check = async |query: &str, rows: &[String], says: &[&str]| {
        let html = body(&app.get(&format!("/?split=demo&{query}")).await);
        assert_eq!(ranked(&html), rows, "{query}");
        for part in says {
            assert!(html.contains(part), "{query} lacks {part}");
        }
    };
    let count = format!("{} rows", all.len());
    check("", &all, &[&count, "Cite this view", "sweci-demo-20"]).await;
    check("sort=-rank", &turned, &["aria-sort=\"descending\""]).await;
    check(
        "kind=human",
        &all[..1],
        &[&format!("1 of {count}"), "Show all"],
    )
    .await;
    check("text=replayed%20HUMAN", &all[..1], &["Show all"]).await;
    let none = ["No ranked run matches these filters", "Show all rows"];
    check("text=nobody", &[], &none).await;
    check("provider=nobody", &[], &none).await;
    // A form sends each box separately, and blanks as plus signs.
    check(
        "text=&provider=&kind=human&kind=measured&kind=imported",
        &all,
        &[],
    )
    .await;
    check("text=no+body", &[], &["value=\"no body\""]).await;
    check(
        "columns=tokens&columns=findings&columns=cost",
        &all,
        &[">Tokens<", ">Findings<", ">Cost<"],
    )
    .await;
    // Meaningless values are left out.
    check("sort=nothing&kind=x&columns=y&seen=z", &all, &[&count]).await;
    check(
        "seen=exclude",
        &[],
        &["Unseen tasks only", "No release date"],
    )
    .await;
}

#[tokio::test]
async fn columns_can_be_left_out() {
    let app = TestApp::seeded().await;
    let check = async |query: &str, has: &[&str], lacks: &[&str]| {
        let html = body(&app.get(&format!("/?split=demo&{query}")).await);
        for label in has {
            assert!(
                html.contains(&format!("data-label=\"{label}\"")),
                "{query} lacks {label}"
            );
        }
        for label in lacks {
            assert!(
                !html.contains(&format!("data-label=\"{label}\"")),
                "{query} has {label}"
            );
        }
    };
    check(
        "",
        &["Zero regression", "Solved", "Iterations", "Tasks"],
        &["Tokens", "Finished"],
    )
    .await;
    check(
        "columns=solved,net-zero-regression",
        &["Solved", "Net zero regr."],
        &["Iterations"],
    )
    .await;
    check("columns=none", &[], &["Solved", "Iterations", "Tasks"]).await;
}

/// While γ moves, the browser needs a few numbers per run and no tasks.
#[tokio::test]
async fn no_tasks_travel_in_the_page() {
    let app = TestApp::seeded().await;
    let page = app.get("/?split=demo").await.text();
    assert!(page.contains("data-component=\"LiveGamma_"), "{page}");
    assert!(!page.contains("target_date"), "{page}");
}

#[tokio::test]
async fn a_table_for_spreadsheets() {
    let app = TestApp::ranked().await;
    let table = async |query: &str| {
        let answer = app
            .get(&format!("/api/v1/leaderboard.csv?split=demo{query}"))
            .await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("content-type"), "text/csv; charset=utf-8");
        let text = answer.text();
        text.split_terminator("\r\n")
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let all = table("").await;
    assert!(all[0].starts_with("made_on,snapshot,split,gamma,convention,seen,rank,"));
    assert!(all[0].ends_with(",finished_at"), "{}", all[0]);
    assert!(
        all[1].starts_with("20") && all[1].contains(",,demo,1,paper,include,1,1,1,1,"),
        "{}",
        all[1]
    );
    let rows = app.get("/api/v1/leaderboard?split=demo").await.json();
    assert_eq!(all.len() - 1, rows["items"].as_array().unwrap().len());
    let few = table("&kind=human&columns=solved&gamma=1.5&convention=reference").await;
    assert_eq!(few.len(), 2);
    assert!(few[0].ends_with(",counts_only,unranked,solved_rate,solved_rate_low,solved_rate_high"));
    assert!(few[1].contains(",,demo,1.5,reference,include,"));
    assert_eq!(table("&seen=exclude").await.len(), 1, "only a head");
    let turned = table("&sort=-rank").await;
    assert_eq!(turned.last(), all.get(1));
}

#[tokio::test]
async fn the_same_view_as_json() {
    let app = TestApp::seeded().await;
    let rows = async |query: &str| {
        let page = app
            .get(&format!("/api/v1/leaderboard?split=demo{query}"))
            .await;
        page.json()["items"].as_array().unwrap().clone()
    };
    let all = rows("").await;
    let turned: Vec<_> = all.iter().rev().cloned().collect();
    assert_eq!(rows("&sort=-rank").await, turned);
    assert_eq!(rows("&kind=human").await, all[..1]);
    assert_eq!(rows("&text=nobody").await.len(), 0);
    assert_eq!(rows("&sort=-rank&limit=1").await, turned[..1]);
}

#[tokio::test]
async fn the_api_refuses_invalid_parameters() {
    let app = TestApp::seeded().await;
    let check = async |query: &str, parameter: &str| {
        for path in ["leaderboard", "leaderboard.csv"] {
            let answer = app.get(&format!("/api/v1/{path}?{query}")).await;
            let problem = answer.problem(400, "bad-parameter");
            let detail = problem["detail"].as_str().unwrap();
            assert!(
                detail.contains(&format!("`{parameter}`")),
                "{path}?{query}: {detail}"
            );
        }
    };
    check("kind=robot", "kind").await;
    check("kind=human,", "kind").await;
    check("sort=height", "sort").await;
    check("seen=maybe", "seen").await;
    check("gama=1", "gama").await;
    check("kind=human&kind=human", "kind").await;
    check(&format!("text={}", "x".repeat(201)), "text").await;
    let csv = app.get("/api/v1/leaderboard.csv?columns=height").await;
    csv.problem(400, "bad-parameter");
    let json = app.get("/api/v1/leaderboard?columns=solved").await;
    json.problem(400, "bad-parameter");
    let none = app.get("/api/v1/leaderboard.csv?split=none").await;
    none.problem(404, "not-found");
}

/// A table of a hundred and one runs on two pages.
#[tokio::test]
async fn long_rankings_come_in_parts() {
    let large = include_str!("../../benches/pages/large.sql").replace("RUNS", "101");
    // One task is enough.
    let app = TestApp::changed(&large.replace("i < 99", "i < 0")).await;
    let first = body(&app.get("/?split=large").await);
    assert!(first.contains("101 rows") && first.contains("Here: 1 to 100."));
    assert!(first.contains("href=\"/?split=large&amp;from=100\""));
    assert!(!first.contains("Previous rows"));
    let last = body(&app.get("/?split=large&from=100").await);
    assert!(last.contains("Here: 101 to 101.") && last.contains("Previous rows"));
    assert!(!last.contains("Next rows"));
    let (first, last) = (ranked(&first), ranked(&last));
    assert_eq!((first.len(), last.len()), (100, 1));
    assert!(!first.contains(&last[0]));
    // After the end, the last part; a filter counts from the start.
    let beyond = body(&app.get("/?split=large&from=900").await);
    assert_eq!(ranked(&beyond), last);
    let found = body(&app.get(&format!("/?split=large&text={}", last[0])).await);
    assert!(found.contains("1 of 101 rows") && ranked(&found) == last);
    let matrix = body(&app.get("/matrix?split=large&from=100").await);
    assert!(matrix.contains("Here: 101 to 101.") && matrix.contains("Previous runs"));
}
