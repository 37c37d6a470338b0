//! Code with empty functions: a test that passes on it tests nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context;
use swe_ci_base::code::CodeTree;
use swe_ci_sandbox::{ContainerSpec, Exit, Sandbox, SandboxError};

use crate::{is_test, program};

const PROGRAM: &str = include_str!("emptied.py");
const TIME_LIMIT: Duration = Duration::from_mins(2);

/// The same code, whose functions outside of the tests do nothing. Inside is why
/// there is none.
///
/// # Errors
/// Failures of the platform.
pub async fn emptied(
    sandbox: &dyn Sandbox,
    spec: &ContainerSpec,
    code: &CodeTree,
) -> Result<Result<CodeTree, String>, SandboxError> {
    let sources = code.paths().filter(|path| path.ends_with(".py"));
    let sources = sources.filter(|path| !is_test(path));
    let texts = sources.filter_map(|path| Some((path, str::from_utf8(code.file(path)?).ok()?)));
    let texts: BTreeMap<&str, &str> = texts.collect();
    let container = sandbox.open(spec).await?;
    let input = serde_json::json!(texts);
    let printed = program::run(container.as_ref(), &[PROGRAM], &input, 0, TIME_LIMIT).await?;
    if printed.exit != Some(Exit::Code(0)) {
        let errors = String::from_utf8_lossy(&printed.errors);
        let last = errors.trim().lines().next_back();
        let why = last.unwrap_or("its program said nothing");
        return Ok(Err(format!("the code could not be emptied: {why}")));
    }
    let files = serde_json::from_slice(&printed.output);
    let files: BTreeMap<String, String> = files.context("the program of empty code misspoke")?;
    let mut emptied = code.clone();
    for (path, text) in files {
        emptied.insert_file(&path, text);
    }
    Ok(Ok(emptied))
}
