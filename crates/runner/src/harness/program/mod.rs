//! Agent programs, each described by a file: how to install it, the files and
//! the environment it needs, and the command of a step.

mod catalogue;
mod check;
mod recipe;
mod template;

use std::collections::BTreeMap;

use anyhow::{anyhow, ensure};
use serde::Deserialize;
use swe_ci_core::agent::Protocol;

pub use catalogue::Catalogue;
pub use recipe::Recipe;
pub use template::StepValues;

use super::Job;
use swe_ci_base::code::CodeTree;
use template::Values;

/// A program's home folder, below the folder of the job's files.
const HOME: &str = "/app/harness/home";
/// The prompt of a step, in the same folder.
const PROMPT: &str = "prompt.md";
const PROMPT_FILE: &str = "/app/harness/prompt.md";

/// An agent program as its file describes it, validated.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The name that configurations use.
    pub name: String,
    pub title: String,
    /// The default version.
    pub version: String,
    pub protocol: Protocol,
    /// Notes for users, a sentence or two.
    pub note: Option<String>,
    runtime: Option<Runtime>,
    /// File name of the package that the operator must provide.
    tarball: Option<String>,
    #[serde(default)]
    install: Vec<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    command: String,
}

/// A runtime that an installation can build on, besides the base image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Runtime {
    /// `node` and `npm`, during installation. A program that runs on node
    /// copies it into its layer.
    Node,
    /// A Python of the layer's own, which runs in images with another one or
    /// none.
    Python,
}

impl Program {
    /// Parses a description. `file` only appears in error messages.
    pub fn parse(file: &str, text: &str) -> Result<Self, String> {
        let parse = || {
            check::size(text)?;
            let program = toml::from_str(text)?;
            check::program(&program)?;
            anyhow::Ok(program)
        };
        parse().map_err(|problem| format!("{file}: {problem}"))
    }

    /// The job of one step, for a container with the layer mounted.
    pub fn job(&self, version: &str, step: &StepValues<'_>) -> anyhow::Result<Job> {
        let is_plain = check::is_plain_version(version);
        ensure!(is_plain, "`{version}` is not a version");
        let values = Values { version, step };
        let bad = |problem: String| anyhow!("{}: {problem}", self.name);
        let mut files = CodeTree::default();
        files.insert_file(PROMPT, step.prompt);
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
