//! How many pages a second the server renders, over real connections on
//! loopback: the leaderboard (a query, a table, a chart) by sixteen readers.
//! Client and server share the processors. Prints; judges nothing.
#![allow(clippy::print_stdout, reason = "a benchmark reports on stdout")]

#[path = "../tests/it/fixture.rs"]
#[allow(
    dead_code,
    reason = "the tests' fixture; only its data folder is used here"
)]
mod fixture;

use std::time::{Duration, Instant};

use swe_ci::serve::{App, Background, Site, run};
use swe_ci_engine::Engine;
use tokio_util::sync::CancellationToken;

const READERS: usize = 16;
const LASTS: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let data = fixture::seeded_data(folder.path()).await;
    let app = App {
        engine: Engine::open(fixture::config(&data)).await?,
        site: Site::open(&fixture::site(folder.path()))?,
        shutdown: CancellationToken::new(),
    };
    let shutdown = app.shutdown.clone();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", listener.local_addr()?);
    let server = tokio::spawn(run(
        listener,
        app,
        Background {
            work: false,
            demo: false,
        },
    ));

    let client = reqwest::Client::new();
    let size = client
        .get(&url)
        .send()
        .await?
        .error_for_status()?
        .bytes()
        .await?
        .len();
    let until = Instant::now() + LASTS;
    let readers: Vec<_> = (0..READERS)
        .map(|_| tokio::spawn(read(client.clone(), url.clone(), until)))
        .collect();
    let mut millis = Vec::new();
    for reader in readers {
        millis.extend(reader.await??);
    }
    shutdown.cancel();
    server.await??;

    millis.sort_by(f64::total_cmp);
    let at = |share: f64| millis[((millis.len() - 1) as f64 * share) as usize];
    println!(
        "pages, {READERS} readers of the leaderboard ({} kB): {:.0} a second, p50 {:.1} ms, p99 {:.1} ms",
        size / 1000,
        millis.len() as f64 / LASTS.as_secs_f64(),
        at(0.5),
        at(0.99)
    );
    Ok(())
}

async fn read(client: reqwest::Client, url: String, until: Instant) -> anyhow::Result<Vec<f64>> {
    let mut millis = Vec::new();
    while Instant::now() < until {
        let began = Instant::now();
        client
            .get(&url)
            .send()
            .await?
            .error_for_status()?
            .bytes()
            .await?;
        millis.push(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok(millis)
}
