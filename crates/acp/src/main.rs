//! `swe-ci-acp --prompt FILE -- COMMAND…`: gives an agent program a prompt by the
//! [Agent Client Protocol](https://agentclientprotocol.com), and waits for the
//! end of its turn.
//!
//! It runs in the agent's container, as the same user, and answers there what
//! the agent asks of its client: permissions, files, terminals. So it can do
//! nothing that the agent could not do by itself, and its limits are against
//! accidents: what is printed, kept or read at once has an upper bound.
//!
//! The gateway embeds it as a static program for Linux; see its `build.rs`.

mod arguments;
mod connection;
mod files;
mod message;
mod permission;
mod session;
mod terminals;
mod transcript;

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use signal_hook::consts::{SIGINT, SIGTERM};

use arguments::{Arguments, USAGE};
use session::{End, Session};

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args_os().skip(1)) {
        Ok(arguments) => arguments,
        Err(problem) => {
            eprintln!("{problem}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&arguments) {
        Ok(End::Turn) => ExitCode::SUCCESS,
        Ok(end) => {
            eprintln!("swe-ci-acp: {end}");
            ExitCode::from(end.code())
        }
        Err(problem) => {
            eprintln!("swe-ci-acp: {problem:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<End> {
    let cancel = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&cancel))
            .context("cannot handle signals")?;
    }
    let prompt = std::fs::read_to_string(&arguments.prompt)
        .with_context(|| format!("cannot read the prompt {}", arguments.prompt.display()))?;
    let mut session = Session::start(arguments, cancel, io::stdout())?;
    session.play(arguments, &prompt)
}
