//! The platform's own small agent: a model, a shell and an editor. It runs in
//! this process and works in the container through the sandbox, so it needs
//! only `sh` there. Its requests go through the gateway like those of every
//! agent. It can measure any model behind chat completions.

use std::time::Duration;

use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use swe_ci_base::clock::ExcludedTime;
use swe_ci_base::code::CodeTree;
use swe_ci_core::step::Truncation;
use swe_ci_gateway::{ChatAnswer, GatewaySession, read_json};
use swe_ci_sandbox::CODE_FOLDER;
use swe_ci_sandbox::{Exec, Exit, OnLine, SandboxContainer, SandboxError};

pub const VERSION: &str = "1";

/// The most answers of the model in one step.
const MAX_TURNS: usize = 500;
/// The most characters of a command's output that the model sees.
const MAX_OUTPUT: usize = 16_000;
/// The most bytes of a file that can be edited.
const MAX_FILE: u64 = 4 << 20;
/// Seconds a command may take.
const COMMAND_SECONDS: u64 = 600;

const SYSTEM: &str = "You work in a Linux container by calling tools; nobody reads what you say in between. Commands start in /app/code, each in a new shell, and may take ten minutes. When your work is done, answer without calling a tool.";

/// A shell with a time limit that leaves the container running.
const SHELL: &str = r#"command -v bash >/dev/null && shell=bash || shell=sh; command -v timeout >/dev/null || exec "$shell" -c "$1"; exec timeout -k 5 "$0" "$shell" -c "$1""#;
/// Keeps the mode of an existing file, and follows links as programs do.
const PUT_IN_PLACE: &str = r#"mkdir -p "$(dirname "$1")" && cat /app/harness/edit > "$1""#;

pub struct Task<'a> {
    pub sandbox: &'a dyn SandboxContainer,
    pub session: &'a GatewaySession,
    pub prompt: &'a str,
    pub time_limit: Duration,
}

/// Why the work ended before its end.
#[derive(Debug)]
pub enum End {
    /// The model or its answer, in words.
    Failed(String),
    Sandbox(Exit),
    Platform(SandboxError),
}

impl<E: Into<SandboxError>> From<E> for End {
    fn from(error: E) -> Self {
        Self::Platform(error.into())
    }
}

/// Works until the model calls no more tools, or the time is spent.
pub async fn work(task: &Task<'_>, on_line: OnLine<'_>) -> Result<(), End> {
    let clock = task.session.off_clock();
    tokio::select! {
        ended = converse(task, on_line) => ended,
        () = clock.spent(task.time_limit) => Err(End::Sandbox(Exit::TimedOut)),
    }
}

async fn converse(task: &Task<'_>, on_line: OnLine<'_>) -> Result<(), End> {
    let mut messages = vec![
        json!({ "role": "system", "content": SYSTEM }),
        json!({ "role": "user", "content": task.prompt }),
    ];
    for _ in 0..MAX_TURNS {
        let answer = task.ask(&mut messages).await?;
        if let Some(text) = answer.message.get("content").and_then(Value::as_str) {
            text.lines().for_each(&mut *on_line);
        }
        messages.push(answer.message);
        if answer.calls.is_empty() {
            if answer.has_call_as_text {
                task.session.note(Truncation::CallAsText);
            }
            return Ok(());
        }
        for call in answer.calls {
            let result = task.carry_out(&call, on_line).await?;
            messages.push(json!({ "role": "tool", "tool_call_id": call.id, "content": result }));
        }
    }
    Err(End::Failed(format!(
        "the model was asked {MAX_TURNS} times and is not done"
    )))
}

#[derive(Debug)]
struct Answer {
    /// Unchanged: models want all of it back.
    message: Value,
    calls: Vec<Call>,
    /// The model called a tool, but in its text.
    has_call_as_text: bool,
}

