//! Tests of the scripted LLM.

use std::time::{Duration, Instant};

use reqwest::StatusCode;
use serde_json::{Value, json};
use swe_ci_core::agent::Protocol;
use swe_ci_core::step::Role;

use super::request::AgentRequest;
use super::schema::smallest_value;
use super::script::{Conversation, Fault, Script, Turn, usage};
use super::tool_calls;
use super::tools::{Call, Tool};
use super::{ScriptedLlm, Seen};

const KEY: &str = "sk-test";
const PROMPT: &str = "You are the programmer\nAdd things.";
const OPENCODE: &str =
    "read(filePath) write(filePath,content) edit(filePath,oldString,newString) bash(command)";
const BUILTIN: &str = "bash(command) write(path,content) edit(path,old,new)";
const MINI: &str = "bash(command)";
const QWEN: &str = "read_file(file_path) write_file(file_path,content) edit(file_path,old_string,new_string) run_shell_command(command)";
const CODEX: &str = "exec_command(cmd) update_plan(plan)";
const CLAUDE: &str =
    "Read(file_path) Write(file_path,content) Edit(file_path,old_string,new_string) Bash(command)";
const GEMINI: &str = "read_file(file_path) write_file(file_path,content) replace(file_path,old_string,new_string) run_shell_command(command)";

/// A conversation of a harness, in its protocol's format.
struct TestConversation {
    protocol: Protocol,
    tools: &'static str,
    streamed: bool,
    /// Names of the tools called in the answers so far; "" for text alone.
    answers: &'static [&'static str],
}

impl TestConversation {
    fn new(protocol: Protocol, tools: &'static str) -> Self {
        Self {
            protocol,
            tools,
            streamed: false,
            answers: &[],
        }
    }

    fn path(&self) -> &'static str {
        match (self.protocol, self.streamed) {
            (Protocol::Chat, _) => "/chat/completions",
            (Protocol::Responses, _) => "/responses",
            (Protocol::Messages, _) => "/messages?beta=true",
            (Protocol::Gemini, false) => "/models/m1:generateContent",
            (Protocol::Gemini, true) => "/models/m1:streamGenerateContent?alt=sse",
        }
    }

    fn body(&self) -> Value {
        let mut messages = vec![self.words("user", PROMPT)];
        for tool in self.answers {
            messages.push(self.words("assistant", "I do something."));
            if !tool.is_empty() {
                messages.push(self.call(tool));
            }
            messages.push(self.words("user", "It was done."));
        }
        let tools: Vec<Value> = tools(self.tools)
            .iter()
            .map(|tool| self.tool(tool))
            .collect();
        match self.protocol {
            Protocol::Chat => json!({"model": "m1", "stream": self.streamed, "tools": tools,
                "stream_options": {"include_usage": true}, "messages": messages}),
            Protocol::Responses => {
                json!({"model": "m1", "stream": self.streamed, "tools": tools, "input": messages})
            }
            Protocol::Messages => {
                json!({"model": "m1", "stream": self.streamed, "tools": tools, "messages": messages})
            }
            Protocol::Gemini => {
                json!({"tools": [{"functionDeclarations": tools}], "contents": messages})
            }
        }
    }

    fn words(&self, role: &str, text: &str) -> Value {
        match (self.protocol, role) {
            (Protocol::Gemini, "assistant") => json!({"role": "model", "parts": [{"text": text}]}),
            (Protocol::Gemini, _) => json!({"role": role, "parts": [{"text": text}]}),
            _ => json!({"role": role, "content": [{"type": "text", "text": text}]}),
        }
    }

    fn call(&self, name: &str) -> Value {
        match self.protocol {
            Protocol::Chat => {
                json!({"role": "assistant", "tool_calls": [{"function": {"name": name}}]})
            }
            Protocol::Responses => json!({"type": "function_call", "name": name}),
            Protocol::Messages => {
                json!({"role": "assistant", "content": [{"type": "tool_use", "name": name}]})
            }
            Protocol::Gemini => {
                json!({"role": "model", "parts": [{"functionCall": {"name": name}}]})
            }
        }
    }

    fn tool(&self, tool: &Tool) -> Value {
        let (name, schema) = (&tool.name, &tool.parameters);
        match self.protocol {
            Protocol::Chat => {
                json!({"type": "function", "function": {"name": name, "parameters": schema}})
            }
            Protocol::Responses => json!({"type": "function", "name": name, "parameters": schema}),
            Protocol::Messages => json!({"name": name, "input_schema": schema}),
            Protocol::Gemini => json!({"name": name, "parametersJsonSchema": schema}),
        }
    }

    async fn ask(&self, llm: &ScriptedLlm) -> reqwest::Result<(StatusCode, String)> {
        self.ask_with(llm, KEY).await
    }

    async fn ask_with(
        &self,
        llm: &ScriptedLlm,
        key: &str,
    ) -> reqwest::Result<(StatusCode, String)> {
        let header = match self.protocol {
            Protocol::Messages => ("x-api-key", key.to_owned()),
            Protocol::Gemini => ("x-goog-api-key", key.to_owned()),
            _ => ("authorization", format!("Bearer {key}")),
        };
        let url = format!("{}{}", llm.url(self.protocol), self.path());
        let request = client().post(url).header(header.0, header.1);
        let response = request.json(&self.body()).send().await?;
        let status = response.status();
        Ok((status, response.text().await?))
    }
}

