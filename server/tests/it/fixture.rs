//! A whole server in a temporary folder, called without a socket.

use std::path::{Path, PathBuf};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use serde_json::Value;
use sqlx::Connection;
use swe_ci::app::App;
use swe_ci::identity_providers::{self, Providers};
use swe_ci::serve::router;
use swe_ci::site::Site;
use swe_ci_app::PublicUrl;
use swe_ci_engine::{Config, Engine};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

pub const HUMAN: &str = "00000000-0000-7000-8000-000000000001";
pub const MODEL: &str = "00000000-0000-7000-8000-000000000002";
pub const PATIENT: &str = "00000000-0000-7000-8000-000000000003";

/// The public URL of a site with providers.
pub const PUBLIC_URL: &str = "https://bench.example.org";
/// The address of the proxy that every site trusts.
pub const PROXY: &str = "10.0.0.1";
/// The client secret of each provider.
pub const CLIENT_SECRET: &str = "s3cret/of+the client";

const SEED: &str = include_str!("seed.sql");

pub struct TestApp {
    router: Router,
    /// The engine, with an operator's rights.
    pub engine: Engine,
    pub shutdown: CancellationToken,
    folder: TempDir,
}

/// A response, read to its end.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl TestApp {
    /// No data.
    pub async fn empty() -> Self {
        Self::new(&[]).await
    }

    /// The data of `seed.sql`.
    pub async fn seeded() -> Self {
        Self::new(&[SEED]).await
    }

    /// The data of `seed.sql` with two ranked runs.
    pub async fn ranked() -> Self {
        Self::ranked_and_changed("").await
    }

    /// The same after these changes.
    pub async fn ranked_and_changed(sql: &str) -> Self {
        Self::new(&[SEED, include_str!("ranked.sql"), sql]).await
    }

    /// The data of `seed.sql` after these changes.
    pub async fn changed(sql: &str) -> Self {
        Self::new(&[SEED, sql]).await
    }

    /// The data of `seed.sql`, with this public URL.
    pub async fn public(url: &str) -> Self {
        Self::made(&[SEED], Some(PublicUrl::new(url.to_owned())), false).await
    }

    /// The data of `seed.sql`, closed to visitors.
    pub async fn closed() -> Self {
        Self::made(&[SEED], None, true).await
    }

    /// The data of `seed.sql`, with the providers of this file; each has the
    /// secret [`CLIENT_SECRET`].
    pub async fn offering(file: &str, closed: bool) -> Self {
        let site = PublicUrl::new(PUBLIC_URL.to_owned());
        let configs = identity_providers::read(file, |_| Some(CLIENT_SECRET.to_owned()));
        let providers = Providers::new(configs.unwrap(), &site).unwrap();
        Self::made_with(&[SEED], Some(site), providers, closed).await
    }

    async fn new(seeds: &[&str]) -> Self {
        Self::made(seeds, None, false).await
    }

    async fn made(seeds: &[&str], public_url: Option<PublicUrl>, closed: bool) -> Self {
        Self::made_with(seeds, public_url, Providers::default(), closed).await
    }

    async fn made_with(
        seeds: &[&str],
        public_url: Option<PublicUrl>,
        providers: Providers,
        closed: bool,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let engine = Engine::open(config(&data)).await.unwrap();
        for sql in seeds {
            seed(&data, sql).await;
        }
        let shutdown = CancellationToken::new();
        let app = App {
            engine: engine.clone(),
            site: Site::open(&site(folder.path())).unwrap(),
            public_url,
            providers,
            trusted_proxies: [PROXY.parse().unwrap()].into_iter().collect(),
            closed,
            shutdown: shutdown.clone(),
        };
        Self {
            router: router(app),
            engine,
            shutdown,
            folder,
        }
    }

    /// Changes the data as another process would.
    pub async fn execute(&self, sql: &str) {
        seed(&self.folder.path().join("data"), sql).await;
    }

    /// Writes a file where the engine stores the files of results.
    pub fn keep(&self, key: &str, bytes: &[u8]) {
        let file = self.folder.path().join("data/artifacts").join(key);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, zstd(bytes)).unwrap();
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[]).await
    }

    pub async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.read(request.body(Body::empty()).unwrap()).await
    }

    /// Reads the response to its end.
    pub async fn read(&self, request: Request<Body>) -> Answer {
        let (parts, body) = self.send(request).await.into_parts();
        Answer {
            status: parts.status,
            headers: parts.headers,
            bytes: to_bytes(body, usize::MAX).await.unwrap().to_vec(),
        }
    }

    /// The response itself, for bodies that do not end.
    pub async fn send(&self, request: Request<Body>) -> axum::response::Response {
        self.router.clone().oneshot(request).await.unwrap()
    }
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8(self.bytes.clone()).unwrap()
    }

    /// The body of a success.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        assert_eq!(self.header("content-type"), "application/json");
        serde_json::from_slice(&self.bytes).unwrap()
    }

    /// The body of an error, whose members agree with its head.
    #[track_caller]
    pub fn problem(&self, status: u16, kind: &str) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), "application/problem+json");
        let problem: Value = serde_json::from_slice(&self.bytes).unwrap();
        assert_eq!(
            problem["type"],
            format!("urn:swe-ci:problem:{kind}"),
            "{problem}"
        );
        assert_eq!(problem["status"], status);
        assert_eq!(problem["instance"], self.header("x-request-id"));
        let filled = |member: &str| {
            problem[member]
                .as_str()
                .is_some_and(|text| !text.is_empty())
        };
        assert!(filled("title") && filled("detail"), "{problem}");
        problem
    }

    #[track_caller]
    pub fn header(&self, name: &str) -> &str {
        match self.headers.get(name) {
            Some(value) => value.to_str().unwrap(),
            None => panic!("no `{name}` header: {:?}", self.headers),
        }
    }
}

