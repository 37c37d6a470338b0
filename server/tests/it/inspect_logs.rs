//! Runs as logs of Inspect: what is in the files, and when there is none.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_engine::{Error, LogExport};
use zip::ZipArchive;

use crate::cli::{program, stderr};
use crate::conversation::app_with_recordings;
use crate::fixture::{HUMAN, MODEL, TestApp, seeded_data};

/// The model's run is over; its second evolution was blocked.
const OVER: &str = r#"
    UPDATE runs SET progress = 'finished', finished_at = 1763600300000, config = '{"model":"Juniper","provider":"acme","kind":"measured","harness":{"name":"builtin"},"endpoint":{"url":"https://llm.example.org/v1","model":"juniper-1","key":"acme-paid"},"split":"demo","samples":1,"plan":{"max_iterations":4,"max_attempts":10}}'
    WHERE id = '00000000-0000-7000-8000-000000000002';
    UPDATE evolutions SET progress = 'finished', ending = 'blocked', reason = 'the disk is full',
                          finished_at = 1763600200000 WHERE id = 'e-model-beta';
"#;

fn into(folder: &Path) -> LogExport {
    LogExport {
        folder: folder.join("logs"),
        replace: false,
        gamma: Gamma::ONE,
        convention: Convention::Paper,
    }
}

/// The JSON files of a log.
struct Log(BTreeMap<String, Value>);

impl Log {
    fn read(file: &Path) -> Self {
        let mut archive = ZipArchive::new(File::open(file).unwrap()).unwrap();
        let names: Vec<String> = archive.file_names().map(str::to_owned).collect();
        let content = |name: String| {
            let value = serde_json::from_reader(archive.by_name(&name).unwrap()).unwrap();
            (name, value)
        };
        Self(names.into_iter().map(content).collect())
    }

    fn header(&self) -> &Value {
        &self.0["header.json"]
    }

    /// A number of the run.
    fn mean(&self, name: &str) -> &Value {
        let scores = self.header()["results"]["scores"].as_array().unwrap();
        let score = scores.iter().find(|score| score["name"] == name).unwrap();
        &score["metrics"]["mean"]["value"]
    }

    fn sample(&self, task: &str) -> &Value {
        &self.0[&format!("samples/{task}_epoch_1.json")]
    }
}

#[tokio::test]
async fn the_numbers_are_those_of_the_api() {
    let app = TestApp::seeded().await;
    let folder = tempfile::tempdir().unwrap();
    let exported = app.engine.export_log(HUMAN, &into(folder.path())).await;
    let exported = exported.unwrap();
    let name = "2025-11-20T00-53-20+00-00_swe-ci_00000000000070008000000000000001.eval";
    assert_eq!(exported.file, folder.path().join("logs").join(name));
    assert_eq!((exported.samples, exported.notes), (2, vec![]));
    let log = Log::read(&exported.file);
    let names: Vec<&str> = log.0.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "_journal/start.json",
            "header.json",
            "samples/alpha-1_epoch_1.json",
            "samples/beta-2_epoch_1.json",
            "summaries.json"
        ]
    );
    let path = format!("/api/v1/runs/{HUMAN}/scores");
    let scores = app.get(&path).await.json();
    assert_eq!(log.mean("evoscore"), &scores["evoscore"]);
    assert_eq!(log.mean("solved"), &scores["solved_rate"]);
    assert_eq!(log.mean("zero_regression"), &scores["zero_regression_rate"]);
    assert_eq!(log.mean("zrr"), &scores["zrr"]);
    assert_eq!(log.mean("iterations"), &scores["average_turns"]);
    for one in scores["tasks"].as_array().unwrap() {
        let sample = log.sample(one["task_id"].as_str().unwrap());
        let value = &sample["scores"]["swe_ci"]["value"];
        for name in [
            "evoscore",
            "gap_closed",
            "regressions",
            "zero_regression",
            "solved",
            "zrr",
        ] {
            assert_eq!(value[name], one[name], "{name}");
        }
        assert_eq!(value["iterations"], one["turns"]);
    }
    let header = log.header();
    assert_eq!(
        (&header["version"], &header["status"]),
        (&json!(2), &json!("success"))
    );
    assert_eq!(
        header["eval"]["task_args"],
        json!({"split": "demo", "mode": "tdd"})
    );
    assert_eq!(header["eval"]["model"], "Human (replayed history)");
    assert_eq!(header["eval"], log.0["_journal/start.json"]["eval"]);
    assert_eq!(header["stats"]["model_usage"], json!({}));
    let alpha = log.sample("alpha-1");
    assert_eq!(
        alpha["input"],
        "Maintain alpha from commit a0 to a1: 2 of the target's 4 tests do not pass yet."
    );
    assert_eq!(
        (&alpha["target"], &alpha["metadata"]["base_commit"]),
        (&json!("a1"), &json!("a0"))
    );
    assert_eq!(
        (
            &alpha["metadata"]["ending"],
            &alpha["metadata"]["iterations"]
        ),
        (&json!("solved"), &json!(2))
    );
    assert_eq!(alpha["completed_at"], "2025-11-20T00:54:10Z");
}

