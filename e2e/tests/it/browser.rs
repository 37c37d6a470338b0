//! Chromium, driven through ChromeDriver.

use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use fantoccini::elements::Element;
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use http::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use url::{ParseError, Url};

use crate::product::{PATIENCE, target};

/// The browser without windows, which starts in a third of the time.
const SHELL: &str = "chromium-headless-shell";

/// How a page is looked at.
#[derive(Clone, Copy)]
pub struct Look {
    pub width: u32,
    pub dark: bool,
    pub javascript: bool,
}

impl Look {
    pub fn scheme(self) -> &'static str {
        if self.dark { "dark" } else { "light" }
    }
}

pub const DESK: Look = Look {
    width: 1440,
    dark: false,
    javascript: true,
};

pub const PHONE: Look = Look { width: 390, ..DESK };

/// Keys a reader without a mouse uses.
#[derive(Clone, Copy, Debug)]
pub enum Key {
    Tab,
    Enter,
    Space,
    Escape,
    Left,
    Right,
    Down,
    Home,
    End,
}

impl Key {
    /// Its name, its code on a keyboard, and what it writes.
    fn of_keyboard(self) -> (&'static str, u8, &'static str) {
        match self {
            Self::Tab => ("Tab", 9, ""),
            Self::Enter => ("Enter", 13, "\r"),
            Self::Space => (" ", 32, " "),
            Self::Escape => ("Escape", 27, ""),
            Self::Left => ("ArrowLeft", 37, ""),
            Self::Right => ("ArrowRight", 39, ""),
            Self::Down => ("ArrowDown", 40, ""),
            Self::Home => ("Home", 36, ""),
            Self::End => ("End", 35, ""),
        }
    }
}

pub struct Browser {
    pub page: Client,
    driver: Child,
    _profile: tempfile::TempDir,
}

impl Browser {
    pub async fn open(look: Look) -> Self {
        Self::open_with(look, None).await
    }

    /// To which the site answers under a name of its own: `NAME HOST:PORT`.
    pub async fn open_mapping(look: Look, name: &str) -> Self {
        Self::open_with(look, Some(name)).await
    }

    async fn open_with(look: Look, name: Option<&str>) -> Self {
        // It wants one port for both families of addresses, and gives up when
        // somebody has the one it found in the other.
        let (driver, port) = (0..5)
            .find_map(|_| driver())
            .expect("ChromeDriver starts within five tries");
        let profile = tempfile::tempdir().unwrap();
        let capabilities = capabilities(profile.path(), name);
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
        // A window without a screen has the focus or not by chance; without it
        // nothing in the page looks focused.
        browser
            .cdp(
                "Emulation.setFocusEmulationEnabled",
                json!({"enabled": true}),
            )
            .await;
        if !look.javascript {
            let off = json!({"value": true});
            browser
                .cdp("Emulation.setScriptExecutionDisabled", off)
                .await;
        }
        browser.resize(look.width).await;
        browser
            .emulate(&[("prefers-color-scheme", look.scheme())])
            .await;
        browser
    }

