//! Code with empty functions: a test that passes on it tests nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use swe_ci_base::code::CodeTree;
use swe_ci_sandbox::{ContainerSpec, Sandbox, SandboxError};

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
    let files = program::answer(container.as_ref(), &[PROGRAM], &input, TIME_LIMIT).await?;
    let emptied = |files: BTreeMap<String, String>| {
        let mut emptied = code.clone();
        for (path, text) in files {
            emptied.insert_file(&path, text);
        }
        emptied
    };
    let why = |why: String| format!("the code could not be emptied: {why}");
    Ok(files.map(emptied).map_err(why))
}
