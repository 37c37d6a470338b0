//! Tests of the reproducibility card.

use swe_ci_core::run::Progress;

use super::*;
use crate::steering::Steering;
use crate::testing::run_summary;

fn summary(config: &str) -> RunSummary {
    let config: RunConfig = serde_json::from_str(config).unwrap();
    RunSummary {
        run_id: "0190".into(),
        steering: Steering::of(&config),
        config,
        created_at: "2026-11-20T14:00:00Z".into(),
        started_at: Some("2026-11-20T14:01:00Z".into()),
        evolutions: 1,
        evolutions_over: 1,
        iterations: 2,
        ..run_summary(Progress::Finished)
    }
}

fn task(image: Option<&str>) -> TaskOnCard {
    TaskOnCard {
        task_id: TaskId::new("alpha-1").unwrap(),
        base_sha: "a0".into(),
        target_sha: "a1".into(),
        image: image.map(str::to_owned),
        test_command: TestCommand::PLATFORM,
    }
}

fn provenance(harness_version: &str) -> Provenance {
    Provenance {
        platform_version: "0.1.0".into(),
        metric_version: 1,
        dataset_digest: "sha256:dd".into(),
        harness_version: harness_version.into(),
        prompts: Some("1 sha256:ee".into()),
        imported: None,
        engines: Vec::new(),
        not_handed_over: Vec::new(),
    }
}

const MEASURED: &str = r#"{
    "model": "GLM-5", "provider": "acme", "release_date": "2026-02-11", "kind": "measured",
    "harness": {"name": "opencode"},
    "endpoint": {"url": "https://api.example.org/v1", "model": "glm-5", "key": "acme-secret",
                 "parameters": {"temperature": 0, "seed": 7}, "prices": {"input": 3.0, "cached": 0.3, "output": 15.0}},
    "programmer": {"harness": {"name": "builtin"},
                   "endpoint": {"url": "http://other.example.org:8080", "model": "glm-5", "recording": "0189"}},
    "split": "demo", "samples": 2, "budget": {"tokens": 1000000, "usd": 25.0}
}"#;

const TEXT: &str = "\
SWE-CI run         0190
Model              GLM-5 (acme)
Released           2026-02-11
Kind               measured
Agent              architect
  harness          opencode 1.18.33
  endpoint         api.example.org by chat
  model            glm-5
  parameters       {\"seed\":7,\"temperature\":0}
  prices           3 in, 0.3 cached, 15 out, USD per million tokens
Agent              programmer
  harness          builtin 1
  answers          replayed from run 0189
  model            glm-5
Harness images     sha256:ff
Prompts            1 sha256:ee
Mode               tdd
Plan               at most 20 iterations, 10 attempts per step, samples per task 2
Step limits        2 CPU, 4096 MiB memory, 4096 MiB disk, 1024 processes, 3600 s per agent step, 3600 s per test run, 1800 s of waiting for the provider
Budget             1000000 tokens, 25 USD
Metric definitions version 1
Intervals          2000 resamples of repositories, seed 20260101
Platform           swe-ci 0.1.0
Submitted          2026-11-20T14:00:00Z
Started            2026-11-20T14:01:00Z
Split              demo
Dataset digest     sha256:dd
Tasks              1
  alpha-1
    base a0 target a1
    image sha256:aa
";

#[test]
fn as_text() {
    let layers = vec!["sha256:ff".to_owned()];
    let tasks = vec![task(Some("sha256:aa"))];
    let card = Card::new(summary(MEASURED), provenance("1.18.33 / 1"), tasks, layers);
    assert_eq!(card.to_text(), TEXT);
    let json = serde_json::to_string(&card).unwrap();
    assert!(!json.contains("acme-secret"), "{json}");
    assert_eq!(serde_json::from_str::<Card>(&json).unwrap(), card);
}

#[test]
fn unknown_facts_are_omitted() {
    let config = r#"{"model": "m", "kind": "imported", "split": "demo",
                     "harness": {"name": "elsewhere", "program": "theirs"}}"#;
    let imported = Provenance {
        prompts: None,
        imported: Some(ImportedFrom {
            layout: "otter".into(),
            experiment: "a\u{202e}b".into(),
            digest: "sha256:cc".into(),
            notes: Vec::new(),
        }),
        ..provenance("unknown")
    };
    let card = Card::new(summary(config), imported, vec![task(None)], Vec::new());
    let text = card.to_text();
    assert!(
        text.contains("Imported from      otter layout, a[U+202E]b\n"),
        "{text}"
    );
    assert!(text.contains("  harness          theirs unknown\n"));
    assert!(text.contains("    image not known\n"));
    for absent in [
        "Step limits",
        "Prompts",
        "endpoint",
        "attempts",
        "Submitted",
    ] {
        assert!(!text.contains(absent), "{absent}: {text}");
    }
}
