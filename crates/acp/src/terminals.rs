//! Commands that the agent lets its client run: each in a group of its own, its
//! last output kept.

use std::collections::HashMap;
use std::io::{self, PipeReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::connection::Reply;
use crate::files::Files;
use crate::message::{RpcError, params};

/// Terminals that the agent has not released.
const MAX_TERMINALS: usize = 64;

/// Bytes of output kept per terminal, unless the agent wants fewer.
const MAX_OUTPUT: usize = 1 << 20;

/// How long the end of a command waits for the end of its output, which what
/// it left running may hold open.
const DRAIN: Duration = Duration::from_millis(300);

#[derive(Debug, Default)]
pub struct Terminals {
    created: u64,
    by_id: HashMap<String, Arc<Terminal>>,
}

#[derive(Debug)]
struct Terminal {
    group: Option<Pid>,
    state: Mutex<State>,
    drained: Condvar,
}

#[derive(Debug, Default)]
struct State {
    output: Vec<u8>,
    limit: usize,
    is_truncated: bool,
    is_drained: bool,
    exit: Option<ExitStatus>,
    waiting: Vec<Reply>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Create {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Vec<Variable>,
    cwd: Option<PathBuf>,
    output_byte_limit: Option<usize>,
}

#[derive(Deserialize)]
struct Variable {
    name: String,
    value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    terminal_id: String,
}

impl Terminals {
    pub fn create(&mut self, files: &Files, request: Value) -> Result<Value, RpcError> {
        let create: Create = params(request)?;
        if self.by_id.len() >= MAX_TERMINALS {
            let problem = format!("{MAX_TERMINALS} terminals exist; release some first");
            return Err(RpcError::failed(problem));
        }
        let folder = match &create.cwd {
            Some(folder) => files.inside(folder)?,
            None => files.root().to_owned(),
        };
        let limit = create.output_byte_limit.unwrap_or(MAX_OUTPUT);
        let terminal = start(&create, folder, limit.min(MAX_OUTPUT))
            .map_err(|error| RpcError::failed(format!("{}: {error}", create.command)))?;
        self.created += 1;
        let id = format!("terminal-{}", self.created);
        self.by_id.insert(id.clone(), terminal);
        Ok(json!({ "terminalId": id }))
    }

    pub fn output(&self, request: Value) -> Result<Value, RpcError> {
        let (_, terminal) = self.named(request)?;
        let state = terminal.lock();
        let mut answer = json!({
            "output": String::from_utf8_lossy(whole_characters(&state.output)),
            "truncated": state.is_truncated,
        });
        if let Some(exit) = state.exit {
            answer["exitStatus"] = exit_status(exit);
        }
        Ok(answer)
    }

    /// Answers once the command has ended.
    pub fn wait(&self, request: Value, reply: Reply) -> anyhow::Result<()> {
        let terminal = match self.named(request) {
            Ok((_, terminal)) => terminal,
            Err(error) => return reply.send(Err(error)),
        };
        let mut state = terminal.lock();
        match state.exit {
            Some(exit) => reply.send(Ok(exit_status(exit))),
            None => {
                state.waiting.push(reply);
                Ok(())
            }
        }
    }

    pub fn kill(&self, request: Value) -> Result<Value, RpcError> {
        let (_, terminal) = self.named(request)?;
        terminal.kill();
        Ok(json!({}))
    }

    pub fn release(&mut self, request: Value) -> Result<Value, RpcError> {
        let (id, terminal) = self.named(request)?;
        terminal.kill();
        self.by_id.remove(&id);
        Ok(json!({}))
    }

    fn named(&self, request: Value) -> Result<(String, Arc<Terminal>), RpcError> {
        let Named { terminal_id: id } = params(request)?;
        match self.by_id.get(&id) {
            Some(terminal) => {
                let terminal = Arc::clone(terminal);
                Ok((id, terminal))
            }
            None => Err(RpcError::not_found(&format!("terminal {id}"))),
        }
    }
}

impl Drop for Terminals {
    fn drop(&mut self) {
        self.by_id.values().for_each(|terminal| terminal.kill());
    }
}

impl Terminal {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the command with all it started, unless it has ended.
    fn kill(&self) {
        let state = self.lock();
        if let Some(group) = self.group
            && state.exit.is_none()
        {
            // It may have ended this moment.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    fn keep(&self, output: &[u8]) {
        let mut state = self.lock();
        state.output.extend_from_slice(output);
        let excess = state.output.len().saturating_sub(state.limit);
        if excess > 0 {
            state.output.drain(..excess);
            state.is_truncated = true;
        }
    }

    /// Keeps what a command prints.
    fn read(&self, mut output: PipeReader) {
        let mut piece = [0; 8192];
        loop {
            match output.read(&mut piece) {
                Ok(0) => break,
                Ok(length) => self.keep(&piece[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.lock().is_drained = true;
        self.drained.notify_all();
    }

    /// Waits for the end of a command, and tells those who wait for it.
    fn await_exit(&self, mut child: Child) {
        let exit = child.wait().unwrap_or_default();
        let state = self.lock();
        let waited = self
            .drained
            .wait_timeout_while(state, DRAIN, |state| !state.is_drained);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.exit = Some(exit);
        for reply in state.waiting.drain(..) {
            // The session ends over an agent that does not read.
            let _ = reply.send(Ok(exit_status(exit)));
        }
    }
}

fn start(create: &Create, folder: PathBuf, limit: usize) -> io::Result<Arc<Terminal>> {
    let (output, writer) = io::pipe()?;
    // Some agents give a whole line of shell, and no arguments.
    let mut command = if create.args.is_empty() {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &create.command]);
        shell
    } else {
        let mut command = Command::new(&create.command);
        command.args(&create.args);
        command
    };
    let variables = create.env.iter();
    let child = command
        .envs(variables.map(|variable| (&variable.name, &variable.value)))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0)
        .spawn()?;
    // Its copies of the pipe's other end would keep the output open.
    drop(command);
    let terminal = Arc::new(Terminal {
        group: i32::try_from(child.id()).ok().and_then(Pid::from_raw),
        state: Mutex::new(State {
            limit,
            ..State::default()
        }),
        drained: Condvar::new(),
    });
    let reader = Arc::clone(&terminal);
    thread::spawn(move || reader.read(output));
    let waiter = Arc::clone(&terminal);
    thread::spawn(move || waiter.await_exit(child));
    Ok(terminal)
}

fn exit_status(exit: ExitStatus) -> Value {
    let signal = exit.signal().map(|signal| signal.to_string());
    json!({ "exitCode": exit.code(), "signal": signal })
}

/// Without the rest of a character whose beginning was dropped.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    let is_rest = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    let rest = bytes.iter().take(3).take_while(is_rest).count();
    &bytes[rest..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_begins_with_a_whole_character() {
        let crab = "🦀a".as_bytes();
        for dropped in 1..=4 {
            assert_eq!(whole_characters(&crab[dropped..]), b"a");
        }
        assert_eq!(whole_characters(crab), crab);
        assert_eq!(whole_characters(b""), b"");
    }
}
