//! The platform's overhead per iteration: replays a history with a harness that
//! does next to nothing, three fresh containers an iteration. Prints wall time
//! minus pytest's own, and where the rest goes. Beside it stands the floor: an
//! empty container's life, and one in which pytest starts. Judges nothing.
#![allow(clippy::print_stdout, reason = "a benchmark reports on stdout")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bollard::Docker;
use bollard::models::{ContainerCreateBody, HostConfig};
use bollard::query_parameters::{
    CreateContainerOptions, RemoveContainerOptionsBuilder, WaitContainerOptions,
};
use futures::TryStreamExt;
use swe_ci_core::run::RunConfig;
use swe_ci_engine::Engine;
use swe_ci_engine::testing::{self, TinyTask};
use swe_ci_testing::measurements::{lower_is_better, median};
use swe_ci_views::account::Visibility;
use swe_ci_views::view::{EvolutionView, RunDetail};
use tokio_util::sync::CancellationToken;
use tracing::span::{Attributes, Id};
use tracing::{Level, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

const ITERATIONS: usize = 20;
/// Containers whose life is measured.
const CONTAINERS: usize = 20;
const TESTS: &str = "import pytest, tiny\n@pytest.mark.parametrize('i', range(30))\ndef test_it(i): assert i <= tiny.N\n";
/// The span of a step. What does not have it above it goes on beside the steps.
const STEP: &str = "step";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let engine = Engine::open(testing::config(folder.path().join("data"), 1)).await?;
    import(&engine, folder.path()).await?;
    let spans = SpanTimes::default();
    let ours = Targets::new().with_target("swe_ci", Level::DEBUG);
    let timed = spans.clone().with_filter(ours);
    tracing_subscriber::registry().with(timed).init();

    let machine = processor_seconds("/proc/stat");
    let own = processor_seconds("/proc/self/stat");
    let began = Instant::now();
    let run = run_to_its_end(&engine).await?;
    let wall = began.elapsed().as_secs_f64();
    let machine = processor_seconds("/proc/stat") - machine;
    let own = processor_seconds("/proc/self/stat") - own;

    let evolution = &run.evolution_list[0];
    let count = evolution.iterations.len() as f64;
    let pytest = pytest_seconds(&engine, evolution).await?;
    let report = |what: &str, seconds: f64| {
        let name = format!("overhead: an iteration, {what}");
        lower_is_better(&name, seconds / count, "s");
    };
    report("pytest alone", pytest);
    report("wall time beside pytest", wall - pytest);
    report("processor time of the machine", machine);
    report("processor time of this process", own);
    println!(
        "  milliseconds an iteration (calls an iteration); a line includes those that it calls"
    );
    spans.print(count);
    let image = engine.task(&evolution.task_id).await?.image_digest;
    let start_pytest = ["python", "-m", "pytest", "--version"];
    live("an empty container", &image, &["true"]).await?;
    live("a container that starts pytest", &image, &start_pytest).await
}

/// Reports how long the engine needs for the life of a container, step by step.
async fn live(what: &str, image: &str, command: &[&str]) -> anyhow::Result<()> {
    let api = Docker::connect_with_defaults()?;
    let body = ContainerCreateBody {
        image: Some(image.to_owned()),
        cmd: Some(command.iter().map(|&word| word.to_owned()).collect()),
        network_disabled: Some(true),
        host_config: Some(HostConfig {
            network_mode: Some("none".into()),
            ..HostConfig::default()
        }),
        ..ContainerCreateBody::default()
    };
    let forced = RemoveContainerOptionsBuilder::default().force(true).build();
    let machine = processor_seconds("/proc/stat");
    let mut times: [Vec<f64>; 4] = Default::default();
    for _ in 0..CONTAINERS {
        let mut began = Instant::now();
        let mut ended = |step: usize| {
            times[step].push(began.elapsed().as_secs_f64());
            began = Instant::now();
        };
        let options = None::<CreateContainerOptions>;
        let id = api.create_container(options, body.clone()).await?.id;
        ended(0);
        api.start_container(&id, None).await?;
        ended(1);
        let exits = api.wait_container(&id, None::<WaitContainerOptions>);
        exits.try_collect::<Vec<_>>().await?;
        ended(2);
        api.remove_container(&id, Some(forced.clone())).await?;
        ended(3);
    }
    let machine = processor_seconds("/proc/stat") - machine;
    let [create, start, wait, remove] = times.map(|times| median(times) * 1e3);
    println!("  create {create:.0} ms, start {start:.0}, wait {wait:.0}, remove {remove:.0}");
    let wall = (create + start + wait + remove) / 1e3;
    let processor = machine / CONTAINERS as f64;
    lower_is_better(&format!("overhead: {what}, wall time"), wall, "s");
    lower_is_better(&format!("overhead: {what}, processor time"), processor, "s");
    Ok(())
}

