//! A command and its files by one request: the files come as an archive on its
//! standard input. For an archive of its own the engine starts a process that
//! needs longer than most archives do.

use std::ops::ControlFlow;

use bytes::{Buf, Bytes};
use swe_ci_base::code::CodeTree;

use super::archive::packed;
use super::container::DockerContainer;
use crate::{Exec, Exit, Lines, OnLine, Output, RunningCommand, SandboxContainer, SandboxError};

/// Is given the working folder, and the command. Reads all input, whatever
/// happens.
const UNPACK_AND_RUN: &str =
    "tar -xf - -C / 2>/dev/null && cd \"$0\" || { cat >/dev/null; exit 1; }
    echo '<swe-ci: the files are in place>'; exec \"$@\" </dev/null";
/// What it prints before the command starts.
const IN_PLACE: &[u8] = b"<swe-ci: the files are in place>\n";

impl DockerContainer {
    /// Runs a command on files; `None` if it did not run, because the image has
    /// no `tar`, or none that could put all files in place.
    #[tracing::instrument(name = "run a command on files", level = "debug", skip_all)]
    pub(super) async fn unpack_and_run(
        &self,
        parts: Vec<(String, CodeTree)>,
        exec: &Exec,
        on_line: OnLine<'_>,
    ) -> Result<Option<Exit>, SandboxError> {
        let words = ["sh", "-c", UNPACK_AND_RUN, &exec.working_dir];
        let words = words.into_iter().map(str::to_owned);
        let exec = Exec {
            command: words.chain(exec.command.iter().cloned()).collect(),
            reads_input: true,
            working_dir: "/".into(),
            ..exec.clone()
        };
        let mut command = self.start(&exec).await?;
        let sent = tokio::time::timeout(exec.time_limit, send(&mut command, parts));
        if sent.await.is_err() {
            return Err(SandboxError::Engine("it did not pass on files".into()));
        }
        let (mut lines, mut awaited) = (Lines::new(on_line), IN_PLACE);
        let mut on_output = |output| {
            match output {
                Output::Stdout(bytes) => lines.push(&without(&mut awaited, bytes)),
                Output::Stderr(bytes) => lines.push(&bytes),
            }
            ControlFlow::Continue(())
        };
        let exit = self.wait(command, &exec, &mut on_output).await;
        lines.finish();
        match exit? {
            Exit::Code(_) if !awaited.is_empty() => Ok(None),
            exit => Ok(Some(exit)),
        }
    }
}

/// Sends an archive, and the end of input. A command that has ended does not
/// read: its output tells.
async fn send(command: &mut RunningCommand, parts: Vec<(String, CodeTree)>) {
    let (_packing, mut pieces) = packed(parts);
    while let Some(piece) = pieces.recv().await {
        if command.write(&piece).await.is_err() {
            return;
        }
    }
    command.end_input().await;
}

/// Output without the beginning that is awaited of it.
fn without(awaited: &mut &[u8], mut output: Bytes) -> Bytes {
    let common = awaited.iter().zip(&output).take_while(|(a, b)| a == b);
    let common = common.count();
    *awaited = &awaited[common..];
    output.advance(common);
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_awaited_is_left_out_once() {
        let mut awaited: &[u8] = b"begin\n";
        let mut check = |output: &'static str, expect: &str| {
            assert_eq!(without(&mut awaited, output.into()), expect);
        };
        check("be", "");
        check("gin\nand", "and");
        check("begin\n", "begin\n");
        assert!(awaited.is_empty());
        assert!(UNPACK_AND_RUN.contains(std::str::from_utf8(IN_PLACE).unwrap().trim_end()));
    }
}
