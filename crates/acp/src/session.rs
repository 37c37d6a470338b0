//! One session: the handshake, one turn, and the answers to what the agent asks
//! meanwhile.

use std::fmt;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail, ensure};
use serde_json::{Value, json};

use crate::arguments::{Arguments, Offer};
use crate::connection::{Connection, Incoming, Reply};
use crate::files::Files;
use crate::message::{Message, RpcError};
use crate::permission;
use crate::terminals::Terminals;
use crate::transcript::Transcript;

/// The version of the protocol.
const VERSION: u64 = 1;

/// How long the agent may take for each answer before the turn; the turn itself
/// ends with the step's time.
const HANDSHAKE: Duration = Duration::from_mins(2);

/// How long a cancelled agent may take to end its turn.
const CANCELLATION: Duration = Duration::from_secs(5);

/// How often the session looks at its time and at signals.
const TICK: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub struct Session<W> {
    connection: Connection,
    files: Files,
    terminals: Terminals,
    transcript: Transcript<W>,
    /// Set by a signal.
    cancel: Arc<AtomicBool>,
    /// The session that was told of the cancellation, and until when it may end.
    cancelled: Option<Instant>,
    id: Option<String>,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    Turn,
    Refusal,
    MaxTokens,
    MaxTurnRequests,
    Cancelled,
}

impl End {
    fn of(reason: &str) -> anyhow::Result<Self> {
        Ok(match reason {
            "end_turn" => Self::Turn,
            "refusal" => Self::Refusal,
            "max_tokens" => Self::MaxTokens,
            "max_turn_requests" => Self::MaxTurnRequests,
            "cancelled" => Self::Cancelled,
            other => bail!("the agent ended its turn for an unknown reason: {other:?}"),
        })
    }

    pub fn code(&self) -> u8 {
        match self {
            Self::Turn => 0,
            Self::Refusal => 3,
            Self::MaxTokens => 4,
            Self::MaxTurnRequests => 5,
            Self::Cancelled => 6,
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Turn => "the agent ended its turn",
            Self::Refusal => "the agent refused to go on (refusal)",
            Self::MaxTokens => "the agent's model reached its limit of tokens (max_tokens)",
            Self::MaxTurnRequests => {
                "the agent reached its limit of requests in a turn (max_turn_requests)"
            }
            Self::Cancelled => "the turn was cancelled",
        })
    }
}

impl<W: Write> Session<W> {
    pub fn start(arguments: &Arguments, cancel: Arc<AtomicBool>, out: W) -> anyhow::Result<Self> {
        let folder = std::env::current_dir().context("there is no working folder")?;
        Ok(Self {
            files: Files::below(&folder)?,
            connection: Connection::start(&arguments.command)?,
            terminals: Terminals::default(),
            transcript: Transcript::new(out),
            cancel,
            cancelled: None,
            id: None,
        })
    }

    /// The handshake and the turn.
    pub fn play(&mut self, arguments: &Arguments, prompt: &str) -> anyhow::Result<End> {
        self.initialize(arguments.offer)?;
        if let Some(method) = &arguments.auth {
            self.ask("authenticate", &json!({ "methodId": method }))?;
        }
        let folder = self.files.root();
        let made = self.ask("session/new", &json!({ "cwd": folder, "mcpServers": [] }))?;
        let id = made["sessionId"].as_str();
        let id = id.context("the agent's session has no sessionId")?;
        let id = self.id.insert(id.to_owned()).clone();
        if let Some(mode) = &arguments.mode {
            self.ask(
                "session/set_mode",
                &json!({ "sessionId": id, "modeId": mode }),
            )?;
        }
        for (option, value) in &arguments.options {
            let set = json!({ "sessionId": id, "configId": option, "value": value });
            self.ask("session/set_config_option", &set)?;
        }
        let prompt = json!({ "sessionId": id, "prompt": [{ "type": "text", "text": prompt }] });
        let ended = self.request("session/prompt", &prompt, None);
        self.transcript.end_line();
        let Some(ended) = ended? else {
            return Ok(End::Cancelled);
        };
        self.transcript.usage(&ended["usage"]);
        let reason = ended["stopReason"].as_str();
        End::of(reason.context("the agent's turn ended without a stopReason")?)
    }