async fn import(engine: &Engine, folder: &Path) -> anyhow::Result<()> {
    let image = testing::image_archive(engine, Path::new(env!("CARGO_TARGET_TMPDIR"))).await?;
    let versions: Vec<[(&str, String); 2]> = (0..=ITERATIONS)
        .map(|n| {
            [
                ("tiny.py", format!("N = {}\n", n + 9)),
                ("tests/test_tiny.py", TESTS.to_owned()),
            ]
        })
        .collect();
    let borrowed: Vec<Vec<(&str, &str)>> = versions
        .iter()
        .map(|files| {
            files
                .iter()
                .map(|(path, text)| (*path, text.as_str()))
                .collect()
        })
        .collect();
    let slices: Vec<&[(&str, &str)]> = borrowed.iter().map(Vec::as_slice).collect();
    let dataset = folder.join("dataset");
    let task = TinyTask {
        name: "bench",
        versions: &slices,
    };
    testing::write_dataset(&dataset, "bench", &image, &[task])?;
    engine
        .import(dataset.as_path(), "bench", &testing::once(), &|_| {})
        .await?;
    Ok(())
}

async fn run_to_its_end(engine: &Engine) -> anyhow::Result<RunDetail> {
    let id = engine
        .submit(RunConfig::human("bench"), Visibility::Public)
        .await?;
    let stop = CancellationToken::new();
    let worker = tokio::spawn({
        let (engine, stop) = (engine.clone(), stop.clone());
        async move { engine.work(stop).await }
    });
    let run = loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let run = engine.run(&id).await?;
        if run.summary.progress.is_over() {
            break run;
        }
    };
    stop.cancel();
    worker.await??;
    Ok(run)
}

/// The sum of the durations in an evolution's reports.
async fn pytest_seconds(engine: &Engine, evolution: &EvolutionView) -> anyhow::Result<f64> {
    let mut total = 0.0;
    for iteration in &evolution.iterations {
        let report = engine.report(&evolution.evolution_id, iteration.iteration);
        let pieces: Vec<_> = report.await?.try_collect().await?;
        let report: serde_json::Value = serde_json::from_slice(&pieces.concat())?;
        total += report["duration"].as_f64().unwrap_or_default();
    }
    Ok(total)
}

/// Processor time of this process or of the whole machine, other programs
/// included; 0 where the kernel does not tell.
fn processor_seconds(file: &str) -> f64 {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    // User and system time, in hundredths of a second: after the name of the
    // program, or in the first line.
    let (fields, chosen): (&str, &[usize]) = match text.rsplit_once(") ") {
        Some((_, fields)) => (fields, &[11, 12]),
        None => (text.lines().next().unwrap_or_default(), &[1, 2, 3]),
    };
    let fields: Vec<f64> = fields
        .split_whitespace()
        .map(|field| field.parse().unwrap_or_default())
        .collect();
    let chosen = chosen.iter().filter_map(|at| fields.get(*at));
    chosen.sum::<f64>() / 100.0
}

/// Adds up how long spans lasted, in the steps and beside them.
#[derive(Debug, Clone, Default)]
struct SpanTimes(Arc<Mutex<Times>>);

/// How many and how long, by whether it was beside the steps and the name.
type Times = BTreeMap<(bool, &'static str), (u32, Duration)>;

struct Began(Instant);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for SpanTimes {
    fn on_new_span(&self, _: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(Began(Instant::now()));
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else {
            return;
        };
        let Some(lasted) = span.extensions().get::<Began>().map(|at| at.0.elapsed()) else {
            return;
        };
        let beside = !span.scope().any(|above| above.name() == STEP);
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, total) = times.entry((beside, span.name())).or_default();
        *count += 1;
        *total += lasted;
    }
}

impl SpanTimes {
    fn print(&self, iterations: f64) {
        let times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for ((beside, name), (count, total)) in &*times {
            let place = if *beside { "beside" } else { "in steps" };
            let milliseconds = total.as_secs_f64() * 1e3 / iterations;
            let calls = f64::from(*count) / iterations;
            println!("  {place:>9}  {name:26} {milliseconds:8.1} ({calls:.1})");
        }
    }
}
