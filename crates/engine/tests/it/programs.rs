//! Real agent programs carry out a real evolution: a task of the demo split, in
//! real containers, against a scripted LLM that knows the real change.
//! `make test-harnesses` runs all of these.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use sha2::{Digest, Sha256};
use swe_ci_core::agent::Protocol;
use swe_ci_core::finding::Grade;
use swe_ci_core::run::HarnessConfig;
use swe_ci_core::step::{Ending, Role};
use swe_ci_core::usage::Usage;
use swe_ci_engine::testing::text_of;
use swe_ci_git::Repository;
use swe_ci_testing::scripted::{Conversation, Script, ScriptedLlm, Seen, Turn, usage};
use swe_ci_views::view::{RunDetail, TaskSummary};

use crate::agents::{KEY, KEY_NAME, config};
use crate::fixture::{Fixture, SPLIT, golden, shared_folder};

const TASK: &str = "tinydb-4.7.1-4.8.2";
/// The architect's document. The programmer's part of the script knows more.
const DOCUMENT: &str = "<requirements><requirement>\
    <location>tinydb</location><description>older than its tests</description>\
    <contract>as in the next releases</contract>\
    <acceptance>what they brought is there</acceptance></requirement></requirements>";

/// Programs whose requests are the same every time. Others tell their model
/// things that differ: process ids, times, samples of the code.
const REPEATING: [&str; 4] = ["builtin", "claude-code", "mini-swe-agent", "opencode"];

/// A source file that changed between the two ends of the task.
#[derive(Debug, Clone)]
struct Change {
    path: String,
    old: String,
    new: String,
}