#[derive(Debug)]
struct Call {
    id: String,
    tool: Result<Tool, String>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "name", content = "arguments", rename_all = "snake_case")]
enum Tool {
    Bash {
        command: String,
    },
    Write {
        path: String,
        content: String,
    },
    Edit {
        path: String,
        old: String,
        new: String,
    },
}

impl Answer {
    fn parse(answer: ChatAnswer) -> Result<Self, String> {
        let message = answer.message.ok_or("the model's answer has no message")?;
        let calls = message.get("tool_calls").and_then(Value::as_array);
        let calls = calls.into_iter().flatten().map(Call::parse).collect();
        let text = message["content"].as_str().unwrap_or_default();
        Ok(Self {
            has_call_as_text: is_call(text),
            calls,
            message,
        })
    }
}

impl Call {
    fn parse(call: &Value) -> Self {
        let function = &call["function"];
        let tool = arguments(&function["arguments"]).and_then(|arguments| {
            serde_json::from_value(json!({ "name": function["name"], "arguments": arguments }))
        });
        Self {
            id: call["id"].as_str().unwrap_or_default().to_owned(),
            tool: tool.map_err(|error| format!("this call cannot be understood: {error}")),
        }
    }
}

/// The arguments of a call: a text that models write, with line breaks in strings and the
/// like. Some providers send what it says instead, or quote it twice.
fn arguments(sent: &Value) -> Result<Value, serde_json::Error> {
    let Value::String(text) = sent else {
        return Ok(sent.clone());
    };
    match read_json(text.as_bytes()) {
        Some(read) => arguments(&read),
        None => serde_json::from_str(text),
    }
}

impl Task<'_> {
    /// The model's answer. When the conversation is too long, shortens it and
    /// asks again.
    async fn ask(&self, messages: &mut [Value]) -> Result<Answer, End> {
        loop {
            let model = &self.session.endpoint().model;
            let body = json!({ "model": model, "messages": messages, "tools": tools() });
            let (status, text) = match self.session.chat(&body).await? {
                Ok(answer) => return Answer::parse(answer).map_err(End::Failed),
                Err(refused) => refused,
            };
            let too_long = [StatusCode::BAD_REQUEST, StatusCode::PAYLOAD_TOO_LARGE];
            if !(too_long.contains(&status) && shorten(messages)) {
                let text: String = text.chars().take(500).collect();
                return Err(End::Failed(format!(
                    "the model answered HTTP {status}: {text}"
                )));
            }
        }
    }

    /// The result of a call for the model.
    async fn carry_out(&self, call: &Call, on_line: OnLine<'_>) -> Result<String, End> {
        match &call.tool {
            Err(why) => Ok(why.clone()),
            Ok(Tool::Bash { command }) => {
                on_line(&format!("$ {command}"));
                let limit = COMMAND_SECONDS.to_string();
                self.run(&["sh", "-c", SHELL, &limit, command], on_line)
                    .await
            }
            Ok(Tool::Write { path, content }) => {
                on_line(&format!("write {path}"));
                self.put(path, content.as_bytes().to_vec(), on_line).await
            }
            Ok(Tool::Edit { path, old, new }) => {
                on_line(&format!("edit {path}"));
                match self.edited(path, old, new).await? {
                    Ok(content) => self.put(path, content.into_bytes(), on_line).await,
                    Err(why) => Ok(why),
                }
            }
        }
    }

    /// A file's text with a passage replaced, or for the model why not.
    async fn edited(
        &self,
        path: &str,
        old: &str,
        new: &str,
    ) -> Result<Result<String, String>, SandboxError> {
        let contents = match self.sandbox.read(&absolute(path), MAX_FILE).await {
            Ok(contents) => contents,
            Err(SandboxError::TooBig { .. }) => {
                return Ok(Err(format!("{path} is too big to be edited by this tool")));
            }
            Err(error) => return Err(error),
        };
        let Some(text) = contents.and_then(|bytes| String::from_utf8(bytes).ok()) else {
            return Ok(Err(format!("there is no text file {path}")));
        };
        Ok(match text.matches(old).count() {
            _ if old.is_empty() => Err("`old` is empty; use write for a new file".into()),
            1 => Ok(text.replacen(old, new, 1)),
            0 => Err(format!(
                "`old` does not stand in {path}; it must match exactly"
            )),
            n => Err(format!(
                "`old` stands {n} times in {path}; give more lines around it"
            )),
        })
    }

    async fn put(&self, path: &str, content: Vec<u8>, on_line: OnLine<'_>) -> Result<String, End> {
        let mut file = CodeTree::default();
        file.insert_file("edit", content);
        self.sandbox.put(&[("/app/harness", &file)]).await?;
        let command = ["sh", "-c", PUT_IN_PLACE, "sh", &absolute(path)];
        self.run(&command, on_line).await
    }

    /// Runs a command; its output and its end, for the model.
    async fn run(&self, command: &[&str], on_line: OnLine<'_>) -> Result<String, End> {
        let exec = Exec {
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            env: Vec::new(),
            reads_input: false,
            unprivileged: false,
            wanted: None,
            working_dir: CODE_FOLDER.into(),
            time_limit: self.time_limit,
            off: ExcludedTime::default(),
        };
        let mut output = Output::default();
        let mut tee = |line: &str| {
            output.line(line);
            on_line(line);
        };
        let ended = match self.sandbox.exec(&exec, &mut tee).await? {
            Exit::Code(0) => "done".to_owned(),
            Exit::Code(124 | 137) => format!("ended after {COMMAND_SECONDS} s, its time limit"),
            Exit::Code(code) => format!("exit code {code}"),
            ended => return Err(End::Sandbox(ended)),
        };
        Ok(output.shown(&ended))
    }
}