    fn initialize(&mut self, offer: Offer) -> anyhow::Result<()> {
        let ours = json!({
            "protocolVersion": VERSION,
            "clientCapabilities": {
                "fs": { "readTextFile": offer.files, "writeTextFile": offer.files },
                "terminal": offer.terminals,
            },
            "clientInfo": {
                "name": "swe-ci",
                "title": "SWE-CI",
                "version": env!("CARGO_PKG_VERSION"),
            },
        });
        let agent = self.ask("initialize", &ours)?;
        let version = &agent["protocolVersion"];
        ensure!(
            version.as_u64() == Some(VERSION),
            "the agent speaks version {version} of the protocol, this program version {VERSION}; \
             use a version of the agent that speaks it"
        );
        let [name, version] =
            ["name", "version"].map(|field| agent["agentInfo"][field].as_str().unwrap_or("?"));
        self.transcript.line(&format!("[session] {name} {version}"));
        Ok(())
    }

    /// A request of the handshake.
    fn ask(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        let answer = self.request(method, params, Some(HANDSHAKE))?;
        answer.with_context(|| format!("cancelled before the agent answered {method}"))
    }

    /// Sends a request and handles what comes until its answer does; `None` if
    /// none came after a cancellation.
    fn request(
        &mut self,
        method: &str,
        params: &Value,
        limit: Option<Duration>,
    ) -> anyhow::Result<Option<Value>> {
        let id = json!(self.connection.request(method, params)?);
        let began = Instant::now();
        loop {
            match self.connection.next(TICK) {
                Some(Incoming::Message(Message::Response { id: of, result })) if of == id => {
                    return result.map(Some).map_err(|error| refused(method, &error));
                }
                Some(Incoming::Message(message)) => self.handle(message)?,
                Some(Incoming::Line(line)) => self.transcript.line(&line),
                Some(Incoming::End(why)) => return Err(self.lost(method, &why)),
                None => {}
            }
            if let Some(limit) = limit {
                let seconds = limit.as_secs();
                ensure!(
                    began.elapsed() < limit,
                    "the agent did not answer {method} in {seconds} s"
                );
            }
            if self.is_over()? {
                return Ok(None);
            }
        }
    }

    /// Passes on a cancellation, and tells when the time after it is up.
    fn is_over(&mut self) -> anyhow::Result<bool> {
        if let Some(until) = self.cancelled {
            return Ok(Instant::now() >= until);
        }
        if !self.cancel.load(Ordering::Relaxed) {
            return Ok(false);
        }
        // Without a session there is no turn to end.
        let Some(id) = &self.id else {
            return Ok(true);
        };
        self.connection
            .notify("session/cancel", &json!({ "sessionId": id }))?;
        self.cancelled = Some(Instant::now() + CANCELLATION);
        Ok(false)
    }

    fn handle(&mut self, message: Message) -> anyhow::Result<()> {
        match message {
            Message::Request { id, method, params } => {
                let reply = self.connection.outgoing()?.reply_to(id);
                self.answer(reply, &method, params)
            }
            Message::Notification { method, params } => {
                if method == "session/update" {
                    self.transcript.update(&params["update"]);
                }
                Ok(())
            }
            // To a request whose time was up.
            Message::Response { .. } => Ok(()),
        }
    }

    fn answer(&mut self, reply: Reply, method: &str, params: Value) -> anyhow::Result<()> {
        let result = match method {
            "session/request_permission" => self.permission(params),
            "fs/read_text_file" => self.files.read(params),
            "fs/write_text_file" => self.files.write(params),
            "terminal/create" => self.terminals.create(&self.files, params),
            "terminal/output" => self.terminals.output(params),
            "terminal/wait_for_exit" => return self.terminals.wait(params, reply),
            "terminal/kill" => self.terminals.kill(params),
            "terminal/release" => self.terminals.release(params),
            _ => Err(RpcError::no_method(method)),
        };
        if let Err(error) = &result {
            self.transcript
                .line(&format!("[refused] {method}: {error}"));
        }
        reply.send(result)
    }

    fn permission(&mut self, params: Value) -> Result<Value, RpcError> {
        let decision = permission::decide(params, self.cancelled.is_some())?;
        let verb = if decision.is_allowed {
            "allowed"
        } else {
            "not allowed"
        };
        self.transcript
            .line(&format!("[{verb}] {}", decision.subject));
        Ok(decision.result)
    }

    fn lost(&mut self, method: &str, why: &str) -> anyhow::Error {
        let exit = self.connection.exit();
        let exit = exit.map_or_else(String::new, |exit| format!(" ({exit})"));
        anyhow!("the agent did not answer {method}: {why}{exit}")
    }
}

fn refused(method: &str, error: &RpcError) -> anyhow::Error {
    let hint = if error.wants_authentication() {
        "; name a method of its own with --auth"
    } else {
        ""
    };
    anyhow!("the agent refused {method}: {error}{hint}")
}