/// How the programmer works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// In two iterations, half of the files in each.
    InTwoHalves,
    /// At once, without reading: for programs that cannot read.
    AtOnce,
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: a real task with its real suite"]
async fn builtin() {
    evolves(HarnessConfig::Builtin, Protocol::Chat, Way::InTwoHalves).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: installs a program"]
async fn opencode() {
    evolves(program("opencode"), Protocol::Chat, Way::InTwoHalves).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: installs a program"]
async fn mini_swe_agent() {
    evolves(program("mini-swe-agent"), Protocol::Chat, Way::InTwoHalves).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: installs a program"]
async fn qwen_code() {
    evolves(program("qwen-code"), Protocol::Chat, Way::InTwoHalves).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: installs a program"]
async fn codex() {
    evolves(program("codex"), Protocol::Responses, Way::InTwoHalves).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: installs a program"]
async fn claude_code() {
    evolves(program("claude-code"), Protocol::Messages, Way::InTwoHalves).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: installs a program"]
async fn gemini_cli() {
    evolves(program("gemini-cli"), Protocol::Gemini, Way::InTwoHalves).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: installs a program"]
async fn aider() {
    evolves(program("aider"), Protocol::Chat, Way::AtOnce).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: installs a program"]
async fn kimi_code() {
    evolves(program("kimi-code"), Protocol::Chat, Way::InTwoHalves).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: installs a program"]
async fn opencode_by_acp() {
    let command = r#"exec "$acp" --prompt "$prompt_file" --set "model=custom/$model" -- "$layer/bin/opencode" acp"#;
    by_acp("opencode", command, Protocol::Chat).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: installs a program"]
async fn qwen_code_by_acp() {
    let command = r#"exec "$acp" --prompt "$prompt_file" -- "$layer/bin/node" "$layer/node_modules/@qwen-code/qwen-code/cli-entry.js" --auth-type openai --acp"#;
    by_acp("qwen-code", command, Protocol::Chat).await;
}

/// It takes a missing file for an error where its client reads files, and so
/// cannot write new ones.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: installs a program"]
async fn gemini_cli_by_acp() {
    let command = r#"exec "$acp" --prompt "$prompt_file" --without fs -- "$layer/bin/node" "$layer/node_modules/@google/gemini-cli/bundle/gemini.js" -m "$model" --acp"#;
    by_acp("gemini-cli", command, Protocol::Gemini).await;
}

/// A program of ours under another command, as an operator's description.
async fn by_acp(name: &str, command: &str, protocol: Protocol) {
    let fixture = program_fixture().await;
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runner/src/harness/programs");
    let ours = fs::read_to_string(ours.join(format!("{name}.toml"))).unwrap();
    let mut description: toml::Table = ours.parse().unwrap();
    let own = format!("{name}-by-acp");
    description.insert("name".into(), own.clone().into());
    description.insert("command".into(), command.into());
    let folder = fixture.folder.path().join("data/harnesses");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("own.toml"), description.to_string()).unwrap();
    evolves_in(fixture, program(&own), protocol, Way::InTwoHalves).await;
}

fn program(name: &str) -> HarnessConfig {
    HarnessConfig::Program {
        program: name.into(),
        version: None,
    }
}

async fn program_fixture() -> Fixture {
    Fixture::keeping(&["cache", "datasets", "layers"]).await
}

async fn evolves(harness: HarnessConfig, protocol: Protocol, way: Way) {
    evolves_in(program_fixture().await, harness, protocol, way).await;
}

async fn evolves_in(fixture: Fixture, harness: HarnessConfig, protocol: Protocol, way: Way) {
    let task = demo_task(&fixture).await;
    let key = KEY.to_owned().into();
    fixture.engine.set_key(KEY_NAME, &key).await.unwrap();
    let llm = ScriptedLlm::start(script(changes(&fixture, &task), way), KEY)
        .await
        .unwrap();
    let name = harness.name().to_owned();
    let mut config = config(&llm, harness, protocol);
    let run = fixture.run(config.clone()).await;
    let evolution = &run.evolution_list[0];
    let steps = fixture.engine.steps(&evolution.evolution_id).await;
    assert_eq!(evolution.ending, Some(Ending::Solved), "{steps:#?}");
    let gained: Vec<u32> = evolution.iterations.iter().map(|i| i.gained).collect();
    match way {
        Way::InTwoHalves => assert!(
            gained.len() == 2 && !gained.contains(&0),
            "{gained:?}: {steps:#?}"
        ),
        Way::AtOnce => assert_eq!(gained, [task.gap]),
    }
    let mut findings = evolution.iterations.iter().flat_map(|i| &i.findings);
    assert!(
        findings.all(|finding| finding.grade == Grade::Note),
        "{evolution:#?}"
    );
    assert_all_is_counted(&fixture, &run, &llm.seen(), protocol).await;

    // Again, from the recording if possible: nothing is installed, and the
    // model gets no request.
    let (asked, layers) = (llm.seen().len(), layers(&name));
    let from_recording = REPEATING.contains(&name.as_str());
    if from_recording {
        let endpoint = config.endpoint.as_mut().unwrap();
        (endpoint.key, endpoint.recording) = (None, Some(run.summary.run_id.clone()));
    }
    let again = fixture.run(config).await;
    let steps = fixture.engine.steps(&again.evolution_list[0].evolution_id);
    assert_eq!(
        golden(&again.evolution_list[0]),
        golden(evolution),
        "{:#?}",
        steps.await
    );
    assert_eq!(llm.seen().len() == asked, from_recording);
    assert_eq!(self::layers(&name), layers);
}

/// The smallest task of the demo split, imported by itself.
async fn demo_task(fixture: &Fixture) -> TaskSummary {
    let demo = shared_folder().join("datasets/demo");
    {
        let lock = fs::File::create(shared_folder().join("demo.lock")).unwrap();
        let locked = tokio::task::spawn_blocking(move || lock.lock().map(|()| lock));
        let _lock = locked.await.unwrap().unwrap();
        if !demo.exists() {
            let imported = fixture.engine.import_demo(&|_| {}).await.unwrap();
            let gaps: Vec<u32> = imported.tasks.iter().map(|task| task.gap).collect();
            assert_eq!(gaps, [35, 60, 5, 14]);
        }
    }
    let dataset = fixture.dataset();
    let lines = fs::read_to_string(demo.join("metadata/demo.csv")).unwrap();
    let (head, tasks) = lines.split_once('\n').unwrap();
    let line = tasks.lines().find(|line| line.contains(TASK)).unwrap();
    for folder in ["metadata", "data"] {
        fs::create_dir_all(dataset.join(folder)).unwrap();
    }
    let metadata = dataset.join("metadata").join(format!("{SPLIT}.csv"));
    fs::write(metadata, format!("{head}\n{line}\n")).unwrap();
    let data = Path::new("data").join(TASK);
    symlink(demo.join(&data), dataset.join(&data)).unwrap();
    let (imported, _) = fixture.import_written().await;
    let task = imported.unwrap().tasks.remove(0);
    assert_eq!(task.gap, 5, "{task:?}");
    task
}

/// The sources at the target's commit that changed, without tests.
fn changes(fixture: &Fixture, task: &TaskSummary) -> Vec<Change> {
    let folder = fixture.folder.path().join("data/tasks").join(TASK);
    let ends = format!("code-{}-{}", task.base_sha, task.target_sha);
    let repository = Repository::open(&folder.join(ends)).unwrap();
    let tree = |sha: &str| repository.root(repository.commit(sha).unwrap()).unwrap();
    let text = |id| {
        let bytes = repository.blob(id, usize::MAX).unwrap().unwrap();
        String::from_utf8(bytes).unwrap()
    };
    let (base, target) = (tree(&task.base_sha), tree(&task.target_sha));
    let changes: Vec<Change> = repository
        .differences(base, target)
        .unwrap()
        .into_iter()
        .filter_map(|difference| {
            let path = String::from_utf8(difference.path).ok()?;
            let (old, new) = (difference.old?, difference.new?);
            let is_source = path.ends_with(".py") && !path.starts_with("tests/");
            is_source.then(|| Change {
                path,
                old: text(old),
                new: text(new),
            })
        })
        .collect();
    assert!(changes.len() >= 4, "{changes:?}");
    changes
}

fn script(changes: Vec<Change>, way: Way) -> Script {
    Script::with(move |conversation| match conversation.role {
        Role::Architect => match conversation.turn {
            0 => Turn::bash("head -n 3 /app/non-passed/summary.jsonl"),
            1 => Turn::write("/app/requirement.xml", DOCUMENT),
            _ => Turn::say("The requirements are written."),
        },
        _ => programmer(&changes, way, conversation),
    })
}

/// Checks which half exists already, and writes the next.
fn programmer(changes: &[Change], way: Way, conversation: &Conversation) -> Turn {
    let place = |change: &Change| format!("/app/code/{}", change.path);
    let Some(position) = conversation.turn.checked_sub(1) else {
        let command = format!("cat /app/requirement.xml; sha256sum {}", place(&changes[0]));
        return Turn::bash(command);
    };
    let (first, second) = changes.split_at(changes.len().div_ceil(2));
    let is_there = conversation.text.contains(&sha256(&changes[0].new));
    let (files, last_word) = match way {
        Way::AtOnce => (changes, "All of it is done."),
        Way::InTwoHalves if is_there => (second, "The rest is done."),
        Way::InTwoHalves => (first, "Half of it is done."),
    };
    match files.get(position) {
        None => Turn::say(last_word),
        Some(change) if position == 0 && way == Way::InTwoHalves => {
            Turn::write(place(change), &change.new)
        }
        Some(change) => Turn::edit(place(change), &change.old, &change.new),
    }
}

fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Each step's usage is what the LLM reported, and is stored.
async fn assert_all_is_counted(
    fixture: &Fixture,
    run: &RunDetail,
    seen: &[Seen],
    protocol: Protocol,
) {
    let id = &run.evolution_list[0].evolution_id;
    let mut seen = seen.iter();
    for step in fixture.engine.steps(id).await.unwrap() {
        if step.role == Role::Test {
            continue;
        }
        let requests = step.traffic.unwrap().requests;
        let mut given = Usage::default();
        for seen in seen.by_ref().take(usize::try_from(requests).unwrap()) {
            assert_eq!(seen.protocol, Some(protocol), "{}", seen.path);
            given += usage(seen.turn.map(|(_, turn)| turn));
        }
        // This protocol has no field for them.
        if protocol == Protocol::Messages {
            given.reasoning_tokens = 0;
        }
        assert!(given.input_tokens > 0, "{step:?}");
        assert_eq!(step.usage, Some(given), "{step:?}");
        let (iteration, role, attempt) = (step.iteration, step.role, step.attempt);
        let recording = fixture.engine.recording_file(id, iteration, role, attempt);
        let lines = text_of(recording.await.unwrap()).await;
        assert_eq!(lines.lines().count() as u64, requests, "{step:?}");
    }
    assert_eq!(seen.count(), 0, "asked outside of the steps");
}

/// The records of a program's layers: each names its volume.
fn layers(program: &str) -> Vec<String> {
    let records = fs::read_dir(shared_folder().join("layers")).unwrap();
    let mut layers: Vec<String> = records
        .filter_map(|record| fs::read_to_string(record.unwrap().path()).ok())
        .filter(|record| record.contains(&format!("swe-ci-{program}-")))
        .collect();
    layers.sort();
    layers
}
