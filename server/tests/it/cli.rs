//! The command line as a process: help, output, exit codes.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::fixture::{HUMAN, MODEL, TestApp, seeded_data};

/// The program without environment variables that could change its behaviour.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_swe-ci"));
    for name in [
        "DATA",
        "DATABASE_URL",
        "LISTEN",
        "SITE",
        "WORKERS",
        "BASE_IMAGE",
        "PACKAGE_INDEX",
        "LOG",
        "SECRET",
    ] {
        command.env_remove(format!("SWE_CI_{name}"));
    }
    for name in ["SSL_CERT_FILE", "PIP_INDEX_URL", "COLUMNS", "DOCKER_HOST"] {
        command.env_remove(name);
    }
    command
}

fn run(data: &Path, args: &[&str]) -> Output {
    program()
        .args(args)
        .arg("--data")
        .arg(data)
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn help_is_worth_reading() {
    let commands: [&[&str]; 34] = [
        &[],
        &["serve"],
        &["migrate"],
        &["upgrade-check"],
        &["doctor"],
        &["disk"],
        &["dataset", "demo"],
        &["dataset", "import"],
        &["dataset", "curate"],
        &["dataset", "export"],
        &["dataset", "push"],
        &["read"],
        &["run", "submit"],
        &["run", "show"],
        &["run", "cancel"],
        &["run", "publish"],
        &["run", "withdraw"],
        &["leaderboard"],
        &["gate"],
        &["score"],
        &["shell"],
        &["try"],
        &["import-results"],
        &["rescore"],
        &["findings", "clear"],
        &["findings", "confirm"],
        &["harness", "list"],
        &["harness", "build"],
        &["harness", "check"],
        &["account", "invite"],
        &["account", "set-role"],
        &["account", "disable"],
        &["account", "enable"],
        &["account", "reset-password"],
    ];
    let mut all = String::new();
    for path in commands {
        let help = stdout(&program().args(path).arg("--help").output().unwrap());
        let (own, rest) = help.split_once("Global options:").unwrap();
        // They are the same for every command; one check is enough.
        let (_, examples) = rest.split_once("\n\n").unwrap_or_default();
        let shown = if path.is_empty() {
            help.clone()
        } else {
            format!("{own}Global options: …\n\n{examples}")
        };
        all += &format!(
            "$ swe-ci {}\n{}\n\n",
            [path, &["--help"]].concat().join(" "),
            shown.trim_end()
        );
    }
    insta::with_settings!({
        description => "run `INSTA_UPDATE=always cargo test -p swe-ci` to update, and read it as a user would",
        omit_expression => true,
    }, {
        insta::assert_snapshot!(all);
    });
}

#[tokio::test]
async fn an_upgrade_is_checked_before_it_happens() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("nowhere");
    let said = stdout(&run(&nowhere, &["upgrade-check"]));
    assert!(said.contains("There is no database yet"), "{said}");
    assert!(!nowhere.exists());
    let data = seeded_data(folder.path()).await;
    let said = stdout(&run(&data, &["upgrade-check"]));
    assert!(said.contains("nothing will change"), "{said}");

    let database = format!("sqlite:{}", data.join("swe-ci.sqlite").display());
    sqlx::any::install_default_drivers();
    let database = sqlx::AnyPool::connect(&database).await.unwrap();
    let newer = "UPDATE _sqlx_migrations SET version = 9999
                 WHERE version = (SELECT max(version) FROM _sqlx_migrations)";
    sqlx::query(newer).execute(&database).await.unwrap();
    database.close().await;
    let refused = run(&data, &["upgrade-check", "--json"]);
    assert_eq!(refused.status.code(), Some(1));
    let check: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!(check["unknown"][0]["version"], 9999);
    assert!(
        stderr(&refused).contains("older one"),
        "{}",
        stderr(&refused)
    );
}