/// A command's output, without its middle when it is long.
#[derive(Debug, Default)]
struct Output {
    head: String,
    tail: String,
    left_out: usize,
}

impl Output {
    fn line(&mut self, line: &str) {
        if self.head.len() + line.len() < MAX_OUTPUT / 2 {
            self.head.extend([line, "\n"]);
            return;
        }
        self.tail.extend([line, "\n"]);
        while self.tail.len() > MAX_OUTPUT / 2 {
            let end = self.tail.find('\n').map_or(self.tail.len(), |at| at + 1);
            self.left_out += end;
            self.tail.drain(..end);
        }
    }

    fn shown(&self, ended: &str) -> String {
        let gap = match self.left_out {
            0 => String::new(),
            bytes => format!("[{bytes} bytes left out]\n"),
        };
        format!("{}{gap}{}[{ended}]", self.head, self.tail)
    }
}

/// Whether a text has the JSON of a call of one of our tools.
fn is_call(text: &str) -> bool {
    text.match_indices('{').any(|(at, _)| {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else {
            return false;
        };
        let named = ["bash", "write", "edit"]
            .iter()
            .any(|name| value["name"] == *name);
        named && (value["arguments"].is_object() || value["parameters"].is_object())
    })
}

fn absolute(path: &str) -> String {
    if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{CODE_FOLDER}/{path}")
    }
}

/// Removes the older half of the tool results; `false` when nothing is left to
/// remove.
fn shorten(messages: &mut [Value]) -> bool {
    const LEFT_OUT: &str = "[left out: the conversation grew too long]";
    let mut long: Vec<&mut Value> = messages
        .iter_mut()
        .filter(|message| message["role"] == "tool")
        .filter_map(|message| message.get_mut("content"))
        .filter(|content| {
            content
                .as_str()
                .is_some_and(|text| text.len() > LEFT_OUT.len())
        })
        .collect();
    let half = long.len().div_ceil(2);
    for content in long.iter_mut().take(half) {
        **content = LEFT_OUT.into();
    }
    half > 0
}

