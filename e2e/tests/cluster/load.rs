//! What the workers of these tests have to do.

use std::path::Path;

use serde_json::{Value, json};
use swe_ci_engine::Engine;
use swe_ci_engine::testing::{self, TinyTask};

use crate::cluster::Cluster;

pub const SPLIT: &str = "cluster";
const TASKS: [&str; 4] = ["ash", "birch", "cedar", "elm"];

/// The name of the scripted model's key.
pub const KEY_NAME: &str = "scripted";

/// Each version of a task passes one test more.
const VERSIONS: u32 = 5;

/// A suite takes a while, so that there is time to be killed in it.
const TESTS: &str = "import time, pytest, tiny
def test_slow(): time.sleep(0.4)
@pytest.mark.parametrize('i', range(1, 6))
def test_it(i): assert i <= tiny.N
";

/// Imports the split, unless it is there.
pub async fn import(cluster: &Cluster) {
    let done = cluster.folder().join("imported");
    if done.exists() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    // The image is built by this machine's engine, which keeps it for other tests.
    let engine = Engine::open(testing::config(scratch.path().join("data"), 0));
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let image = testing::image_archive(&engine.await.unwrap(), cache).await;
    let texts: Vec<String> = (1..=VERSIONS).map(|n| format!("N = {n}\n")).collect();
    let versions: Vec<[(&str, &str); 2]> = texts
        .iter()
        .map(|text| [("tiny.py", text.as_str()), ("tests/test_tiny.py", TESTS)])
        .collect();
    let versions: Vec<&[(&str, &str)]> = versions.iter().map(<[_; 2]>::as_slice).collect();
    let tasks = TASKS.map(|name| TinyTask {
        name,
        versions: &versions,
    });
    let dataset = scratch.path().join("dataset");
    testing::write_dataset(&dataset, SPLIT, &image.unwrap(), &tasks).unwrap();
    let from = dataset.to_str().unwrap();
    cluster.swe_ci(&[
        "dataset",
        "import",
        "--from",
        from,
        "--split",
        SPLIT,
        "--repeats",
        "1",
    ]);
    std::fs::write(done, "").unwrap();
}

/// Queues a run that replays each task's history in so many iterations, so
/// often; its id.
pub fn submit(cluster: &Cluster, name: &str, iterations: u32, samples: u32) -> String {
    submit_config(cluster, &replay(name, iterations, samples))
}

/// The same for workers with these labels.
pub fn submit_needing(cluster: &Cluster, needs: &Value, iterations: u32, samples: u32) -> String {
    let mut config = replay("needing", iterations, samples);
    config["needs"] = needs.clone();
    submit_config(cluster, &config)
}

fn replay(name: &str, iterations: u32, samples: u32) -> Value {
    json!({
        "model": name,
        "kind": "measured",
        "split": SPLIT,
        "samples": samples,
        "harness": { "name": "replay", "max_chunks": iterations },
        "plan": { "max_iterations": iterations, "max_attempts": 2 },
    })
}

/// Queues a run of an agent that asks the model at this address; its id.
pub fn submit_agent(
    cluster: &Cluster,
    name: &str,
    url: &str,
    samples: u32,
    requests: usize,
) -> String {
    let config = json!({
        "model": name,
        "kind": "measured",
        "split": SPLIT,
        "samples": samples,
        "harness": { "name": "builtin" },
        "endpoint": { "protocol": "chat", "url": url, "model": "scripted", "key": KEY_NAME },
        "plan": { "max_iterations": VERSIONS, "max_attempts": 2 },
        "budget": { "requests": requests },
    });
    submit_config(cluster, &config)
}

pub fn submit_config(cluster: &Cluster, config: &Value) -> String {
    let file = cluster.folder().join("run.json");
    std::fs::write(&file, config.to_string()).unwrap();
    let id = cluster.swe_ci(&["run", "submit", file.to_str().unwrap()]);
    id.trim().to_owned()
}
