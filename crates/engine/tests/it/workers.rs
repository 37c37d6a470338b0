//! Workers beside a server, each with a data folder of its own: empty at the
//! start, and with a database and artifacts that all of them share.

use std::path::Path;
use std::time::Duration;

use futures::StreamExt;
use swe_ci_core::run::{Progress, RunConfig};
use swe_ci_engine::testing::{self, TinyTask};
use swe_ci_engine::{Config, Engine, WorkerConfig};
use swe_ci_views::account::Visibility;
use swe_ci_views::event::What;
use tokio_util::sync::CancellationToken;

use crate::fixture::{SPLIT, golden};

const TESTS: &str = "
import tiny
def test_one(): assert tiny.one() == 1
def test_two(): assert tiny.two() == 2
";
const VERSIONS: [&str; 3] = [
    "def one(): return 0\ndef two(): return 0\n",
    "def one(): return 1\ndef two(): return 0\n",
    "def one(): return 1\ndef two(): return 2\n",
];
const GOLDEN: &str = "solved\n1 1/2 lost 0 gained 1\n2 2/2 lost 0 gained 1\n";

fn config(folder: &Path, name: &str, workers: usize) -> Config {
    let database = folder.join("server/swe-ci.sqlite");
    Config {
        artifacts: Some(folder.join("shared").display().to_string()),
        database_url: Some(format!("sqlite:{}?mode=rwc", database.display())),
        ..testing::config(folder.join(name), workers)
    }
}

async fn worker(folder: &Path, name: &str) -> Engine {
    let worker = WorkerConfig {
        name: name.into(),
        grace: Duration::from_mins(1),
        until_idle: true,
    };
    let config = Config {
        worker: Some(worker),
        ..config(folder, name, 1)
    };
    Engine::open(config).await.unwrap()
}

fn ended(what: &What) -> Option<&str> {
    match what {
        What::Ended { evolution_id, .. } => Some(evolution_id),
        _ => None,
    }
}

/// The server has no worker of its own and follows the run all the same.
#[tokio::test(flavor = "multi_thread")]
async fn workers_with_empty_folders_finish_a_run_together() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let server = Engine::open(config(folder, "server", 0)).await.unwrap();
    let image = testing::image_archive(&server, Path::new(env!("CARGO_TARGET_TMPDIR"))).await;
    let dataset = folder.join("dataset");
    let versions = VERSIONS.map(|code| [("tiny.py", code), ("tests/test_tiny.py", TESTS)]);
    let versions = versions.each_ref().map(<[_; 2]>::as_slice);
    let tasks = ["a", "b", "c", "d"].map(|name| TinyTask {
        name,
        versions: &versions,
    });
    testing::write_dataset(&dataset, SPLIT, &image.unwrap(), &tasks).unwrap();
    server
        .import(dataset.as_path(), SPLIT, &testing::once(), &|_| {})
        .await
        .unwrap();
    let run = RunConfig::human(SPLIT);
    let run_id = server.submit(run, Visibility::Public).await.unwrap();

    let stop = CancellationToken::new();
    let attending = tokio::spawn({
        let (server, stop) = (server.clone(), stop.clone());
        async move { server.attend(&stop).await }
    });
    let events = server.events(&run_id, Some(0)).await.unwrap();
    let workers = [worker(folder, "w1").await, worker(folder, "w2").await];
    let working = workers.each_ref().map(|engine| {
        let engine = engine.clone();
        tokio::spawn(async move { engine.work(CancellationToken::new()).await })
    });
    let over = |what: &What| matches!(what, What::Run { progress } if progress.is_over());
    let mut seen = Vec::new();
    let mut events = std::pin::pin!(events);
    let mut most = 0;
    while !seen.last().is_some_and(over) {
        let next = tokio::time::timeout(Duration::from_mins(5), events.next()).await;
        seen.push(
            next.expect("no event for long")
                .expect("a live stream")
                .what,
        );
        most = most.max(server.workers().await.unwrap().len());
    }
    for worker in working {
        worker.await.unwrap().unwrap();
    }

    assert_eq!(most, 2, "both were listed");
    assert_eq!(server.workers().await.unwrap(), []);
    let run = server.run(&run_id).await.unwrap();
    assert_eq!(run.summary.progress, Progress::Finished);
    let results: Vec<String> = run.evolution_list.iter().map(golden).collect();
    let expected = ["a", "b", "c", "d"].map(|task| format!("{task} {GOLDEN}"));
    assert_eq!(results, expected);
    // The stream stops when one worker says that the run is over, and the other may not
    // yet have said that its last evolution ended.
    let mut ended: Vec<&str> = seen.iter().filter_map(ended).collect();
    assert!(!ended.is_empty(), "{seen:?}");
    ended.sort_unstable();
    assert!(
        ended.is_sorted_by(|a, b| a < b),
        "each ends once: {ended:?}"
    );
    let fetched = |name: &str| {
        folder
            .join(name)
            .join("tasks")
            .read_dir()
            .map_or(0, Iterator::count)
    };
    assert_eq!(
        fetched("w1") + fetched("w2"),
        4,
        "each task went to one worker"
    );
    stop.cancel();
    attending.await.unwrap();
}
