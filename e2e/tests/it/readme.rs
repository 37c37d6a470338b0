//! The README's pictures of the site. `make pictures` puts those that this test
//! takes in their place.

use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

use crate::browser::{Browser, DESK, Look};
use crate::product::{Product, target};
use crate::world::{WORLD, run};

/// Everybody who clones the project downloads them.
const MAX_BYTES: usize = 150_000;

#[tokio::test(flavor = "multi_thread")]
async fn the_readme_shows_the_site() {
    let world = Product::showing(&format!("{WORLD}{}", include_str!("readme.sql"))).await;
    let taken = target().join("readme");
    let shown = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/pictures");
    std::fs::create_dir_all(&taken).unwrap();
    let readme = include_str!("../../../README.md");
    let pages = [
        ("leaderboard", "/?split=field".to_owned()),
        ("compare", format!("/compare?runs={},{}", run(9), run(1))),
    ];
    for dark in [false, true] {
        let look = Look { dark, ..DESK };
        let browser = Browser::open(look).await;
        for (page, address) in &pages {
            browser.go(&format!("{}{address}", world.url)).await;
            browser.hydrated().await;
            let clip = json!({"x": 0, "y": 0, "width": 1440, "height": 900, "scale": 0.65});
            let shot = browser
                .cdp("Page.captureScreenshot", json!({"clip": clip}))
                .await;
            let png = BASE64_STANDARD.decode(shot["data"].as_str().unwrap());
            let png = png.unwrap();
            let name = format!("{page}-{}.png", look.scheme());
            assert!(png.len() <= MAX_BYTES, "{name} has {} bytes", png.len());
            std::fs::write(taken.join(&name), png).unwrap();
            assert!(readme.contains(&format!("docs/pictures/{name}")), "{name}");
            let kept = std::fs::metadata(shown.join(&name)).unwrap().len();
            assert!(kept <= MAX_BYTES as u64, "{name} has {kept} bytes");
        }
        browser.close().await;
    }
}
