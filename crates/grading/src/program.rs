//! Programs of the platform's in Python, each in a container of its own: sent
//! over standard input, with one line of JSON behind it.

use std::ops::ControlFlow;
use std::time::Duration;

use anyhow::Context;
use serde::de::DeserializeOwned;
use serde_json::Value;
use swe_ci_base::clock::ExcludedTime;
use swe_ci_sandbox::{Exec, Exit, Output, SandboxContainer, SandboxError};

use crate::READ_BOOTSTRAP;

/// The most bytes that a program may print.
const MAX_BYTES: usize = 256 << 20;

/// The output of a program that has ended.
#[derive(Debug)]
pub(crate) struct Printed {
    /// Absent where code under test ended the container.
    pub exit: Option<Exit>,
    pub output: Vec<u8>,
    pub errors: Vec<u8>,
}

/// The JSON that a program prints from its input, or its last words where it fails.
///
/// # Errors
/// Failures of the platform.
pub(crate) async fn answer<T: DeserializeOwned>(
    container: &dyn SandboxContainer,
    parts: &[&str],
    input: &Value,
    time_limit: Duration,
) -> Result<Result<T, String>, SandboxError> {
    let printed = run(container, parts, input, 0, time_limit).await?;
    if printed.exit != Some(Exit::Code(0)) {
        let errors = String::from_utf8_lossy(&printed.errors);
        let last = errors.trim().lines().next_back();
        return Ok(Err(last.unwrap_or("it said nothing").to_owned()));
    }
    let answer = serde_json::from_slice(&printed.output);
    Ok(Ok(answer.context("a program of grading misspoke")?))
}

/// Runs a program. Names in its sets come in the order of `hash_seed`.
///
/// # Errors
/// Failures of the platform.
pub(crate) async fn run(
    container: &dyn SandboxContainer,
    parts: &[&str],
    input: &Value,
    hash_seed: u8,
    time_limit: Duration,
) -> Result<Printed, SandboxError> {
    let exec = Exec {
        command: ["python", "-c", READ_BOOTSTRAP].map(str::to_owned).into(),
        env: vec![format!("PYTHONHASHSEED={hash_seed}")],
        reads_input: true,
        unprivileged: false,
        wanted: None,
        working_dir: "/".into(),
        time_limit,
        off: ExcludedTime::default(),
    };
    let mut command = container.start(&exec).await?;
    let program = parts.concat();
    let input = format!("{}\n{program}{input}\n", program.len());
    // An image without Python does not read: the exit code will tell.
    let _ = command.write(input.as_bytes()).await;
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let mut on_output = |piece| {
        match piece {
            Output::Stdout(bytes) => output.extend_from_slice(&bytes),
            Output::Stderr(bytes) => errors.extend_from_slice(&bytes),
        }
        match output.len() + errors.len() > MAX_BYTES {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let exit = match container.wait(command, &exec, &mut on_output).await {
        Ok(exit) => Some(exit),
        Err(error) if error.blames_the_code() => None,
        Err(error) => return Err(error),
    };
    Ok(Printed {
        exit,
        output,
        errors,
    })
}