fn tools() -> Value {
    let tool = |name: &str, what: &str, parameters: &[(&str, &str)]| {
        let properties: serde_json::Map<String, Value> = parameters
            .iter()
            .map(|(name, what)| {
                let schema = json!({ "type": "string", "description": what });
                ((*name).to_owned(), schema)
            })
            .collect();
        let names: Vec<&str> = parameters.iter().map(|(name, _)| *name).collect();
        json!({ "type": "function", "function": {
            "name": name,
            "description": what,
            "parameters": { "type": "object", "properties": properties, "required": names },
        }})
    };
    let path = ("path", "absolute, or relative to /app/code");
    json!([
        tool(
            "bash",
            "Runs a command in a new shell; gives what it prints and how it ends.",
            &[("command", "the command line")]
        ),
        tool(
            "write",
            "Writes a whole file, new or in place of what was there.",
            &[path, ("content", "all of the file")]
        ),
        tool(
            "edit",
            "Replaces a passage of a text file that stands there exactly once.",
            &[
                path,
                ("old", "the passage as it stands"),
                ("new", "what comes in its place")
            ]
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_output_loses_its_middle() {
        let mut output = Output::default();
        for n in 0..10_000 {
            output.line(&format!("line {n}"));
        }
        let shown = output.shown("done");
        assert!(shown.starts_with("line 0\n") && shown.ends_with("line 9999\n[done]"));
        assert!(shown.contains("bytes left out]") && shown.len() < MAX_OUTPUT + 100);
        assert_eq!(Output::default().shown("exit code 1"), "[exit code 1]");
    }

    #[test]
    fn calls_in_the_text_are_recognised() {
        let call = r#"{"name": "bash", "arguments": {"command": "ls"}}"#;
        for text in [
            call,
            &format!("<tool_call>\n{call}\n</tool_call>"),
            &format!("I {{will}} call:\n```json\n{call}\n```"),
        ] {
            assert!(is_call(text), "{text}");
        }
        for text in ["", "{", "Done.", r#"{"name": "Ann", "arguments": {}}"#] {
            assert!(!is_call(text), "{text}");
        }
    }

    #[test]
    fn calls_are_read_or_explained() {
        let check = |name: &str, arguments: &str, expect: &str| {
            let call = json!({ "id": "c1", "function": { "name": name, "arguments": arguments } });
            let parsed = format!("{:?}", Call::parse(&call).tool);
            assert!(parsed.contains(expect), "{parsed}");
        };
        check("bash", r#"{"command": "ls"}"#, "Bash { command: \"ls\" }");
        check(
            "edit",
            r#"{"path": "a", "old": "b"}"#,
            "missing field `new`",
        );
        check("rm", "{}", "unknown variant `rm`");
        check("bash", "{", "cannot be understood");
        let expect = "Bash { command: \"a\\nb\" }";
        check("bash", "{\"command\": \"a\nb\"}", expect);
        check("bash", &json!(r#"{"command": "a\nb"}"#).to_string(), expect);
        check(
            "bash",
            r#"{"command": "\s \ud800"}"#,
            r#"Bash { command: "\\s �" }"#,
        );
        let whole = json!({"function": {"name": "bash", "arguments": {"command": "ls"}}});
        assert!(Call::parse(&whole).tool.is_ok());
    }

    #[test]
    fn a_long_conversation_is_cut_by_halves() {
        let tool = || json!({ "role": "tool", "content": "x".repeat(100) });
        let mut messages = vec![
            json!({ "role": "user", "content": "u" }),
            tool(),
            tool(),
            tool(),
        ];
        let long = |messages: &[Value]| {
            let long = |m: &&Value| m["content"].as_str().unwrap().len() == 100;
            messages.iter().filter(long).count()
        };
        assert!(shorten(&mut messages));
        assert_eq!(long(&messages), 1);
        assert!(shorten(&mut messages));
        assert!(!shorten(&mut messages));
    }
}
