//! For tests: plays the bootstrap in a fake sandbox, and shows what a suite
//! comes to with moved clues.

use swe_ci_base::code::CodeTree;
use swe_ci_sandbox::{ContainerSpec, Sandbox, SandboxError};

use crate::channel::sealed;
use crate::files;
use crate::settings::Settings;
use crate::{Graded, Grading};

/// The code that the bootstrap was sent on standard input. `None` when that is
/// not what is sent to it.
pub fn code(input: &[u8]) -> Option<CodeTree> {
    let (settings, contents) = received(input)?;
    files::below(&settings.code, &settings.files, contents)
}

/// Grades with moved clues, in a container of its own.
///
/// # Errors
/// As of [`crate::grade`].
pub async fn with_moved_clues(
    sandbox: &dyn Sandbox,
    spec: &ContainerSpec,
    grading: &Grading,
) -> Result<Graded, SandboxError> {
    crate::clues::with_moved_clues(sandbox, spec, grading).await
}

/// What a session prints whose tests have these outcomes, given what the
/// bootstrap was sent on standard input.
pub fn session(input: &[u8], tests: &[(&str, &str)]) -> Option<Vec<u8>> {
    let (settings, _) = received(input)?;
    let key: Vec<u8> = (0..settings.key.len())
        .step_by(2)
        .filter_map(|at| u8::from_str_radix(&settings.key[at..at + 2], 16).ok())
        .collect();
    let key: [u8; 32] = key.try_into().ok()?;
    let ids: Vec<&str> = tests.iter().map(|(id, _)| *id).collect();
    let mut frames = vec![
        serde_json::json!({"kind": "start", "shadowing": []}),
        serde_json::json!({"kind": "collected", "ids": ids}),
    ];
    for (id, outcome) in tests {
        frames.push(serde_json::json!({
            "kind": "report", "id": id, "when": "call", "outcome": outcome,
            "category": outcome, "text": "", "seconds": 0.1,
        }));
    }
    let exit = i64::from(tests.iter().any(|(_, outcome)| *outcome == "failed"));
    frames.push(serde_json::json!({"kind": "finish", "seconds": 0.5}));
    frames.push(serde_json::json!({"kind": "end", "exit": exit, "shadowed": []}));
    let numbered = frames.iter().zip(0..);
    let printed: String = numbered
        .map(|(frame, n)| sealed(&key, n, &frame.to_string()))
        .collect();
    Some(printed.into_bytes())
}

/// The settings and the contents of the files, behind the program.
fn received(input: &[u8]) -> Option<(Settings, &[u8])> {
    let line = |input: &[u8]| input.iter().position(|byte| *byte == b'\n');
    let (length, program) = input.split_at_checked(line(input)?)?;
    let length: usize = std::str::from_utf8(length).ok()?.parse().ok()?;
    let sent = program.get(1 + length..)?;
    let (settings, contents) = sent.split_at_checked(line(sent)?)?;
    Some((serde_json::from_slice(settings).ok()?, &contents[1..]))
}
