//! A command and its files by one request: the files come as an archive on its
//! standard input, and those that it leaves on its standard output. For an archive
//! of its own the engine starts a process that needs longer than most archives do.
//!
//! The command could send other files than it leaves. They are its own either way.

use std::io::Read;
use std::ops::ControlFlow;

use bollard::container::LogOutput;
use bytes::Bytes;
use futures::TryStreamExt;
use swe_ci_base::code::CodeTree;
use tokio::sync::mpsc;

use super::archive::{PIECES, PieceReader, packed};
use super::container::DockerContainer;
use crate::{
    Exec, Exit, Lines, OnLine, Output, RawOutput, RunningCommand, SandboxContainer, SandboxError,
    WantedFiles,
};

/// Is given the working folder, the folder and the name of what is wanted, and the
/// command. Reads all input, whatever happens.
const UNPACK_AND_RUN: &str =
    "tar -xf - -C / 2>/dev/null && cd \"$0\" || { cat >/dev/null; exit 1; }
    folder=$1 name=$2; shift 2; echo '<swe-ci: the files are in place>'
    \"$@\" </dev/null >&2; code=$?
    [ $code = 0 ] && [ -n \"$name\" ] && tar -cf - -C \"$folder\" -- \"$name\" 2>/dev/null && echo '<swe-ci: all files>'
    exit $code";
/// What it prints before the command starts.
const IN_PLACE: &[u8] = b"<swe-ci: the files are in place>\n";
/// What it prints behind a whole archive.
const ALL_FILES: &[u8] = b"<swe-ci: all files>\n";
/// The most bytes of an archive beyond those of the contents. An archive may name
/// one file with all its bytes, and the name is in memory.
const BESIDE_CONTENTS: u64 = 16 << 20;

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
        let exec = with_files(exec);
        let mut command = self.start(&exec).await?;
        let sent = tokio::time::timeout(exec.time_limit, send(&mut command, parts));
        if sent.await.is_err() {
            return Err(SandboxError::Engine("it did not pass on files".into()));
        }
        let (sender, receiver) = mpsc::channel(PIECES);
        command.output = without_stdout(command.output, sender);
        let (reader, wanted) = (PieceReader::new(receiver), exec.wanted.clone());
        let receiving = tokio::task::spawn_blocking(move || received(reader, wanted));
        let mut lines = Lines::new(on_line);
        let mut on_output = |output| {
            let (Output::Stdout(bytes) | Output::Stderr(bytes)) = output;
            lines.push(&bytes);
            ControlFlow::Continue(())
        };
        let exit = self.wait(command, &exec, &mut on_output).await;
        lines.finish();
        let (in_place, files) = receiving.await.map_err(anyhow::Error::new)?;
        self.record_sent(files);
        match exit? {
            Exit::Code(_) if !in_place => Ok(None),
            exit => Ok(Some(exit)),
        }
    }
}

/// The command with those around it that unpack and pack.
fn with_files(exec: &Exec) -> Exec {
    let path = exec.wanted.as_ref().map_or("", |wanted| &wanted.path);
    let (folder, name) = path.rsplit_once('/').unwrap_or_default();
    let words = ["sh", "-c", UNPACK_AND_RUN, &exec.working_dir, folder, name];
    let words = words.into_iter().map(str::to_owned);
    Exec {
        command: words.chain(exec.command.iter().cloned()).collect(),
        reads_input: true,
        working_dir: "/".into(),
        ..exec.clone()
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

/// The output without standard output, whose pieces a channel gets.
fn without_stdout(output: RawOutput, pieces: mpsc::Sender<Bytes>) -> RawOutput {
    Box::pin(output.try_filter_map(move |piece| {
        let pieces = pieces.clone();
        async move {
            let LogOutput::StdOut { message } = piece else {
                return Ok(Some(piece));
            };
            // Nobody reads behind a limit.
            let _ = pieces.send(message).await;
            Ok(None)
        }
    }))
}

/// Reads the standard output: whether the files were put in place, and the wanted
/// ones. If anything is wrong with these, they are asked for later. Blocks.
fn received(
    mut output: impl Read,
    wanted: Option<WantedFiles>,
) -> (bool, Option<(WantedFiles, CodeTree)>) {
    let mut line = [0; IN_PLACE.len()];
    if output.read_exact(&mut line).is_err() || line != *IN_PLACE {
        return (false, None);
    }
    let files = wanted.and_then(|wanted| {
        let most = wanted.max_bytes.saturating_add(BESIDE_CONTENTS);
        let files = wanted.read_archive(output.by_ref().take(most)).ok()?;
        let mut rest = Vec::new();
        output.take(BESIDE_CONTENTS).read_to_end(&mut rest).ok()?;
        rest.ends_with(ALL_FILES).then_some((wanted, files))
    });
    (true, files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_counts_if_it_is_whole() {
        let mut code = CodeTree::default();
        code.insert_file("code/a.py", "a = 1\n");
        let mut archive = tar::Builder::new(Vec::new());
        code.append_to(&mut archive, "").unwrap();
        let archive = archive.into_inner().unwrap();
        let wanted = |max_bytes| WantedFiles::folder("/app/code", max_bytes);
        let check = |parts: &[&[u8]], max_bytes, expect: (bool, bool)| {
            let output = parts.concat();
            let (in_place, files) = received(output.as_slice(), Some(wanted(max_bytes)));
            if let Some((_, files)) = &files {
                assert_eq!(files.file("a.py").unwrap(), b"a = 1\n");
            }
            assert_eq!((in_place, files.is_some()), expect);
        };
        check(&[IN_PLACE, &archive, ALL_FILES], 100, (true, true));
        check(&[IN_PLACE, &archive], 100, (true, false));
        check(&[IN_PLACE, &archive, ALL_FILES], 5, (true, false));
        check(&[IN_PLACE, &archive[..600], ALL_FILES], 100, (true, false));
        check(&[IN_PLACE], 100, (true, false));
        check(&[&archive, ALL_FILES], 100, (false, false));
        check(&[], 100, (false, false));
        assert_eq!(received(IN_PLACE, None), (true, None));
        for line in [IN_PLACE, ALL_FILES] {
            let line = str::from_utf8(line).unwrap().trim_end();
            assert!(UNPACK_AND_RUN.contains(line));
        }
    }
}
