//! The glossary's terms and their explanations, as the server renders them.

use std::collections::BTreeMap;

use crate::fixture::{HUMAN, TestApp};

fn pages() -> [String; 9] {
    [
        "/?split=demo".into(),
        "/?split=demo&columns=evoscore,zero-regression,net-zero-regression,solved,zrr,turns,mi-wins,pylint-wins,generalisation,tokens,cost,tokens-per-task,cost-per-task,tokens-per-test,cost-per-test,agent-time,wall-time,findings,tasks,released,finished".into(),
        "/figures?split=demo".into(),
        "/tasks".into(),
        "/tasks/alpha-1".into(),
        "/models/Human%20%28replayed%20history%29".into(),
        format!("/runs/{HUMAN}"),
        format!("/runs/{HUMAN}/tasks/alpha-1"),
        "/about".into(),
    ]
}

fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    let rest = page.split(start.as_str()).skip(1);
    rest.map(|rest| rest.split('"').next().unwrap()).collect()
}

/// Each id occurs once, so an explanation is sent once; and every description
/// reference has its explanation.
#[tokio::test]
async fn explanations_occur_once_where_terms_point() {
    let app = TestApp::seeded().await;
    for path in pages() {
        let answer = app.get(&path).await;
        assert_eq!(answer.status, 200, "{path}");
        let page = answer.text();
        let mut ids: BTreeMap<&str, u32> = BTreeMap::new();
        for id in values(&page, "id") {
            *ids.entry(id).or_default() += 1;
        }
        let twice: Vec<_> = ids.iter().filter(|(_, times)| **times > 1).collect();
        assert!(twice.is_empty(), "{path}: {twice:?}");
        let pointing = ["aria-describedby", "popovertarget"];
        let pointed = pointing.iter().flat_map(|name| values(&page, name));
        let mut tips = 0;
        for id in pointed.filter(|id| id.starts_with("tip-")) {
            assert!(ids.contains_key(id), "{path} lacks {id}");
            tips += 1;
        }
        assert!(tips > 2 || path == "/about", "{path} explains nothing");
    }
}

/// Works without a script: a term is a button that opens its explanation.
#[tokio::test]
async fn a_term_opens_its_explanation() {
    let page = TestApp::seeded().await.get("/tasks").await.text();
    let (_, gap) = page.split_once("popovertarget=\"tip-gap\"").unwrap();
    let (_, tip) = gap.split_once("id=\"tip-gap\"").unwrap();
    let (attributes, rest) = tip.split_once('>').unwrap();
    assert!(attributes.contains("popover=\"auto\""), "{attributes}");
    assert!(attributes.contains("role=\"tooltip\""), "{attributes}");
    assert!(rest.starts_with("The target tests that the current code does not pass."));
}

/// The leaderboard's headers still sort, and explain themselves.
#[tokio::test]
async fn headers_sort_and_explain() {
    let page = TestApp::seeded().await.get("/?split=demo").await.text();
    let heads = page.split("role=\"columnheader\"").skip(1);
    let mut heads = heads.map(|head| head.split("</th>").next().unwrap());
    let solved = heads.find(|head| head.contains(">Solved")).unwrap();
    assert!(solved.contains("sort=-solved"), "{solved}");
    assert!(solved.contains("aria-describedby=\"tip-solved\""));
    assert!(solved.contains("id=\"tip-solved\""));
}

#[tokio::test]
async fn the_glossary_has_an_address_for_each_term() {
    let page = TestApp::seeded().await.get("/about").await.text();
    for slug in ["evoscore", "gamma", "tie-group", "integrity-finding"] {
        assert!(page.contains(&format!("id=\"term-{slug}\"")), "{slug}");
    }
    // Every entry of the contents exists.
    let (_, contents) = page.split_once("class=\"contents\"").unwrap();
    let (contents, _) = contents.split_once("</nav>").unwrap();
    let places = values(contents, "href");
    assert!(places.len() > 10);
    for place in places {
        let id = format!("id=\"{}\"", place.trim_start_matches('#'));
        assert!(page.contains(&id), "{place}");
    }
}
