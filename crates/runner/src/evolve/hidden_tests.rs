//! In the mode rdd the programmer has no tests. The folder is not put into its
//! container; here copies of it are removed that the task's image may hold: an
//! installed package with its tests, or a checkout.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use swe_ci_base::blocking::blocking;
use swe_ci_base::clock::ExcludedTime;
use swe_ci_base::code::{CodeTree, Entry};
use swe_ci_base::digest::sha256_hex;
use swe_ci_core::finding::Finding;
use swe_ci_core::requirement::Document;
use swe_ci_core::task::TestCommand;
use swe_ci_sandbox::{Exec, Exit, SandboxContainer};

use super::failure::Failure;
use super::paths::APP;

/// Files below this size, in bytes, tell nothing: an empty `__init__.py`.
const LEAST_BYTES: usize = 64;
const SECONDS: u64 = 300;
const REMOVE_COPIES: &str = include_str!("remove_copies.sh");
const LIST: &str = "hidden-tests";

/// Digests of the tests' files that tell what is expected.
#[derive(Debug)]
pub(super) struct HiddenTests(BTreeSet<String>);

impl HiddenTests {
    pub fn new<'a>(
        trees: impl IntoIterator<Item = &'a CodeTree>,
        is_test: impl Fn(&str) -> bool,
    ) -> Self {
        let entries = trees.into_iter().flat_map(CodeTree::iter);
        let digest = |(path, entry): (&str, &Entry)| match entry {
            Entry::File { bytes, .. } if is_test(path) && bytes.len() >= LEAST_BYTES => {
                Some(sha256_hex(bytes))
            }
            _ => None,
        };
        Self(entries.filter_map(digest).collect())
    }

    /// Removes every copy from a container that does not have the code yet.
    pub async fn remove_copies(&self, sandbox: &dyn SandboxContainer) -> Result<(), Failure> {
        let mut list = CodeTree::default();
        if self.0.is_empty() {
            return Ok(());
        }
        let digests = self.0.iter().map(String::as_str);
        list.insert_file(LIST, digests.collect::<Vec<_>>().join("\n"));
        let path = format!("{APP}/{LIST}");
        let command = ["sh", "-c", REMOVE_COPIES, "sh", &path];
        let exec = Exec {
            command: command.map(str::to_owned).into(),
            env: Vec::new(),
            reads_input: false,
            unprivileged: false,
            wanted: None,
            working_dir: "/".into(),
            time_limit: Duration::from_secs(SECONDS),
            off: ExcludedTime::default(),
        };
        let mut said = Vec::new();
        let mut on_line = |line: &str| said.push(line.to_owned());
        let parts = [(APP, &list)];
        match sandbox.exec_with(&parts, &exec, &mut on_line).await? {
            Exit::Code(0) => Ok(()),
            exit => {
                let said = said.join("\n");
                let why = anyhow::anyhow!(
                    "copies of the tests could not be removed from the image ({exit:?}): {said}"
                );
                Err(why.into())
            }
        }
    }
}

/// A finding about what the document shares with the tests.
pub(super) async fn copied(
    document: Document,
    oracle: Arc<CodeTree>,
    command: TestCommand,
) -> anyhow::Result<Option<Finding>> {
    let compare = move || {
        let texts = oracle.iter().filter_map(|(path, entry)| match entry {
            Entry::File { bytes, .. } => Some((path, str::from_utf8(bytes).ok()?)),
            Entry::Symlink { .. } => None,
        });
        let (tests, others): (Vec<_>, Vec<_>) = texts.partition(|(path, _)| command.is_test(path));
        let is_source = |path: &str| command.plan().is_some() || path.ends_with(".py");
        let sources = others.iter().filter(|(path, _)| is_source(path));
        Ok(document.copied(tests.iter().map(|file| file.1), sources.map(|file| file.1)))
    };
    blocking(compare).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_tests_that_tell_something() {
        let mut code = CodeTree::default();
        code.insert_file("tests/__init__.py", "");
        code.insert_file("tests/test_a.py", "x".repeat(64));
        code.insert_file("tests/data/test_b.py", "y".repeat(64));
        code.insert_file("src/test_c.py", "z".repeat(64));
        let mut other = CodeTree::default();
        other.insert_file("tests/test_a.py", "x".repeat(64));
        let HiddenTests(hidden) =
            HiddenTests::new([&code, &other], |path| TestCommand::PLATFORM.is_test(path));
        assert_eq!(hidden.len(), 2);
    }
}
