//! Steering of active runs.

use std::time::Duration;

use swe_ci_core::run::{Progress, RunConfig};
use swe_ci_core::step::{Ending, StepOutcome};
use swe_ci_engine::Engine;
use swe_ci_engine::testing::TinyTask;
use swe_ci_views::account::Visibility;
use swe_ci_views::steering::Change;
use swe_ci_views::view::RunDetail;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Fixture, SPLIT, golden};

const TEST_FILE: &str = "tests/test_tiny.py";
/// Slow enough to be observed while it runs.
const TESTS: &str = "
import time, tiny
def test_zero(): pass
def test_one(): time.sleep(0.7); assert tiny.one() == 1
def test_two(): assert tiny.two() == 2
";
const NOTHING: &str = "def one(): return 0\ndef two(): return 0\n";
const ONE: &str = "def one(): return 1\ndef two(): return 0\n";
const BOTH: &str = "def one(): return 1\ndef two(): return 2\n";

fn version(code: &'static str) -> [(&'static str, &'static str); 2] {
    [("tiny.py", code), (TEST_FILE, TESTS)]
}

/// Imports tasks of these names, each from nothing over one test and back to
/// both.
async fn import(fixture: &Fixture, names: &[&'static str]) {
    let (nothing, one, both) = (version(NOTHING), version(ONE), version(BOTH));
    let versions: [&[(&str, &str)]; 5] = [&nothing, &one, &nothing, &one, &both];
    let task = |name: &&'static str| TinyTask {
        name,
        versions: &versions,
    };
    let tasks: Vec<TinyTask<'_>> = names.iter().map(task).collect();
    fixture.import(&tasks).await.unwrap();
}

const GOLDEN: &str = "solved\n\
    1 2/3 lost 0 gained 1\n\
    2 1/3 lost 1 gained 0\n\
    3 2/3 lost 0 gained 1\n\
    4 3/3 lost 0 gained 1\n";

async fn until(
    engine: &Engine,
    id: &str,
    what: &str,
    done: impl Fn(&RunDetail) -> bool,
) -> RunDetail {
    for _ in 0..600 {
        let run = engine.run(id).await.unwrap();
        if done(&run) {
            return run;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("it never came to this: {what}");
}

/// Steps of the first evolution.
async fn steps(engine: &Engine, run: &RunDetail) -> usize {
    let evolution = &run.evolution_list[0].evolution_id;
    engine.steps(evolution).await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_run_stands_still_and_goes_on() {
    let fixture = Fixture::new().await;
    import(&fixture, &["paused"]).await;
    let engine = &fixture.engine;
    let config = RunConfig::human(SPLIT);
    let id = engine.submit(config, Visibility::Public).await.unwrap();
    let stop = CancellationToken::new();
    let worker = tokio::spawn({
        let (engine, stop) = (engine.clone(), stop.clone());
        async move { engine.work(stop).await }
    });
    until(engine, &id, "an iteration", |run| {
        run.summary.iterations >= 1
    })
    .await;
    engine.pause(&id).await.unwrap();
    let queued = |run: &RunDetail| run.evolution_list[0].progress == Progress::Queued;
    let paused = until(engine, &id, "released", queued).await;
    assert!(paused.summary.steering.paused && !paused.summary.progress.is_over());
    let before = steps(engine, &paused).await;
    // The worker takes other work meanwhile.
    let config = RunConfig::human(SPLIT);
    let other = engine.submit(config, Visibility::Public).await.unwrap();
    until(engine, &other, "an iteration of the other run", |run| {
        run.summary.iterations >= 1
    })
    .await;
    engine.cancel(&other).await.unwrap();
    let later = engine.run(&id).await.unwrap();
    assert_eq!(steps(engine, &later).await, before);
    assert!(queued(&later));
    engine.resume(&id).await.unwrap();
    let over = until(engine, &id, "the end", |run| run.summary.progress.is_over()).await;
    stop.cancel();
    worker.await.unwrap().unwrap();
    assert_eq!(golden(&over.evolution_list[0]), format!("paused {GOLDEN}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_at_once_although_there_are_two_workers() {
    let fixture = Fixture::new().await;
    import(&fixture, &["first", "second"]).await;
    let engine = &fixture.engine;
    let config = RunConfig::human(SPLIT);
    let id = engine.submit(config, Visibility::Public).await.unwrap();
    let one = Change {
        at_once: Some(Some(1)),
        ..Change::default()
    };
    engine.change(&id, one).await.unwrap();
    let over = fixture
        .until(&id, |run| {
            let at_work = run.evolution_list.iter().filter(|e| at_work(e)).count();
            assert!(at_work <= 1, "{at_work} at the same time");
            run.summary.progress.is_over()
        })
        .await;
    for evolution in &over.evolution_list {
        assert_eq!(evolution.ending, Some(Ending::Solved));
    }
}

fn at_work(evolution: &swe_ci_views::view::EvolutionView) -> bool {
    evolution.progress == Progress::Running
}

/// Blocked because its checkout was missing; retried, it ends as it would have
/// ended.
#[tokio::test(flavor = "multi_thread")]
async fn a_blocked_run_is_retried_to_its_end() {
    let fixture = Fixture::new().await;
    import(&fixture, &["blocked"]).await;
    let engine = &fixture.engine;
    let mut config = RunConfig::human(SPLIT);
    config.plan.max_attempts = 1;
    let id = engine.submit(config, Visibility::Public).await.unwrap();
    let tasks = fixture.folder.path().join("data/tasks");
    let away = fixture.folder.path().join("away");
    std::fs::rename(&tasks, &away).unwrap();
    let blocked = fixture
        .until(&id, |run| run.summary.progress.is_over())
        .await;
    assert_eq!(blocked.evolution_list[0].ending, Some(Ending::Blocked));
    std::fs::rename(&away, &tasks).unwrap();

    assert_eq!(engine.retry_blocked(&id).await.unwrap(), 1);
    let over = fixture
        .until(&id, |run| run.summary.progress.is_over())
        .await;
    assert_eq!(golden(&over.evolution_list[0]), format!("blocked {GOLDEN}"));
    let steps = engine.steps(&over.evolution_list[0].evolution_id).await;
    let outcomes: Vec<StepOutcome> = steps.unwrap().iter().map(|s| s.outcome).collect();
    assert_eq!(
        outcomes[..3],
        [
            StepOutcome::InfraFailed,
            StepOutcome::Retried,
            StepOutcome::Done
        ]
    );
}
