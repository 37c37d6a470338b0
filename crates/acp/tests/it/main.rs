//! The driver with agents that are scripts of a few lines, without a model.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Every agent here begins with this: `take` reads a message of the driver and
/// writes it down, `say` sends one, `call` sends a request and takes its answer.
const BEGINNING: &str = r#"
take() { IFS= read -r message || exit 9; printf '%s\n' "$message" >> heard; }
say() { printf '%s\n' "$1"; }
call() { say "{\"id\":\"$1\",\"method\":\"$2\",\"params\":$3}"; take; }
update() { say "{\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":$1}}"; }
greet() {
    take; say '{"id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"script","version":"0"}}}'
    take; say '{"id":2,"result":{"sessionId":"s"}}'
}
finish() { say "{\"id\":3,\"result\":{\"stopReason\":\"$1\",\"usage\":{\"inputTokens\":7,\"outputTokens\":2}}}"; }
"#;

struct Played {
    code: Option<i32>,
    stdout: String,
    stderr: String,
    /// The messages that the agent took.
    heard: Vec<Value>,
    folder: tempfile::TempDir,
}

impl Played {
    /// The driver's answer to the agent's request.
    fn answer(&self, id: &str) -> &Value {
        let answer = self.heard.iter().find(|message| message["id"] == id);
        answer.unwrap_or_else(|| panic!("no answer to {id}: {:?}", self.heard))
    }
}

