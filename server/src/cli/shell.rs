//! `swe-ci shell`: a shell with what a recorded step had.

use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;

use clap::{Args, ValueEnum};
use rustix::termios::{self, OptionalActions, Termios};
use swe_ci_core::step::Role;
use swe_ci_core::task::TaskId;
use swe_ci_engine::Engine;

use super::failure::Failure;
use super::{output, verify};

pub(super) const AFTER_HELP: &str = "\
The shell begins in /app/code, in a fresh container of the task's image: without a
network, a key or an agent. It is gone when you leave.

  programmer  the code that the iteration began with, and /app/requirement.xml
  tests       the code that it left, with the target's tests and settings;
              settings of its own that differ are in /app/aside

A script on standard input works too; the exit code is 1 where its own is not 0.

Examples:
  swe-ci shell 0199a1b2-… acme__lib-1 3
  swe-ci shell 0199a1b2-… acme__lib-1 3 --step tests
  swe-ci shell 0199a1b2-… acme__lib-1 3 --rerun      exit code 1 when an outcome differs";

/// A terminal of its own inside the container, of the same size as the person's.
const TERMINAL: &str = "import os, pty, sys; \
    sys.exit(os.waitstatus_to_exitcode(pty.spawn(['sh', '-c', sys.argv[1]])))";
const SHELL: &str = "if command -v bash >/dev/null; then exec bash; else exec sh; fi";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Id of a run, or its beginning
    #[arg(value_name = "RUN")]
    run: String,
    /// A task of it
    #[arg(value_parser = |name: &str| TaskId::new(name))]
    task: TaskId,
    /// Number of the iteration, from 1
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    iteration: u32,
    /// Whose files: the programmer's or those of the tests
    #[arg(long, value_name = "STEP", default_value = "programmer")]
    step: Step,
    /// Which evolution of the task, from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    sample: u32,
    /// Run the tests of the iteration again instead, and compare with what is
    /// recorded
    #[arg(long, conflicts_with = "step")]
    rerun: bool,
    /// The kind of terminal
    #[arg(
        long,
        env = "TERM",
        value_name = "NAME",
        default_value = "dumb",
        hide = true
    )]
    terminal: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Step {
    Programmer,
    Tests,
}

pub(super) async fn execute(engine: &Engine, options: &Options) -> Result<(), Failure> {
    let Options {
        task,
        iteration,
        sample,
        ..
    } = options;
    let run = engine.run_that_begins(&options.run).await?;
    if options.rerun {
        let news = engine.verify_iteration(&run, task, *sample, *iteration);
        let news = news.await?;
        let differs = news.difference.is_some();
        verify::tell(news);
        return match differs {
            true => Err(Failure::new("its tests came out otherwise than recorded")
                .next("without --rerun you can look at what they had")),
            false => Ok(()),
        };
    }
    let (role, whose) = match options.step {
        Step::Programmer => (Role::Programmer, "programmer"),
        Step::Tests => (Role::Test, "tests"),
    };
    let opened = engine.open_step(&run, task, *sample, *iteration, role);
    let opened = opened.await?;
    output::note(format_args!(
        "{task}, iteration {iteration}: what the {whose} had, without a network"
    ));
    let raw = RawTerminal::of_stdin()?;
    let command: Vec<String> = match &raw {
        Some(raw) => {
            let (rows, columns) = raw.size;
            let shell = format!("stty rows {rows} cols {columns}; {SHELL}");
            ["python", "-I", "-c", TERMINAL, &shell]
                .map(str::to_owned)
                .into()
        }
        None => ["sh", "-c", SHELL].map(str::to_owned).into(),
    };
    let mut show = |bytes: &[u8]| {
        let mut out = std::io::stdout().lock();
        // Who closed it wants no more.
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    };
    let env = vec![format!("TERM={}", options.terminal)];
    let input = std::io::stdin().as_fd().try_clone_to_owned();
    let input = input.map_err(|e| Failure::new(format!("stdin cannot be read: {e}")))?;
    let input = tokio::fs::File::from_std(input.into());
    let ended = opened.run(command, env, input, &mut show);
    let code = ended.await;
    let by_hand = raw.is_some();
    drop(raw);
    match code? {
        0 => Ok(()),
        // That of the last command that the person typed.
        _ if by_hand => Ok(()),
        code => Err(Failure::new(format!(
            "the shell ended with exit code {code}"
        ))),
    }
}

/// The terminal of a person: every key goes to the container, until this is
/// dropped.
struct RawTerminal {
    before: Termios,
    size: (u16, u16),
}

impl RawTerminal {
    /// None where standard input or output is no terminal.
    fn of_stdin() -> Result<Option<Self>, Failure> {
        let stdin = std::io::stdin();
        if !stdin.is_terminal() || !std::io::stdout().is_terminal() {
            return Ok(None);
        }
        let set = || -> rustix::io::Result<Self> {
            let before = termios::tcgetattr(&stdin)?;
            let size = termios::tcgetwinsize(&stdin)?;
            let mut raw = before.clone();
            raw.make_raw();
            termios::tcsetattr(&stdin, OptionalActions::Now, &raw)?;
            Ok(Self {
                before,
                size: (size.ws_row, size.ws_col),
            })
        };
        set()
            .map(Some)
            .map_err(|e| Failure::new(format!("the terminal cannot be set: {e}")))
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        let _ = termios::tcsetattr(std::io::stdin(), OptionalActions::Now, &self.before);
    }
}
