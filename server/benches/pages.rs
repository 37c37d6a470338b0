//! Benchmark of the pages of 100 and of 1,000 models × 100 tasks × 20
//! iterations, over real loopback connections: sizes, render times from nothing,
//! from stored counts, after one more result and at another γ; and the latency
//! of the leaderboard at 1,000 requests a second. Client and server share the
//! processors. It prints results and asserts nothing.
#![allow(clippy::print_stdout, reason = "a benchmark reports on stdout")]

#[path = "../tests/it/fixture.rs"]
#[allow(
    dead_code,
    reason = "the tests' fixture; only its data folder is used here"
)]
mod fixture;

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use reqwest::Client;
use reqwest::header::ACCEPT_ENCODING;
use swe_ci::app::App;
use swe_ci::identity_providers::Providers;
use swe_ci::serve::{Background, run};
use swe_ci::site::Site;
use swe_ci_engine::{Engine, Error};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const A_SECOND: u32 = 1_000;
const LASTS: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    for runs in [100, 1_000] {
        measure(runs).await?;
    }
    Ok(())
}

async fn measure(runs: u32) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let data = fixture::seeded_data(folder.path()).await;
    let sql = include_str!("large.sql").replace("RUNS", &runs.to_string());
    fixture::seed(&data, &sql).await;
    let file = data.join("swe-ci.sqlite");
    let bytes = std::fs::metadata(&file)?.len() as f64;
    println!(
        "{runs} models × 100 tasks × 20 iterations: {:.0} bytes of database an iteration",
        bytes / f64::from(runs * 2_000)
    );
    let client = Client::new();
    let first = Server::start(folder.path(), &data).await?;
    timed(&client, "  counted", &first.url("/")).await?;
    first.stop().await?;
    let server = Server::start(folder.path(), &data).await?;
    timed(&client, "  from stored counts", &server.url("/")).await?;
    let one_more = "DELETE FROM run_counts WHERE run_id LIKE '%-000000000007';
                    UPDATE runs SET revision = 'another' WHERE id LIKE '%-000000000007';
                    UPDATE changes SET n = n + 1";
    fixture::seed(&data, one_more).await;
    timed(&client, "  after one more result", &server.url("/")).await?;
    timed(
        &client,
        "  at another γ",
        &format!("{}&gamma=1.25", server.url("/")),
    )
    .await?;
    for path in [
        "/matrix",
        "/figures",
        "/runs",
        "/models/model-0007",
        "/tasks/large-007",
    ] {
        timed(&client, &format!("  {path}"), &server.url(path)).await?;
    }
    let runs = ["0", "7"].map(|run| format!("run=00000000-0000-7000-9000-{run:0>12}"));
    let compared = format!("{}&{}", server.url("/compare"), runs.join("&"));
    timed(&client, "  /compare", &compared).await?;
    pace(&client, &server.url("/")).await?;
    println!("  memory of client and server: {} MB", resident()? / 1_000);
    server.stop().await
}

/// A server of a data folder.
struct Server {
    address: SocketAddr,
    shutdown: CancellationToken,
    running: JoinHandle<Result<(), Error>>,
}

impl Server {
    async fn start(folder: &Path, data: &Path) -> anyhow::Result<Self> {
        let app = App {
            providers: Providers::default(),
            engine: Engine::open(fixture::config(data)).await?,
            site: Site::open(&fixture::site(folder))?,
            public_url: None,
            trusted_proxies: Default::default(),
            closed: false,
            shutdown: CancellationToken::new(),
        };
        let shutdown = app.shutdown.clone();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let background = Background {
            work: false,
            demo: false,
        };
        let running = tokio::spawn(run(listener, app, background));
        Ok(Self {
            address,
            shutdown,
            running,
        })
    }

    /// A page of the large split.
    fn url(&self, path: &str) -> String {
        format!("http://{}{path}?split=large", self.address)
    }

    async fn stop(self) -> anyhow::Result<()> {
        self.shutdown.cancel();
        Ok(self.running.await??)
    }
}

/// Reads a page twice, and prints how long it took and what it weighs.
async fn timed(client: &Client, what: &str, url: &str) -> anyhow::Result<()> {
    let millis = async || {
        let began = Instant::now();
        let bytes = read(client, url, "br").await?;
        anyhow::Ok((began.elapsed().as_secs_f64() * 1e3, bytes))
    };
    let (cold, bytes) = millis().await?;
    let (warm, _) = millis().await?;
    let kilobytes = bytes as f64 / 1e3;
    println!("{what}: {cold:.0} ms, again {warm:.1} ms; {kilobytes:.0} kB brotli");
    Ok(())
}

/// Memory of this process in kilobytes.
fn resident() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    Ok(kilobytes.unwrap_or("0").parse()?)
}

/// Sends requests at a steady pace, whether or not the answers keep up.
async fn pace(client: &Client, url: &str) -> anyhow::Result<()> {
    let mut ticks = tokio::time::interval(LASTS / (A_SECOND * LASTS.as_secs() as u32));
    let began = Instant::now();
    let mut readers = Vec::new();
    while began.elapsed() < LASTS {
        ticks.tick().await;
        let (client, url) = (client.clone(), url.to_owned());
        readers.push(tokio::spawn(async move {
            let began = Instant::now();
            read(&client, &url, "br").await?;
            anyhow::Ok(began.elapsed().as_secs_f64() * 1e3)
        }));
    }
    let mut millis = Vec::new();
    for reader in readers {
        millis.push(reader.await??);
    }
    let took = began.elapsed().as_secs_f64();
    millis.sort_by(f64::total_cmp);
    let at = |share: f64| millis[((millis.len() - 1) as f64 * share) as usize];
    println!(
        "  leaderboard read {:.0} times a second: p50 {:.1} ms, p99 {:.1} ms, worst {:.1} ms",
        millis.len() as f64 / took,
        at(0.5),
        at(0.99),
        at(1.0)
    );
    Ok(())
}

/// The bytes of a response in one encoding.
async fn read(client: &Client, url: &str, encoding: &str) -> anyhow::Result<usize> {
    let request = client.get(url).header(ACCEPT_ENCODING, encoding);
    let response = request.send().await?.error_for_status()?;
    Ok(response.bytes().await?.len())
}