fn start(folder: &Path, options: &[&str], agent: &str) -> Child {
    fs::write(folder.join("prompt"), "Do it.").unwrap();
    fs::write(folder.join("agent"), format!("{BEGINNING}\n{agent}")).unwrap();
    Command::new(env!("CARGO_BIN_EXE_swe-ci-acp"))
        .args(["--prompt", "prompt"])
        .args(options)
        .args(["--", "/bin/sh", "agent"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn played(folder: tempfile::TempDir, driver: Child) -> Played {
    let output = driver.wait_with_output().unwrap();
    let heard = fs::read_to_string(folder.path().join("heard")).unwrap_or_default();
    let heard = heard
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    Played {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        heard: heard.collect(),
        folder,
    }
}

fn play(options: &[&str], agent: &str) -> Played {
    let folder = tempfile::tempdir().unwrap();
    let driver = start(folder.path(), options, agent);
    played(folder, driver)
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn a_turn_from_the_handshake_to_its_end() {
    let played = play(
        &[],
        r#"
        greet; take
        echo "a note of a careless program"
        update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I do "}}'
        update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"it."}}'
        update '{"sessionUpdate":"tool_call","title":"Edit a.py","kind":"edit"}'
        finish end_turn
        "#,
    );
    assert_eq!(played.code, Some(0), "{}", played.stderr);
    assert_eq!(
        played.stdout,
        "[session] script 0\na note of a careless program\nI do it.\n[edit] Edit a.py\n\
         [usage, by the agent] inputTokens 7, outputTokens 2\n"
    );
    let [hello, session, prompt] = &played.heard[..] else {
        panic!("{:?}", played.heard);
    };
    assert_eq!(hello["params"]["protocolVersion"], 1);
    assert_eq!(hello["params"]["clientCapabilities"]["terminal"], true);
    let folder = played.folder.path().canonicalize().unwrap();
    assert_eq!(session["params"]["cwd"], folder.to_str().unwrap());
    assert_eq!(prompt["params"]["prompt"][0]["text"], "Do it.");
}

#[test]
fn a_session_is_set_up_as_the_command_line_says() {
    let played = play(
        &[
            "--auth",
            "key",
            "--mode",
            "yolo",
            "--set",
            "effort=low",
            "--without",
            "fs",
        ],
        r#"
        take; say '{"id":1,"result":{"protocolVersion":1}}'
        take; say '{"id":2,"result":null}'
        take; say '{"id":3,"result":{"sessionId":"s"}}'
        take; say '{"id":4,"result":{}}'
        take; say '{"id":5,"result":{"configOptions":[]}}'
        take; say '{"id":6,"result":{"stopReason":"end_turn"}}'
        "#,
    );
    assert_eq!(played.code, Some(0), "{}", played.stderr);
    let capabilities = &played.heard[0]["params"]["clientCapabilities"];
    assert_eq!(capabilities["fs"]["writeTextFile"], false);
    assert_eq!(capabilities["terminal"], true);
    assert_eq!(played.heard[1]["params"]["methodId"], "key");
    assert_eq!(played.heard[3]["params"]["modeId"], "yolo");
    assert_eq!(played.heard[4]["params"]["configId"], "effort");
    assert_eq!(played.heard[4]["params"]["value"], "low");
}

#[test]
fn permissions_files_and_unknown_requests() {
    let played = play(
        &[],
        r#"
        greet; take
        call may session/request_permission '{"sessionId":"s","toolCall":{"title":"Edit a.py"},"options":[{"optionId":"no","kind":"reject_once","name":"No"},{"optionId":"yes","kind":"allow_once","name":"Yes"}]}'
        call write fs/write_text_file "{\"sessionId\":\"s\",\"path\":\"$PWD/new/a.py\",\"content\":\"1\\n2\\n\"}"
        call read fs/read_text_file "{\"sessionId\":\"s\",\"path\":\"$PWD/new/a.py\",\"line\":2,\"limit\":1}"
        call none fs/read_text_file "{\"sessionId\":\"s\",\"path\":\"$PWD/none\"}"
        call outside fs/read_text_file '{"sessionId":"s","path":"/etc/passwd"}'
        call odd session/of_tomorrow '{}'
        call bad fs/read_text_file '[]'
        finish end_turn
        "#,
    );
    assert_eq!(played.code, Some(0), "{}", played.stderr);
    let outcome = &played.answer("may")["result"]["outcome"];
    assert_eq!(outcome["outcome"], "selected");
    assert_eq!(outcome["optionId"], "yes");
    assert!(played.stdout.contains("[allowed] Edit a.py\n"));
    let written = fs::read_to_string(played.folder.path().join("new/a.py"));
    assert_eq!(written.unwrap(), "1\n2\n");
    assert_eq!(played.answer("read")["result"]["content"], "2\n");
    assert_eq!(played.answer("none")["error"]["code"], -32002);
    let outside = &played.answer("outside")["error"]["message"];
    assert!(outside.as_str().unwrap().contains("is not below"));
    assert_eq!(played.answer("odd")["error"]["code"], -32601);
    assert_eq!(played.answer("bad")["error"]["code"], -32602);
    assert!(played.stdout.contains("[refused] session/of_tomorrow"));
}

#[test]
fn commands_run_in_terminals() {
    let played = play(
        &[],
        r#"
        greet; take
        call 1 terminal/create '{"sessionId":"s","command":"echo out; echo \"$WORD\" >&2; exit 3","env":[{"name":"WORD","value":"err"}]}'
        call 2 terminal/wait_for_exit '{"sessionId":"s","terminalId":"terminal-1"}'
        call 3 terminal/output '{"sessionId":"s","terminalId":"terminal-1"}'
        call 4 terminal/release '{"sessionId":"s","terminalId":"terminal-1"}'
        call 5 terminal/output '{"sessionId":"s","terminalId":"terminal-1"}'
        call 6 terminal/create '{"sessionId":"s","command":"sleep","args":["1000"]}'
        call 7 terminal/output '{"sessionId":"s","terminalId":"terminal-2"}'
        call 8 terminal/kill '{"sessionId":"s","terminalId":"terminal-2"}'
        call 9 terminal/wait_for_exit '{"sessionId":"s","terminalId":"terminal-2"}'
        call 10 terminal/create '{"sessionId":"s","command":"yes","args":["abcdefg"],"outputByteLimit":16}'
        call 11 terminal/create '{"sessionId":"s","command":"no-such-program","args":["x"]}'
        call 12 terminal/create '{"sessionId":"s","command":"ls","cwd":"/etc"}'
        call 13 terminal/create '{"sessionId":"s","command":"sleep 5 & echo on"}'
        call 14 terminal/wait_for_exit '{"sessionId":"s","terminalId":"terminal-4"}'
        call 15 terminal/output '{"sessionId":"s","terminalId":"terminal-3"}'
        finish end_turn
        "#,
    );
    assert_eq!(played.code, Some(0), "{}", played.stderr);
    assert_eq!(played.answer("2")["result"]["exitCode"], 3);
    let output = &played.answer("3")["result"];
    assert_eq!(output["output"], "out\nerr\n");
    assert_eq!(output["truncated"], false);
    assert_eq!(output["exitStatus"]["exitCode"], 3);
    assert_eq!(played.answer("5")["error"]["code"], -32002);
    assert_eq!(played.answer("7")["result"]["exitStatus"], Value::Null);
    assert_eq!(played.answer("9")["result"]["signal"], "9");
    assert_eq!(played.answer("11")["error"]["code"], -32603);
    assert_eq!(played.answer("12")["error"]["code"], -32602);
    // The command has ended; a process that it started holds its output open.
    assert_eq!(played.answer("14")["result"]["exitCode"], 0);
    let flood = &played.answer("15")["result"];
    assert_eq!(flood["truncated"], true);
    assert_eq!(flood["output"].as_str().unwrap().len(), 16);
}

#[test]
fn reasons_to_stop_are_exit_codes() {
    let check = |reason: &str, code: i32, expect: &str| {
        let played = play(&[], &format!("greet; take; finish {reason}"));
        assert_eq!(played.code, Some(code), "{reason}: {}", played.stderr);
        assert!(
            played.stderr.contains(expect),
            "{reason}: {}",
            played.stderr
        );
    };
    check("refusal", 3, "refused to go on");
    check("max_tokens", 4, "limit of tokens");
    check("max_turn_requests", 5, "limit of requests");
    check("cancelled", 6, "was cancelled");
    check("boredom", 1, "unknown reason: \"boredom\"");
}

#[test]
fn agents_that_do_not_keep_to_the_protocol() {
    let check = |agent: &str, expect: &str| {
        let played = play(&[], agent);
        assert_eq!(played.code, Some(1), "{agent}: {}", played.stderr);
        assert!(played.stderr.contains(expect), "{agent}: {}", played.stderr);
    };
    check(
        "exit 7",
        "did not answer initialize: its output ended (exit status: 7)",
    );
    check(
        "take; say '{\"id\":1,\"result\":{\"protocolVersion\":2}}'; take",
        "the agent speaks version 2 of the protocol, this program version 1",
    );
    check(
        "take; say '{\"id\":1,\"error\":{\"code\":-32000,\"message\":\"Sign in\"}}'; take",
        "the agent refused initialize: Sign in (code -32000); name a method of its own with --auth",
    );
    check(
        "take; say '{\"id\":1,\"result\":{\"protocolVersion\":1}}'; take; say '{\"id\":2,\"result\":{}}'; take",
        "has no sessionId",
    );
    check(
        "greet; take; exit 0",
        "did not answer session/prompt: its output ended",
    );
    check(
        "greet; take; say '{\"id\":3,\"result\":{}}'; take",
        "without a stopReason",
    );
    check(
        "greet; take; head -c 17000000 /dev/zero | tr '\\0' x; echo; take",
        "it sent a line of more than 16777216 bytes",
    );
    check(
        r#"greet; take
        while say '{"id":1,"method":"fs/read_text_file","params":{"path":"/etc/passwd"}}'; do :; done"#,
        "the agent does not read its messages",
    );
}

#[test]
fn endless_updates_are_cut() {
    let played = play(
        &[],
        r#"
        greet; take
        long=$(head -c 3000 /dev/zero | tr '\0' x)
        i=0; while [ $i -lt 3000 ]; do
            update "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"$long\\n\"}}"
            i=$((i + 1))
        done
        finish end_turn
        "#,
    );
    assert_eq!(played.code, Some(0), "{}", played.stderr);
    assert!(played.stdout.len() < 5 << 20);
    assert!(played.stdout.contains("[the rest is left out]\n"));
}

#[test]
fn a_signal_cancels_the_turn() {
    let check = |agent: &str| {
        let folder = tempfile::tempdir().unwrap();
        let driver = start(folder.path(), &[], agent);
        until("the turn has begun", || {
            folder.path().join("begun").exists()
        });
        let process = Pid::from_raw(i32::try_from(driver.id()).unwrap()).unwrap();
        kill_process(process, Signal::TERM).unwrap();
        let played = played(folder, driver);
        assert_eq!(played.code, Some(6), "{}", played.stderr);
        assert!(played.stderr.contains("the turn was cancelled"));
        assert_eq!(played.heard[3]["method"], "session/cancel");
        assert_eq!(played.heard[3]["params"]["sessionId"], "s");
        played
    };
    let played = check(
        r#"
        greet; take; : > begun; take
        call may session/request_permission '{"sessionId":"s","options":[{"optionId":"yes","kind":"allow_once"}]}'
        finish cancelled
        "#,
    );
    let outcome = &played.answer("may")["result"]["outcome"];
    assert_eq!(outcome["outcome"], "cancelled");
    // It knows of the cancellation and goes on; its children go with it.
    check("greet; take; : > begun; take; sleep 1000");
}

#[test]
fn wrong_usage_is_reported() {
    let run = |arguments: &[&str]| {
        let driver = Command::new(env!("CARGO_BIN_EXE_swe-ci-acp"))
            .args(arguments)
            .output();
        let output = driver.unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), stderr)
    };
    let (code, stderr) = run(&[]);
    assert_eq!(code, Some(2));
    assert!(
        stderr.contains("usage: swe-ci-acp --prompt FILE"),
        "{stderr}"
    );
    let (code, stderr) = run(&["--prompt", "/none", "--", "true"]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("cannot read the prompt /none"), "{stderr}");
}
