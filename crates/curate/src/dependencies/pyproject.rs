//! Manifests in TOML: `pyproject.toml` and `Pipfile`.

use toml::Value;

use super::requirement::{normalized, project_name};
use super::{Reading, Unparsed};
use crate::toml_values::{self, at, table};

/// A parsed TOML file, or its text and the parser's message.
pub(super) fn parsed(text: &str) -> Result<Value, (Unparsed, String)> {
    toml_values::parsed(text).map_err(|why| (Unparsed::Malformed(why), text.to_owned()))
}

/// Whether a `pyproject.toml` declares a project, a build system or a packaging
/// tool.
pub(super) fn declares(text: &str) -> bool {
    let Ok(file) = parsed(text) else { return false };
    let tools = ["poetry", "pdm", "hatch", "flit", "uv"];
    file.get("project").is_some()
        || file.get("build-system").is_some()
        || (file.get("tool")).is_some_and(|tool| tools.iter().any(|name| tool.get(name).is_some()))
}

pub(super) fn pyproject(text: &str) -> Reading {
    let file = parsed(text)?;
    let mut found = Vec::new();
    standard(&file, &mut found);
    let Some(tool) = file.get("tool") else {
        return Ok(found);
    };
    poetry(tool.get("poetry"), &mut found);
    pdm(tool.get("pdm"), &mut found);
    hatch(tool.get("hatch"), &mut found);
    uv(tool.get("uv"), &mut found);
    let flit = at(Some(tool), &["flit", "metadata"]);
    strings("flit", at(flit, &["requires"]), &mut found);
    groups("flit extra", at(flit, &["requires-extra"]), &mut found);
    // The files setuptools reads these from are compared as well.
    let dynamic = at(Some(tool), &["setuptools", "dynamic"]);
    for key in ["dependencies", "optional-dependencies"] {
        whole("dynamic", at(dynamic, &[key]), &mut found);
    }
    Ok(found)
}

type Requirements = Vec<(String, String)>;

/// PEP 518, 621 and 735.
fn standard(file: &Value, found: &mut Requirements) {
    let file = Some(file);
    strings("build", at(file, &["build-system", "requires"]), found);
    strings("project", at(file, &["project", "dependencies"]), found);
    if let Some(Value::String(python)) = at(file, &["project", "requires-python"]) {
        found.push(("python".into(), normalized(&format!("python{python}"))));
    }
    let extras = at(file, &["project", "optional-dependencies"]);
    groups("extra", extras, found);
    groups("group", at(file, &["dependency-groups"]), found);
}

fn poetry(poetry: Option<&Value>, found: &mut Requirements) {
    versions("poetry", at(poetry, &["dependencies"]), found);
    versions("poetry dev", at(poetry, &["dev-dependencies"]), found);
    for (group, content) in table(at(poetry, &["group"])) {
        let part = format!("poetry {group}");
        versions(&part, content.get("dependencies"), found);
    }
    groups("poetry extra", at(poetry, &["extras"]), found);
}

fn pdm(pdm: Option<&Value>, found: &mut Requirements) {
    groups("pdm dev", at(pdm, &["dev-dependencies"]), found);
    versions("pdm override", at(pdm, &["resolution", "overrides"]), found);
}

fn hatch(hatch: Option<&Value>, found: &mut Requirements) {
    for (name, env) in table(at(hatch, &["envs"])) {
        let part = format!("hatch {name}");
        for key in [
            "dependencies",
            "extra-dependencies",
            "features",
            "dependency-groups",
        ] {
            strings(&part, env.get(key), found);
        }
        whole(&format!("{part} python"), env.get("python"), found);
    }
}

fn uv(uv: Option<&Value>, found: &mut Requirements) {
    for (part, key) in [
        ("uv dev", "dev-dependencies"),
        ("uv constraint", "constraint-dependencies"),
        ("uv override", "override-dependencies"),
    ] {
        strings(part, at(uv, &[key]), found);
    }
    versions("uv source", at(uv, &["sources"]), found);
}

pub(super) fn pipfile(text: &str) -> Reading {
    let file = parsed(text)?;
    let mut found = Vec::new();
    // Every other table is a category of packages.
    let settings = ["source", "scripts", "pipenv"];
    for (part, items) in table(Some(&file)) {
        if !settings.contains(&part.as_str()) {
            versions(part, Some(items), &mut found);
        }
    }
    Ok(found)
}

/// A list of requirements.
fn strings(part: &str, value: Option<&Value>, found: &mut Requirements) {
    for item in value.and_then(Value::as_array).into_iter().flatten() {
        let requirement = match item {
            Value::String(text) => normalized(text),
            // `{include-group = "…"}` of PEP 735.
            other => other.to_string(),
        };
        found.push((part.to_owned(), requirement));
    }
}

/// A table of lists of requirements.
fn groups(part: &str, value: Option<&Value>, found: &mut Requirements) {
    for (group, items) in table(value) {
        strings(&format!("{part} {group}"), Some(items), found);
    }
}

/// Packages with their version constraints, as text or as a table.
fn versions(part: &str, items: Option<&Value>, found: &mut Requirements) {
    for (name, version) in table(items) {
        let version = match version {
            Value::String(text) => text.split_whitespace().collect(),
            other => other.to_string(),
        };
        let package = format!("{} {version}", project_name(name));
        found.push((part.to_owned(), package));
    }
}

/// A value compared as written.
fn whole(part: &str, value: Option<&Value>, found: &mut Requirements) {
    found.extend(value.map(|value| (part.to_owned(), value.to_string())));
}
