//! Chromium, driven through ChromeDriver.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use http::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use url::{ParseError, Url};

use crate::product::{PATIENCE, target};

/// How a page is looked at.
#[derive(Clone, Copy)]
pub struct Look {
    pub width: u32,
    pub dark: bool,
    pub javascript: bool,
}

pub const DESK: Look = Look {
    width: 1440,
    dark: false,
    javascript: true,
};

pub struct Browser {
    pub page: Client,
    driver: Child,
    _profile: tempfile::TempDir,
}

impl Browser {
    pub async fn open(look: Look) -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is installed by `scripts/setup.sh browser`");
        let port = port_told(driver.stdout.take().unwrap());
        let profile = tempfile::tempdir().unwrap();
        let capabilities = capabilities(look, profile.path());
        let began = Instant::now();
        let page = loop {
            let mut builder = ClientBuilder::new(HttpConnector::new());
            builder.capabilities(capabilities.as_object().unwrap().clone());
            match builder.connect(&format!("http://127.0.0.1:{port}")).await {
                Ok(page) => break page,
                Err(error) => assert!(began.elapsed() < PATIENCE, "no browser: {error}"),
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        let browser = Self {
            page,
            driver,
            _profile: profile,
        };
        let height = if look.width < 600 { 844 } else { 1000 };
        browser
            .cdp("Emulation.setDeviceMetricsOverride", json!({"width": look.width, "height": height, "deviceScaleFactor": 1, "mobile": look.width < 600}))
            .await;
        let scheme = if look.dark { "dark" } else { "light" };
        browser
            .cdp(
                "Emulation.setEmulatedMedia",
                json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]}),
            )
            .await;
        browser
    }

    /// A command of the DevTools protocol.
    async fn cdp(&self, command: &str, params: Value) -> Value {
        self.page
            .issue_cmd(Cdp(json!({"cmd": command, "params": params})))
            .await
            .unwrap()
    }

    pub async fn go(&self, url: &str) {
        self.page.goto(url).await.unwrap();
    }

    /// Waits until the page has been taken over by its script.
    pub async fn hydrated(&self) {
        self.until(
            "the page is hydrated",
            "return document.documentElement.hasAttribute('data-hydrated')",
        )
        .await;
    }

    pub async fn eval(&self, script: &str) -> Value {
        self.page.execute(script, vec![]).await.unwrap()
    }

    pub async fn until(&self, what: &str, script: &str) {
        let began = Instant::now();
        while self.eval(script).await != Value::Bool(true) {
            if began.elapsed() > PATIENCE {
                let source = self.page.source().await.unwrap_or_default();
                panic!("never: {what}\n{source}");
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    pub async fn text(&self, selector: &str) -> String {
        let found = self.page.find(Locator::Css(selector)).await;
        found
            .unwrap_or_else(|e| panic!("{selector}: {e}"))
            .text()
            .await
            .unwrap()
    }

    /// Errors and warnings in the console since the page was opened.
    pub async fn complaints(&self) -> Vec<String> {
        let log = self.page.issue_cmd(ConsoleLog).await.unwrap();
        let entries = log.as_array().cloned().unwrap_or_default();
        entries
            .iter()
            .filter_map(|e| e["message"].as_str().map(str::to_owned))
            .collect()
    }

    /// Keeps a picture under `target/screenshots`, for people to look at.
    pub async fn picture(&self, name: &str) {
        let folder = target().join("screenshots");
        std::fs::create_dir_all(&folder).unwrap();
        let size = self.cdp("Page.getLayoutMetrics", json!({})).await;
        let clip = json!({
            "x": 0, "y": 0, "scale": 1,
            "width": size["cssContentSize"]["width"], "height": size["cssContentSize"]["height"],
        });
        let shot = self
            .cdp(
                "Page.captureScreenshot",
                json!({"captureBeyondViewport": true, "clip": clip}),
            )
            .await;
        let encoded = shot["data"].as_str().unwrap();
        std::fs::write(
            folder.join(format!("{name}.png")),
            BASE64_STANDARD.decode(encoded).unwrap(),
        )
        .unwrap();
    }

    pub async fn close(self) {
        let _ = self.page.clone().close().await;
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The port ChromeDriver has chosen, out of what it prints at its start. What
/// it prints later is read on and dropped, so that it never waits for a reader.
fn port_told(output: ChildStdout) -> u16 {
    let mut lines = BufReader::new(output).lines();
    let told = |line: String| {
        line.split_once("started successfully on port ")?
            .1
            .trim_end_matches('.')
            .parse()
            .ok()
    };
    let port = lines
        .by_ref()
        .map_while(Result::ok)
        .find_map(told)
        .expect("ChromeDriver tells its port");
    std::thread::spawn(move || lines.for_each(drop));
    port
}

fn capabilities(look: Look, profile: &Path) -> Value {
    let javascript = if look.javascript { 1 } else { 2 };
    json!({
        "goog:loggingPrefs": {"browser": "ALL"},
        "goog:chromeOptions": {
            "args": [
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--disable-dev-shm-usage", "--window-size=1440,1000",
                format!("--user-data-dir={}", profile.display()),
            ],
            "prefs": {"profile.managed_default_content_settings.javascript": javascript},
        },
    })
}

#[derive(Debug)]
struct Cdp(Value);

impl WebDriverCompatibleCommand for Cdp {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!(
            "session/{}/goog/cdp/execute",
            session.unwrap_or_default()
        ))
    }

    fn method_and_body(&self, _url: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.0.to_string()))
    }
}

#[derive(Debug)]
struct ConsoleLog;

impl WebDriverCompatibleCommand for ConsoleLog {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _url: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(json!({"type": "browser"}).to_string()))
    }
}
