//! What a programmer finds in its container.

use std::sync::Arc;

use swe_ci_base::code::CodeTree;
use swe_ci_core::agent_files::AgentFiles;
use swe_ci_core::requirement::Mode;
use swe_ci_core::task::TestCommand;
use swe_ci_sandbox::{CODE_FOLDER, SandboxContainer};

use super::failure::Failure;
use super::hidden_tests::HiddenTests;
use super::paths::{APP, DOCUMENT};

/// The files of a programmer, beside those of its harness.
#[derive(Debug)]
pub struct ProgrammerFiles {
    code: Arc<CodeTree>,
    requirements: CodeTree,
}

impl ProgrammerFiles {
    /// In the mode rdd the code comes without its tests.
    pub fn new(mode: Mode, command: &TestCommand, code: &Arc<CodeTree>, document: Vec<u8>) -> Self {
        let code = match mode {
            Mode::Tdd | Mode::Impossible => code.clone(),
            Mode::Rdd => {
                let is_test = |path: &str| command.is_test(path);
                Arc::new(CodeTree::clone(code).with_files_of(is_test, &CodeTree::default()))
            }
        };
        let mut requirements = CodeTree::default();
        requirements.insert_file(DOCUMENT, document);
        Self { code, requirements }
    }

    /// By their folder in the container.
    pub fn parts(&self) -> [(&str, &CodeTree); 2] {
        [(CODE_FOLDER, &self.code), (APP, &self.requirements)]
    }
}

/// The files that a run gives its agents, as they lie in `/app`.
pub fn agent_files(files: &AgentFiles) -> CodeTree {
    let mut tree = CodeTree::default();
    for (path, text) in files.iter() {
        tree.insert_file(path, text.to_owned());
    }
    tree
}

/// Removes what the task's image has of the tests of these trees, as the mode rdd
/// asks, from a container that does not have the code yet.
///
/// # Errors
/// Failures of the platform.
pub async fn remove_hidden_tests(
    sandbox: &dyn SandboxContainer,
    command: &TestCommand,
    trees: [&CodeTree; 2],
) -> anyhow::Result<()> {
    match HiddenTests::new(trees, |path| command.is_test(path))
        .remove_copies(sandbox)
        .await
    {
        Ok(()) => Ok(()),
        Err(Failure::Platform(error)) => Err(error),
        Err(Failure::Ended(_, why)) => Err(anyhow::anyhow!(why)),
    }
}
