//! What the base image says of Python and its packages.

use std::time::Duration;

use anyhow::{Context, ensure};
use swe_ci_core::run::Limits;

use crate::clock::OffClock;
use crate::sandbox::{BoxSpec, Exec, Exit, Purpose, Sandbox};

/// pip's own default index.
pub async fn default_index(sandbox: &dyn Sandbox, image: &str) -> anyhow::Result<String> {
    let help = ask(sandbox, image, &["-m", "pip", "download", "--help"]).await?;
    in_help(&help).context("pip's help names no index; set SWE_CI_PACKAGE_INDEX")
}

/// The version of Python in an image: `3.11`.
pub async fn python_version(sandbox: &dyn Sandbox, image: &str) -> anyhow::Result<String> {
    let script = "import sys; print('%d.%d' % sys.version_info[:2])";
    let said = ask(sandbox, image, &["-c", script]).await?;
    Ok(said.trim().to_owned())
}

async fn ask(sandbox: &dyn Sandbox, image: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let purpose = Purpose::Preparation("ask Python".into());
    let spec = BoxSpec::new(image, Limits::default(), purpose);
    let command = std::iter::once(&"python3").chain(arguments);
    let exec = Exec {
        command: command.map(|word| (*word).to_owned()).collect(),
        env: Vec::new(),
        working_dir: "/".into(),
        time_limit: Duration::from_mins(1),
        off: OffClock::default(),
    };
    let mut said = String::new();
    let sandbox = sandbox.open(&spec).await?;
    let exit = sandbox
        .exec(&exec, &mut |line| said.extend([line, "\n"]))
        .await?;
    ensure!(
        exit == Exit::Code(0),
        "python3 of the image {image} did not answer: {}",
        said.trim()
    );
    Ok(said)
}

/// The index that the help of pip's commands names as the default.
fn in_help(help: &str) -> Option<String> {
    let text = help.split("--index-url").nth(1)?;
    let start = text.find("https://")?;
    let url: String = text[start..]
        .chars()
        .take_while(|c| !c.is_whitespace() && *c != ')')
        .collect();
    Some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pip_tells_its_default() {
        let help = "  -i, --index-url <url>       Base URL of the Python Package Index (default\n      https://index.example/simple). This should point to a";
        assert_eq!(
            in_help(help).as_deref(),
            Some("https://index.example/simple")
        );
        assert_eq!(in_help("nothing"), None);
    }
}
