//! The code change of an iteration, as pages show it.

use crate::fixture::{MODEL, TestApp};

/// A stored file of code.
fn code(files: &[(&str, &str)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, path, text.as_bytes()).unwrap();
    }
    tar.into_inner().unwrap()
}

const BEFORE: &str =
    "def total(items):\n    return sum(items)\nsame\n# \u{202e}evil\u{1b}[31m\nkept\n";
const AFTER: &str = "def total(items):\n    return sum(prices)\nsame\n# <script>alert('line')</script>\u{202e}\u{7}x\nkept\nnew";
/// A name that would be an element and would change the text direction, and two
/// lines.
const NAME: &str = "src/<script>alert('name')<\u{202e}yp.\nb.py";

async fn changed() -> TestApp {
    let app = TestApp::seeded().await;
    let long = format!("x = '{}'\n", "y".repeat(5_000));
    app.keep("code/4", &code(&[(NAME, BEFORE), ("long.py", "x\n")]));
    app.keep("code/5", &code(&[(NAME, AFTER), ("long.py", &long)]));
    app
}

/// The second iteration on its own page, and in the page of its evolution.
fn pages(query: &str) -> [String; 2] {
    let evolution = format!("/runs/{MODEL}/tasks/alpha-1?iteration=2");
    match query {
        "" => [format!("/runs/{MODEL}/e-model-alpha/2"), evolution],
        query => [
            format!("/runs/{MODEL}/e-model-alpha/2?{query}"),
            format!("{evolution}&{query}"),
        ],
    }
}

#[tokio::test]
async fn diffs_are_unified_by_default() {
    let app = changed().await;
    for query in ["", "diff=unified", "diff="] {
        for page in pages(query) {
            // Without the markers for hydration between texts.
            let html = app.get(&page).await.text().replace("<!>", "");
            assert!(!html.contains("<table class=\"diff-split\""), "{page}");
            for part in [
                "2 files changed since iteration 1",
                "diff=split",
                "Changed lines ",
                "Removed: ",
                "Added: ",
                // Only the changed words of the line.
                "<span class=\"t-keyword\">return</span> sum(<mark>items</mark>",
                "<span class=\"t-keyword\">return</span> sum(<mark>prices</mark>",
                "[no newline at the end of the file]",
            ] {
                assert!(html.contains(part), "{page}: {part}: {html}");
            }
        }
    }
}

#[tokio::test]
async fn the_side_by_side_layout_survives_navigation() {
    let app = changed().await;
    for page in pages("diff=split") {
        let html = app.get(&page).await.text().replace("<!>", "");
        for part in [
            "<table class=\"diff-split\"",
            "<mark>prices</mark>",
            "each file scrolls sideways",
        ] {
            assert!(html.contains(part), "{page}: {part}: {html}");
        }
        // A link to its neighbour, and one to the other layout.
        let (previous, unified) = if page.contains("/tasks/") {
            (
                "iteration=1&amp;diff=split#iteration",
                "iteration=2#iteration",
            )
        } else {
            ("/e-model-alpha/1?diff=split", "/e-model-alpha/2\"")
        };
        for link in [previous, unified] {
            assert!(html.contains(link), "{page}: {link}: {html}");
        }
    }
}

#[tokio::test]
async fn hostile_content_is_shown_as_text() {
    let app = changed().await;
    let whole = "/api/v1/evolutions/e-model-alpha/iterations/2/diff";
    for page in pages("").into_iter().chain(pages("diff=split")) {
        let html = app.get(&page).await.text();
        // Embedded data is a script that nothing in it can end.
        for attack in ["<script>alert", "\u{202e}", "\u{1b}", "\u{7}"] {
            let (shown, _) = html.split_once("</main>").unwrap();
            assert!(!shown.contains(attack), "{page}: {attack:?}");
        }
        assert!(!html.contains("<script>alert"), "{page}");
        for part in [
            "src/&lt;script&gt;alert('name')&lt;[U+202E]yp.␊b.py",
            "&lt;script&gt;alert('line')&lt;/script&gt;[U+202E]␇x",
            "[U+202E]evil␛[31m",
            "[…and 4006 more characters]",
        ] {
            let plain = html
                .replace("<mark>", "")
                .replace("</mark>", "")
                .replace("<!>", "");
            assert!(plain.contains(part), "{page}: {part}: {plain}");
        }
    }
    let text = app.get(whole).await;
    assert_eq!(text.header("content-type"), "text/plain; charset=utf-8");
    assert!(text.text().contains("yyyy'\n"));
}
