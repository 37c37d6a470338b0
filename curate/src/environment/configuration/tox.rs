//! What tox installs and sets for tests.

use super::requirements::{self, Line};
use super::{Configuration, Declared, Files};
use crate::ini::entries;

/// The settings of tox in a file of this name, as an INI file.
pub(super) fn text_of(path: &str, text: &str) -> Option<String> {
    match path {
        "pyproject.toml" => {
            let file = text.parse::<toml::Table>().ok()?;
            let tox = file.get("tool")?.get("tox")?.get("legacy_tox_ini")?;
            Some(tox.as_str()?.to_owned())
        }
        _ => Some(text.to_owned()),
    }
}

/// `deps`, `extras`, `dependency_groups` and `setenv` of `[testenv]`. Lines for
/// some environments only (`py37: mock`), substitutions (`{…}`) and the project
/// itself are left out.
pub(super) fn read(
    path: &str,
    text: &str,
    files: &Files,
    read: &mut Configuration,
    declared: &mut Declared,
) {
    let mut deps = Vec::new();
    for entry in entries(text) {
        if !["testenv", "tox:testenv"].contains(&entry.section) {
            continue;
        }
        let lines = entry.lines.iter();
        match entry.key.as_str() {
            "deps" => {
                for line in lines.filter(|line| is_for_all(line)) {
                    match requirements::line_of(line) {
                        Some(Line::Requirement(spec)) => deps.push(spec),
                        Some(Line::Include(file)) => {
                            let file = file.replace("{toxinidir}/", "").replace("{tox_root}/", "");
                            deps.extend(requirements::read(
                                files,
                                &requirements::beside("", &file),
                            ));
                        }
                        None => {}
                    }
                }
            }
            "extras" | "dependency_groups" => {
                let names = lines.flat_map(|line| line.split(','));
                let names = names.map(|name| name.trim().to_owned());
                declared
                    .of_tox
                    .extend(names.filter(|name| !name.is_empty()));
            }
            "setenv" | "set_env" => {
                for line in lines.filter(|line| is_for_all(line)) {
                    if let Some((name, value)) = line.split_once('=') {
                        read.env_vars
                            .push((name.trim().into(), value.trim().into()));
                    }
                }
            }
            _ => {}
        }
    }
    if !deps.is_empty() {
        declared
            .tools
            .push((format!("{path} testenv deps"), "test".into(), deps));
    }
    // What is for tox's own folders means nothing elsewhere, and no file of the
    // target says what pip may install (`PIP_FIND_LINKS` has no days).
    read.env_vars.retain(|(name, value)| {
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_plain = !value.contains(['{', '$', '\'', '"', '\\']);
        let is_apart = ["PYTHONPATH", "PATH"].contains(&name.as_str()) || name.starts_with("PIP_");
        is_name && !name.is_empty() && is_plain && !is_apart
    });
}

/// Whether a line has no condition before it, and nothing tox would put in but
/// its own folder.
fn is_for_all(line: &str) -> bool {
    let line = line.replace("{toxinidir}", "").replace("{tox_root}", "");
    let head = line.split([' ', '=', '<', '>']).next().unwrap_or_default();
    !line.contains('{') && !head.ends_with(':')
}
