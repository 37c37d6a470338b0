//! No container outlives its purpose.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use swe_ci_engine::testing;
use tokio_util::sync::CancellationToken;

use crate::fixture::Fixture;

const PATIENCE: Duration = Duration::from_secs(30);

fn docker(args: &[&str]) -> String {
    let output = Command::new("docker").args(args).output().unwrap();
    assert!(output.status.success(), "docker {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The label of every container of the fixture's installation.
fn label(fixture: &Fixture) -> String {
    let data = &fixture.engine.config().data;
    let instance = std::fs::read_to_string(data.join("instance")).unwrap();
    format!("swe-ci.instance={}", instance.trim())
}

fn containers(fixture: &Fixture) -> usize {
    let filter = format!("label={}", label(fixture));
    docker(&["ps", "-aq", "--filter", &filter]).lines().count()
}

async fn until_none_is_left(fixture: &Fixture) {
    let began = Instant::now();
    while containers(fixture) > 0 {
        assert!(began.elapsed() < PATIENCE, "a container is left");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Waits until this many containers of the fixture have been created.
async fn until_created(fixture: &Fixture, count: usize, since: SystemTime) {
    let since = since.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let mut events = Command::new("docker")
        .args(["events", "--filter=type=container", "--filter=event=create"])
        .arg(format!("--filter=label={}", label(fixture)))
        .arg(format!("--since={}", since.as_secs()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(events.stdout.take().unwrap()).lines();
    let created = tokio::task::spawn_blocking(move || lines.take(count).count());
    let created = tokio::time::timeout(PATIENCE, created).await;
    events.kill().unwrap();
    events.wait().unwrap();
    assert_eq!(created.expect("all are created").unwrap(), count);
}

/// The caller drops its request before the container engine answers: as when a
/// run is cancelled while the next step's container is being created.
#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_container_is_removed() {
    let fixture = Fixture::new().await;
    let image = fixture.engine.config().base_image.clone();
    // Before the first container, a process asks once which engine it has.
    let (since, waits) = (SystemTime::now(), [2_000, 0, 1, 5, 20, 60]);
    for wait in waits {
        testing::abandon_a_container(&fixture.engine, &image, Duration::from_millis(wait)).await;
    }
    until_created(&fixture, waits.len(), since).await;
    until_none_is_left(&fixture).await;
}

/// A killed process had requested a container, and the engine creates it after
/// the next process has removed the remains.
#[tokio::test(flavor = "multi_thread")]
async fn late_containers_of_a_dead_process_are_removed() {
    let fixture = Fixture::new().await;
    let (instance, image) = (label(&fixture), fixture.engine.config().base_image.clone());
    let make = |process: &str| {
        let labels = [&instance, process].map(|label| format!("--label={label}"));
        let mut args = vec!["create", "--network=none"];
        args.extend(labels.iter().map(String::as_str));
        args.extend([image.as_str(), "true"]);
        docker(&args).trim().to_owned()
    };
    make("swe-ci.process=dead");
    let (engine, stop) = (fixture.engine.clone(), CancellationToken::new());
    let worker = tokio::spawn({
        let stop = stop.clone();
        async move { engine.work(stop).await }
    });
    // Afterwards the worker has removed everything it found at its start.
    until_none_is_left(&fixture).await;
    let processes = fixture.folder.path().join("data/processes");
    let alive = std::fs::File::create(processes.join("import")).unwrap();
    alive.lock().unwrap();
    make("swe-ci.process=dead");
    let import = make("swe-ci.process=import");
    assert_eq!(containers(&fixture), 2);
    let began = Instant::now();
    while containers(&fixture) > 1 {
        assert!(began.elapsed() < PATIENCE, "the late container is left");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // The worker must not remove the container of a concurrent import.
    let known = docker(&["inspect", "--format={{.Id}}", &import]);
    assert_eq!(known.trim(), import);
    stop.cancel();
    worker.await.unwrap().unwrap();
    docker(&["rm", "--force", &import]);
}
