//! Code with empty functions: a test that passes on it tests nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::Duration;

use swe_ci_base::code::CodeTree;
use swe_ci_sandbox::{ContainerSpec, Sandbox, SandboxError};

use crate::{Bootstrap, Grading, Staging, grade_as, is_test, program};

const PROGRAM: &str = include_str!("emptied.py");
const TIME_LIMIT: Duration = Duration::from_mins(2);

/// Loops that wait for a function never end. Tests that need longer test something.
const TEST_SECONDS: NonZeroU16 = NonZeroU16::new(2).unwrap();

/// The tests that pass on the oracle's code with empty functions. `None` where that is
/// not known: the code could not be emptied, or the tests took too long.
///
/// # Errors
/// Failures of the platform.
pub async fn passing_on_empty_functions(
    sandbox: &dyn Sandbox,
    spec: &ContainerSpec,
    grading: &Grading,
) -> Result<Option<BTreeSet<String>>, SandboxError> {
    // Only Python's functions can be.
    if grading.command.plan().is_some() {
        return Ok(None);
    }
    let code = match emptied(sandbox, spec, &grading.oracle).await? {
        Ok(code) => Arc::new(code),
        Err(why) => {
            tracing::warn!("the code could not be emptied: {why}");
            return Ok(None);
        }
    };
    let grading = Grading {
        code,
        ..grading.clone()
    };
    let container = sandbox.open(spec).await?;
    let container = container.as_ref();
    let bootstrap = Bootstrap::start(container, grading.limits).await?;
    let staging = Staging::Bounded {
        test_seconds: TEST_SECONDS,
        traced: BTreeSet::new(),
    };
    let on_line = &mut |_: &str| {};
    let graded = grade_as(staging, container, bootstrap, &grading, on_line);
    let graded = Box::pin(graded).await?;
    let too_long = graded.seconds >= f64::from(grading.limits.test_seconds);
    Ok(match graded.result {
        Ok(report) => Some(report.passing().map(str::to_owned).collect()),
        Err(_) if too_long => None,
        // Mostly the tests cannot even be imported.
        Err(_) => Some(BTreeSet::new()),
    })
}

/// The same code, whose functions outside of the tests do nothing. Inside is why
/// there is none.
async fn emptied(
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
    Ok(files.map(emptied))
}
