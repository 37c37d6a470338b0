//! Figures as PNG, and the pictures beside links to pages.

use crate::fixture::{Answer, HUMAN, MODEL, PATIENT, TestApp};

/// Width, height and pixels (RGB) of a PNG response.
#[track_caller]
fn decoded(answer: &Answer) -> (u32, u32, Vec<u8>) {
    assert_eq!(
        answer.status,
        200,
        "{}",
        String::from_utf8_lossy(&answer.bytes)
    );
    assert_eq!(answer.header("content-type"), "image/png");
    assert_eq!(&answer.bytes[..8], b"\x89PNG\r\n\x1a\n");
    let decoder = png::Decoder::new(std::io::Cursor::new(&answer.bytes));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgb);
    (info.width, info.height, pixels)
}

fn inked(pixels: &[u8]) -> usize {
    pixels.chunks_exact(3).filter(|p| *p != [255; 3]).count()
}

/// The SVG's own width or height.
fn svg_size(svg: &str, name: &str) -> u32 {
    let (_, rest) = svg.split_once(&format!(" {name}=\"")).unwrap();
    rest.split('"').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn every_figure_is_a_png_of_the_size_asked_for() {
    let app = TestApp::seeded().await;
    for (n, figure) in swe_ci_views::figures::Figure::ALL.into_iter().enumerate() {
        let plot = format!("/api/v1/plots/{}", figure.name());
        let svg = app.get(&format!("{plot}.svg?split=demo")).await.text();
        let size = ["width", "height"].map(|name| svg_size(&svg, name));
        let mut ink = Vec::new();
        // The scale does not depend on the figure: some have it asked for.
        let scales: &[(&str, u32)] = match n % 6 {
            0 => &[("", 2), ("&scale=2", 2), ("&scale=4", 4)],
            _ => &[("", 2)],
        };
        for (query, scale) in scales {
            let answer = app.get(&format!("{plot}.png?split=demo{query}")).await;
            let (width, height, pixels) = decoded(&answer);
            assert_eq!([width, height], size.map(|s| s * scale), "{figure:?}");
            ink.push(inked(&pixels));
        }
        assert!(ink[0] > 500, "{figure:?}: {ink:?}");
        if let [unasked, asked, larger] = ink[..] {
            assert_eq!(unasked, asked, "{figure:?}");
            // Every drawing has four times the pixels.
            let more = larger as f64 / asked as f64;
            assert!((3.0..5.0).contains(&more), "{figure:?}: {more}");
        }
    }
}

#[tokio::test]
async fn invalid_requests_get_advice() {
    let app = TestApp::seeded().await;
    for scale in ["1", "5", "0", "-2", "2.5", "two", "4294967298"] {
        let path = format!("/api/v1/plots/solved.png?scale={scale}");
        let problem = app.get(&path).await.problem(400, "bad-parameter");
        assert_eq!(problem["parameter"], "scale");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("a whole number from 2 to 4"), "{detail}");
    }
    for other in ["solved.svg?scale=2", "solved.csv?scale=2"] {
        let problem = app.get(&format!("/api/v1/plots/{other}")).await;
        let problem = problem.problem(400, "bad-parameter");
        assert!(problem["detail"].as_str().unwrap().contains("only a PNG"));
    }
    let twice = app.get("/api/v1/plots/solved.png?scale=2&scale=3").await;
    twice.problem(400, "bad-parameter");
    app.get("/api/v1/plots/figure-8.png")
        .await
        .problem(404, "not-found");
    let split = app.get("/api/v1/plots/solved.png?split=nothing").await;
    split.problem(404, "not-found");
}

/// Cached as it is: compressed once, by its own format, and rendered again only
/// when the data changes.
#[tokio::test]
async fn a_picture_is_cached() {
    let app = TestApp::seeded().await;
    for path in ["/api/v1/plots/solved.png?split=demo"] {
        let ask = async |etag: &str| {
            let headers = [("accept-encoding", "gzip, br"), ("if-none-match", etag)];
            app.ask("GET", path, &headers).await
        };
        let first = ask("").await;
        assert!(first.headers.get("content-encoding").is_none(), "{path}");
        assert_eq!(first.header("vary"), "cookie, authorization", "{path}");
        let etag = first.header("etag").to_owned();
        assert_eq!(ask("").await.bytes, first.bytes);
        let known = ask(&etag).await;
        assert_eq!((known.status.as_u16(), known.bytes.len()), (304, 0));

        app.execute("UPDATE runs SET config = replace(config, 'acme', 'acme ')")
            .await;
        app.execute("UPDATE runs SET config = replace(config, 'Human (', 'Somebody (')")
            .await;
        app.execute("UPDATE changes SET n = n + 1").await;
        let fresh = ask(&etag).await;
        assert_ne!(decoded(&fresh).2, decoded(&first).2, "{path}");
        app.execute("UPDATE runs SET config = replace(config, 'Somebody (', 'Human (')")
            .await;
        app.execute("UPDATE changes SET n = n + 1").await;
    }
}

