//! WCAG 2.2 AA by axe-core, which is run inside every page; what a machine
//! cannot judge is in `keyboard` and `reading`.

use serde_json::{Value, json};

use crate::browser::{Browser, Look};
use crate::product::target;
use crate::world::{Pages, embeds, empty, empty_pages, pages, world};

/// Impacts that fail a test; others are printed.
const GRAVE: [&str; 2] = ["serious", "critical"];

/// Gives every page the browser opens the means of [`violations`]: by the
/// DevTools, whose scripts the content security policy does not concern.
pub async fn equip(browser: &Browser) {
    let file = target().join("axe-core/axe.min.js");
    let axe = std::fs::read_to_string(&file)
        .unwrap_or_else(|e| panic!("{}: {e}; `scripts/setup.sh axe` fetches it", file.display()));
    browser
        .cdp(
            "Page.addScriptToEvaluateOnNewDocument",
            json!({ "source": axe }),
        )
        .await;
}

/// What axe has against the page at hand, a line each; grave ones apart.
pub async fn violations(browser: &Browser, page: &str) -> (Vec<String>, Vec<String>) {
    let script = "const found = await axe.run(document, {
            resultTypes: ['violations'],
            runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
        });
        return found.violations.flatMap(rule => rule.nodes.map(node => [rule.impact, rule.id, node.target.flat().join(' '),
            [...node.any, ...node.all, ...node.none].map(check => check.message).join('; ')]));";
    let Value::Array(found) = browser.eval(script).await else {
        panic!("axe gives a list")
    };
    let line = |node: &Value| {
        let part = |at: usize| node[at].as_str().unwrap_or_default().to_owned();
        (
            GRAVE.contains(&part(0).as_str()),
            format!(
                "{page}: {} ({}): {}: {}",
                part(1),
                part(0),
                part(2),
                part(3)
            ),
        )
    };
    let (grave, light): (Vec<_>, Vec<_>) = found.iter().map(line).partition(|(grave, _)| *grave);
    let texts = |lines: Vec<(bool, String)>| lines.into_iter().map(|(_, line)| line).collect();
    (texts(grave), texts(light))
}

/// Opens each page in one look, keeps a picture of it and has axe judge it.
async fn tour(look: Look) {
    let (world, empty) = (world().await, empty().await);
    let browser = Browser::open(look).await;
    equip(&browser).await;
    let mut all = Vec::new();
    // Figures are the same picture again: two looks have them all.
    let figures = if look.dark == (look.width < 600) {
        embeds()
    } else {
        Pages::new()
    };
    let sites: [(&str, Pages); 3] = [
        (&world.url, pages()),
        (&world.url, figures),
        (&empty.url, empty_pages()),
    ];
    for (url, pages) in sites {
        for (name, path) in pages {
            browser.go(&format!("{url}{path}")).await;
            browser.hydrated().await;
            let picture = format!("tour-{name}-{}-{}", look.width, look.scheme());
            browser.picture(&picture).await;
            let (grave, light) = violations(&browser, name).await;
            for line in light {
                eprintln!("{line}");
            }
            all.extend(grave);
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
    let complaints = browser.complaints().await;
    let unexpected = complaints
        .iter()
        .filter(|c| !c.contains("responded with a status of 40"));
    assert_eq!(unexpected.collect::<Vec<_>>(), Vec::<&String>::new());
    browser.close().await;
}

const fn look(width: u32, dark: bool) -> Look {
    Look {
        width,
        dark,
        javascript: true,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_wide_and_light() {
    tour(look(1440, false)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_wide_and_dark() {
    tour(look(1440, true)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_narrow_and_light() {
    tour(look(390, false)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_narrow_and_dark() {
    tour(look(390, true)).await;
}
