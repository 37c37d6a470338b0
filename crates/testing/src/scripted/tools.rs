//! The tools harnesses offer, and calls of those the script knows.

use serde_json::{Value, json};

use super::schema::smallest_value;

/// A tool as a request offers it.
#[derive(Debug)]
pub(super) struct Tool {
    pub name: String,
    pub parameters: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub name: String,
    pub arguments: Value,
}

/// A tool's name, and the arguments for which the script has values.
pub(super) type Known<const N: usize> = (&'static str, [&'static str; N]);

pub(super) const WRITE: [Known<2>; 5] = [
    ("write", ["path", "content"]),
    ("write", ["filePath", "content"]),
    ("write_file", ["file_path", "content"]),
    ("Write", ["file_path", "content"]),
    ("Write", ["path", "content"]),
];
pub(super) const EDIT: [Known<3>; 6] = [
    ("edit", ["path", "old", "new"]),
    ("edit", ["filePath", "oldString", "newString"]),
    ("edit", ["file_path", "old_string", "new_string"]),
    ("replace", ["file_path", "old_string", "new_string"]),
    ("Edit", ["file_path", "old_string", "new_string"]),
    ("Edit", ["path", "old_string", "new_string"]),
];
pub(super) const SHELL: [Known<1>; 4] = [
    ("bash", ["command"]),
    ("Bash", ["command"]),
    ("run_shell_command", ["command"]),
    ("exec_command", ["cmd"]),
];
/// Qwen Code, which has this besides `edit`, changes only files that were read.
pub(super) const READ: Known<1> = ("read_file", ["file_path"]);

/// Whether an agent with these tools can carry out a script.
pub(super) fn can_work(tools: &[Tool]) -> bool {
    pick(tools, &SHELL, [""]).is_some()
}

pub(super) fn reads(name: &str) -> bool {
    name == READ.0
}

/// A call of the first known tool that is offered with these arguments. Other
/// required arguments get their smallest values.
pub(super) fn pick<const N: usize>(
    tools: &[Tool],
    known: &[Known<N>],
    values: [&str; N],
) -> Option<Call> {
    known.iter().find_map(|(name, fields)| {
        let tool = tools.iter().find(|tool| {
            let takes = |field| !tool.parameters["properties"][field].is_null();
            tool.name == *name && fields.iter().all(takes)
        })?;
        let mut arguments = smallest_value(&tool.parameters);
        for (field, value) in fields.iter().zip(values) {
            arguments[*field] = json!(value);
        }
        Some(Call {
            name: tool.name.clone(),
            arguments,
        })
    })
}
