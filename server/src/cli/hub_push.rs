//! Pushes files to datasets and models of the Hugging Face hub, by the hub's own program `hf`:
//! it speaks the hub's upload, which this program need not.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Stdio;
use std::str::FromStr;

use swe_ci_engine::ImportSource;
use tokio::process::Command;

use super::failure::Failure;
use super::output;
use crate::config::GlobalOptions;

pub(super) const HELP: &str = "\
The program `hf` of the hub pushes (pip install huggingface_hub). The token of
an account that may write there is in HF_TOKEN; HF_ENDPOINT names another hub.
The dataset is created when absent. All files arrive in one commit, or none.";

/// A dataset or a model to push to, `hf:OWNER/NAME[@BRANCH]`.
#[derive(Debug, Clone)]
pub(super) struct HubTarget {
    dataset: String,
    branch: String,
}

impl FromStr for HubTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || "write hf:OWNER/NAME or hf:OWNER/NAME@BRANCH".to_owned();
        let ImportSource::Hub { dataset, revision } = text.parse()? else {
            return Err(form());
        };
        let dataset = dataset.to_string();
        if !dataset.contains('/') {
            return Err(form());
        }
        Ok(Self {
            dataset,
            branch: revision.to_string(),
        })
    }
}

/// What a repository of the hub holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RepositoryKind {
    Dataset,
    Model,
}

impl HubTarget {
    /// `OWNER/NAME`, and the branch or commit.
    pub(super) fn parts(&self) -> (&str, &str) {
        (&self.dataset, &self.branch)
    }

    /// Pushes the files of a folder in one commit.
    pub(super) async fn push(&self, pushed: &Pushed<'_>) -> Result<(), Failure> {
        let Self { dataset, branch } = self;
        let mut command = hf(&["upload", dataset]);
        command.arg(pushed.folder).arg(".");
        let kind = match pushed.kind {
            RepositoryKind::Dataset => "dataset",
            RepositoryKind::Model => "model",
        };
        command.args(["--repo-type", kind, "--revision", branch]);
        command.args(["--commit-message", &pushed.message]);
        command.args(pushed.private.then_some("--private"));
        command.args(pushed.pull_request.then_some("--create-pr"));
        // Progress and problems go to the caller's terminal.
        let done = command.stderr(Stdio::inherit()).output().await;
        let done = done.map_err(|error| no_hf(&error))?;
        if !done.status.success() {
            let what = format!("nothing was pushed to {dataset}: `hf upload` failed, see above");
            return Err(Failure::new(what)
                .next("once that is mended, push again: the hub keeps files that have arrived"));
        }
        let text = String::from_utf8_lossy(&done.stdout);
        let address = text
            .split_whitespace()
            .find(|word| word.starts_with("http"));
        output::note(format_args!(
            "pushed to hf:{dataset}@{branch}: {}",
            address.unwrap_or("as one commit")
        ));
        Ok(())
    }
}

/// A push needs a token: says so before anything else is done.
pub(super) fn require_token(global: &GlobalOptions) -> Result<(), Failure> {
    let config = global.engine(0).map_err(Failure::usage)?;
    if config.hub_token.is_some() {
        return Ok(());
    }
    let what = "HF_TOKEN is not set, and a push needs the token of an account";
    Err(Failure::usage(what)
        .next("make a token that may write, at the hub's page of access tokens"))
}

/// Finds out, before anything is written, whether `hf` is there and the hub
/// accepts the token.
pub(super) async fn ask() -> Result<(), Failure> {
    let asked = hf(&["auth", "whoami"])
        .output()
        .await
        .map_err(|error| no_hf(&error))?;
    match asked.status.success() {
        true => Ok(()),
        false => Err(unasked(&said(&asked.stdout, &asked.stderr))),
    }
}

