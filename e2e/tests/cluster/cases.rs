//! Machines fail, one test for each way. The same follows every time: each
//! evolution ends once, with the results of a run to which nothing happened, and
//! nothing is left on the nodes.
#![expect(
    clippy::print_stdout,
    reason = "what was measured is for those who run these tests by hand"
)]

use std::collections::HashSet;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use swe_ci_core::agent::Protocol;
use swe_ci_core::step::Role;
use swe_ci_testing::scripted::{Conversation, Script, ScriptedLlm, Turn};
use url::Url;

use crate::cluster::{Cluster, NODES};
use crate::proxy::{Line, Proxy};
use crate::worker::{Worker, end_all};
use crate::{load, rows};

/// Claims end so long after a worker's last sign of life.
const LEASE: Duration = Duration::from_mins(1);

/// Longer than a lease.
const LONG: Duration = Duration::from_secs(75);

/// Iterations of each evolution, and tasks of the split.
const ITERATIONS: u32 = 4;
const TASKS: usize = 4;

/// Waits for the end of a run under way, and looks at what it left.
async fn all_is_well(cluster: &Cluster, run: &str, samples: usize, workers: &mut [Worker]) {
    cluster.until_over(run).await;
    end_all(workers).await;
    rows::as_undisturbed(cluster, run, ITERATIONS, TASKS * samples).await;
    cluster.nothing_is_left().await;
}

