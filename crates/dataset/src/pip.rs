//! Reads settings of Python and pip from the base image.

use std::time::Duration;

use anyhow::{Context, ensure};
use swe_ci_base::clock::ExcludedTime;
use swe_ci_core::run::Limits;
use swe_ci_sandbox::{ContainerSpec, Exec, Exit, Purpose, Sandbox};

/// pip's default index.
pub async fn default_index(sandbox: &dyn Sandbox, image: &str) -> anyhow::Result<String> {
    let help = run_python(sandbox, image, &["-m", "pip", "download", "--help"]).await?;
    in_help(&help).context("pip's help names no index; set SWE_CI_PACKAGE_INDEX")
}

/// The version of Python in an image, such as `3.11`.
pub async fn python_version(sandbox: &dyn Sandbox, image: &str) -> anyhow::Result<String> {
    let script = "import sys; print('%d.%d' % sys.version_info[:2])";
    let output = run_python(sandbox, image, &["-c", script]).await?;
    Ok(output.trim().to_owned())
}

/// The addresses of `localhost` in a container of an image, in order.
///
/// # Errors
/// Where it has none: tests that serve and ask would fail there, whatever their code.
pub async fn localhost(sandbox: &dyn Sandbox, image: &str) -> anyhow::Result<String> {
    let script =
        "import socket; print(*sorted({a[4][0] for a in socket.getaddrinfo('localhost', 80)}))";
    let output = run_python(sandbox, image, &["-c", script]).await?;
    Ok(output.trim().to_owned())
}

async fn run_python(
    sandbox: &dyn Sandbox,
    image: &str,
    arguments: &[&str],
) -> anyhow::Result<String> {
    let purpose = Purpose::Preparation("ask Python".into());
    let spec = ContainerSpec::new(image, Limits::default(), purpose);
    let command = std::iter::once(&"python3").chain(arguments);
    let exec = Exec {
        command: command.map(|word| (*word).to_owned()).collect(),
        env: Vec::new(),
        reads_input: false,
        unprivileged: false,
        wanted: None,
        working_dir: "/".into(),
        time_limit: Duration::from_mins(5),
        off: ExcludedTime::default(),
    };
    let mut output = String::new();
    let sandbox = sandbox.open(&spec).await?;
    let exit = sandbox
        .exec(&exec, &mut |line| output.extend([line, "\n"]))
        .await?;
    ensure!(
        exit == Exit::Code(0),
        "python3 in the image {image} failed: {}",
        output.trim()
    );
    Ok(output)
}

/// The default index that the help of pip's commands names.
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
    fn the_default_index_in_pips_help() {
        let help = "  -i, --index-url <url>       Base URL of the Python Package Index (default\n      https://index.example/simple). This should point to a";
        assert_eq!(
            in_help(help).as_deref(),
            Some("https://index.example/simple")
        );
        assert_eq!(in_help("nothing"), None);
    }
}
