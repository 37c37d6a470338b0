//! The agent's process, and the messages from and to it.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use crate::message::{self, Message, RpcError};

/// Longer lines end the session. A file that is written comes in one line.
const MAX_LINE: usize = 16 << 20;

/// Messages that wait to be handled; the agent's next ones stay in its pipe.
const MAX_INCOMING: usize = 64;

/// Messages that the agent has not read.
const MAX_OUTGOING: usize = 1024;

/// How long an agent may take to end once its input has.
const GRACE: Duration = Duration::from_secs(2);

const POLL: Duration = Duration::from_millis(20);

/// Something the agent sent.
#[derive(Debug)]
pub enum Incoming {
    Message(Message),
    /// A line that is no message.
    Line(String),
    /// Why nothing more comes.
    End(String),
}

#[derive(Debug)]
pub struct Connection {
    child: Child,
    incoming: Receiver<Incoming>,
    /// None once the agent's input has ended.
    outgoing: Option<Outgoing>,
    next_id: u64,
}

/// The way to the agent, for every thread that has an answer.
#[derive(Debug, Clone)]
pub struct Outgoing(SyncSender<String>);

/// The answer to one request of the agent, which is due.
#[derive(Debug)]
pub struct Reply {
    outgoing: Outgoing,
    id: Value,
}

impl Outgoing {
    fn send(&self, line: String) -> anyhow::Result<()> {
        match self.0.try_send(line) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_)) => bail!("the agent does not read its messages"),
            // Its end is about to be noticed by the reader of its output.
            Err(TrySendError::Disconnected(_)) => Ok(()),
        }
    }

    pub fn reply_to(&self, id: Value) -> Reply {
        Reply {
            outgoing: self.clone(),
            id,
        }
    }
}

impl Reply {
    pub fn send(self, result: Result<Value, RpcError>) -> anyhow::Result<()> {
        self.outgoing.send(message::response(&self.id, result))
    }
}

impl Connection {
    pub fn start(command: &[OsString]) -> anyhow::Result<Self> {
        let (program, arguments) = command.split_first().context("there is no command")?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // A signal for this program is no signal for the agent, which is
            // to be cancelled in its own protocol.
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let input = child.stdin.take().context("the agent has no input")?;
        let output = child.stdout.take().context("the agent has no output")?;
        let (sender, incoming) = sync_channel(MAX_INCOMING);
        thread::spawn(move || read(output, &sender));
        let (outgoing, lines) = sync_channel(MAX_OUTGOING);
        thread::spawn(move || write(input, &lines));
        Ok(Self {
            child,
            incoming,
            outgoing: Some(Outgoing(outgoing)),
            next_id: 1,
        })
    }

    /// Sends a request; returns its id.
    pub fn request(&mut self, method: &str, params: &Value) -> anyhow::Result<u64> {
        let id = self.next_id;
        self.next_id += 1;
        self.outgoing()?
            .send(message::request(id, method, params))?;
        Ok(id)
    }

    pub fn notify(&self, method: &str, params: &Value) -> anyhow::Result<()> {
        self.outgoing()?.send(message::notification(method, params))
    }

    pub fn outgoing(&self) -> anyhow::Result<&Outgoing> {
        self.outgoing
            .as_ref()
            .context("the agent's input has ended")
    }

    /// Waits for the next thing from the agent; `None` when `wait` has passed.
    pub fn next(&self, wait: Duration) -> Option<Incoming> {
        match self.incoming.recv_timeout(wait) {
            Ok(incoming) => Some(incoming),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Incoming::End("it said nothing".into())),
        }
    }

    /// How the agent ended, if it has.
    pub fn exit(&mut self) -> Option<String> {
        // It closes its output a moment before.
        let ended = ended_within(&mut self.child, Duration::from_millis(500))?;
        Some(ended.to_string())
    }
}

impl Drop for Connection {
    /// Ends the agent's input, and soon after the agent, with all it started.
    fn drop(&mut self) {
        self.outgoing = None;
        if ended_within(&mut self.child, GRACE).is_none()
            && let Ok(id) = i32::try_from(self.child.id())
            && let Some(group) = Pid::from_raw(id)
        {
            // It may have ended this moment.
            let _ = kill_process_group(group, Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

fn ended_within(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let began = Instant::now();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if began.elapsed() >= limit {
            return None;
        }
        pause(POLL);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "there is no async runtime here to block"
)]
fn pause(time: Duration) {
    thread::sleep(time);
}

fn read(output: ChildStdout, sender: &SyncSender<Incoming>) {
    let mut output = BufReader::new(output);
    loop {
        let incoming = next_line(&mut output);
        let is_last = matches!(incoming, Incoming::End(_));
        // Nobody listens any more once the turn has ended.
        if sender.send(incoming).is_err() || is_last {
            return;
        }
    }
}

fn next_line(output: &mut impl BufRead) -> Incoming {
    let mut line = Vec::new();
    match output
        .by_ref()
        .take(MAX_LINE as u64 + 1)
        .read_until(b'\n', &mut line)
    {
        Ok(0) => Incoming::End("its output ended".into()),
        Ok(_) if line.len() > MAX_LINE => {
            Incoming::End(format!("it sent a line of more than {MAX_LINE} bytes"))
        }
        Ok(_) => match Message::parse(&line) {
            Some(message) => Incoming::Message(message),
            None => Incoming::Line(String::from_utf8_lossy(&line).trim_end().to_owned()),
        },
        Err(error) => Incoming::End(format!("its output cannot be read: {error}")),
    }
}

/// Writes until nobody has anything to say, or the agent has gone.
fn write(mut input: ChildStdin, lines: &Receiver<String>) {
    let write = |line: String| -> io::Result<()> {
        input.write_all(line.as_bytes())?;
        input.write_all(b"\n")?;
        input.flush()
    };
    let _ = lines.iter().try_for_each(write);
}
