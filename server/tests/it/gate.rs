//! A gate between two runs: exit codes, reports and addresses.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::cli::{program, stderr};
use crate::fixture::{HUMAN, MODEL, PATIENT, TestApp, seeded_data};

fn gate(data: &Path, args: &[&str]) -> Output {
    let mut command = program();
    command.arg("gate").args(args).arg("--data").arg(data);
    command.output().unwrap()
}

#[tokio::test]
async fn a_gate_that_cannot_tell_has_its_own_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let data = seeded_data(folder.path()).await;
    let junit = folder.path().join("gate.xml");
    let runs = ["--baseline", HUMAN, "--candidate", MODEL];
    let with = |more: &[&str]| gate(&data, &[&runs[..], more].concat());

    // One shared repository decides nothing, and the report says so.
    let open = with(&["--early", "--junit", junit.to_str().unwrap()]);
    assert_eq!(open.status.code(), Some(2), "{}", stderr(&open));
    let markdown = String::from_utf8(open.stdout.clone()).unwrap();
    assert!(
        markdown.starts_with("## SWE-CI gate: cannot tell"),
        "{markdown}"
    );
    assert!(
        markdown.contains("| EvoScore | -1.750 | none |"),
        "{markdown}"
    );
    assert!(stderr(&open).contains("the gate cannot tell"));
    let xml = std::fs::read_to_string(junit).unwrap();
    assert!(
        xml.contains("errors=\"1\"") && xml.contains("evoscore"),
        "{xml}"
    );

    let check = |args: &[&str], expect: &str| {
        let refused = gate(&data, args);
        assert_eq!(refused.status.code(), Some(2), "{args:?}");
        assert!(stderr(&refused).contains(expect), "{}", stderr(&refused));
    };
    check(
        &["--baseline", HUMAN, "--candidate", "nobody"],
        "no run `nobody`",
    );
    // It goes on, and has no score yet.
    check(
        &["--baseline", HUMAN, "--candidate", PATIENT],
        "the gate cannot tell: Not both runs are over",
    );
    check(
        &["--baseline", HUMAN, "--candidate", PATIENT, "--early"],
        "No task is scored in both runs yet",
    );
    check(&[&runs[..], &["--alpha", "0"]].concat(), "--alpha must be");
    check(
        &[&runs[..], &["--min-evoscore-delta", "-5"]].concat(),
        "--min-evoscore-delta must be",
    );
}

#[tokio::test]
async fn a_pipeline_asks_a_server() {
    let app = TestApp::seeded().await;
    let runs = format!("baseline={HUMAN}&candidate={MODEL}");
    let found = app
        .get(&format!("/api/v1/gate?{runs}&early=yes"))
        .await
        .json();
    assert_eq!(found["decision"], "open");
    assert_eq!(found["bounds"][0]["metric"], "evoscore");
    assert_eq!(found["bounds"][0]["difference"], -1.75);
    assert_eq!(found["worst"][0]["task_id"], "alpha-1");
    let drop = format!("/api/v1/gate?{runs}&max_zero_regression_drop=0.1");
    let found = app.get(&drop).await.json();
    assert_eq!(found["bounds"][1]["metric"], "zero_regression_rate");
    let markdown = app.get(&format!("/api/v1/gate.md?{runs}")).await;
    assert!(markdown.text().starts_with("## SWE-CI gate"));
    let xml = app.get(&format!("/api/v1/gate.xml?{runs}")).await;
    assert!(xml.text().contains("<testsuites"), "{}", xml.text());
    for (query, status) in [
        (format!("baseline={HUMAN}"), 400),
        (format!("{runs}&alpha=0.9"), 400),
        (format!("{runs}&alpha=x"), 400),
        (format!("{runs}&early=maybe"), 400),
        (format!("baseline={HUMAN}&candidate=nobody"), 404),
        (format!("baseline={HUMAN}&candidate={HUMAN}"), 400),
    ] {
        let answer = app.get(&format!("/api/v1/gate?{query}")).await;
        assert_eq!(answer.status, status, "{query}");
    }
}

/// The script of the action, with a `curl` that answers by the URL's last word.
#[test]
fn the_script_of_a_pipeline_ends_with_the_decision() {
    let folder = tempfile::tempdir().unwrap();
    let check = |answer: &str, code: i32, decision: &str| {
        let curl = format!(
            "#!/bin/sh\nfor url in \"$@\"; do :; done\ncase $url in\n\
             */api/v1/gate) echo '{answer}' ;;\n*.md) echo '## Summary' ;;\n*) echo '<xml/>' ;;\nesac\n"
        );
        let program = folder.path().join("curl");
        std::fs::write(&program, curl).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let outputs = folder.path().join("outputs");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/gate/ask.sh");
        let ended = Command::new("bash")
            .arg(script)
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()))
            .env("SERVER", "http://bench.example.org")
            .env("BASELINE", "a")
            .env("CANDIDATE", "b")
            .env("GITHUB_OUTPUT", &outputs)
            .output()
            .unwrap();
        assert_eq!(ended.status.code(), Some(code), "{}", stderr(&ended));
        assert_eq!(String::from_utf8_lossy(&ended.stdout), "## Summary\n");
        let outputs = std::fs::read_to_string(outputs).unwrap();
        assert!(
            outputs.ends_with(&format!("decision={decision}\njunit=\n")),
            "{outputs}"
        );
    };
    let missing = Command::new("bash")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/gate/ask.sh"))
        .env_remove("CANDIDATE")
        .envs([("SERVER", "http://bench.example.org"), ("BASELINE", "a")])
        .output()
        .unwrap();
    assert_eq!(missing.status.code(), Some(2), "no gate that failed");
    assert!(stderr(&missing).contains("CANDIDATE is missing"));
    // A bound has a decision of its own.
    let bounds = r#""candidate":{"progress":"finished"},"bounds":[{"decision":"open"}]"#;
    check(&format!(r#"{{"decision":"pass",{bounds}}}"#), 0, "pass");
    check(&format!(r#"{{"decision":"fail",{bounds}}}"#), 1, "fail");
    check(&format!(r#"{{"decision":"open",{bounds}}}"#), 2, "open");
}