/// Why the hub did not say whose token this is: it refuses the token, or it does
/// not answer as a hub does.
fn unasked(said: &str) -> Failure {
    let refusals = ["Invalid user token", "401 ", "403 "];
    if refusals.iter().any(|refusal| said.contains(refusal)) {
        let what = format!("the hub does not accept the token in HF_TOKEN: {said}");
        return Failure::new(what).next("set another token; HF_ENDPOINT names the hub");
    }
    Failure::new(format!("the hub does not answer: {said}"))
        .next("look whether HF_ENDPOINT names the hub, and whether the network reaches it; then push again")
}

/// What is pushed in one commit.
pub(super) struct Pushed<'a> {
    pub folder: &'a Path,
    pub message: String,
    /// A dataset that is created shall be private.
    pub private: bool,
    pub kind: RepositoryKind,
    pub pull_request: bool,
}

fn hf(arguments: &[&str]) -> Command {
    let mut command = Command::new("hf");
    command.args(arguments).stdin(Stdio::null());
    // Its other protocol commits in several parts.
    command.env("HF_HUB_DISABLE_XET", "1");
    command.env("HF_HUB_DISABLE_TELEMETRY", "1");
    command.env("NO_COLOR", "1").kill_on_drop(true);
    command
}

fn no_hf(error: &std::io::Error) -> Failure {
    let failure = Failure::new(format!(
        "`hf`, the program of the hub, does not start: {error}"
    ));
    failure.next_if(
        error.kind() == ErrorKind::NotFound,
        "install it: `pipx install huggingface_hub`, or `pip install huggingface_hub`",
    )
}

/// The line of a program's output that tells its problem: of a traceback the
/// last one, below the indented lines of the calls.
fn said(stdout: &[u8], stderr: &[u8]) -> String {
    let text = [stdout, stderr].map(String::from_utf8_lossy);
    let mut lines = text.iter().flat_map(|text| text.lines());
    let line = lines
        .rfind(|line| line.contains("rror") && !line.starts_with(' '))
        .unwrap_or("it says nothing");
    line.trim().chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_datasets_with_an_owner() {
        let check = |text: &str, expect: Option<(&str, &str)>| {
            let target = text.parse::<HubTarget>().ok();
            let found = target.as_ref().map(|t| (&*t.dataset, &*t.branch));
            assert_eq!(found, expect, "{text}");
        };
        check("hf:acme/bench", Some(("acme/bench", "main")));
        check("hf:acme/bench@v2", Some(("acme/bench", "v2")));
        for bad in [
            "acme/bench",
            "hf:bench",
            "hf:",
            "hf:a/b/c",
            "hf:a/b@-x",
            "./folder",
        ] {
            check(bad, None);
        }
    }

    #[test]
    fn problems_are_found_in_the_output() {
        let found = said(b"", b"\nError: Invalid user token.\nHint: log in\n");
        assert_eq!(found, "Error: Invalid user token.");
        let traceback = b"Traceback (most recent call last):\n  File \"x.py\", line 403, in map_errors\n\
            httpcore2.ConnectError: refused\n\nTraceback (most recent call last):\n    raise Error\n\
            httpx2.ConnectError: [Errno 111] Connection refused\n";
        let found = said(b"", traceback);
        assert_eq!(found, "httpx2.ConnectError: [Errno 111] Connection refused");
        assert_eq!(said(b"", b""), "it says nothing");
    }
    #[test]
    fn a_refused_token_is_told_from_a_hub_that_does_not_answer() {
        let check = |said: &str, expect: &str| {
            let what = unasked(said).what;
            assert!(what.starts_with(expect) && what.ends_with(said), "{what}");
        };
        let refused = "the hub does not accept the token";
        check("Error: Invalid user token.", refused);
        check("Error: 403 Forbidden: None.", refused);
        check("Error: Client error '401 Unauthorized' for url", refused);
        let silent = "the hub does not answer";
        check("httpx2.ConnectError: Connection refused", silent);
        check("Error: Server error '500 Internal Server Error'", silent);
        check("it says nothing", silent);
    }
}
