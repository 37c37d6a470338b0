//! The queue at a large installation: 1,000 slots and 100,000 queued evolutions
//! on one PostgreSQL, with rows as they are and without the containers.
//!
//! Printed are rates, next to what so many slots ask for, and what a claim costs
//! while the queue is long. Slots share 80 connections, ten processes with a pool
//! each, as they would through a connection pooler.
#![allow(clippy::print_stdout, reason = "a benchmark reports on stdout")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures::future::join_all;
use sqlx::{AnyPool, AssertSqlSafe};
use swe_ci_core::metrics::Verdict;
use swe_ci_core::outcomes::Outcomes;
use swe_ci_core::permissions::RunPermissions;
use swe_ci_core::run::RunConfig;
use swe_ci_core::step::{Ending, Role, StepOutcome};
use swe_ci_store::testing::PostgresDatabase;
use swe_ci_store::{Claim, IterationRow, NewRun, StepRow, StepToRecord, Store, testing};
use swe_ci_testing::measurements::{higher_is_better, lower_is_better};
use swe_ci_views::account::{Actor, Standing};

const PROCESSES: usize = 10;
const SLOTS_OF_A_PROCESS: usize = 100;
const SLOTS: usize = PROCESSES * SLOTS_OF_A_PROCESS;
const RUNS: u32 = 10;
const TASKS: u32 = 100;
const SAMPLES: u32 = 100;
/// Evolutions that are taken through the queue to their end.
const WORKED: u64 = 10_000;
const LEASE_MS: i64 = 60_000;
/// How long each of the other rates is measured.
const SPELL: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Some(database) = PostgresDatabase::create().await? else {
        println!("queue: no PostgreSQL in DATABASE_URL_POSTGRES; scripts/with-postgres.sh has one");
        return Ok(());
    };
    let measured = measure(&database.url, &database.server, &database.name).await;
    database.remove().await?;
    measured
}

async fn measure(url: &str, admin: &AnyPool, name: &str) -> anyhow::Result<()> {
    let mut stores = Vec::new();
    for _ in 0..PROCESSES {
        stores.push(Store::open(url).await?);
    }
    submit(&stores[0]).await?;
    let waits = Waits::watch(admin.clone(), name);

    let began = Instant::now();
    let worked = Arc::new(Worked::default());
    join_all(slots(&stores).map(|(store, slot)| work(store, slot, Arc::clone(&worked)))).await;
    let took = began.elapsed();
    let per_second = worked.ended() as f64 / took.as_secs_f64();
    higher_is_better(
        "queue: claimed, recorded and ended",
        per_second,
        "evolutions/s",
    );
    lower_is_better("queue: a claim waits", worked.wait_ms(), "ms");

    // Every slot holds an evolution, as in the middle of a run.
    let claims =
        join_all(slots(&stores).map(async |(store, slot)| store.claim(&slot, LEASE_MS).await))
            .await;
    let claims: Vec<Option<Claim>> = claims.into_iter().collect::<Result<_, _>>()?;
    anyhow::ensure!(claims.iter().all(Option::is_some), "the queue ran out");
    let held: Vec<(String, String)> = claims
        .into_iter()
        .flatten()
        .map(|it| (it.evolution_id, it.run_id))
        .collect();
    let beats = rate(&stores, &held, async |store, slot, (evolution, run)| {
        store.heartbeat(&evolution, &slot, LEASE_MS).await.is_ok()
            && store.steering(&run).await.is_ok()
    });
    report("heartbeats", beats.await, SLOTS as f64 / 2.0);

    // Nothing may be claimed: what idle slots ask.
    sqlx::query("UPDATE runs SET paused_at = 1")
        .execute(&AnyPool::connect(url).await?)
        .await?;
    let looks = rate(&stores, &held, async |store, slot, _| {
        store.claim(&slot, LEASE_MS).await.is_ok()
    });
    report("looks at paused runs", looks.await, SLOTS as f64 * 2.0);
    sqlx::query("DELETE FROM run_events")
        .execute(&AnyPool::connect(url).await?)
        .await?;
    sqlx::query("UPDATE evolutions SET progress = 'cancelled' WHERE progress = 'queued'")
        .execute(&AnyPool::connect(url).await?)
        .await?;
    let looks = rate(&stores, &held, async |store, slot, _| {
        store.claim(&slot, LEASE_MS).await.is_ok()
    });
    report("looks at an empty queue", looks.await, SLOTS as f64 * 2.0);

    events(&stores, &held).await?;
    println!("queue: {}", waits.told());
    for table in ["evolutions", "steps", "run_events"] {
        let size: i64 = sqlx::query_scalar(AssertSqlSafe(format!(
            "SELECT pg_total_relation_size('{table}')"
        )))
        .fetch_one(&AnyPool::connect(url).await?)
        .await?;
        let size = size as f64 / f64::from(1 << 20);
        lower_is_better(&format!("queue: the table {table}"), size, "MiB");
    }
    Ok(())
}

async fn submit(store: &Store) -> anyhow::Result<()> {
    let mut tasks = Vec::new();
    for position in 0..TASKS {
        let task = testing::task(&format!("task-{position}"));
        store.put_task("s", position, &task).await?;
        tasks.push((task.id, f64::from(position)));
    }
    let began = Instant::now();
    for _ in 0..RUNS {
        let run = NewRun {
            standing: Standing::default(),
            grant: RunPermissions::default(),
            config: RunConfig {
                samples: SAMPLES,
                ..RunConfig::human("s")
            },
            provenance: Default::default(),
            tasks: tasks.clone(),
            preflight: false,
            forget_keys: false,
        };
        store.insert_run(&run, &Actor::Operator).await?;
    }
    let rate = f64::from(RUNS * TASKS * SAMPLES) / began.elapsed().as_secs_f64();
    higher_is_better("queue: submitted", rate, "evolutions/s");
    Ok(())
}

