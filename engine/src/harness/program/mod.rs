//! Agent programs, each described by a file: what installs it, the files and
//! the environment it needs, and the command of a step.

mod catalogue;
mod check;
mod recipe;
mod words;

use std::collections::BTreeMap;

use anyhow::{anyhow, ensure};
use serde::Deserialize;
use swe_ci_core::agent::Protocol;

pub use catalogue::Catalogue;
pub use recipe::Recipe;
pub use words::Words;

use super::Job;
use crate::code::CodeTree;
use words::Values;

/// Where a program finds its home, below the folder of the job's files.
const HOME: &str = "/app/harness/home";
/// Where the prompt of a step stands, in the same folder.
const PROMPT: &str = "prompt.md";
const PROMPT_FILE: &str = "/app/harness/prompt.md";

/// An agent program as its file describes it, checked.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The name configurations know it by.
    pub name: String,
    pub title: String,
    /// The version that is used unless a run asks for another.
    pub version: String,
    pub protocol: Protocol,
    /// What users of it should know, in a sentence or two.
    pub note: Option<String>,
    runtime: Option<Runtime>,
    /// Name of the package an operator has to bring along.
    tarball: Option<String>,
    #[serde(default)]
    install: Vec<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    command: String,
}

/// What an installation can build on, beside the base image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Runtime {
    /// `node` and `npm`, while it is installed. A program that runs on node
    /// copies it into its layer.
    Node,
    /// A Python of the layer's own, that runs in images with another or none.
    Python,
}

impl Program {
    /// Reads a description. `file` is only named in what is said of it.
    pub fn parse(file: &str, text: &str) -> Result<Self, String> {
        check::size(text)
            .and_then(|()| toml::from_str(text).map_err(|error| error.to_string()))
            .and_then(|program: Self| check::program(&program).map(|()| program))
            .map_err(|problem| format!("{file}: {problem}"))
    }

    /// What one step needs in its container, where the layer is mounted.
    pub fn job(&self, version: &str, words: &Words<'_>) -> anyhow::Result<Job> {
        ensure!(
            check::is_plain_version(version),
            "`{version}` is not a version"
        );
        let values = Values { version, words };
        let bad = |problem: String| anyhow!("{}: {problem}", self.name);
        let mut files = CodeTree::default();
        files.insert_file(PROMPT, words.prompt);
        for (path, template) in &self.files {
            let text = values.fill_file(path, template).map_err(bad)?;
            files.insert_file(path, text);
        }
        let mut env = vec![format!("HOME={HOME}")];
        for (name, template) in &self.env {
            env.push(format!("{name}={}", values.fill(template).map_err(bad)?));
        }
        let script = format!(
            "{}mkdir -p \"$home\"\n{}",
            values.assignments(),
            self.command
        );
        Ok(Job {
            files,
            command: vec!["sh".into(), "-euc".into(), script],
            env,
        })
    }
}

#[cfg(test)]
mod tests;