#[tokio::test]
async fn tables_and_json_show_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let data = seeded_data(folder.path()).await;
    let json =
        |args: &[&str]| -> Value { serde_json::from_str(&stdout(&run(&data, args))).unwrap() };

    let table = stdout(&run(&data, &["leaderboard"]));
    assert!(
        table.contains("Human (replayed history)") && table.contains("0.9375"),
        "{table}"
    );
    let rows = json(&[
        "leaderboard",
        "--json",
        "--split",
        "demo",
        "--gamma",
        "1",
        "--convention",
        "paper",
    ]);
    assert_eq!(rows[0]["run_id"], HUMAN);

    let table = stdout(&run(&data, &["read", "splits"]));
    assert!(table.contains("demo") && table.contains("other"), "{table}");
    assert_eq!(json(&["read", "splits", "--json"])[0]["ready"], 2);
    let columns = ["--columns", "task_id,reason"];
    let table = stdout(&run(
        &data,
        &[&["read", "tasks?split=demo"], &columns[..]].concat(),
    ));
    assert!(table.contains("its oracle suite does not run"), "{table}");

    let columns = ["--columns", "config.model,progress"];
    let table = stdout(&run(&data, &[&["read", "runs"], &columns[..]].concat()));
    assert!(table.contains("Human (replayed history)"), "{table}");
    assert!(!table.contains(HUMAN), "{table}");
    let table = stdout(&run(&data, &["read", "/api/v1/runs"]));
    assert!(
        table.contains(MODEL) && table.contains("running"),
        "{table}"
    );
    let wrong = run(&data, &["read", "runs?after=zz"]);
    assert_eq!(wrong.status.code(), Some(1));
    let message = stderr(&wrong);
    assert!(message.contains("`after` is `zz`"), "{message}");
    let page = json(&["read", "runs?limit=1", "--json"]);
    let next = page["next"].as_str().unwrap();
    let address = format!("runs?after={next}");
    assert_eq!(
        json(&["read", &address, "--json"])["items"][0]["run_id"],
        MODEL
    );
    // Administrators' answers are the operator's too; what is no JSON stays as it is.
    let keys = stdout(&run(&data, &["read", "keys"]));
    assert!(!keys.contains("error"), "{keys}");
    let csv = stdout(&run(&data, &["read", "leaderboard.csv"]));
    assert!(csv.contains(HUMAN) && csv.contains(','), "{csv}");
    let table = stdout(&run(&data, &["run", "show", MODEL]));
    assert!(
        table.contains("iteration 1, programmer, attempt 2"),
        "{table}"
    );
    assert_eq!(
        json(&["run", "show", HUMAN, "--json"])["progress"],
        "finished"
    );
}

#[tokio::test]
async fn a_run_is_submitted_and_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let data = seeded_data(folder.path()).await;
    let id = stdout(&run(
        &data,
        &[
            "run", "submit", "--human", "--split", "demo", "--tasks", "beta-2",
        ],
    ));
    let id = id.trim();
    // The beginning of the id is enough.
    let shown = stdout(&run(&data, &["run", "show", &id[..8]]));
    assert!(shown.contains("queued on demo by replay"), "{shown}");
    assert!(
        shown.contains("beta-2") && !shown.contains("alpha-1"),
        "{shown}"
    );
    for _ in 0..2 {
        stdout(&run(&data, &["run", "cancel", id]));
    }
    assert!(stdout(&run(&data, &["run", "show", id])).contains("cancelled"));

    let config = folder.path().join("mine.toml");
    let text = "model = 'mine'\nkind = 'measured'\nsplit = 'demo'\nharness = { name = 'replay', max_chunks = 2 }\n";
    std::fs::write(&config, text).unwrap();
    let submitted = run(
        &data,
        &["run", "submit", config.to_str().unwrap(), "--json"],
    );
    let submitted: Value = serde_json::from_str(&stdout(&submitted)).unwrap();
    let shown = run(
        &data,
        &["run", "show", submitted["run_id"].as_str().unwrap()],
    );
    assert!(stdout(&shown).contains("mine: queued on demo"));

    // An experiment is estimated first, and queued as a whole or not at all.
    let vary = "vary.samples = [1, 2]\nvary.arm = ['a', 'b']\n";
    std::fs::write(&config, format!("{text}{vary}")).unwrap();
    let file = config.to_str().unwrap();
    let estimate = stdout(&run(&data, &["run", "estimate", file]));
    assert!(estimate.contains("4 runs, 12 evolutions"), "{estimate}");
    let submitted = stdout(&run(&data, &["run", "submit", file, "--json"]));
    let submitted: Value = serde_json::from_str(&submitted).unwrap();
    let ids = submitted["run_ids"].as_array().unwrap();
    let shown = ids.iter().map(|id| {
        let shown = stdout(&run(
            &data,
            &["run", "show", id.as_str().unwrap(), "--json"],
        ));
        serde_json::from_str::<Value>(&shown).unwrap()["config"].clone()
    });
    let shown: Vec<String> = shown
        .map(|c| format!("{} {}", c["samples"], c["arm"]))
        .collect();
    assert_eq!(shown, ["1 \"a\"", "2 \"a\"", "1 \"b\"", "2 \"b\""]);
    std::fs::write(&config, format!("{text}vary.samples = [1, 0]\n")).unwrap();
    let refused = run(&data, &["run", "submit", file]);
    assert!(stderr(&refused).contains("(with vary.samples.1)"));
}