    /// Another width, as when a window is made smaller or its page larger.
    pub async fn resize(&self, width: u32) {
        let height = if width < 600 { 844 } else { 1000 };
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}),
        )
        .await;
    }

    /// What the reader has asked the system for; replaces what was asked before.
    pub async fn emulate(&self, features: &[(&str, &str)]) {
        let feature = |(name, value): &(&str, &str)| json!({"name": name, "value": value});
        let features: Vec<Value> = features.iter().map(feature).collect();
        self.cdp(
            "Emulation.setEmulatedMedia",
            json!({ "features": features }),
        )
        .await;
    }

    /// Presses a key as a hand does: what has the focus gets it, and acts.
    pub async fn press(&self, key: Key) {
        self.strike(key, "keyDown", 0).await;
        self.strike(key, "keyUp", 0).await;
    }

    /// To the next stop, or the one before: the focus moves as the key goes down.
    pub async fn tab(&self, back: bool) {
        self.strike(Key::Tab, "keyDown", if back { 8 } else { 0 })
            .await;
    }

    /// Moves the pointer to a place in the window.
    pub async fn point(&self, x: f64, y: f64) {
        self.cdp(
            "Input.dispatchMouseEvent",
            json!({"type": "mouseMoved", "x": x, "y": y}),
        )
        .await;
    }

    async fn strike(&self, key: Key, kind: &str, modifiers: u8) {
        let (name, code, text) = key.of_keyboard();
        let text = if kind == "keyDown" { text } else { "" };
        self.cdp(
            "Input.dispatchKeyEvent",
            json!({"type": kind, "key": name, "code": name, "windowsVirtualKeyCode": code, "text": text, "modifiers": modifiers}),
        )
        .await;
    }

    /// A command of the DevTools protocol.
    pub async fn cdp(&self, command: &str, params: Value) -> Value {
        self.page
            .issue_cmd(Cdp(json!({"cmd": command, "params": params})))
            .await
            .unwrap()
    }

    /// Opens a page and waits until it has been read whole: after the script
    /// of the page before has changed the address, or with scripts switched
    /// off, the driver comes back sooner.
    pub async fn go(&self, url: &str) {
        self.page.goto(url).await.unwrap();
        let whole = "return document.readyState === 'complete'";
        self.until("the page is read whole", whole).await;
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
        self.until_within(PATIENCE, what, script).await;
    }

    /// For what takes builds and tests.
    pub async fn until_within(&self, patience: Duration, what: &str, script: &str) {
        let began = Instant::now();
        loop {
            // An error while another page comes: the driver takes a script to
            // the page that goes.
            let said = self.page.execute(script, vec![]).await;
            if matches!(said, Ok(Value::Bool(true))) {
                return;
            }
            if began.elapsed() > patience {
                let source = self.page.source().await.unwrap_or_default();
                panic!("never: {what}: {said:?}\n{source}");
            }
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }

    /// The page's source once this stands in it. The driver may come back from
    /// a page whose scripts are switched off while that is still being read.
    pub async fn source_with(&self, expect: &str) -> String {
        let began = Instant::now();
        loop {
            let source = self.page.source().await.unwrap();
            if source.contains(expect) {
                return source;
            }
            assert!(began.elapsed() < PATIENCE, "never: {expect}\n{source}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    pub async fn find(&self, selector: &str) -> Element {
        let found = self.page.wait().at_most(PATIENCE);
        let found = found.for_element(Locator::Css(selector)).await;
        found.unwrap_or_else(|e| panic!("{selector}: {e}"))
    }

    pub async fn text(&self, selector: &str) -> String {
        self.find(selector).await.text().await.unwrap()
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

/// A ChromeDriver and its port, unless it gave up.
fn driver() -> Option<(Child, u16)> {
    let mut driver = Command::new("chromedriver")
        .arg("--port=0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("chromedriver is installed by `scripts/setup.sh browser`");
    let output = driver.stdout.take().unwrap();
    let Some(port) = port_told(output) else {
        let _ = driver.wait();
        return None;
    };
    Some((driver, port))
}

/// The port ChromeDriver has chosen, out of what it prints at its start. What
/// it prints later is read on and dropped, so that it never waits for a reader.
fn port_told(output: ChildStdout) -> Option<u16> {
    let mut lines = BufReader::new(output).lines();
    let told = |line: String| {
        line.split_once("started successfully on port ")?
            .1
            .trim_end_matches('.')
            .parse()
            .ok()
    };
    let port = lines.by_ref().map_while(Result::ok).find_map(told);
    std::thread::spawn(move || lines.for_each(drop));
    port
}

#[expect(
    clippy::disallowed_methods,
    reason = "where programs are is no setting of the product"
)]
fn capabilities(profile: &Path, name: Option<&str>) -> Value {
    let names = name.map_or(String::new(), |name| format!("MAP {name}"));
    let mut options = json!({
        "args": [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--disable-dev-shm-usage", "--window-size=1440,1000",
            format!("--user-data-dir={}", profile.display()),
            format!("--host-resolver-rules={names}"),
        ],
    });
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&folders);
    if folders.any(|folder| folder.join(SHELL).exists()) {
        // The driver expects a page, with which this browser does not start by itself.
        let start = profile.join("start");
        let script = format!("#!/bin/sh\nexec {SHELL} \"$@\" about:blank\n");
        std::fs::write(&start, script).unwrap();
        std::fs::set_permissions(&start, Permissions::from_mode(0o755)).unwrap();
        options["binary"] = start.to_string_lossy().into();
    }
    json!({"goog:loggingPrefs": {"browser": "ALL"}, "goog:chromeOptions": options})
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
