//! `swe-ci try` and `swe-ci shell`: from a repository nobody prepared to a table, and
//! into a step of its runs.

use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use swe_ci_core::agent::Protocol;
use swe_ci_core::step::Role;
use swe_ci_engine::testing::commit_history;
use swe_ci_testing::scripted::{Conversation, Script, ScriptedLlm, Turn};

use crate::product::Product;

const KEY: &str = "sk-own-repository-7c1d";
const DAY: i64 = 86_400;
/// An environment is built meanwhile.
const PATIENCE: Duration = Duration::from_mins(12);
const FUNCTIONS: usize = 8;

/// Digests of everything that a programmer is given, and the networks.
const LOOK: &str = "cd /app; echo \"given: $(find code requirement.xml -type f | sort \
    | xargs sha256sum | sha256sum | cut -c-64) $(ls /sys/class/net)\"";
/// The same of the code without its tests.
const LOOK_AT_CODE: &str = "cd /app/code; echo \"left: $(find src pyproject.toml -name '*.pyc' \
    -prune -o -type f -print | sort | xargs sha256sum | sha256sum | cut -c-64)\"";
const MEND: &str = "cd /app/code; for n in 2 3 4 5 6 7; do \
    printf 'def f%d(n):\\n    return n * %d\\n' $n $n >> src/tiny_lib/__init__.py; done";
const DOCUMENT: &str = "<requirements><requirement><location>src/tiny_lib</location>\
    <description>functions are missing</description><contract>fN(n) gives n * N</contract>\
    <acceptance>test_f7 passes</acceptance></requirement></requirements>";

fn mend(conversation: &Conversation) -> Turn {
    match (conversation.role, conversation.turn) {
        (Role::Architect, 0) => Turn::write("/app/requirement.xml", DOCUMENT),
        (Role::Programmer, 0) => Turn::bash(LOOK),
        (Role::Programmer, 1) => Turn::bash(format!("{MEND}; {LOOK_AT_CODE}")),
        _ => Turn::say("Done."),
    }
}

fn source(functions: usize) -> String {
    let one = |n| format!("def f{n}(n):\n    return n * {n}\n");
    (0..functions).map(one).collect()
}

fn tests(functions: usize) -> String {
    let one = |n| {
        format!(
            "\n\ndef test_f{n}():\n    assert tiny_lib.f{n}(3) == {}\n",
            3 * n
        )
    };
    "import tiny_lib\n".to_owned() + &(0..functions).map(one).collect::<String>()
}

/// A library that gets a function and its test every day.
fn tiny_library(folder: &Path) {
    let project = "[project]\nname = 'tiny-lib'\nversion = '1'\n";
    let versions = (2..=FUNCTIONS).map(|functions| {
        let files = [
            ("pyproject.toml", project.to_owned()),
            ("src/tiny_lib/__init__.py", source(functions)),
            ("tests/test_tiny.py", tests(functions)),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text)).to_vec();
        (1_710_000_000 + DAY * functions as i64, files)
    });
    commit_history(folder, &versions.collect::<Vec<_>>()).unwrap();
}

