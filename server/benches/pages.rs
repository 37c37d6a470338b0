//! Benchmark of the leaderboard of 100 models × 100 tasks × 20 iterations, over
//! real loopback connections: its size, its render time, and its latency at
//! 1,000 requests a second. Client and server share the processors. It prints
//! results and asserts nothing.
#![allow(clippy::print_stdout, reason = "a benchmark reports on stdout")]

#[path = "../tests/it/fixture.rs"]
#[allow(
    dead_code,
    reason = "the tests' fixture; only its data folder is used here"
)]
mod fixture;

use std::time::{Duration, Instant};

use reqwest::Client;
use reqwest::header::ACCEPT_ENCODING;
use swe_ci::app::App;
use swe_ci::identity_providers::Providers;
use swe_ci::serve::{Background, run};
use swe_ci::site::Site;
use swe_ci_engine::Engine;
use tokio_util::sync::CancellationToken;

const A_SECOND: u32 = 1_000;
const LASTS: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let data = fixture::seeded_data(folder.path()).await;
    fixture::seed(&data, include_str!("large.sql")).await;
    let app = App {
        providers: Providers::default(),
        engine: Engine::open(fixture::config(&data)).await?,
        site: Site::open(&fixture::site(folder.path()))?,
        public_url: None,
        trusted_proxies: Default::default(),
        closed: false,
        shutdown: CancellationToken::new(),
    };
    let shutdown = app.shutdown.clone();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/?split=large", listener.local_addr()?);
    let background = Background {
        work: false,
        demo: false,
    };
    let server = tokio::spawn(run(listener, app, background));

    let client = Client::new();
    let began = Instant::now();
    let plain = read(&client, &url, "identity").await?;
    println!(
        "leaderboard, 100 models × 100 tasks × 20 iterations: made in {:.0} ms; {} kB, {} kB gzip, {} kB brotli",
        began.elapsed().as_secs_f64() * 1e3,
        plain / 1000,
        read(&client, &url, "gzip").await? / 1000,
        read(&client, &url, "br").await? / 1000,
    );
    let other = format!("{url}&gamma=1.25");
    let began = Instant::now();
    read(&client, &other, "br").await?;
    println!(
        "the same at another γ, from the sheet at hand: {:.0} ms",
        began.elapsed().as_secs_f64() * 1e3
    );
    pace(&client, &url).await?;
    shutdown.cancel();
    server.await??;
    Ok(())
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
        "read {:.0} times a second: p50 {:.1} ms, p99 {:.1} ms, worst {:.1} ms",
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
