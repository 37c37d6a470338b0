//! Benchmark of the pages of 1,000 models × 100 tasks × 20 iterations, over real
//! loopback connections, on SQLite and, where `DATABASE_URL_POSTGRES` names one, on
//! Postgres: sizes and render times with nothing in memory, after one more result
//! and of each kind of page; memory; the latency of the leaderboard at 1,000
//! requests a second; and the import of a run. Client and server share the
//! processors. A page should take 300 ms the first time and 5 ms again, 150 kB, and
//! the memory 300 MB; the benchmark asserts nothing.
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

use anyhow::Context;
use reqwest::Client;
use reqwest::header::ACCEPT_ENCODING;
use swe_ci::app::App;
use swe_ci::identity_providers::Providers;
use swe_ci::serve::{Background, run};
use swe_ci::site::Site;
use swe_ci_engine::{Engine, Error, http_client};
use swe_ci_testing::measurements::{higher_is_better, lower_is_better, median};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::database::{Database, Kind};

const RUNS: u32 = 1_000;
const A_SECOND: u32 = 1_000;
const LASTS: Duration = Duration::from_secs(5);
/// Readings of a page that was read before.
const WARM: usize = 9;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    sqlx::any::install_default_drivers();
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let folder = tempfile::tempdir()?;
        let Some(database) = Database::create(kind, folder.path()).await? else {
            println!("{kind:?}: set DATABASE_URL_POSTGRES, or use scripts/with-postgres.sh");
            continue;
        };
        measure(&database, folder.path()).await?;
        import::measure(&database, folder.path()).await?;
        database.remove().await?;
    }
    Ok(())
}

async fn measure(database: &Database, folder: &Path) -> anyhow::Result<()> {
    let name = |what: &str| format!("pages: {:?}, {what}", database.kind);
    let before = database.bytes().await?;
    let sql = include_str!("large.sql").replace("RUNS", &RUNS.to_string());
    database.execute(&sql).await?;
    let began = Instant::now();
    let engine = Engine::open(database.config()).await?;
    engine.leaderboard_data("large").await?;
    let millis = began.elapsed().as_secs_f64() * 1e3;
    lower_is_better(&name("all runs counted, once for all"), millis, "ms");
    drop(engine);
    let bytes = (database.bytes().await? - before) as f64 / f64::from(RUNS * 2_000);
    lower_is_better(&name("an iteration known by counts"), bytes, "bytes");
    for path in ["/matrix", "/figures", "/models/model-0007", "/runs"] {
        let server = Server::start(folder, database).await?;
        let what = name(&format!("{path} after a start"));
        timed(&what, &server.url(path)).await?;
        server.stop().await?;
    }
    let server = Server::start(folder, database).await?;
    timed(&name("/ after a start"), &server.url("/")).await?;
    lower_is_better(&name("memory after a start"), memory()?, "MB");
    database
        .execute(
            "DELETE FROM run_counts WHERE run_id LIKE '%-000000000007';
             UPDATE runs SET revision = 'another' WHERE id LIKE '%-000000000007';
             UPDATE changes SET n = n + 1",
        )
        .await?;
    timed(&name("/ after one more result"), &server.url("/")).await?;
    let another = format!("{}&gamma=1.25", server.url("/"));
    timed(&name("/ at another γ"), &another).await?;
    let run = |number: u32| format!("00000000-0000-7000-9000-{number:012}");
    let compared = format!("/compare?run={}&run={}", run(0), run(7));
    let of_run = format!("/runs/{}", run(7));
    let of_task = format!("/runs/{}/tasks/large-007", run(7));
    for (what, path) in [
        ("/matrix", "/matrix"),
        ("/figures", "/figures"),
        ("/runs", "/runs"),
        ("/tasks", "/tasks"),
        ("a model", "/models/model-0007"),
        ("a task", "/tasks/large-007"),
        ("two runs compared", &compared),
        ("a run", &of_run),
        ("a task of a run", &of_task),
    ] {
        timed(&name(what), &server.url(path)).await?;
    }
    lower_is_better(&name("memory after all pages"), memory()?, "MB");
    pace(&name("/ at 1,000 requests a second"), &server.url("/")).await?;
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
            snapshot_every: None,
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

/// Reads a page several times: reports how long it took the first time, and prints
/// the median of the others and what it weighs.
async fn timed(what: &str, url: &str) -> anyhow::Result<()> {
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
    lower_is_better(what, cold, "ms");
    let (warm, kilobytes) = (median(warm), bytes as f64 / 1e3);
    println!("  again {warm:.1} ms; {kilobytes:.0} kB brotli");
    Ok(())
}

/// Memory of this process, client and server, with the pages of its program.
fn memory() -> anyhow::Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    let kilobytes = kilobytes.context("the kernel does not tell the memory")?;
    Ok(kilobytes.parse::<f64>()? / 1e3)
}

/// Sends requests at a steady pace, whether or not the answers keep up.
async fn pace(what: &str, url: &str) -> anyhow::Result<()> {
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
    higher_is_better(what, millis.len() as f64 / took, "/s");
    lower_is_better(&format!("{what}, median"), at(0.5), "ms");
    lower_is_better(&format!("{what}, p99"), at(0.99), "ms");
    println!("  {refused} refused");
    Ok(())
}

/// The bytes of a response in one encoding.
async fn read(client: &Client, url: &str, encoding: &str) -> anyhow::Result<usize> {
    let request = client.get(url).header(ACCEPT_ENCODING, encoding);
    let response = request.send().await?.error_for_status()?;
    Ok(response.bytes().await?.len())
}