/// Checks of a harness before anything is built or requested.
#[test]
fn harnesses_are_listed_and_mistakes_named() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let list: Value =
        serde_json::from_str(&stdout(&run(data, &["harness", "list", "--json"]))).unwrap();
    let find = |name: &str| {
        let mut all = list.as_array().unwrap().iter();
        all.find(|harness| harness["name"] == name).unwrap().clone()
    };
    assert_eq!(find("replay")["protocol"], Value::Null);
    assert_eq!(find("builtin")["installed"]["state"], "built_in");
    assert_eq!(find("codex")["protocol"], "responses");
    assert_eq!(find("iflow-cli")["installed"]["state"], "package_missing");
    let table = stdout(&run(data, &["harness", "list"]));
    assert!(
        table.contains("opencode") && table.contains("no package"),
        "{table}"
    );

    let check = |args: &[&str], code: i32, expect: &[&str]| {
        let output = run(data, &[&["harness"], args].concat());
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
        for part in expect {
            assert!(message.contains(part), "{args:?}: {message}");
        }
    };
    check(&["build"], 2, &["NAME", "--all"]);
    check(&["build", "a", "b", "--version", "1"], 2, &["one NAME"]);
    check(&["build", "builtin"], 1, &["nothing to build"]);
    check(&["build", "nobody"], 1, &["swe-ci harness list"]);
    let endpoint = ["--url", "http://127.0.0.1:9/v1", "--model", "m"];
    let checked = |more: &[&'static str]| [&["check"], &endpoint[..], more].concat();
    check(&["check", "--harness", "builtin"], 2, &["--url", "--model"]);
    check(
        &["check", "--config", "nowhere.toml"],
        1,
        &["nowhere.toml", "run submit --help"],
    );
    check(
        &checked(&["--harness", "nobody"]),
        1,
        &["`nobody`", "swe-ci harness list"],
    );
    check(&checked(&["--harness", "replay"]), 1, &["asks no model"]);
    check(
        &checked(&["--harness", "builtin", "--key", "acme"]),
        1,
        &["swe-ci key set acme"],
    );

    let descriptions = data.join("harnesses");
    std::fs::create_dir(&descriptions).unwrap();
    std::fs::write(
        descriptions.join("mine.toml"),
        "name = 'mine'\nnotes = ''\n",
    )
    .unwrap();
    check(&["list"], 1, &["mine.toml", "notes"]);
}

#[tokio::test]
async fn failures_have_a_reason_and_advice() {
    let folder = tempfile::tempdir().unwrap();
    let data = seeded_data(folder.path()).await;
    let check = |args: &[&str], code: i32, expect: &[&str]| {
        let output = run(&data, args);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
        assert!(output.stdout.is_empty(), "{args:?}");
        for part in expect {
            assert!(message.contains(part), "{args:?}: {message}");
        }
    };
    check(
        &["run", "show", "nobody"],
        1,
        &["error: ", "`nobody`", "swe-ci read runs"],
    );
    check(
        &["run", "show", "00000000-"],
        1,
        &["several runs begin with `00000000-`", HUMAN],
    );
    check(&["run", "cancel", HUMAN], 1, &["error: ", "finished"]);
    check(
        &["leaderboard", "--split", "nothing"],
        1,
        &["`nothing`", "swe-ci read splits"],
    );
    check(
        &["run", "submit", "--human", "--split", "nothing"],
        1,
        &["nothing"],
    );
    check(
        &["run", "submit", "nowhere.json"],
        1,
        &["nowhere.json", "No such file", "--help"],
    );
    check(
        &["dataset", "import", "--from", "nowhere", "--split", "x"],
        1,
        &["nowhere"],
    );
    check(&["run", "submit"], 2, &["FILE", "--human"]);
    check(
        &["run", "submit", "x.json", "--human"],
        2,
        &["cannot be used with"],
    );
    check(
        &["leaderboard", "--gamma", "11"],
        2,
        &["between 0.1 and 10"],
    );
    check(
        &["leaderboard", "--convention", "x"],
        2,
        &["paper, reference"],
    );
    check(&["read", "runs?limit=0"], 1, &["`limit` is `0`", "500"]);
    check(&["read", "nonsense"], 1, &["nothing is at", "docs/api.md"]);
    check(&["read", "runs ?"], 2, &["`runs ?` is no address"]);
    check(&["nonsense"], 2, &["nonsense"]);
}

#[tokio::test]
async fn bad_variables_are_usage_errors_and_secrets_stay_secret() {
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, value: &str, expect: &[&str]| {
        let mut command = program();
        let command = command.args(["read", "runs", "--data"]).arg(folder.path());
        let output = command.env(name, value).output().unwrap();
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{name}={value}: {message}");
        for part in expect {
            assert!(message.contains(part), "{name}={value}: {message}");
        }
        assert!(!message.contains("hunter2"), "{message}");
    };
    check(
        "SWE_CI_DATABASE_URL",
        "mysql://u:hunter2@h/db",
        &["SWE_CI_DATABASE_URL", "postgres://"],
    );
    check("SWE_CI_LOG", "swe_ci=loud", &["--log"]);
    check(
        "SSL_CERT_FILE",
        "/no/such/file",
        &["SSL_CERT_FILE", "/no/such/file"],
    );
}