fn client() -> reqwest::Client {
    // Reading certificates would take most of the time.
    let builder = swe_ci_base::tls::http_client().tls_certs_only([]);
    builder.no_proxy().build().unwrap()
}

/// Parses tools in the form `name(argument,argument) …`; every argument is a
/// required string.
fn tools(written: &str) -> Vec<Tool> {
    let tool = |written: &str| {
        let (name, rest) = written.split_once('(').unwrap();
        let fields: Vec<&str> = rest.trim_end_matches(')').split(',').collect();
        let properties: serde_json::Map<String, Value> = fields
            .iter()
            .map(|field| ((*field).to_owned(), json!({"type": "string"})))
            .collect();
        Tool {
            name: name.to_owned(),
            parameters: json!({"type": "object", "properties": properties, "required": fields}),
        }
    };
    written.split_whitespace().map(tool).collect()
}

fn edit() -> Turn {
    Turn::edit("/app/a.py", "é-", "é+")
}

async fn start(programmer: Vec<Turn>) -> ScriptedLlm {
    let architect = vec![Turn::write("/app/requirement.xml", "<x/>")];
    ScriptedLlm::start(Script::new(architect, programmer), KEY)
        .await
        .unwrap()
}

/// The data of a stream's events.
fn events(stream: &str) -> Vec<Value> {
    let data = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

fn joined(events: &[Value], at: &str) -> String {
    let found = events
        .iter()
        .filter_map(|event| event.pointer(at)?.as_str());
    found.collect()
}

#[tokio::test]
async fn every_protocol_answers_whole() {
    let llm = start(vec![edit()]).await;
    let check = async |protocol, tools, expect: &[(&str, Value)]| {
        let (status, body) = TestConversation::new(protocol, tools)
            .ask(&llm)
            .await
            .unwrap();
        assert_eq!(status, StatusCode::OK, "{body}");
        let body: Value = serde_json::from_str(&body).unwrap();
        for (at, value) in expect {
            assert_eq!(body.pointer(at), Some(value), "{protocol} {at} in {body}");
        }
    };
    let arguments = json!({"path": "/app/a.py", "old": "é-", "new": "é+"});
    let as_text = json!(arguments.to_string());
    let expect = [
        (
            "/choices/0/message/tool_calls/0/function/arguments",
            as_text.clone(),
        ),
        ("/choices/0/finish_reason", json!("tool_calls")),
        ("/usage/prompt_tokens", json!(1000)),
        (
            "/usage/completion_tokens_details/reasoning_tokens",
            json!(10),
        ),
        ("/model", json!("m1")),
    ];
    check(Protocol::Chat, BUILTIN, &expect).await;
    let expect = [
        ("/output/0/content/0/text", json!("I edit /app/a.py.")),
        ("/output/1/arguments", as_text),
        ("/status", json!("completed")),
        ("/usage/output_tokens_details/reasoning_tokens", json!(10)),
    ];
    check(Protocol::Responses, BUILTIN, &expect).await;
    let expect = [
        ("/content/1/input", arguments.clone()),
        ("/stop_reason", json!("tool_use")),
        ("/usage/output_tokens", json!(100)),
    ];
    check(Protocol::Messages, BUILTIN, &expect).await;
    let expect = [
        ("/candidates/0/content/parts/1/functionCall/args", arguments),
        ("/candidates/0/finishReason", json!("STOP")),
        ("/usageMetadata/candidatesTokenCount", json!(90)),
    ];
    check(Protocol::Gemini, BUILTIN, &expect).await;
}

#[tokio::test]
async fn every_protocol_answers_as_a_stream() {
    let llm = start(vec![edit(), edit()]).await;
    let check = async |protocol, text_at: &str, arguments_at: &str, expect: &[(&str, Value)]| {
        let conversation = TestConversation {
            streamed: true,
            answers: &["edit"],
            ..TestConversation::new(protocol, BUILTIN)
        };
        let (status, body) = conversation.ask(&llm).await.unwrap();
        assert_eq!(status, StatusCode::OK, "{body}");
        let events = events(&body);
        assert!(
            joined(&events, text_at).starts_with("I edit /app/a.py."),
            "{body}"
        );
        let arguments = json!({"path": "/app/a.py", "old": "é-", "new": "é+"}).to_string();
        let found = joined(&events, arguments_at);
        assert!(
            arguments_at.is_empty() || found.ends_with(&arguments),
            "{body}"
        );
        for (at, value) in expect {
            let found = events.iter().rev().find_map(|event| event.pointer(at));
            assert_eq!(found, Some(value), "{protocol} {at} in {body}");
        }
    };
    let expect = [
        ("/usage/prompt_tokens", json!(2000)),
        ("/usage/prompt_tokens_details/cached_tokens", json!(500)),
        ("/usage/total_tokens", json!(2100)),
    ];
    let arguments = "/choices/0/delta/tool_calls/0/function/arguments";
    check(
        Protocol::Chat,
        "/choices/0/delta/content",
        arguments,
        &expect,
    )
    .await;
    let expect = [
        ("/response/usage/input_tokens", json!(2000)),
        (
            "/response/usage/input_tokens_details/cached_tokens",
            json!(500),
        ),
        ("/response/status", json!("completed")),
    ];
    check(Protocol::Responses, "/delta", "/delta", &expect).await;
    let expect = [
        ("/message/usage/input_tokens", json!(1500)),
        ("/message/usage/cache_read_input_tokens", json!(500)),
        ("/usage/output_tokens", json!(100)),
        ("/type", json!("message_stop")),
    ];
    check(
        Protocol::Messages,
        "/delta/text",
        "/delta/partial_json",
        &expect,
    )
    .await;
    let expect = [
        ("/usageMetadata/promptTokenCount", json!(2000)),
        ("/usageMetadata/cachedContentTokenCount", json!(500)),
        (
            "/candidates/0/content/parts/0/functionCall/name",
            json!("edit"),
        ),
    ];
    check(
        Protocol::Gemini,
        "/candidates/0/content/parts/0/text",
        "",
        &expect,
    )
    .await;
}

#[test]
fn a_turn_uses_the_offered_tools() {
    let check = |tools, turn: &Turn, name: &str, arguments: Option<Value>| {
        let request = AgentRequest::read("", &TestConversation::new(Protocol::Chat, tools).body());
        let (_, call) = tool_calls::carry_out(turn, &request);
        let found = call.as_ref().map(|call| call.name.as_str());
        assert_eq!(found.unwrap_or_default(), name, "{turn:?} with {tools}");
        if arguments.is_some() {
            assert_eq!(call.map(|call| call.arguments), arguments);
        }
    };
    let replaced = json!({"file_path": "/app/a.py", "old_string": "é-", "new_string": "é+"});
    let camel = json!({"filePath": "/app/a.py", "oldString": "é-", "newString": "é+"});
    check(OPENCODE, &edit(), "edit", Some(camel));
    check(
        QWEN,
        &edit(),
        "read_file",
        Some(json!({"file_path": "/app/a.py"})),
    );
    check(CLAUDE, &edit(), "Edit", Some(replaced.clone()));
    check(GEMINI, &edit(), "replace", Some(replaced));
    check(CODEX, &edit(), "exec_command", None);
    check(MINI, &edit(), "bash", None);
    let write = Turn::write("b", "c");
    check(
        BUILTIN,
        &write,
        "write",
        Some(json!({"path": "b", "content": "c"})),
    );
    check(
        OPENCODE,
        &write,
        "write",
        Some(json!({"filePath": "b", "content": "c"})),
    );
    check(CLAUDE, &write, "Write", None);
    check(GEMINI, &write, "write_file", None);
    let in_shell = r#"mkdir -p "$(dirname 'b')" && printf %s 'c' > 'b'"#;
    check(
        CODEX,
        &write,
        "exec_command",
        Some(json!({"cmd": in_shell})),
    );
    let bash = Turn::bash("ls");
    check(
        QWEN,
        &bash,
        "run_shell_command",
        Some(json!({"command": "ls"})),
    );
    check(CODEX, &bash, "exec_command", Some(json!({"cmd": "ls"})));
    check(CLAUDE, &Turn::say("Done."), "", None);
}

#[test]
fn a_shell_writes_any_content() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("it's a/new one.py");
    let path = file.to_str().unwrap();
    let mut request = AgentRequest::read("", &Value::Null);
    request.tools = tools(MINI);
    let check = |turn: Turn, expect: &str| {
        let call = tool_calls::carry_out(&turn, &request).1.unwrap();
        let command = call.arguments["command"].as_str().unwrap();
        let run = std::process::Command::new("sh")
            .args(["-c", command])
            .status();
        assert!(run.unwrap().success(), "{command}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), expect);
    };
    for content in [
        "",
        "a\n",
        "no end",
        "'$(x)' \\n %s `y`\n\nEOF\n\"é\"!",
        "-n",
    ] {
        check(Turn::write(path, content), content);
    }
    check(Turn::write(path, "say 'a'\n"), "say 'a'\n");
    check(Turn::edit(path, "'a'\n", "\"$b\"\\n"), "say \"$b\"\\n");
}

#[test]
fn the_turn_is_counted_from_the_answers() {
    let check = |tools, answers, expect: usize| {
        for protocol in Protocol::ALL {
            let conversation = TestConversation {
                answers,
                ..TestConversation::new(protocol, tools)
            };
            let request = AgentRequest::read(conversation.path(), &conversation.body());
            assert_eq!(
                request.turn(),
                Some((Role::Programmer, expect)),
                "{protocol}"
            );
        }
    };
    check(BUILTIN, &[], 0);
    check(BUILTIN, &["edit", "", "bash"], 3);
    check(QWEN, &["read_file", "edit", "read_file"], 1);
}

#[tokio::test]
async fn side_requests_are_no_turns() {
    let llm = start(vec![Turn::say("Never said.")]).await;
    let check = async |protocol, path: &str, more: Value, at: &str, expect: Value| {
        let mut body = TestConversation::new(protocol, "respond_in_schema(who)").body();
        let more = more.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(more);
        let url = format!("{}{path}", llm.url(protocol));
        let request = client().post(url).bearer_auth(KEY).json(&body);
        let body: Value = request.send().await.unwrap().json().await.unwrap();
        assert_eq!(body.pointer(at), Some(&expect), "{body}");
    };
    let chat = "/chat/completions";
    let text_at = "/choices/0/message/content";
    let title = json!("A scripted conversation");
    check(Protocol::Chat, chat, json!({"tools": []}), text_at, title).await;
    let called = "/choices/0/message/tool_calls/0/function/arguments";
    let who = json!(r#"{"who":"none"}"#);
    check(Protocol::Chat, chat, json!({}), called, who).await;
    let spent = "/usage/prompt_tokens";
    check(Protocol::Chat, chat, json!({"tools": []}), spent, json!(50)).await;
    let speaker = json!({"generationConfig": {"responseSchema": {
        "type": "OBJECT", "required": ["next"], "properties": {"next": {"enum": ["user", "model"]}},
    }}});
    let text_at = "/candidates/0/content/parts/0/text";
    let path = "/models/m1:generateContent";
    check(
        Protocol::Gemini,
        path,
        speaker,
        text_at,
        json!(r#"{"next":"user"}"#),
    )
    .await;
    let probe = json!({"max_tokens": 1, "tools": []});
    check(
        Protocol::Messages,
        "/messages",
        probe,
        "/stop_reason",
        json!("end_turn"),
    )
    .await;
    let count = "/messages/count_tokens";
    check(
        Protocol::Messages,
        count,
        json!({}),
        "/input_tokens",
        json!(50),
    )
    .await;
    let count = "/models/m1:countTokens";
    check(
        Protocol::Gemini,
        count,
        json!({}),
        "/totalTokens",
        json!(50),
    )
    .await;
    assert!(llm.seen().iter().all(|request| request.turn.is_none()));
}

#[tokio::test]
async fn aider_gets_the_whole_script_in_one_text() {
    let turns = vec![
        edit(),
        Turn::bash("ls"),
        Turn::write("b", "c\n"),
        Turn::say("So."),
    ];
    let llm = start(turns).await;
    let example = json!([
        {"role": "system", "content": "Write *SEARCH/REPLACE* blocks."},
        {"role": "assistant", "content": "As in this example."},
        {"role": "user", "content": PROMPT},
    ]);
    let request = client().post(format!("{}/chat/completions", llm.url(Protocol::Chat)));
    let request = request.bearer_auth(KEY).json(&json!({"messages": example}));
    let answer: Value = request.send().await.unwrap().json().await.unwrap();
    let expect = "/app/a.py\n```\n<<<<<<< SEARCH\né-\n=======\né+\n>>>>>>> REPLACE\n```\n\n\
                  b\n```\n<<<<<<< SEARCH\n=======\nc\n>>>>>>> REPLACE\n```\n\nSo.";
    assert_eq!(answer["choices"][0]["message"]["content"], expect);
    assert_eq!(llm.seen()[0].turn, Some((Role::Programmer, 0)));
}

#[tokio::test]
async fn mini_swe_agent_ends_with_a_command() {
    let request = json!({"messages": [
        {"role": "user", "content": "End with echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT."},
    ]});
    let mut request = AgentRequest::read("", &request);
    request.tools = tools(MINI);
    let (text, call) = tool_calls::carry_out(&Turn::say("So."), &request);
    let submit = Call {
        name: "bash".into(),
        arguments: json!({"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}),
    };
    assert_eq!((text.as_str(), call), ("So.", Some(submit)));
}

#[tokio::test]
async fn requests_need_the_key() {
    let llm = start(vec![]).await;
    let check = async |protocol, at: &str, expect: &str| {
        let conversation = TestConversation::new(protocol, MINI);
        let (status, body) = conversation.ask_with(&llm, "sk-wrong").await.unwrap();
        assert_eq!(status, StatusCode::UNAUTHORIZED);
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body.pointer(at), Some(&json!(expect)), "{body}");
    };
    check(Protocol::Chat, "/error/type", "authentication_error").await;
    check(Protocol::Responses, "/error/type", "authentication_error").await;
    check(Protocol::Messages, "/error/type", "authentication_error").await;
    check(Protocol::Gemini, "/error/status", "UNAUTHENTICATED").await;
    let Seen { key, model, .. } = llm.seen().remove(3);
    assert_eq!((key.as_deref(), model.as_str()), (Some("sk-wrong"), "m1"));

    let nowhere = format!("{}/embeddings", llm.url(Protocol::Chat));
    let response = client()
        .post(nowhere)
        .bearer_auth(KEY)
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
    let models = format!("{}/models", llm.url(Protocol::Chat));
    let response = client().get(models).bearer_auth(KEY).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
}

#[tokio::test]
async fn faults_come_first_and_then_the_script() {
    let llm = start(vec![]).await;
    for protocol in Protocol::ALL {
        for streamed in [false, true] {
            let conversation = TestConversation {
                streamed,
                ..TestConversation::new(protocol, MINI)
            };
            let (_, good) = conversation.ask(&llm).await.unwrap();
            let faulty = async |fault| {
                llm.fault_first(1, fault);
                conversation.ask(&llm).await
            };
            let (status, _) = faulty(Fault::status(503)).await.unwrap();
            assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
            let (_, half) = faulty(Fault::Truncated).await.unwrap();
            assert!(half.len() < good.len() && good.starts_with(&half), "{half}");
            let (_, broken) = faulty(Fault::Malformed).await.unwrap();
            let parses = |body: &str| {
                let data = |line: &&str| line.contains('{');
                let json = |line: &str| line.trim_start_matches("data: ").to_owned();
                let mut lines = body.lines().filter(data).map(json);
                lines.all(|line| serde_json::from_str::<Value>(&line).is_ok())
            };
            assert!(parses(&good) && !parses(&broken), "{broken}");
            assert!(faulty(Fault::Drop).await.is_err());
            // Only this one never answers.
            let limit = Duration::from_millis(200);
            let stalled = tokio::time::timeout(limit, faulty(Fault::Stall)).await;
            assert!(stalled.is_err());
            assert_eq!(conversation.ask(&llm).await.unwrap().1, good);
        }
    }
    let start_time = Instant::now();
    llm.fault_first(1, Fault::Slow(Duration::from_millis(50)));
    TestConversation::new(Protocol::Chat, MINI)
        .ask(&llm)
        .await
        .unwrap();
    assert!(start_time.elapsed() >= Duration::from_millis(50));
}

#[tokio::test]
async fn a_rate_limit_sends_retry_after() {
    let llm = start(vec![]).await;
    let limit = Fault::Status {
        code: 429,
        retry_after: Some(7),
    };
    llm.fault_first(2, limit);
    let conversation = TestConversation::new(Protocol::Messages, MINI);
    let url = format!("{}/messages", llm.url(Protocol::Messages));
    let request = client().post(url).header("x-api-key", KEY);
    let response = request.json(&conversation.body()).send().await.unwrap();
    assert_eq!(response.headers()["retry-after"], "7");
    assert_eq!(
        conversation.ask(&llm).await.unwrap().0,
        StatusCode::TOO_MANY_REQUESTS
    );
    assert_eq!(conversation.ask(&llm).await.unwrap().0, StatusCode::OK);
}

#[test]
fn a_list_is_followed_turn_by_turn() {
    let fault = || Turn::Fault(Fault::Stall);
    let script = Script::new(
        vec![Turn::say("architect")],
        vec![fault(), Turn::bash("a"), fault(), fault(), Turn::bash("b")],
    );
    let check = |role, turn, repeats, expect: Turn| {
        let conversation = Conversation {
            role,
            turn,
            repeats,
            text: String::new(),
        };
        assert_eq!(script.turn(&conversation), expect, "{conversation:?}");
    };
    check(Role::Architect, 0, 0, Turn::say("architect"));
    check(Role::Programmer, 0, 0, fault());
    check(Role::Programmer, 0, 1, Turn::bash("a"));
    check(Role::Programmer, 1, 1, fault());
    check(Role::Programmer, 1, 2, Turn::bash("b"));
    check(Role::Programmer, 2, 0, Turn::say("Done."));
}

#[tokio::test]
async fn a_fault_of_the_script_happens_once_to_a_conversation() {
    let fault = Turn::Fault(Fault::status(500));
    let llm = start(vec![fault.clone(), Turn::bash("a"), fault]).await;
    let conversation = TestConversation::new(Protocol::Chat, MINI);
    for expect in [500, 200, 200] {
        assert_eq!(conversation.ask(&llm).await.unwrap().0, expect);
    }
    let next = TestConversation {
        answers: &["bash"],
        ..conversation
    };
    for expect in [500, 200] {
        assert_eq!(next.ask(&llm).await.unwrap().0, expect);
    }
}

#[test]
fn the_smallest_value_of_a_schema() {
    let check =
        |schema: Value, expect: Value| assert_eq!(smallest_value(&schema), expect, "{schema}");
    check(json!({"type": "string"}), json!("none"));
    check(json!({"type": ["integer", "null"], "minimum": 2}), json!(2));
    check(json!({"enum": ["b", "a"]}), json!("b"));
    check(
        json!({"anyOf": [{"type": "BOOLEAN"}, {"type": "null"}]}),
        json!(false),
    );
    let object = json!({
        "type": "object",
        "properties": {"a": {"type": "array"}, "b": {"type": "number"}, "c": {"const": 3}},
        "required": ["a", "c"],
    });
    check(object, json!({"a": [], "c": 3}));
    check(json!({}), Value::Null);
}

#[test]
fn usage_is_predictable() {
    let total = |turn| usage(turn).total();
    assert_eq!(
        [total(None), total(Some(0)), total(Some(2))],
        [55, 1100, 3100]
    );
}
