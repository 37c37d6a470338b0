//! Reads tox's settings.

use super::requirements::{self, Line};
use super::{Configuration, Files, RequirementLists};
use crate::ini::entries;
use crate::toml_values::{self, at};

/// Tox's settings from a file, as INI text.
pub(super) fn ini_text(path: &str, text: &str) -> Option<String> {
    if path != "pyproject.toml" {
        return Some(text.to_owned());
    }
    let file = toml_values::parsed(text).ok()?;
    let settings = at(&file, "tool.tox.legacy_tox_ini")?;
    Some(settings.as_str()?.to_owned())
}

/// Reads `deps`, `extras`, `dependency_groups` and `setenv` of `[testenv]`.
/// Lines for some environments only (`py37: mock`), substitutions (`{…}`) and
/// the project itself are skipped.
pub(super) fn read(
    path: &str,
    text: &str,
    files: &Files,
    read: &mut Configuration,
    lists: &mut RequirementLists,
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
                            let path = requirements::beside("", &file);
                            deps.extend(requirements::read(files, &path));
                        }
                        None => {}
                    }
                }
            }
            "extras" | "dependency_groups" => {
                let names = lines.flat_map(|line| line.split(','));
                let names = names.map(|name| name.trim().to_owned());
                lists
                    .tox_extras
                    .extend(names.filter(|name| !name.is_empty() && !name.contains('{')));
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
        lists.add_tool(&format!("{path} testenv deps"), "test", deps);
    }
    // Paths in tox's own folders mean nothing elsewhere, and no file of the
    // target may decide which packages pip installs (`PIP_FIND_LINKS` has no
    // upload times).
    read.env_vars.retain(|(name, value)| {
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_plain = !value.contains(['{', '$', '\'', '"', '\\']);
        let is_apart = ["PYTHONPATH", "PATH"].contains(&name.as_str()) || name.starts_with("PIP_");
        is_name && !name.is_empty() && is_plain && !is_apart
    });
}

/// The requirement of a line with a condition before it, such as `rich: rich`.
pub(super) fn conditional(line: &str) -> Option<&str> {
    let (condition, spec) = line.split_once(": ")?;
    let spec = spec.trim();
    (!condition.trim().contains(' ') && !spec.contains('{')).then_some(spec)
}

/// Whether a line has no condition before it, and no substitution except tox's
/// own folder.
fn is_for_all(line: &str) -> bool {
    let line = line.replace("{toxinidir}", "").replace("{tox_root}", "");
    let head = line.split([' ', '=', '<', '>']).next().unwrap_or_default();
    !line.contains('{') && !head.ends_with(':')
}
