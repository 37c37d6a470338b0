//! Validates a description.

use std::path::{Component, Path};

use anyhow::{anyhow, ensure};

use super::template::{StepValues, Values};
use super::{PROMPT, Program};

/// No description needs this much.
const MAX_BYTES: usize = 64 * 1024;
const RESERVED: [&str; 3] = ["builtin", "elsewhere", "replay"];

pub(super) fn size(text: &str) -> anyhow::Result<()> {
    let bytes = text.len();
    ensure!(
        bytes <= MAX_BYTES,
        "it has {bytes} bytes; at most {MAX_BYTES} are allowed"
    );
    Ok(())
}

pub(super) fn program(program: &Program) -> anyhow::Result<()> {
    let name = program.name.as_str();
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let named = (1..=40).contains(&name.len())
        && name.chars().all(plain)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--");
    ensure!(
        named,
        "name: needs 1 to 40 lower-case letters and digits, and single hyphens between them"
    );
    ensure!(
        !RESERVED.contains(&name),
        "name: `{name}` is a harness of the platform itself"
    );
    let title = program.title.as_str();
    let shown = (1..=60).contains(&title.chars().count()) && !title.chars().any(char::is_control);
    ensure!(shown, "title: needs 1 to 60 characters on one line");
    ensure!(
        is_plain_version(&program.version),
        "version: needs 1 to 60 letters, digits and .-+_"
    );
    install(program)?;
    templates(program)?;
    command("command", &program.command)
}

/// The version becomes part of commands and file names, so nothing else is
/// allowed.
pub(super) fn is_plain_version(version: &str) -> bool {
    (1..=60).contains(&version.len())
        && version.starts_with(|c: char| c.is_ascii_alphanumeric())
        && version
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || ".-+_".contains(c))
}

fn install(program: &Program) -> anyhow::Result<()> {
    for line in &program.install {
        command("install", line)?;
        // A line break would begin another instruction of the image's recipe,
        // and a trailing backslash would swallow the next line.
        let is_one_line = !line.contains(['\n', '\r']) && !line.ends_with('\\');
        ensure!(is_one_line, "install: `{line}` needs to be one line");
    }
    if let Some(tarball) = &program.tarball {
        let name = tarball.replace("{{version}}", "1");
        ensure!(
            swe_ci_core::task::is_plain_name(&name),
            "tarball: `{tarball}` is not a plain file name, with `{{{{version}}}}` in it or not"
        );
    }
    Ok(())
}

fn templates(program: &Program) -> anyhow::Result<()> {
    let step = StepValues {
        gateway: "",
        token: "",
        model: "",
        prompt: "",
        allow_hosted_tools: false,
    };
    let values = Values {
        version: "",
        step: &step,
    };
    for (path, template) in &program.files {
        let plain = |part| matches!(part, Component::Normal(_));
        let inside = Path::new(path).components().all(plain) && !path.ends_with('/');
        ensure!(
            inside && !path.is_empty() && path != PROMPT,
            "files: `{path}` needs to be a path below the harness's folder, and not {PROMPT}"
        );
        let filled = values.fill(template);
        filled.map_err(|problem| anyhow!("files: `{path}`: {problem}"))?;
    }
    for (name, template) in &program.env {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let good = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(plain);
        ensure!(good, "env: `{name}` cannot name a variable");
        ensure!(
            !["HOME", "PATH"].contains(&name.as_str()),
            "env: {name} is set already; the command can add to PATH"
        );
        let filled = values.fill(template);
        filled.map_err(|problem| anyhow!("env: `{name}`: {problem}"))?;
    }
    Ok(())
}

fn command(field: &str, text: &str) -> anyhow::Result<()> {
    ensure!(!text.trim().is_empty(), "{field}: is empty");
    ensure!(!text.contains('\0'), "{field}: holds a NUL");
    ensure!(
        !text.contains("{{"),
        "{field}: values are variables here, as in \"$model\" and \"$prompt_file\""
    );
    Ok(())
}