/// A commit for each of these files.
fn commits(folder: &Path, versions: &[&[(&str, &str)]]) {
    let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    let versions = versions.iter().zip(0..).map(|(files, day)| {
        let files = files.iter().map(owned).collect();
        (1_710_000_000 + DAY * day, files)
    });
    commit_history(folder, &versions.collect::<Vec<_>>()).unwrap();
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A data folder of its own, whose engine objects are named as a test's.
async fn empty() -> Product {
    let product = Product::empty();
    product.engine().await;
    product
}

/// What a script in the shell of a step prints.
fn in_shell(product: &Product, place: &[&str], script: &str) -> String {
    let mut command = product.command(&[&["shell"], place].concat());
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut shell = command.spawn().unwrap();
    let mut input = shell.stdin.take().unwrap();
    input.write_all(script.as_bytes()).unwrap();
    drop(input);
    let output = shell.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: builds an environment"]
async fn from_a_repository_to_a_table_and_into_a_step() {
    let product = empty().await;
    let repository = product.folder.path().join("tiny");
    tiny_library(&repository);
    let repository = repository.to_str().unwrap();

    // Killed when the spans are tested, it goes on behind that.
    let log = product.folder.path().join("tried");
    let file = std::fs::File::create(&log).unwrap();
    let mut first = product.command(&["try", repository, "--branch", "main"]);
    let mut first = first.stderr(file).spawn().unwrap();
    let seen = || std::fs::read_to_string(&log).unwrap();
    let tested = || async { seen().contains(": gap ") };
    let what = "the span is tested";
    product.until_within(PATIENCE, what, tested).await;
    first.kill().unwrap();
    first.wait().unwrap();

    let mut stored = product.command(&["key", "set", "own"]);
    let mut stored = stored.stdin(Stdio::piped()).spawn().unwrap();
    let mut input = stored.stdin.take().unwrap();
    input.write_all(KEY.as_bytes()).unwrap();
    drop(input);
    assert!(stored.wait().unwrap().success());
    let llm = ScriptedLlm::start(Script::with(mend), KEY).await.unwrap();
    let configs = ["one", "two"].map(|name| {
        let file = product.folder.path().join(format!("{name}.toml"));
        let text = format!(
            "model = '{name}'\nkind = 'measured'\nsplit = 'demo'\nharness = {{ name = 'builtin' }}\n\
             [endpoint]\nurl = '{}'\nmodel = 'scripted-1'\nkey = 'own'\n\
             prices = {{ input = 1.0, cached = 0.1, output = 4.0 }}\n[budget]\nusd = 5.0\n",
            llm.url(Protocol::Chat)
        );
        std::fs::write(&file, text).unwrap();
        file.display().to_string()
    });
    let [one, two] = &configs;
    let begun = ["try", repository, "--branch", "main"];
    let args = [&begun[..], &["--config", one, "--config", two]].concat();
    let again = product.swe_ci(&args);
    assert!(again.status.success(), "{}", said(&again));
    assert!(!said(&again).contains(": gap "), "{}", said(&again));
    let table = String::from_utf8_lossy(&again.stdout).into_owned();
    for part in [
        "Human",
        "one",
        "two",
        "EvoScore",
        "/compare?runs=",
        "dataset curate ",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }

    // Nothing is done twice.
    let requests = llm.seen().len();
    let args = [&args[..], &["--json"]].concat();
    let third = product.swe_ci(&args);
    let found: Value = serde_json::from_slice(&third.stdout).unwrap();
    assert_eq!(llm.seen().len(), requests);
    let runs = found["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3);

    let id = runs[1].as_str().unwrap();
    let run = product.run(id).await;
    let evolution = &run["evolution_list"][0];
    assert_eq!(evolution["ending"], "solved", "{run:#}");
    let task = evolution["task_id"].as_str().unwrap();
    check_shell(&product, &llm, &[id, task, "1"]);
}

/// What is inside is byte for byte what the step had, without a network.
fn check_shell(product: &Product, llm: &ScriptedLlm, place: &[&str]) {
    let given = in_shell(product, place, LOOK);
    let (digest, networks) = given.trim().rsplit_once(' ').unwrap();
    assert_eq!(networks, "lo");
    let heard = |text: &str| llm.seen().iter().any(|s| s.body.to_string().contains(text));
    assert!(digest.starts_with("given: ") && heard(digest), "{given}");
    let tests = [place, &["--step", "tests"]].concat();
    let left = in_shell(product, &tests, LOOK_AT_CODE);
    assert!(left.starts_with("left: ") && heard(left.trim()), "{left}");
    let of_target = in_shell(product, &tests, "cat tests/test_tiny.py");
    assert_eq!(of_target, self::tests(FUNCTIONS));
    let key = in_shell(product, &tests, &format!("env | grep -c {KEY} || true"));
    assert_eq!(key.trim(), "0");

    let rerun = [&["shell"], place, &["--rerun"]].concat();
    let rerun = product.swe_ci(&rerun);
    assert!(rerun.status.success(), "{}", said(&rerun));
    assert!(said(&rerun).contains("as recorded"), "{}", said(&rerun));
    let nowhere = [&["shell"], &place[..2], &["9"]].concat();
    let nowhere = product.swe_ci(&nowhere);
    assert_eq!(nowhere.status.code(), Some(1), "{}", said(&nowhere));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_is_told_why() {
    let product = empty().await;
    let project = (
        "pyproject.toml",
        "[project]\nname = 'tiny'\nversion = '1'\n",
    );
    let test = ("tests/test_a.py", "def test_a(): pass\n");
    let [one, two] = ["1\n", "2\n"].map(|text| ("a.py", text));
    let check = |name: &str, versions: &[&[(&str, &str)]], expect: &[&str]| {
        let folder = product.folder.path().join(name);
        if !versions.is_empty() {
            commits(&folder, versions);
        }
        let tried = product.swe_ci(&["try", folder.to_str().unwrap(), "--branch", "main"]);
        assert_eq!(tried.status.code(), Some(1), "{}", said(&tried));
        for part in [&["error: "], expect].concat() {
            assert!(said(&tried).contains(part), "{part}: {}", said(&tried));
        }
    };
    let untested: [&[(&str, &str)]; 2] = [&[project, one], &[project, two]];
    check("untested", &untested, &["no tests", "next: "]);
    let unchanged: [&[(&str, &str)]; 2] = [&[project, test, one], &[project, test, two]];
    check("unchanged", &unchanged, &["nothing changed", "next: "]);
    check("nowhere", &[], &["No such file"]);
}