fn slots(stores: &[Store]) -> impl Iterator<Item = (Store, String)> {
    stores.iter().enumerate().flat_map(|(process, store)| {
        (0..SLOTS_OF_A_PROCESS).map(move |slot| (store.clone(), format!("p{process}/{slot}")))
    })
}

#[derive(Default)]
struct Worked {
    ended: AtomicU64,
    waited_us: AtomicU64,
}

impl Worked {
    fn ended(&self) -> u64 {
        self.ended.load(Ordering::Relaxed)
    }

    fn wait_ms(&self) -> f64 {
        self.waited_us.load(Ordering::Relaxed) as f64 / self.ended() as f64 / 1000.0
    }
}

/// Takes evolutions to their end, without anything between.
async fn work(store: Store, slot: String, worked: Arc<Worked>) -> anyhow::Result<()> {
    while worked.ended() < WORKED {
        let began = Instant::now();
        let Some(claim) = store.claim(&slot, LEASE_MS).await? else {
            continue;
        };
        let waited = u64::try_from(began.elapsed().as_micros())?;
        worked.waited_us.fetch_add(waited, Ordering::Relaxed);
        let step = step();
        let record = StepToRecord {
            step: &step,
            iteration: Some(&iteration()),
            next: Err((Ending::Solved, None)),
        };
        store.record_step(&claim, &slot, &record).await?;
        worked.ended.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// How often in a second all slots together do this.
async fn rate(
    stores: &[Store],
    held: &[(String, String)],
    ask: impl AsyncFn(Store, String, (String, String)) -> bool,
) -> f64 {
    let began = Instant::now();
    let done = join_all(slots(stores).zip(held).map(async |((store, slot), held)| {
        let mut done = 0_u32;
        while began.elapsed() < SPELL {
            if ask(store.clone(), slot.clone(), held.clone()).await {
                done += 1;
            }
        }
        done
    }));
    let done: u32 = done.await.into_iter().sum();
    f64::from(done) / began.elapsed().as_secs_f64()
}

fn report(what: &str, rate: f64, needed: f64) {
    higher_is_better(&format!("queue: {what}"), rate, "/s");
    println!("  {SLOTS} slots ask for {needed:.0}");
}

/// Workers write batches while a server reads; whoever follows a run in a browser
/// is served from the server's memory.
async fn events(stores: &[Store], held: &[(String, String)]) -> anyhow::Result<()> {
    let line = serde_json::json!({ "output": { "line": "x".repeat(120) } }).to_string();
    let batch: Vec<(String, String)> = held
        .iter()
        .take(100)
        .map(|it| (it.1.clone(), line.clone()))
        .collect();
    let began = Instant::now();
    let writing = join_all(stores.iter().map(async |store| {
        let mut written = 0_usize;
        while began.elapsed() < SPELL {
            if store.put_events(&batch).await.is_ok() {
                written += batch.len();
            }
        }
        written
    }));
    let written: usize = writing.await.into_iter().sum();
    let rate = written as f64 / SPELL.as_secs_f64();
    higher_is_better("queue: events are written", rate, "/s");
    let began = Instant::now();
    stores[0].events_since(0, "").await?;
    let millis = began.elapsed().as_secs_f64() * 1e3;
    lower_is_better("queue: a server reads the new events", millis, "ms");
    Ok(())
}

/// Looks every 50 ms at how many connections wait for a lock.
struct Waits {
    seen: Arc<(AtomicU64, AtomicU64)>,
    task: tokio::task::JoinHandle<()>,
}

impl Waits {
    fn watch(admin: AnyPool, name: &str) -> Self {
        let seen = Arc::<(AtomicU64, AtomicU64)>::default();
        let (counted, name) = (Arc::clone(&seen), name.to_owned());
        let task = tokio::spawn(async move {
            loop {
                let waiting: i64 = sqlx::query_scalar(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'",
                )
                .bind(name.clone())
                .fetch_one(&admin)
                .await
                .unwrap_or(0);
                counted.0.fetch_add(1, Ordering::Relaxed);
                counted
                    .1
                    .fetch_add(u64::try_from(waiting).unwrap_or(0), Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        Self { seen, task }
    }

    fn told(self) -> String {
        self.task.abort();
        let (looks, waiting) = (&self.seen.0, &self.seen.1);
        let mean =
            waiting.load(Ordering::Relaxed) as f64 / looks.load(Ordering::Relaxed).max(1) as f64;
        format!("{mean:.1} of 80 connections wait for a row's lock on average")
    }
}

fn step() -> StepRow {
    StepRow {
        iteration: 1,
        role: Role::Test,
        attempt: 1,
        outcome: StepOutcome::Scored { solved: true },
        detail: String::new(),
        product: Some("0".repeat(64)),
        log: Some("1".repeat(64)),
        usage: None,
        traffic: None,
        truncation: None,
        trajectory: None,
        layer: None,
        container: None,
        started_at: 1,
        finished_at: 2,
    }
}

fn iteration() -> IterationRow {
    IterationRow {
        iteration: 1,
        verdict: Verdict::Scored {
            in_target: 1,
            passed: 1,
            lost: 0,
        },
        gained: 1,
        outcomes: Outcomes::from_letters("p".into()),
        collapse: None,
        findings: Vec::new(),
        code: "2".repeat(64),
        test_seconds: 0.5,
        finished_at: 2,
        contradicted: None,
    }
}
