//! The program git, without this machine's settings.

use std::io::{self, BufWriter, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

use anyhow::Context;
use swe_ci_base::machine_failure::told_by_program;

/// Variables that tell git which repository it works in: the output of `git
/// rev-parse --local-env-vars`.
const LOCAL_VARIABLES: [&str; 16] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
];

/// SIGHUP, SIGINT and SIGTERM, which often go to the server and its children alike.
const STOPPING: [i32; 3] = [1, 2, 15];
/// The most characters of git's error output in a message.
const MAX_MESSAGE: usize = 1_000;

/// git, without this machine's settings, and without anything that a repository
/// or an address could make it run. New repositories get the formats that every
/// git can read. An asynchronous caller turns it into a `tokio::process::Command`.
pub fn command() -> Command {
    let mut git = Command::new("git");
    for variable in LOCAL_VARIABLES {
        git.env_remove(variable);
    }
    git.env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_LFS_SKIP_SMUDGE", "1")
        .env("GIT_ALLOW_PROTOCOL", "https:http:ssh:git:file")
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_DEFAULT_HASH", "sha1")
        .env("GIT_DEFAULT_REF_FORMAT", "files")
        .env("LC_ALL", "C")
        .args(["-c", "core.hooksPath=/dev/null"])
        .args(["-c", "safe.directory=*"])
        .args(["-c", "gc.auto=0"])
        // A task's checkout names no folder and no user of this machine.
        .args(["-c", "core.logAllRefUpdates=false"])
        .stdin(Stdio::null());
    git
}

/// The cause why this machine cannot start git; no repository is to blame.
pub fn cannot_run(error: io::Error) -> anyhow::Error {
    let error = io::Error::new(io::ErrorKind::ResourceBusy, error);
    anyhow::Error::new(error).context("cannot run git; install it on this machine")
}

/// The standard output of a git that was run.
///
/// # Errors
/// If git could not be started, or failed: with its message. A git that was told
/// to stop is a failure of this machine, not of the repository.
pub fn checked(output: io::Result<Output>) -> anyhow::Result<Vec<u8>> {
    let output = output.map_err(cannot_run)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    if let Some(signal) = output.status.signal().filter(|s| STOPPING.contains(s)) {
        let message = format!("git was stopped by signal {signal}");
        return Err(io::Error::new(io::ErrorKind::ResourceBusy, message).into());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let message: String = stderr.trim().chars().take(MAX_MESSAGE).collect();
    Err(told_by_program(format!("git: {message}")))
}

/// Runs git, which reads what `write` writes and answers little.
///
/// # Errors
/// If git cannot be started, or fails, or its input cannot be written.
pub fn run_with_input(
    git: &mut Command,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<Vec<u8>> {
    let git = git.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = git.stderr(Stdio::piped()).spawn().map_err(cannot_run)?;
    let written = child.stdin.take().map_or(Ok(()), |input| {
        let mut input = BufWriter::new(input);
        write(&mut input)?;
        input.flush()
    });
    // A git that fails reads no further; its own message says more.
    let output = checked(child.wait_with_output())?;
    written.context("cannot write to git")?;
    Ok(output)
}

#[cfg(test)]
mod tests {
    use swe_ci_base::machine_failure::is_machine_failure;

    use super::*;

    #[test]
    fn all_local_variables_are_known() {
        let listed = checked(command().args(["rev-parse", "--local-env-vars"]).output());
        let listed = String::from_utf8(listed.unwrap()).unwrap();
        for variable in listed.lines() {
            assert!(LOCAL_VARIABLES.contains(&variable), "{variable}");
        }
    }

    #[test]
    fn failures_are_told() {
        let error = checked(command().arg("no-such-command").output()).unwrap_err();
        assert!(error.to_string().contains("no-such-command"), "{error}");
        let missing = checked(Command::new("/no/git").output()).unwrap_err();
        assert!(is_machine_failure(&missing), "{missing:#}");
        let mut full = Command::new("sh");
        let full = full.args([
            "-c",
            "echo fatal: write error: No space left on device >&2; exit 128",
        ]);
        assert!(is_machine_failure(&checked(full.output()).unwrap_err()));
        let mut stopped = Command::new("sh");
        let stopped = checked(stopped.args(["-c", "kill -TERM $$"]).output()).unwrap_err();
        assert_eq!(stopped.to_string(), "git was stopped by signal 15");
        assert!(is_machine_failure(&stopped));
        let ends = |input: &mut dyn Write| input.write_all(&[b'x'; 1 << 20]);
        let error = run_with_input(command().arg("no-such-command"), ends).unwrap_err();
        assert!(error.to_string().contains("no-such-command"), "{error}");
        let text = |input: &mut dyn Write| input.write_all(b"hello\n");
        let id = run_with_input(command().args(["hash-object", "--stdin"]), text).unwrap();
        assert_eq!(id, b"ce013625030ba8dba906f756967f9e9ca394464a\n");
    }
}