#[tokio::test]
async fn conversations_tokens_and_endings() {
    let app = app_with_recordings().await;
    app.execute(OVER).await;
    let folder = tempfile::tempdir().unwrap();
    let exported = app.engine.export_log(MODEL, &into(folder.path())).await;
    let exported = exported.unwrap();
    assert_eq!(exported.notes, Vec::<String>::new());
    let log = Log::read(&exported.file);

    let alpha = log.sample("alpha-1");
    let events = alpha["events"].as_array().unwrap();
    let calls: Vec<&Value> = events.iter().filter(|e| e["event"] == "model").collect();
    assert_eq!(calls.len(), 3);
    assert_eq!(calls[1]["tools"][0]["name"], "bash<b>");
    assert_eq!(
        calls[1]["output"]["choices"][0]["stop_reason"],
        "tool_calls"
    );
    let pool = alpha["events_data"]["messages"].as_array().unwrap();
    assert_eq!(&alpha["messages"], &alpha["events_data"]["messages"]);
    assert_eq!(calls[2]["input_refs"], json!([[3, 7]]));
    let roles: Vec<&Value> = pool.iter().map(|message| &message["role"]).collect();
    let attempt = ["system", "user", "assistant", "tool", "assistant"];
    assert_eq!(roles, [&attempt[..3], &attempt].concat());

    // Two attempts of the architect with tokens; the programmer called no model.
    let tokens = |input: u64| {
        json!({"input_tokens": input, "output_tokens": 6, "total_tokens": input + 6,
                                     "input_tokens_cache_read": 0, "reasoning_tokens": 0})
    };
    assert_eq!(alpha["model_usage"]["juniper-1"], tokens(24));
    assert_eq!(alpha["role_usage"]["architect"], tokens(24));
    let header = log.header();
    assert_eq!(header["stats"]["model_usage"]["juniper-1"], tokens(24));
    let roles = json!({"architect": {"model": "juniper-1"}, "programmer": {"model": "juniper-1"}});
    assert_eq!(header["eval"]["model_roles"], roles);

    // The platform failed it: no score, and no part of any mean.
    let beta = log.sample("beta-2");
    assert_eq!(beta["error"]["message"], "blocked: the disk is full");
    assert_eq!(beta["scores"], Value::Null);
    let results = &header["results"];
    assert_eq!(
        (&results["total_samples"], &results["completed_samples"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(results["scores"][0]["unscored_samples"], 1);
    assert_eq!(
        log.mean("evoscore"),
        &alpha["scores"]["swe_ci"]["value"]["evoscore"]
    );
    let summaries = log.0["summaries.json"].as_array().unwrap();
    let errors: Vec<&Value> = summaries.iter().map(|summary| &summary["error"]).collect();
    assert_eq!(errors, [&Value::Null, &json!("blocked: the disk is full")]);
    assert!(
        summaries
            .iter()
            .all(|summary| summary["metadata"]["history"].is_null())
    );

    for (name, content) in &log.0 {
        assert!(
            !content.to_string().contains("acme-paid"),
            "{name} has the name of a key"
        );
    }
}

#[tokio::test]
async fn a_recording_that_is_gone_is_a_note() {
    let app = app_with_recordings().await;
    app.execute(OVER).await;
    app.execute("UPDATE steps SET trajectory = 'gone.zst' WHERE trajectory = 'first.zst'")
        .await;
    let folder = tempfile::tempdir().unwrap();
    let exported = app.engine.export_log(MODEL, &into(folder.path())).await;
    let exported = exported.unwrap();
    let begin =
        "alpha-1, sample 1, iteration 1, architect, attempt 1: the recording cannot be read: ";
    assert!(
        matches!(&exported.notes[..], [note] if note.starts_with(begin)),
        "{:?}",
        exported.notes
    );
    let alpha = Log::read(&exported.file).sample("alpha-1").clone();
    assert_eq!(alpha["messages"].as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn files_are_kept_unless_they_may_be_replaced() {
    let app = TestApp::seeded().await;
    let folder = tempfile::tempdir().unwrap();
    let mut wanted = into(folder.path());
    let first = app.engine.export_log(HUMAN, &wanted).await.unwrap().file;
    let bytes = std::fs::read(&first).unwrap();
    std::fs::write(&first, "something else").unwrap();
    let again = app.engine.export_log(HUMAN, &wanted).await.unwrap();
    assert_eq!((again.kept, &again.file), (true, &first));
    assert_eq!(std::fs::read(&first).unwrap(), b"something else");
    wanted.replace = true;
    assert!(!app.engine.export_log(HUMAN, &wanted).await.unwrap().kept);
    assert!(
        std::fs::read(&first).unwrap() == bytes,
        "the same run gives other bytes"
    );
    // Nothing half-written stays.
    let files: Vec<PathBuf> = std::fs::read_dir(&wanted.folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    assert_eq!(files, [first]);
}

#[tokio::test]
async fn runs_without_a_log() {
    let app = TestApp::changed("UPDATE suites SET counts_only = 1 WHERE id = 'suite-alpha'").await;
    let folder = tempfile::tempdir().unwrap();
    let wanted = into(folder.path());
    let export = |run, wanted: LogExport| {
        let engine = app.engine.clone();
        async move { engine.export_log(run, &wanted).await }
    };
    let unknown = export("nobody", wanted.clone()).await.unwrap_err();
    assert!(matches!(unknown, Error::NotFound { what: "run", .. }));
    let running = export(MODEL, wanted.clone()).await.unwrap_err();
    assert_eq!(
        running.to_string(),
        format!("the run `{MODEL}` is running; export it when it is over")
    );
    let counts = export(HUMAN, wanted.clone()).await.unwrap_err();
    assert!(
        counts
            .to_string()
            .ends_with("in the convention `paper`; choose `reference`"),
        "{counts}"
    );
    assert!(!wanted.folder.exists());
    let convention = Convention::Reference;
    let log = export(
        HUMAN,
        LogExport {
            convention,
            ..wanted
        },
    )
    .await
    .unwrap();
    assert_eq!(Log::read(&log.file).mean("solved"), &json!(1.0));
}

#[tokio::test]
async fn on_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let data = seeded_data(folder.path()).await;
    let run = |args: &[&str]| {
        let mut command = program();
        command
            .current_dir(folder.path())
            .arg("export-results")
            .args(args);
        command
            .args(["--as", "inspect", "--output", "logs", "--data"])
            .arg(&data);
        command.output().unwrap()
    };
    let output = run(&[HUMAN]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let file = String::from_utf8(output.stdout).unwrap();
    assert!(folder.path().join(file.trim_end()).exists(), "{file}");
    let again = run(&[HUMAN, HUMAN]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    assert_eq!(again.stdout, file.as_bytes(), "a run named twice is one");
    let said = stderr(&again);
    let kept = format!("{} is there already, and is kept", file.trim_end());
    assert!(said.contains(&kept) && said.contains("--replace"), "{said}");
    let unknown = run(&["nobody"]);
    assert!(
        stderr(&unknown).contains("`swe-ci run list` shows the runs"),
        "{}",
        stderr(&unknown)
    );
    let json = run(&[HUMAN, "--replace", "--json"]);
    let exported: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(
        (&exported[0]["run_id"], &exported[0]["samples"]),
        (&json!(HUMAN), &json!(2))
    );
}
