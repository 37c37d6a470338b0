//! Accounts and the visibility of runs, from the command line.

use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use secrecy::SecretString;
use serde_json::Value;
use swe_ci_engine::Engine;
use swe_ci_views::account::{AccountRole, Actor, Visibility};
use swe_ci_views::verification::Mark;

use crate::cli::{program, stderr};
use crate::fixture::{HUMAN, MODEL, PATIENT, config, seed, seeded_data};
use crate::marks::CHECKED;

/// Runs a command with `input` on its stdin.
fn run(data: &Path, args: &[&str], input: &str) -> Output {
    let mut child = program()
        .args(args)
        .arg("--data")
        .arg(data)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    child.wait_with_output().unwrap()
}

fn done(data: &Path, args: &[&str]) -> String {
    let output = run(data, args, "");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(data: &Path, args: &[&str], input: &str, code: i32, parts: &[&str]) {
    let output = run(data, args, input);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
    for part in parts {
        assert!(message.contains(part), "{args:?}: {message}");
    }
}

#[tokio::test]
async fn from_the_invitation_to_a_new_password() {
    let folder = tempfile::tempdir().unwrap();
    let data = seeded_data(folder.path()).await;
    let visitor = Engine::open(config(&data)).await.unwrap();
    let visitor = visitor.acting_for(Actor::Visitor);
    let join = async |role: &str, name: &str| {
        let path = done(&data, &["account", "invite", role, "--note", "for a test"]);
        let secret = path.trim().strip_prefix("/invitation/").unwrap();
        let password = SecretString::from("correct horse battery");
        let who = visitor.accept_invitation(secret, name, &password).await;
        assert_eq!(who.unwrap().role.name(), role);
    };
    join("admin", "ada").await;
    join("reader", "bob").await;

    done(&data, &["account", "set-role", "bob", "submitter"]);
    done(&data, &["account", "disable", "Bob"]);
    let list: Value = serde_json::from_str(&done(&data, &["read", "accounts", "--json"])).unwrap();
    assert_eq!(
        (&list[1]["role"], &list[1]["disabled"]),
        (&"submitter".into(), &true.into())
    );
    let table = done(&data, &["read", "accounts"]);
    assert!(
        table.contains("ada") && table.contains("submitter"),
        "{table}"
    );
    done(&data, &["account", "enable", "bob"]);

    let reset = ["account", "reset-password", "bob"];
    let output = run(&data, &reset, "another long password\n");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!stderr(&output).contains("another long"));
    let new = SecretString::from("another long password");
    let who = visitor.sign_in("bob", &new).await.unwrap();
    assert_eq!(who.role, AccountRole::Submitter);

    refused(&data, &reset, "short\n", 1, &["10 to 200"]);
    let nobody = ["account", "disable", "nobody"];
    refused(&data, &nobody, "", 1, &["`nobody`", "read accounts"]);
    let last = ["account", "set-role", "ada", "reader"];
    refused(&data, &last, "", 1, &["last administrator"]);
    let unknown = ["account", "invite", "boss"];
    refused(&data, &unknown, "", 2, &["reader", "submitter", "admin"]);
}

#[tokio::test]
async fn a_run_is_withdrawn_and_published_again() {
    let folder = tempfile::tempdir().unwrap();
    let data = seeded_data(folder.path()).await;
    let engine = Engine::open(config(&data)).await.unwrap();
    let visible = async || engine.run(HUMAN).await.unwrap().summary.visibility;
    for _ in 0..2 {
        done(&data, &["run", "withdraw", HUMAN, "--reason", "a mistake"]);
        assert_eq!(visible().await, Visibility::Withdrawn);
    }
    done(&data, &["run", "publish", HUMAN]);
    assert_eq!(visible().await, Visibility::Public);
    let none = ["run", "withdraw", PATIENT, "--reason", " "];
    refused(&data, &none, "", 1, &["say why"]);
    refused(&data, &["run", "withdraw", PATIENT], "", 2, &["--reason"]);
    refused(&data, &["run", "publish", "none"], "", 1, &["read runs"]);

    let submit = ["run", "submit", "--human", "--private"];
    let id = done(&data, &submit);
    let run = engine.run(id.trim()).await.unwrap();
    assert_eq!(run.summary.visibility, Visibility::Private);
    let visitor = engine.acting_for(Actor::Visitor);
    assert!(visitor.run(id.trim()).await.is_err());
}

#[tokio::test]
async fn a_run_is_marked_after_a_check() {
    let folder = tempfile::tempdir().unwrap();
    let data = seeded_data(folder.path()).await;
    let engine = Engine::open(config(&data)).await.unwrap();
    let mark = async || engine.run(MODEL).await.unwrap().summary.mark;
    let unchecked = ["run", "mark", MODEL];
    refused(&data, &unchecked, "", 1, &["was never checked"]);
    seed(&data, CHECKED).await;
    for _ in 0..2 {
        done(&data, &["run", "mark", MODEL]);
        assert_eq!(mark().await, Some(Mark::Verified));
    }
    done(&data, &["run", "unmark", MODEL]);
    assert_eq!(mark().await, None);
}