/// Kills a worker's process while a step of the run is under way on its node, and
/// not the process before it.
async fn kill_in_a_step(
    cluster: &Cluster,
    run: &str,
    worker: &mut Worker,
    killed: &mut HashSet<String>,
) {
    let process = loop {
        match rows::at_work(cluster, run, worker.node).await {
            Some(process) if !killed.contains(&process) && worker.is_in_a_step() => break process,
            _ => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    };
    worker.kill();
    killed.insert(process);
}

/// What CI has the time for: each node loses something at once, and gets it back.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: needs a cluster, as by make test-cluster"]
async fn in_short_every_node_fails() {
    let cluster = Cluster::open().await;
    let run = load::submit(&cluster, "in short", ITERATIONS, 1);
    let mut workers = cluster.workers();
    kill_in_a_step(&cluster, &run, &mut workers[0], &mut HashSet::new()).await;
    workers[0] = cluster.worker("n1");
    workers[1].ask_to_end();
    cluster.script(&["cut", "n3"]);
    assert!(workers[1].end().await.success());
    workers[1] = cluster.worker("n2");
    cluster.script(&["join", "n3"]);
    all_is_well(&cluster, &run, 1, &mut workers).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-cluster"]
async fn workers_are_killed_in_steps() {
    const KILLS: usize = 20;
    let cluster = Cluster::open().await;
    let samples = 5;
    let run = load::submit(&cluster, "killed", ITERATIONS, samples);
    let mut workers = cluster.workers();
    let mut killed = HashSet::new();
    while killed.len() < KILLS {
        let worker = &mut workers[killed.len() % NODES.len()];
        kill_in_a_step(&cluster, &run, worker, &mut killed).await;
        *worker = cluster.worker(worker.node);
    }
    let claims = rows::claims(&cluster, &run).await;
    all_is_well(&cluster, &run, samples as usize, &mut workers).await;
    println!(
        "{KILLS} kills, {claims} claims of {} evolutions by then",
        TASKS * samples as usize
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-cluster"]
async fn an_engine_is_killed() {
    let cluster = Cluster::open().await;
    let run = load::submit(&cluster, "engine", ITERATIONS, 2);
    let mut workers = cluster.workers();
    for node in ["n2", "n3", "n2"] {
        let at = NODES.iter().position(|it| *it == node).unwrap();
        cluster
            .until("a step is under way", || workers[at].is_in_a_step())
            .await;
        cluster.script(&["kill", node]);
        tokio::time::sleep(Duration::from_secs(3)).await;
        cluster.script(&["start", node]);
    }
    all_is_well(&cluster, &run, 2, &mut workers).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-cluster"]
async fn a_node_is_cut_off_for_longer_than_its_lease() {
    let cluster = Cluster::open().await;
    let run = load::submit(&cluster, "cut off", ITERATIONS, 3);
    let mut workers = cluster.workers();
    cluster
        .until("a step is under way", || workers[2].is_in_a_step())
        .await;
    cluster.script(&["cut", "n3"]);
    tokio::time::sleep(LONG).await;
    cluster.script(&["join", "n3"]);
    all_is_well(&cluster, &run, 3, &mut workers).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-cluster"]
async fn a_worker_is_drained() {
    let cluster = Cluster::open().await;
    let run = load::submit(&cluster, "drained", ITERATIONS, 2);
    let mut workers = cluster.workers();
    cluster
        .until("a step is under way", || workers[1].is_in_a_step())
        .await;
    workers[1].ask_to_end();
    assert!(workers[1].end().await.success());
    // By name, it puts back what it has and takes nothing until it is told to.
    cluster
        .until("a step is under way", || workers[2].is_in_a_step())
        .await;
    cluster.swe_ci(&["workers", "drain", "n3"]);
    cluster
        .until("n3 rests", || !workers[2].is_in_a_step())
        .await;
    assert!(!workers[2].has_ended());
    cluster.swe_ci(&["workers", "resume", "n3"]);
    workers[1] = cluster.worker("n2");
    all_is_well(&cluster, &run, 2, &mut workers).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-cluster"]
async fn the_registry_is_away_and_then_too_busy() {
    let cluster = Cluster::open().await;
    let registry = cluster.env("SWE_CI_REGISTRY").to_owned();
    let (address, path) = registry.split_once('/').unwrap();
    let proxy = Proxy::start(&cluster.host(), address.parse().unwrap()).await;
    let through = format!("{}/{path}", proxy.address);
    proxy.set(Line::Away);
    // A node without the image has to ask for it.
    cluster.forget_images("n2");
    let run = load::submit(&cluster, "registry", ITERATIONS, 1);
    let mut workers = vec![cluster.worker_with("n2", &[], &[("SWE_CI_REGISTRY", &through)])];
    tokio::time::sleep(Duration::from_secs(10)).await;
    proxy.set(Line::Answers(
        "HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    ));
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(cluster.run(&run)["progress"], "running", "it waits");
    proxy.set(Line::Good);
    all_is_well(&cluster, &run, 1, &mut workers).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-cluster"]
async fn the_store_is_slow_then_torn_then_away() {
    let cluster = Cluster::open().await;
    let url = Url::parse(cluster.env("AWS_ENDPOINT_URL")).unwrap();
    let proxy = Proxy::start(&cluster.host(), address(&url)).await;
    let through = format!("http://{}", proxy.address);
    let run = load::submit(&cluster, "store", ITERATIONS, 4);
    let mut workers: Vec<Worker> = NODES
        .iter()
        .map(|node| cluster.worker_with(node, &[], &[("AWS_ENDPOINT_URL", &through)]))
        .collect();
    for line in [
        Line::Slow(Duration::from_millis(300)),
        Line::Torn(10),
        Line::Away,
    ] {
        proxy.set(line);
        tokio::time::sleep(LEASE / 3).await;
    }
    assert_eq!(
        cluster.run(&run)["progress"],
        "running",
        "there was time for all of it"
    );
    proxy.set(Line::Good);
    all_is_well(&cluster, &run, 4, &mut workers).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-cluster"]
async fn the_database_crashes() {
    let cluster = Cluster::open().await;
    let run = load::submit(&cluster, "database", ITERATIONS, 3);
    let mut workers = cluster.workers();
    for away in [Duration::ZERO, Duration::from_secs(5), LONG] {
        cluster
            .until("a step is under way", || workers[1].is_in_a_step())
            .await;
        cluster.script(&["kill", "postgres"]);
        tokio::time::sleep(away).await;
        cluster.script(&["start", "postgres"]);
    }
    all_is_well(&cluster, &run, 3, &mut workers).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-cluster"]
async fn the_database_fails_over_to_its_replica() {
    let cluster = Cluster::open().await;
    cluster.script(&["replica"]);
    let run = load::submit(&cluster, "replica", ITERATIONS, 2);
    let mut workers = cluster.workers();
    cluster.until_ended(&run, 1).await;
    cluster.script(&["fail-over"]);
    all_is_well(&cluster, &run, 2, &mut workers).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-cluster"]
async fn clocks_are_wrong_by_five_minutes() {
    let cluster = Cluster::open().await;
    let run = load::submit(&cluster, "clocks", ITERATIONS, 2);
    let ahead = faked("+300s");
    let behind = faked("-300s");
    let mut workers = vec![
        cluster.worker("n1"),
        cluster.worker_with("n2", &[], &ahead.each_ref().map(|(k, v)| (*k, v.as_str()))),
        cluster.worker_with("n3", &[], &behind.each_ref().map(|(k, v)| (*k, v.as_str()))),
    ];
    all_is_well(&cluster, &run, 2, &mut workers).await;
    let claims = rows::claims(&cluster, &run).await;
    assert_eq!(claims, 2 * TASKS as i64, "nobody's lease ended early");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-cluster"]
async fn workers_come_and_go_with_the_work() {
    let cluster = Cluster::open().await;
    let run = load::submit(&cluster, "scaled", ITERATIONS, 2);
    assert_eq!(cluster.run(&run)["progress"], "queued");
    let mut workers: Vec<Worker> = NODES
        .iter()
        .map(|node| cluster.worker_with(node, &["--until-idle"], &[]))
        .collect();
    for worker in &mut workers {
        assert!(worker.end().await.success());
    }
    assert_eq!(cluster.run(&run)["progress"], "finished");
    all_is_well(&cluster, &run, 2, &mut []).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-cluster"]
async fn two_hundred_short_evolutions_keep_all_slots_busy() {
    const SAMPLES: u32 = 50;
    let cluster = Cluster::open().await;
    // Images and checkouts are there before time is taken.
    let first = load::submit(&cluster, "short, first", 1, 3);
    let mut workers = cluster.workers();
    cluster.until_over(&first).await;
    let run = load::submit(&cluster, "short", 1, SAMPLES);
    cluster.until_over(&run).await;
    end_all(&mut workers).await;
    rows::as_undisturbed(&cluster, &run, 1, TASKS * SAMPLES as usize).await;
    cluster.nothing_is_left().await;

    let times = rows::times(&cluster, &run).await;
    let begun = times.iter().map(|it| it.1);
    let first_claim = begun.clone().min().unwrap();
    // The queue is empty from here on.
    let last_claim = begun.max().unwrap();
    let slots = i64::try_from(NODES.len()).unwrap();
    let busy: i64 = times.iter().map(|it| it.2.min(last_claim) - it.1).sum();
    let share = busy as f64 / (slots * (last_claim - first_claim)) as f64;
    let tail = times.iter().map(|it| it.2).max().unwrap() - last_claim;
    println!(
        "first claim after {} ms, {:.2} evolutions a second, slots busy {:.1} %, tail {tail} ms",
        first_claim - times[0].0,
        times.len() as f64 * 1000.0 / (last_claim - first_claim) as f64,
        share * 100.0,
    );
    assert!(share >= 0.95, "{share}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-cluster"]
async fn a_run_waits_for_the_worker_it_needs() {
    let cluster = Cluster::open().await;
    let needs = json!({ "gpu": "yes" });
    let needing = load::submit_needing(&cluster, &needs, ITERATIONS, 1);
    let other = load::submit(&cluster, "needs nothing", ITERATIONS, 2);
    let mut workers = vec![
        cluster.worker("n1"),
        cluster.worker_with("n2", &["--labels", "gpu=no"], &[]),
    ];
    // They pass over what was queued first.
    cluster.until_over(&other).await;
    assert_eq!(rows::claims(&cluster, &needing).await, 0);
    let waiting = cluster.run(&needing);
    assert_eq!(waiting["unmet_needs"], needs, "{waiting}");
    workers.push(cluster.worker_with("n3", &["--labels", "gpu=yes,arch=amd64"], &[]));
    all_is_well(&cluster, &needing, 1, &mut workers).await;
    rows::as_undisturbed(&cluster, &other, ITERATIONS, TASKS * 2).await;
}

/// An architect that always asks for the same, and a programmer that looks around
/// and changes a comment.
fn busy(conversation: &Conversation) -> Turn {
    const DOCUMENT: &str = "<requirements><requirement><location>tiny.py</location>\
        <description>a number is too small</description><contract>N is greater</contract>\
        <acceptance>it is</acceptance></requirement></requirements>";
    match (conversation.role, conversation.turn) {
        (Role::Architect, 0) => Turn::write("/app/requirement.xml", DOCUMENT),
        (Role::Programmer, 0) => Turn::bash("cat /app/code/tiny.py"),
        (Role::Programmer, 1) => Turn::bash("echo '# looked at' >> /app/code/tiny.py"),
        _ => Turn::say("Done."),
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-cluster"]
async fn a_budget_holds_over_all_workers() {
    const SAMPLES: u32 = 3;
    /// Enough for six or seven iterations; without it there would be 60.
    const REQUESTS: usize = 33;
    let cluster = Cluster::open().await;
    cluster.set_key(load::KEY_NAME, "a-key");
    let at = cluster.host().parse().unwrap();
    let llm = ScriptedLlm::start_at(at, Script::with(busy), "a-key").await;
    let llm = llm.unwrap();
    let url = llm.url(Protocol::Chat);
    let run = load::submit_agent(&cluster, "budget", &url, SAMPLES, REQUESTS);
    let mut workers = cluster.workers();
    cluster.until_over(&run).await;
    end_all(&mut workers).await;
    cluster.nothing_is_left().await;

    let asked = llm.seen().len();
    // Each worker may have had one request under way when the last one was counted.
    assert!(
        (REQUESTS..REQUESTS + NODES.len()).contains(&asked),
        "{asked}"
    );
    let (by_steps, by_budget) = rows::requests(&cluster, &run).await;
    let asked = i64::try_from(asked).unwrap();
    assert_eq!((by_steps, by_budget), (asked, asked));
    let run = cluster.run(&run);
    let evolutions = run["evolution_list"].as_array().unwrap();
    assert_eq!(evolutions.len(), TASKS * SAMPLES as usize);
    let spent = evolutions.iter().all(|it| it["ending"] == "budget_spent");
    assert!(spent, "{evolutions:?}");
    println!("{asked} requests of a budget of {REQUESTS}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-cluster"]
async fn the_server_is_killed() {
    let mut cluster = Cluster::open().await;
    let run = load::submit(&cluster, "server", ITERATIONS, 2);
    let mut workers = cluster.workers();
    for ended in 0..3 {
        cluster.until_ended(&run, ended).await;
        cluster.kill_server();
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert!(workers.iter_mut().all(|worker| !worker.has_ended()));
        cluster.start_server();
    }
    all_is_well(&cluster, &run, 2, &mut workers).await;
}

fn address(url: &Url) -> SocketAddr {
    let addresses = url.socket_addrs(|| None).unwrap();
    addresses[0]
}

/// Another clock on the wall, but not for what measures durations.
fn faked(by: &str) -> [(&'static str, String); 3] {
    [
        (
            "LD_PRELOAD",
            crate::cluster::script(&["clock"]).trim().to_owned(),
        ),
        ("FAKETIME", by.to_owned()),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
    ]
}