/// A zstd frame of one uncompressed block (RFC 8878).
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap();
    assert!(length < 128 << 10, "one block has no room for it");
    let block = (length << 3) | 1;
    let head = [0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    [
        &head[..],
        &length.to_le_bytes(),
        &block.to_le_bytes()[..3],
        bytes,
    ]
    .concat()
}

pub fn config(data: &Path) -> Config {
    Config::new(data.to_owned())
}

/// A data folder with the data of `seed.sql`.
pub async fn seeded_data(folder: &Path) -> PathBuf {
    let data = folder.join("data");
    Engine::open(config(&data)).await.unwrap();
    seed(&data, SEED).await;
    data
}

pub async fn seed(data: &Path, sql: &str) {
    let url = format!("sqlite:{}", data.join("swe-ci.sqlite").display());
    let mut connection = sqlx::SqliteConnection::connect(&url).await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
}

/// The name of the folder of program and styles.
pub const HASH: &str = "0123456789abcdef";

/// A small copy of the site builder's output.
pub fn site(folder: &Path) -> PathBuf {
    let site = folder.join("site");
    let pkg = site.join("pkg").join(HASH);
    std::fs::create_dir_all(&pkg).unwrap();
    let write = |path: PathBuf, content: &str| std::fs::write(path, content).unwrap();
    write(site.join("hash.txt"), HASH);
    write(
        site.join("favicon.svg"),
        "<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
    );
    std::fs::create_dir_all(site.join("social")).unwrap();
    write(site.join("social/site.png"), "PNG");
    write(pkg.join("swe-ci.js"), &"// plain\n".repeat(100));
    write(pkg.join("swe-ci.js.br"), "brotli");
    write(pkg.join("swe-ci.js.gz"), "gzip");
    write(pkg.join("swe-ci_bg.wasm"), "\0asm");
    write(pkg.join("swe-ci.css"), "body {}");
    write(site.join("pkg/unhashed.js"), "// plain");
    site
}
