//! Process 1 of a container: a shell that waits for the first command on its
//! standard input. For a command beside process 1 the engine starts several
//! processes of its own.
//!
//! When the command has ended, the shell writes its exit code to both outputs, and
//! idles. The command could write the same, and gains no more from it than from
//! ending with that exit code.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bollard::container::{AttachContainerResults, LogOutput};
use bollard::query_parameters::AttachContainerOptionsBuilder;
use bytes::{Bytes, BytesMut};
use futures::{TryStreamExt, stream};

use super::container::DockerContainer;
use super::error::engine_error;
use crate::{CommandEnd, ContainerSpec, Exec, RawOutput, RunningCommand, SandboxError};

/// Runs the line that comes. Ends if this process does, which holds the input.
const WAIT: &str = "swe_ci_newline='\n'; IFS= read -r swe_ci_line && eval \"$swe_ci_line\"";
/// Stands before an exit code of three digits and the end of the line.
const MARK: &[u8] = b"\x1e<swe-ci: ended> ";
const CODE_BYTES: usize = 4;
/// Writes both marks.
const TELL: &str = r"swe_ci_code=$?; for swe_ci_output in 1 2; do printf '\036<swe-ci: ended> %03d\n' $swe_ci_code >&$swe_ci_output; done; exec sleep infinity";

/// The program and the arguments of process 1, whatever the image's own
/// entrypoint is.
pub(super) fn command(spec: &ContainerSpec) -> Vec<String> {
    let words = match &spec.gateway {
        Some(gateway) => gateway.relay,
        None => ["sh", "-c", WAIT],
    };
    words.map(str::to_owned).into()
}

impl DockerContainer {
    /// Connects to the shell of a container that is about to start.
    pub(super) async fn attach(&mut self) -> Result<(), SandboxError> {
        let options = AttachContainerOptionsBuilder::default().stream(true);
        let options = options.stdin(true).stdout(true).stderr(true).build();
        let attached = self.api.attach_container(&self.id, Some(options)).await;
        let AttachContainerResults { output, input } =
            attached.map_err(|e| engine_error("attach to a container", &e))?;
        let exit_code = Arc::new(OnceLock::new());
        let shell = RunningCommand {
            input,
            output: until_marked(output, exit_code.clone()),
            end: CommandEnd::Marked(exit_code),
        };
        self.shell = Mutex::new(Some(shell));
        Ok(())
    }

    /// Runs the first command in process 1; `None` if no shell waits there.
    pub(super) async fn start_first(
        &self,
        exec: &Exec,
    ) -> Option<Result<RunningCommand, SandboxError>> {
        let shell = self.shell.lock();
        let mut shell = shell.unwrap_or_else(PoisonError::into_inner).take()?;
        if shell.write(line(exec).as_bytes()).await.is_err() {
            return Some(Err(self.end().await));
        }
        self.record_start();
        Some(Ok(shell))
    }
}

/// A command as a line of shell. Its environment is that of an exec.
fn line(exec: &Exec) -> String {
    let words = exec.env.iter().chain(&exec.command).map(|w| quoted(w));
    let words: Vec<String> = words.collect();
    let (folder, words) = (quoted(&exec.working_dir), words.join(" "));
    let input = if exec.reads_input { "" } else { "</dev/null" };
    format!("cd {folder} && unset PWD OLDPWD && env {words} {input}; {TELL}\n")
}

fn quoted(word: &str) -> String {
    let word = word.replace('\'', r"'\''");
    format!("'{}'", word.replace('\n', "'\"$swe_ci_newline\"'"))
}

/// Output without the marks, up to the second of them. Sets the exit code that
/// they tell.
fn until_marked(output: RawOutput, exit_code: Arc<OnceLock<i64>>) -> RawOutput {
    let sides = [Unmarked::default(), Unmarked::default()];
    let pieces = stream::try_unfold((output, sides), move |(mut output, mut sides)| {
        let exit_code = exit_code.clone();
        async move {
            if let [Some(code), Some(_)] = sides.each_ref().map(|side| side.exit_code) {
                let _ = exit_code.set(code);
                return Ok(None);
            }
            let piece = match output.try_next().await? {
                Some(LogOutput::StdOut { message }) => LogOutput::StdOut {
                    message: sides[0].push(message),
                },
                Some(other) => LogOutput::StdErr {
                    message: sides[1].push(other.into_bytes()),
                },
                None => return Ok(None),
            };
            Ok(Some((piece, (output, sides))))
        }
    });
    Box::pin(pieces)
}

