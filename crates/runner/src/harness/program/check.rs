//! Validates a description.

use std::path::{Component, Path};

use super::template::{StepValues, Values};
use super::{PROMPT, Program};

/// No description needs this much.
const MAX_BYTES: usize = 64 * 1024;
/// Reserved names.
const RESERVED: [&str; 3] = ["builtin", "elsewhere", "replay"];

pub(super) fn size(text: &str) -> Result<(), String> {
    ensure(text.len() <= MAX_BYTES, || {
        format!(
            "it has {} bytes; at most {MAX_BYTES} are allowed",
            text.len()
        )
    })
}

pub(super) fn program(program: &Program) -> Result<(), String> {
    let name = program.name.as_str();
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let named = (1..=40).contains(&name.len())
        && name.chars().all(plain)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--");
    ensure(named, || {
        "name: needs 1 to 40 lower-case letters and digits, and single hyphens between them".into()
    })?;
    ensure(!RESERVED.contains(&name), || {
        format!("name: `{name}` is a harness of the platform itself")
    })?;
    let title = program.title.as_str();
    let shown = (1..=60).contains(&title.chars().count()) && !title.chars().any(char::is_control);
    ensure(shown, || {
        "title: needs 1 to 60 characters on one line".into()
    })?;
    ensure(is_plain_version(&program.version), || {
        "version: needs 1 to 60 letters, digits and .-+_".into()
    })?;
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

fn install(program: &Program) -> Result<(), String> {
    for line in &program.install {
        command("install", line)?;
        // A line break would begin another instruction of the image's recipe,
        // and a trailing backslash would swallow the next line.
        ensure(
            !line.contains(['\n', '\r']) && !line.ends_with('\\'),
            || format!("install: `{line}` needs to be one line"),
        )?;
    }
    let Some(tarball) = &program.tarball else {
        return Ok(());
    };
    let name = tarball.replace("{{version}}", "1");
    ensure(swe_ci_core::task::is_plain_name(&name), || {
        format!(
            "tarball: `{tarball}` is not a plain file name, with `{{{{version}}}}` in it or not"
        )
    })
}

fn templates(program: &Program) -> Result<(), String> {
    let step = StepValues {
        gateway: "",
        token: "",
        model: "",
        prompt: "",
    };
    let values = Values {
        version: "",
        step: &step,
    };
    for (path, template) in &program.files {
        let plain = |part| matches!(part, Component::Normal(_));
        let inside = Path::new(path).components().all(plain) && !path.ends_with('/');
        ensure(inside && !path.is_empty() && path != PROMPT, || {
            format!(
                "files: `{path}` needs to be a path below the harness's folder, and not {PROMPT}"
            )
        })?;
        let filled = values.fill(template);
        filled.map_err(|problem| format!("files: `{path}`: {problem}"))?;
    }
    for (name, template) in &program.env {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let good = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(plain);
        ensure(good, || format!("env: `{name}` cannot name a variable"))?;
        ensure(!["HOME", "PATH"].contains(&name.as_str()), || {
            format!("env: {name} is set already; the command can add to PATH")
        })?;
        let filled = values.fill(template);
        filled.map_err(|problem| format!("env: `{name}`: {problem}"))?;
    }
    Ok(())
}

fn command(field: &str, text: &str) -> Result<(), String> {
    ensure(!text.trim().is_empty(), || format!("{field}: is empty"))?;
    ensure(!text.contains('\0'), || format!("{field}: holds a NUL"))?;
    ensure(!text.contains("{{"), || {
        format!("{field}: values are variables here, as in \"$model\" and \"$prompt_file\"")
    })
}

fn ensure(holds: bool, problem: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(problem()) }
}
