//! How a turn is done with the tools a harness offers.

use serde_json::{Value, json};

use super::asked::{Asked, Tool};
use super::schema::least;
use super::script::Turn;

/// A tool to be called.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub name: String,
    pub arguments: Value,
}

/// A tool by its name, and the arguments the script has values for.
type Known<const N: usize> = (&'static str, [&'static str; N]);

const WRITE: [Known<2>; 4] = [
    ("write", ["path", "content"]),
    ("write", ["filePath", "content"]),
    ("write_file", ["file_path", "content"]),
    ("Write", ["file_path", "content"]),
];
const EDIT: [Known<3>; 5] = [
    ("edit", ["path", "old", "new"]),
    ("edit", ["filePath", "oldString", "newString"]),
    ("edit", ["file_path", "old_string", "new_string"]),
    ("replace", ["file_path", "old_string", "new_string"]),
    ("Edit", ["file_path", "old_string", "new_string"]),
];
const SHELL: [Known<1>; 4] = [
    ("bash", ["command"]),
    ("Bash", ["command"]),
    ("run_shell_command", ["command"]),
    ("exec_command", ["cmd"]),
];
/// Qwen Code, which has this beside `edit`, changes no file that was not read.
const READ: Known<1> = ("read_file", ["file_path"]);

/// What mini-swe-agent takes for the end of the work.
const SUBMIT: &str = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT";

const REPLACE_ONCE: &str = "\
import pathlib, sys
path, old, new = sys.argv[1:]
file = pathlib.Path(path)
code = file.read_bytes()
assert code.count(old.encode()) == 1, f'{old!r} does not stand in {path} exactly once'
file.write_bytes(code.replace(old.encode(), new.encode()))";

/// Whether an agent with these tools can carry out a script.
pub(super) fn can_work(tools: &[Tool]) -> bool {
    pick(tools, &SHELL, [""]).is_some()
}

/// Whether a tool of this name reads a file.
pub(super) fn reads(name: &str) -> bool {
    name == READ.0
}

/// What is said with a turn, and the tool that is called.
pub(super) fn carry_out(turn: &Turn, asked: &Asked) -> (String, Option<Call>) {
    let tools = &asked.tools;
    if let Turn::Write { path, .. } | Turn::Edit { path, .. } = turn
        && tools.iter().any(|tool| tool.name == "edit")
        && !asked.has_just_read()
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
        Turn::Say(text) if asked.says(SUBMIT) => (text.clone(), shell(&format!("echo {SUBMIT}"))),
        Turn::Say(text) => (text.clone(), None),
        Turn::Fault(_) => ("Something goes wrong.".into(), None),
    }
}

/// A turn as aider reads it; nothing for what it cannot do.
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

/// The first of these tools that is offered with these arguments; what else it
/// requires is made up.
fn pick<const N: usize>(tools: &[Tool], known: &[Known<N>], values: [&str; N]) -> Option<Call> {
    known.iter().find_map(|(name, fields)| {
        let tool = tools.iter().find(|tool| {
            let takes = |field| !tool.parameters["properties"][field].is_null();
            tool.name == *name && fields.iter().all(takes)
        })?;
        let mut arguments = least(&tool.parameters);
        for (field, value) in fields.iter().zip(values) {
            arguments[*field] = json!(value);
        }
        Some(Call {
            name: tool.name.clone(),
            arguments,
        })
    })
}

fn write_in_shell(path: &str, content: &str) -> String {
    let (path, content) = (quoted(path), quoted(content));
    format!(r#"mkdir -p "$(dirname {path})" && printf %s {content} > {path}"#)
}

fn edit_in_shell(path: &str, old: &str, new: &str) -> String {
    let words = [REPLACE_ONCE, path, old, new].map(quoted);
    format!("python3 -c {}", words.join(" "))
}

/// As one word of a shell: between single quotes nothing has a meaning but
/// their end.
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