/// One of the two outputs.
#[derive(Default)]
struct Unmarked {
    /// What may be the beginning of the mark.
    held: BytesMut,
    exit_code: Option<i64>,
}

impl Unmarked {
    /// The bytes that are no part of the mark, as far as that is known.
    fn push(&mut self, bytes: Bytes) -> Bytes {
        if self.held.is_empty() && memchr::memchr(MARK[0], &bytes).is_none() {
            return bytes;
        }
        self.held.extend_from_slice(&bytes);
        let mut from = 0;
        while let Some(at) = memchr::memchr(MARK[0], &self.held[from..]) {
            from += at;
            let (text, code) = self.held[from..].split_at(MARK.len().min(self.held.len() - from));
            if MARK.starts_with(text) {
                if code.len() < CODE_BYTES {
                    return self.held.split_to(from).freeze();
                }
                let code = str::from_utf8(&code[..CODE_BYTES]).unwrap_or_default();
                self.exit_code = code.trim_end().parse().ok();
                return self.held.split_to(from).freeze();
            }
            from += 1;
        }
        self.held.split().freeze()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use swe_ci_base::clock::ExcludedTime;

    use super::*;

    /// The outputs of a shell that gets a command, without the marks, and the exit
    /// code.
    fn run(command: &[&str], reads_input: bool) -> (String, String, i64) {
        let exec = Exec {
            command: command.iter().map(|&word| word.to_owned()).collect(),
            env: vec!["GREETING=good\n day".into()],
            reads_input,
            unprivileged: false,
            wanted: None,
            working_dir: "/usr".into(),
            time_limit: Duration::ZERO,
            off: ExcludedTime::default(),
        };
        let mut shell = Command::new("sh");
        shell.args(["-c", WAIT]).env_clear();
        shell
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let mut input = shell.stdin.take().unwrap();
        let line = line(&exec).replace("exec sleep infinity", "exit");
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"the input\n").unwrap();
        drop(input);
        let output = shell.wait_with_output().unwrap();
        let mut sides = [Unmarked::default(), Unmarked::default()];
        let [out, error] = [output.stdout, output.stderr];
        let out = String::from_utf8(sides[0].push(out.into()).into()).unwrap();
        let error = String::from_utf8(sides[1].push(error.into()).into()).unwrap();
        assert_eq!(sides[0].exit_code, sides[1].exit_code);
        (out, error, sides[0].exit_code.unwrap())
    }

    #[test]
    fn the_shell_runs_a_command_as_it_is() {
        let check = |command: &[&str], reads_input, expect: (&str, i64)| {
            let (out, error, code) = run(command, reads_input);
            assert_eq!((&*out, code), expect, "{error}");
        };
        let words = ["printf", "%s|", "it's", "two\nlines", "$n \"\\ `", ""];
        check(&words, false, ("it's|two\nlines|$n \"\\ `||", 0));
        let script = "echo \"$GREETING\"; pwd; cat; exit 3";
        let of_shell = ["sh", "-c", script];
        check(&of_shell, true, ("good\n day\n/usr\nthe input\n", 3));
        check(&of_shell, false, ("good\n day\n/usr\n", 3));
        check(&["sh", "-c", "kill -9 $$"], false, ("", 137));
        check(&["no-such-program"], false, ("", 127));
        let (environment, _, _) = run(&["env"], false);
        assert!(!environment.contains("PWD") && !environment.contains("swe_ci"));
        let (_, error, _) = run(&["sh", "-c", "printf problem >&2"], false);
        assert_eq!(error, "problem");
    }

    #[test]
    fn marks_are_found_wherever_they_are_cut() {
        let output = b"a\x1e<swe\x1e\x1e<swe-ci: ended> 007\nmore";
        for cut in 0..output.len() {
            let mut side = Unmarked::default();
            let (one, two) = output.split_at(cut);
            let pieces = [one, two].map(|piece| side.push(Bytes::copy_from_slice(piece)));
            assert_eq!(pieces.concat(), b"a\x1e<swe\x1e", "{cut}");
            assert_eq!(side.exit_code, Some(7), "{cut}");
        }
        let mut side = Unmarked::default();
        assert_eq!(
            side.push(Bytes::from_static(b"\x1e<no mark> 001\n")),
            "\x1e<no mark> 001\n"
        );
        assert_eq!(side.exit_code, None);
    }
}