#[test]
fn an_unreadable_data_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a-file");
    std::fs::write(&file, "not a folder").unwrap();
    let output = run(&file, &["read", "runs"]);
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    assert!(
        message.contains("a-file") && message.contains("SWE_CI_DATA"),
        "{message}"
    );
    // The same, as a finding.
    let output = run(&file, &["doctor"]);
    assert_eq!(output.status.code(), Some(1));
    let report = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(
        report.contains("FAILED") && report.contains("--data"),
        "{report}"
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "not a folder");
}

/// Reading results needs no container engine.
#[tokio::test]
async fn results_are_readable_without_a_container_engine() {
    let folder = tempfile::tempdir().unwrap();
    let data = seeded_data(folder.path()).await;
    let without_engine = |args: &[&str]| {
        let mut command = program();
        command
            .env("DOCKER_HOST", "unix:///no/such/engine.sock")
            .args(args)
            .arg("--data")
            .arg(&data);
        command.output().unwrap()
    };
    stdout(&without_engine(&["leaderboard"]));
    let output = without_engine(&["doctor"]);
    assert_eq!(output.status.code(), Some(1));
    let report = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(
        report.contains("container engine") && report.contains("make setup"),
        "{report}"
    );
    let output = without_engine(&["disk"]);
    let table = stdout(&output);
    assert!(
        table.contains("database") && table.contains(" free"),
        "{table}"
    );
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("images are not counted"), "{message}");
    let found: Value = serde_json::from_str(&stdout(&without_engine(&["disk", "--json"]))).unwrap();
    let parts = found["parts"].as_array().unwrap();
    let database = parts
        .iter()
        .find(|part| part["name"] == "database")
        .unwrap();
    assert!(database["bytes"].as_u64().unwrap() > 0, "{found}");
    assert_eq!(found["images"], Value::Null);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = program();
    let child = child
        .args(["read", "splits", "--json", "--data"])
        .arg(folder.path());
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = child.stdout(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[tokio::test]
async fn a_push_needs_a_token_and_the_program_of_the_hub() {
    let folder = tempfile::tempdir().unwrap();
    let data = seeded_data(folder.path()).await;
    let push = |split: &str, token: &str| {
        let mut command = program();
        command.args(["dataset", "push", split, "--to", "hf:acme/demo", "--data"]);
        command.arg(&data).env("PATH", folder.path());
        let output = command.env("HF_TOKEN", token).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), said)
    };
    let (code, said) = push("demo", "");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("HF_TOKEN is not set"), "{said}");
    let (code, said) = push("demmo", "hf_secret");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("there is no split `demmo`"), "{said}");
    let (code, said) = push("demo", "hf_secret");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("pip install huggingface_hub"), "{said}");
    assert!(!said.contains("hf_secret"), "{said}");
}

/// Results alone make no tasks that could be exported.
#[tokio::test]
async fn an_export_without_ready_tasks_says_why() {
    let app = TestApp::changed(
        "UPDATE task_revisions SET state = 'unusable', reason = 'the image is lost'",
    )
    .await;
    let folder = tempfile::tempdir().unwrap();
    let export = app.engine.export("demo", folder.path(), &|_| {}).await;
    let why = export.unwrap_err().to_string();
    for part in [
        "none of the ",
        "the image is lost",
        "swe-ci read tasks?split=demo",
    ] {
        assert!(why.contains(part), "{why}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn only_tasks_for_harbor_have_a_number_of_iterations() {
    let folder = tempfile::tempdir().unwrap();
    let out = run(
        folder.path(),
        &["dataset", "export", "demo", "out", "--iterations", "5"],
    );
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("--as harbor"), "{}", stderr(&out));
}

/// Options of every command, and their variables, go with `--example`.
#[test]
fn a_plan_of_a_judge_is_printed_whatever_else_is_set() {
    let folder = tempfile::tempdir().unwrap();
    let plan = stdout(&run(folder.path(), &["judge", "--example"]));
    assert!(plan.contains("model"), "{plan}");
    let mut command = program();
    let output = command
        .env("SWE_CI_LOG", "warn")
        .args(["judge", "--example"]);
    assert_eq!(stdout(&output.output().unwrap()), plan);
    for more in [
        &["--example", "id"][..],
        &["--example", "--json"],
        &["id"],
        &[],
    ] {
        let output = run(folder.path(), &[&["judge"], more].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
    }
}

#[test]
fn a_mistake_in_a_curation_plan_is_told_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("c.toml");
    std::fs::write(&plan, "split = \n").unwrap();
    let plan = plan.display().to_string();
    let output = run(folder.path(), &["dataset", "curate", &plan]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains(&format!("error: {plan}: ")), "{said}");
}
