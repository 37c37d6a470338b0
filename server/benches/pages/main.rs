//! Benchmark of the pages of 100 and of 1,000 models × 100 tasks × 20
//! iterations, over real loopback connections, on SQLite and, where
//! `DATABASE_URL_POSTGRES` names one, on Postgres: sizes and render times with
//! nothing in memory, after one more result and of each kind of page; memory; the
//! latency of the leaderboard at 1,000 requests a second; and the import of a run.
//! Client and server share the processors. It prints results beside their aims and
//! asserts nothing.
#![allow(clippy::print_stdout, reason = "a benchmark reports on stdout")]

mod database;
mod import;

#[path = "../../tests/it/fixture.rs"]
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
use swe_ci_engine::{Engine, Error, http_client};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::database::{Database, Kind};

const A_SECOND: u32 = 1_000;
const LASTS: Duration = Duration::from_secs(5);
/// Readings of a page that was read before.
const WARM: usize = 9;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    sqlx::any::install_default_drivers();
    for kind in [Kind::Sqlite, Kind::Postgres] {
        for runs in [100, 1_000] {
            let folder = tempfile::tempdir()?;
            let Some(database) = Database::create(kind, folder.path()).await? else {
                println!("{kind:?}: set DATABASE_URL_POSTGRES, or use scripts/with-postgres.sh");
                break;
            };
            measure(&database, folder.path(), runs).await?;
            if runs == 100 {
                import::measure(&database, folder.path()).await?;
            }
            database.remove().await?;
        }
    }
    Ok(())
}

/// Milliseconds and kilobytes that a page may take.
struct Aim {
    cold: u32,
    warm: u32,
    kilobytes: u32,
}

const PAGE: Aim = Aim {
    cold: 300,
    warm: 5,
    kilobytes: 150,
};

async fn measure(database: &Database, folder: &Path, runs: u32) -> anyhow::Result<()> {
    println!(
        "{:?}: {runs} models × 100 tasks × 20 iterations",
        database.kind
    );
    let before = database.bytes().await?;
    let sql = include_str!("large.sql").replace("RUNS", &runs.to_string());
    database.execute(&sql).await?;
    let began = Instant::now();
    let engine = Engine::open(database.config()).await?;
    engine.leaderboard_data("large").await?;
    let millis = began.elapsed().as_millis();
    println!("  all runs counted, once for all: {millis} ms");
    drop(engine);
    let bytes = (database.bytes().await? - before) as f64 / f64::from(runs * 2_000);
    println!("  database, known by counts: {bytes:.0} bytes an iteration (aim 250)");
    for path in ["/matrix", "/figures", "/models/model-0007", "/runs"] {
        let server = Server::start(folder, database).await?;
        let what = format!("{path} first, from stored counts");
        timed(&what, &server.url(path), &PAGE).await?;
        server.stop().await?;
    }
    let server = Server::start(folder, database).await?;
    timed("/ from stored counts", &server.url("/"), &PAGE).await?;
    println!("  memory: {}", memory()?);
    database
        .execute(
            "DELETE FROM run_counts WHERE run_id LIKE '%-000000000007';
             UPDATE runs SET revision = 'another' WHERE id LIKE '%-000000000007';
             UPDATE changes SET n = n + 1",
        )
        .await?;
    timed(
        "/ after one more result",
        &server.url("/"),
        &Aim { cold: 200, ..PAGE },
    )
    .await?;
    timed(
        "/ at another γ",
        &format!("{}&gamma=1.25", server.url("/")),
        &PAGE,
    )
    .await?;
    let run = |number: u32| format!("00000000-0000-7000-9000-{number:012}");
    let compared = format!("/compare?run={}&run={}", run(0), run(7));
    let of_run = format!("/runs/{}", run(7));
    let of_task = format!("/runs/{}/tasks/large-007", run(7));
    for path in [
        "/matrix",
        "/figures",
        "/runs",
        "/tasks",
        "/models/model-0007",
        "/tasks/large-007",
        &compared,
        &of_run,
        &of_task,
    ] {
        timed(path, &server.url(path), &PAGE).await?;
    }
    println!("  memory of client and server: {} (aim 300 MB)", memory()?);
    pace(&server.url("/")).await?;
    for line in database.scans().await? {
        println!("  {line}");
    }
    server.stop().await
}

/// A server of a data folder.
struct Server {
    address: SocketAddr,
    shutdown: CancellationToken,
    running: JoinHandle<Result<(), Error>>,
}

impl Server {
    async fn start(folder: &Path, database: &Database) -> anyhow::Result<Self> {
        let app = App {
            providers: Providers::default(),
            engine: Engine::open(database.config()).await?,
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
            work: None,
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
        let joint = if path.contains('?') { '&' } else { '?' };
        format!("http://{}{path}{joint}split=large", self.address)
    }

    async fn stop(self) -> anyhow::Result<()> {
        self.shutdown.cancel();
        Ok(self.running.await??)
    }
}

/// Reads a page several times, and prints how long it took the first time and
/// the median of the others, and what it weighs.
async fn timed(what: &str, url: &str, aim: &Aim) -> anyhow::Result<()> {
    let client = http_client().build()?;
    let millis = async || {
        let began = Instant::now();
        let bytes = read(&client, url, "br").await?;
        anyhow::Ok((began.elapsed().as_secs_f64() * 1e3, bytes))
    };
    let (cold, bytes) = millis().await?;
    let mut warm = Vec::new();
    for _ in 0..WARM {
        warm.push(millis().await?.0);
    }
    warm.sort_by(f64::total_cmp);
    println!(
        "  {what}: {cold:.0} ms (aim {}), again {:.1} ms (aim {}); {:.0} kB brotli (aim {})",
        aim.cold,
        warm[WARM / 2],
        aim.warm,
        bytes as f64 / 1e3,
        aim.kilobytes
    );
    Ok(())
}

/// Memory of this process: its own, and with the pages of its program.
fn memory() -> anyhow::Result<String> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let megabytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.and_then(|line| line.split_whitespace().next());
        kilobytes.and_then(|n| n.parse::<u32>().ok()).unwrap_or(0) / 1_000
    };
    let (all, own) = (megabytes("VmRSS:"), megabytes("RssAnon:"));
    Ok(format!("{all} MB, {own} without the program"))
}

/// Sends requests at a steady pace, whether or not the answers keep up.
async fn pace(url: &str) -> anyhow::Result<()> {
    let client = http_client().build()?;
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
    let (mut millis, mut refused) = (Vec::new(), 0);
    for reader in readers {
        match reader.await? {
            Ok(took) => millis.push(took),
            // The server closes connections when it is asked for too many at once.
            Err(_) => refused += 1,
        }
    }
    let took = began.elapsed().as_secs_f64();
    millis.sort_by(f64::total_cmp);
    anyhow::ensure!(
        !millis.is_empty(),
        "the server answered none of the requests"
    );
    let at = |share: f64| millis[((millis.len() - 1) as f64 * share) as usize];
    println!(
        "  leaderboard read {:.0} times a second: p50 {:.1} ms, p99 {:.1} ms, worst {:.1} ms, {refused} refused",
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
