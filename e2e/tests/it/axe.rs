//! WCAG 2.2 AA by axe-core, which is run inside every page; what a machine
//! cannot judge is in `keyboard` and `reading`.

use serde_json::{Value, json};

use crate::browser::{Browser, DESK};
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

/// Which of axe's rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    All,
    /// Those that see colours and sizes; all others find the same in any
    /// colours and at any width.
    ColoursAndSizes,
}

/// What axe has against the page at hand, a line each; grave ones apart.
pub async fn violations(browser: &Browser, page: &str, rules: Rules) -> (Vec<String>, Vec<String>) {
    let only = match rules {
        Rules::All => "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']",
        Rules::ColoursAndSizes => {
            "{type: 'rule', values: ['color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable']}"
        }
    };
    let script = format!(
        "const found = await axe.run(document, {{resultTypes: ['violations'], preload: false, runOnly: {only}}});
        return found.violations.flatMap(rule => rule.nodes.map(node => [rule.impact, rule.id, node.target.flat().join(' '),
            [...node.any, ...node.all, ...node.none].map(check => check.message).join('; ')]));"
    );
    let Value::Array(found) = browser.eval(&script).await else {
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

/// A site and those of its pages that are judged.
type Site<'a> = (&'a str, Pages);

type PageLook = (u32, &'static str, Rules);

/// A page is judged by all rules in one look, and in another by what width and
/// colours change.
const LOOKS: [PageLook; 2] = [
    (1440, "light", Rules::All),
    (390, "dark", Rules::ColoursAndSizes),
];
const OTHER_LOOKS: [PageLook; 2] = [
    (1440, "dark", Rules::ColoursAndSizes),
    (390, "light", Rules::ColoursAndSizes),
];

/// Opens each page once and has axe judge it in these looks; keeps a picture of
/// a look that fails.
async fn tour(sites: &[Site<'_>], in_looks: &[PageLook]) {
    let browser = Browser::open(DESK).await;
    equip(&browser).await;
    let mut all = Vec::new();
    for (url, pages) in sites {
        for (name, path) in pages {
            looks(&browser, in_looks[0].0, in_looks[0].1).await;
            browser.go(&format!("{url}{path}")).await;
            browser.hydrated().await;
            for &(width, scheme, rules) in in_looks {
                looks(&browser, width, scheme).await;
                let page = format!("{name}, {width} px, {scheme}");
                let (grave, light) = violations(&browser, &page, rules).await;
                for line in light {
                    eprintln!("{line}");
                }
                if !grave.is_empty() {
                    let picture = format!("tour-{name}-{width}-{scheme}");
                    browser.picture(&picture).await;
                }
                all.extend(grave);
            }
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

/// At once: what moves on the way from one to the other stands still.
async fn looks(browser: &Browser, width: u32, scheme: &str) {
    let motion = ("prefers-reduced-motion", "reduce");
    browser
        .emulate(&[("prefers-color-scheme", scheme), motion])
        .await;
    let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
    browser
        .cdp("Emulation.setDeviceMetricsOverride", size)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page() {
    let world = world().await;
    tour(&[(&world.url, pages())], &LOOKS).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: a minute for each look"]
async fn every_other_look_of_every_page() {
    let (world, empty) = (world().await, empty().await);
    let sites = [
        (&*world.url, pages()),
        (&world.url, embeds()),
        (&empty.url, empty_pages()),
    ];
    tour(&sites, &OTHER_LOOKS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_embedded_page_and_those_of_an_empty_site() {
    let (world, empty) = (world().await, empty().await);
    let sites = [(&*world.url, embeds()), (&empty.url, empty_pages())];
    tour(&sites, &LOOKS).await;
}