/// Pages that others link to.
fn pages() -> Vec<String> {
    let mut pages: Vec<String> = [
        "/",
        "/?split=demo&gamma=1.50&convention=reference",
        "/figures",
        "/figures?gamma=0.5",
        "/embed/solved?split=demo",
        "/runs",
        "/tasks",
        "/tasks/alpha-1",
        "/tasks/gamma-3",
        "/compare",
        "/about",
        "/models/patient",
        "/models/%3Cscript%3Ealert%281%29%3C%2Fscript%3E",
    ]
    .map(str::to_owned)
    .into();
    pages.extend([HUMAN, MODEL, PATIENT].map(|run| format!("/runs/{run}")));
    pages.push(format!("/runs/{HUMAN}/tasks/alpha-1"));
    pages.push(format!("/runs/{MODEL}/e-model-alpha/2"));
    pages.push(format!("/compare?runs={HUMAN}%2C{MODEL}&gamma=2"));
    pages
}

/// The content of a tag of the document's head.
fn tag(page: &str, name: &str) -> Option<String> {
    let mut tags = page.split('<').map(|rest| rest.split('>').next().unwrap());
    let tag = tags.find(|tag| tag.contains(&format!("=\"{name}\"")))?;
    let mut values = ["content=\"", "href=\""].into_iter();
    let (_, rest) = values.find_map(|attribute| tag.split_once(attribute))?;
    let text = rest.split('"').next()?;
    Some(
        text.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&amp;", "&"),
    )
}

#[tokio::test]
async fn every_page_has_its_picture() {
    let base = "https://bench.example.org";
    let app = TestApp::public(base).await;
    for path in pages() {
        let answer = app.get(&path).await;
        assert_eq!(answer.status, 200, "{path}");
        let page = answer.text();
        let says = |name: &str| tag(&page, name).unwrap_or_else(|| panic!("{path}: no {name}"));
        for name in ["og:title", "og:description", "og:image:alt", "og:site_name"] {
            assert!(!says(name).is_empty(), "{path}: {name}");
        }
        assert_eq!(says("og:url"), format!("{base}{path}"), "{path}");
        assert_eq!(says("canonical"), says("og:url"));
        assert_eq!(says("og:type"), "website");
        assert_eq!(says("twitter:card"), "summary_large_image");
        let image = says("og:image");
        let image = image
            .strip_prefix(base)
            .unwrap_or_else(|| panic!("{image}"));
        let public = concat!(env!("CARGO_MANIFEST_DIR"), "/../public");
        let picture = std::fs::File::open(format!("{public}{image}")).unwrap();
        let picture = png::Decoder::new(std::io::BufReader::new(picture));
        let size = picture.read_info().unwrap().info().size();
        assert_eq!(size, (1200, 630), "{image}");
        let said = ["og:image:width", "og:image:height"].map(says);
        assert_eq!(said, ["1200", "630"]);
    }
    let picture = app.get("/social/site.png").await;
    let policy = picture.header("cross-origin-resource-policy");
    assert_eq!((picture.status.as_u16(), policy), (200, "cross-origin"));
}

#[tokio::test]
async fn an_address_without_a_page_has_no_picture() {
    let app = TestApp::public("https://bench.example.org").await;
    for path in ["/nowhere", "/tasks/nobody", "/runs/nobody"] {
        let answer = app.get(path).await;
        assert_eq!(answer.status, 404);
        let page = answer.text();
        assert!(tag(&page, "og:image").is_none(), "{path}");
        assert!(tag(&page, "canonical").is_none(), "{path}");
    }
}

/// The sender controls the `Host` header, and the page cache may show the
/// response to everybody.
#[tokio::test]
async fn no_header_of_a_request_gets_into_a_page() {
    let headers = [
        ("host", "evil.example"),
        ("x-forwarded-host", "evil.example"),
        ("x-forwarded-proto", "evil.example"),
        ("forwarded", "host=evil.example;proto=https"),
        ("x-original-url", "/evil.example"),
    ];
    let known = TestApp::public("https://bench.example.org").await;
    for app in [known, TestApp::seeded().await] {
        for path in pages() {
            let poisoned = app.ask("GET", &path, &headers).await.text();
            assert!(!poisoned.contains("evil.example"), "{path}");
            assert!(
                !app.get(&path).await.text().contains("evil.example"),
                "{path}"
            );
        }
    }
    let app = TestApp::seeded().await;
    for host in ["", "a b", "\"><script>", "[::1", "x:99999"] {
        let page = app.ask("GET", "/about", &[("host", host)]).await;
        assert_eq!(page.status, 200, "{host}");
    }
    // Without a public URL the site does not guess one.
    let page = app.get("/figures?gamma=1.5&utm_source=x").await.text();
    assert_eq!(tag(&page, "og:url"), None);
    assert_eq!(
        tag(&page, "canonical").as_deref(),
        Some("/figures?gamma=1.5")
    );
    let image = tag(&page, "og:image").unwrap();
    assert_eq!(image, "/social/site.png");
}

#[tokio::test]
async fn names_are_drawn_as_they_are() {
    let named = |name: &str| {
        let name = name.replace('\'', "''");
        format!(
            "UPDATE runs SET config = replace(config, '<script>alert(1)</script>', '{name}') WHERE id = '{MODEL}'"
        )
    };
    let mut seen = Vec::new();
    for name in [
        "<&",
        "</text><rect width=\\\"9999\\\" height=\\\"9999\\\"/>",
        "γ‑Ж→±−·…",
        "漢字🙂",
        "patient",
    ] {
        let app = TestApp::ranked_and_changed(&named(name)).await;
        let card = app.get("/api/v1/plots/solved.png?split=demo").await;
        let (_, _, pixels) = decoded(&card);
        // A name parsed as an element would cover everything.
        assert!(inked(&pixels) < pixels.len() / 6, "{name}");
        assert!(!seen.contains(&pixels), "{name}");
        seen.push(pixels);
    }
}
