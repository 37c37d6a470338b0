//! Carries out a turn of the script with the tools a harness offers.

use super::request::AgentRequest;
use super::script::Turn;
use super::tools::{Call, EDIT, READ, SHELL, WRITE, pick};

/// The output that ends the work of mini-swe-agent.
const SUBMIT: &str = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT";

const REPLACE_ONCE: &str = "\
import pathlib, sys
path, old, new = sys.argv[1:]
file = pathlib.Path(path)
code = file.read_bytes()
assert code.count(old.encode()) == 1, f'{old!r} does not stand in {path} exactly once'
file.write_bytes(code.replace(old.encode(), new.encode()))";

pub(super) fn carry_out(turn: &Turn, request: &AgentRequest) -> (String, Option<Call>) {
    let tools = &request.tools;
    if let Turn::Write { path, .. } | Turn::Edit { path, .. } = turn
        && tools.iter().any(|tool| tool.name == "edit")
        && !request.has_just_read()
        && let Some(call) = pick(tools, &[READ], [path])
    {
        return (format!("I read {path}."), Some(call));
    }
    let shell = |command: &str| pick(tools, &SHELL, [command]);
    match turn {
        Turn::Write { path, content } => {
            let call = pick(tools, &WRITE, [path, content]);
            let call = call.or_else(|| shell(&write_in_shell(path, content)));
            (format!("I write {path}."), call)
        }
        Turn::Edit { path, old, new } => {
            let call = pick(tools, &EDIT, [path, old, new]);
            let call = call.or_else(|| shell(&edit_in_shell(path, old, new)));
            (format!("I edit {path}."), call)
        }
        Turn::Bash(command) => ("I run a command.".into(), shell(command)),
        Turn::Say(text) if request.says(SUBMIT) => (text.clone(), shell(&format!("echo {SUBMIT}"))),
        Turn::Say(text) => (text.clone(), None),
        Turn::Fault(_) => ("Something goes wrong.".into(), None),
    }
}

/// A turn in aider's edit format; empty for turns it does not support.
pub(super) fn for_aider(turn: &Turn) -> String {
    let (path, old, new) = match turn {
        Turn::Write { path, content } => (path, "", content.as_str()),
        Turn::Edit { path, old, new } => (path, old.as_str(), new.as_str()),
        Turn::Say(text) => return text.clone(),
        Turn::Bash(_) | Turn::Fault(_) => return String::new(),
    };
    let (old, new) = (lines(old), lines(new));
    format!("{path}\n```\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n\n")
}

fn write_in_shell(path: &str, content: &str) -> String {
    let (path, content) = (quoted(path), quoted(content));
    format!(r#"mkdir -p "$(dirname {path})" && printf %s {content} > {path}"#)
}

fn edit_in_shell(path: &str, old: &str, new: &str) -> String {
    let words = [REPLACE_ONCE, path, old, new].map(quoted);
    format!("python3 -c {}", words.join(" "))
}

/// Quotes a word for a shell: between single quotes, only their end is special.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn lines(text: &str) -> String {
    match text {
        "" => String::new(),
        text if text.ends_with('\n') => text.to_owned(),
        text => format!("{text}\n"),
    }
}
