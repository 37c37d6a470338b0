//! No container outlives what it was made for.

use std::process::Command;
use std::time::{Duration, Instant};

use swe_ci_engine::testing;
use tokio_util::sync::CancellationToken;

use crate::fixture::Fixture;

const PATIENCE: Duration = Duration::from_secs(30);

fn docker(args: &[&str]) -> String {
    let output = Command::new("docker").args(args).output().unwrap();
    assert!(output.status.success(), "docker {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The label every container of the fixture's installation carries.
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

/// Whoever asked for it is gone by the time the container engine answers: as
/// when a run is cancelled while the next step's container is being made.
#[tokio::test(flavor = "multi_thread")]
async fn a_container_nobody_waits_for_is_removed() {
    let fixture = Fixture::new().await;
    let image = fixture.engine.config().base_image.clone();
    for wait in [0, 1, 5, 20, 60] {
        testing::abandon_a_container(&fixture.engine, &image, Duration::from_millis(wait)).await;
    }
    // What was asked for last may not be there yet.
    tokio::time::sleep(Duration::from_secs(2)).await;
    until_none_is_left(&fixture).await;
}

/// A killed process had asked for a container, and the container engine makes
/// it after the next process has cleaned up.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_dead_process_asked_for_is_removed_late() {
    let fixture = Fixture::new().await;
    let (engine, stop) = (fixture.engine.clone(), CancellationToken::new());
    let worker = tokio::spawn({
        let stop = stop.clone();
        async move { engine.work(stop).await }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (instance, image) = (label(&fixture), fixture.engine.config().base_image.clone());
    let make = |process: &str| {
        let labels = [&instance, process].map(|label| format!("--label={label}"));
        let mut args = vec!["create", "--network=none"];
        args.extend(labels.iter().map(String::as_str));
        args.extend([image.as_str(), "true"]);
        docker(&args).trim().to_owned()
    };
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
    // That of an import beside it is not the worker's to remove.
    let known = docker(&["inspect", "--format={{.Id}}", &import]);
    assert_eq!(known.trim(), import);
    stop.cancel();
    worker.await.unwrap().unwrap();
    docker(&["rm", "--force", &import]);
}
