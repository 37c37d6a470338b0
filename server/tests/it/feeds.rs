//! The files for programs: robots.txt, the sitemap and the feed.

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::Event;

use crate::fixture::{Answer, HUMAN, MODEL, TestApp};

const HERE: &str = "https://bench.example.org";

/// The texts and links of a document, each with the path of its elements;
/// parsing it is half of the test.
fn parsed(answer: &Answer) -> Vec<(String, String)> {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let text = answer.text();
    let mut reader = Reader::from_str(&text);
    reader.config_mut().check_end_names = true;
    let (mut path, mut found) = (Vec::new(), Vec::new());
    let mut words = String::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(tag) => {
                path.push(tag.name().as_ref().to_owned());
                words.clear();
            }
            Event::Empty(tag) => {
                let name = tag.name().as_ref().to_owned();
                let of = |key: &str| {
                    let found = tag.try_get_attribute(key).unwrap()?;
                    Some(unescape(&found.value).unwrap().into_owned())
                };
                let said = of("href").or_else(|| of("term")).unwrap();
                let kind = of("rel").unwrap_or_default();
                found.push((format!("{}/{name}.{kind}", path.join("/")), said));
            }
            Event::Text(text) => words.push_str(&text),
            Event::GeneralRef(name) => {
                words.push_str(&unescape(&format!("&{};", &*name)).unwrap());
            }
            Event::End(_) => {
                found.push((path.join("/"), words.trim().to_owned()));
                path.pop();
                words.clear();
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(path.is_empty(), "{path:?} is not closed");
    found
}

fn all<'a>(found: &'a [(String, String)], path: &str) -> Vec<&'a str> {
    let of = found.iter().filter(|(p, _)| p == path);
    of.map(|(_, text)| text.as_str()).collect()
}

/// A name with everything XML treats specially, and one forbidden character.
const HOSTILE: &str = r#"UPDATE runs SET config = replace(config, 'Human (replayed history)', 'a & <b> ]]> \" &amp; \u0001') WHERE kind = 'human';
    UPDATE changes SET n = n + 1"#;

#[tokio::test]
async fn a_feed_of_new_results() {
    let app = TestApp::public(HERE).await;
    let answer = app.get("/feed.xml").await;
    assert_eq!(
        answer.header("content-type"),
        "application/atom+xml; charset=utf-8"
    );
    let feed = parsed(&answer);
    assert_eq!(all(&feed, "feed/id"), [format!("{HERE}/feed.xml")]);
    assert_eq!(all(&feed, "feed/link.self"), [format!("{HERE}/feed.xml")]);
    // Only one run is over.
    assert_eq!(all(&feed, "feed/entry/id"), [format!("urn:uuid:{HUMAN}")]);
    assert_eq!(
        all(&feed, "feed/entry/title"),
        ["Human (replayed history) on demo"]
    );
    assert_eq!(
        all(&feed, "feed/entry/link.alternate"),
        [format!("{HERE}/runs/{HUMAN}")]
    );
    assert_eq!(all(&feed, "feed/entry/updated"), ["2025-11-20T00:54:20Z"]);
    assert_eq!(all(&feed, "feed/updated"), all(&feed, "feed/entry/updated"));
    assert_eq!(
        all(&feed, "feed/entry/summary"),
        [
            "EvoScore 0.94 [0.88, 1.00] at γ = 1, rank 1 on the split demo (paper convention), \
             2 of 2 tasks scored. The human baseline: the real history, replayed."
        ]
    );
}

#[tokio::test]
async fn the_latest_result_comes_first_and_ids_stay() {
    let app = TestApp::public(HERE).await;
    let ids = async || {
        let feed = parsed(&app.get("/feed.xml").await);
        all(&feed, "feed/entry/id")
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let before = ids().await;
    app.execute(&format!(
        "UPDATE runs SET progress = 'finished', finished_at = 1763700000000 WHERE id = '{MODEL}';
         UPDATE changes SET n = n + 1"
    ))
    .await;
    let after = ids().await;
    assert_eq!(after[0], format!("urn:uuid:{MODEL}"));
    assert_eq!(after[1..], before);
}

#[tokio::test]
async fn hostile_names_are_text() {
    let app = TestApp::public(HERE).await;
    app.execute(HOSTILE).await;
    let feed = parsed(&app.get("/feed.xml").await);
    assert_eq!(
        all(&feed, "feed/entry/title"),
        ["a & <b> ]]> \" &amp; \u{fffd} on demo"]
    );
    let pages = parsed(&app.get("/sitemap.xml").await);
    let models: Vec<&str> = all(&pages, "urlset/url/loc")
        .into_iter()
        .filter(|page| page.contains("/models/"))
        .collect();
    assert_eq!(
        models,
        [
            format!("{HERE}/models/%3Cscript%3Ealert%281%29%3C%2Fscript%3E"),
            format!("{HERE}/models/a%20%26%20%3Cb%3E%20%5D%5D%3E%20%22%20%26amp%3B%20%01"),
            format!("{HERE}/models/patient"),
        ]
    );
}

/// Every page in the sitemap exists, and none is listed twice.
#[tokio::test]
async fn the_sitemap_has_every_page() {
    let app = TestApp::public(HERE).await;
    let answer = app.get("/sitemap.xml").await;
    assert_eq!(
        answer.header("content-type"),
        "application/xml; charset=utf-8"
    );
    let found = parsed(&answer);
    let pages = all(&found, "urlset/url/loc");
    for path in [
        "/",
        "/figures",
        "/about",
        "/tasks/gamma-3",
        &format!("/runs/{HUMAN}"),
    ] {
        assert!(pages.contains(&format!("{HERE}{path}").as_str()), "{path}");
    }
    assert_eq!(
        all(&found, "urlset/url/lastmod"),
        ["2025-11-20T00:54:20Z"],
        "of the run that is over"
    );
    for (at, page) in pages.iter().enumerate() {
        assert!(!pages[..at].contains(page), "{page} stands there twice");
        let path = page.strip_prefix(HERE).unwrap();
        assert_eq!(app.get(path).await.status, 200, "{path}");
    }
    let first = parsed(&app.get("/sitemap.xml?part=1").await);
    assert_eq!(all(&first, "urlset/url/loc"), pages);
    let none = app.get("/sitemap.xml?part=2").await;
    none.problem(404, "no-such-address");
    assert_eq!(app.get("/sitemap.xml?part=x").await.status, 400);
}

#[tokio::test]
async fn robots_find_the_sitemap() {
    let app = TestApp::public(HERE).await;
    let robots = app.get("/robots.txt").await;
    assert_eq!(robots.header("content-type"), "text/plain; charset=utf-8");
    let text = robots.text();
    assert!(
        text.contains("\nUser-agent: *\nDisallow: /api/\n"),
        "{text}"
    );
    assert!(text.ends_with(&format!("\nSitemap: {HERE}/sitemap.xml\n")));
}

/// The operator did not configure a public URL.
#[tokio::test]
async fn without_an_address() {
    let app = TestApp::seeded().await;
    let sitemap = app.get("/sitemap.xml").await;
    assert_eq!(sitemap.status, 404);
    assert!(sitemap.text().contains("--public-url"));
    assert!(!app.get("/robots.txt").await.text().contains("Sitemap:"));
    let feed = parsed(&app.get("/feed.xml").await);
    assert_eq!(
        all(&feed, "feed/entry/link.alternate"),
        [format!("/runs/{HUMAN}")]
    );
    assert!(all(&feed, "feed/link.self").is_empty());
    let nothing = parsed(&TestApp::empty().await.get("/feed.xml").await);
    assert!(all(&nothing, "feed/entry/id").is_empty());
    assert_eq!(all(&nothing, "feed/updated"), ["1970-01-01T00:00:00Z"]);
}

#[tokio::test]
async fn an_unchanged_page_is_a_304() {
    let app = TestApp::public(HERE).await;
    for path in ["/feed.xml", "/sitemap.xml", "/robots.txt"] {
        let first = app.get(path).await;
        let etag = first.header("etag").to_owned();
        let again = app.ask("GET", path, &[("if-none-match", &etag)]).await;
        assert_eq!(
            (again.status.as_u16(), again.bytes.len()),
            (304, 0),
            "{path}"
        );
    }
    let etag = app.get("/feed.xml").await.header("etag").to_owned();
    app.execute(HOSTILE).await;
    let known = [("if-none-match", etag.as_str())];
    assert_eq!(app.ask("GET", "/feed.xml", &known).await.status, 200);
}

#[tokio::test]
async fn pages_name_the_feed() {
    let page = TestApp::seeded().await.get("/runs").await.text();
    assert!(
        page.contains(r#"<link rel="alternate" href="/feed.xml" type="application/atom+xml""#),
        "{page}"
    );
}

/// A reader without scripts gets a citable address, too.
#[tokio::test]
async fn a_citation_has_the_address() {
    let page = TestApp::public(HERE).await.get("/?gamma=1.5").await.text();
    let cited = format!("url = {{{HERE}/?split=demo&amp;gamma=1.50}}");
    assert!(page.contains(&cited), "{page}");
}
