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
    let signs = "project build-system tool.poetry tool.pdm tool.hatch tool.flit tool.uv";
    signs.split(' ').any(|path| at(&file, path).is_some())
}

/// Lists of requirements: their names here, and where they are.
const LISTS: [(&str, &str); 6] = [
    ("build", "build-system.requires"),
    ("project", "project.dependencies"),
    ("uv dev", "tool.uv.dev-dependencies"),
    ("uv constraint", "tool.uv.constraint-dependencies"),
    ("uv override", "tool.uv.override-dependencies"),
    ("flit", "tool.flit.metadata.requires"),
];
/// Tables of such lists.
const GROUPS: [(&str, &str); 5] = [
    ("extra", "project.optional-dependencies"),
    ("group", "dependency-groups"),
    ("poetry extra", "tool.poetry.extras"),
    ("pdm dev", "tool.pdm.dev-dependencies"),
    ("flit extra", "tool.flit.metadata.requires-extra"),
];
/// Tables of packages with their versions.
const PACKAGES: [(&str, &str); 4] = [
    ("poetry", "tool.poetry.dependencies"),
    ("poetry dev", "tool.poetry.dev-dependencies"),
    ("pdm override", "tool.pdm.resolution.overrides"),
    ("uv source", "tool.uv.sources"),
];
/// The files setuptools reads these from are compared as well.
const DYNAMIC: [&str; 2] = [
    "tool.setuptools.dynamic.dependencies",
    "tool.setuptools.dynamic.optional-dependencies",
];
/// Lists in an environment of Hatch.
const HATCH: [&str; 4] = [
    "dependencies",
    "extra-dependencies",
    "features",
    "dependency-groups",
];

pub(super) fn pyproject(text: &str) -> Reading {
    let file = parsed(text)?;
    let at = |path: &str| at(&file, path);
    let mut found = Vec::new();
    for (part, path) in LISTS {
        strings(part, at(path), &mut found);
    }
    for (part, path) in GROUPS {
        groups(part, at(path), &mut found);
    }
    for (part, path) in PACKAGES {
        versions(part, at(path), &mut found);
    }
    for path in DYNAMIC {
        whole("dynamic", at(path), &mut found);
    }
    if let Some(Value::String(python)) = at("project.requires-python") {
        found.push(("python".into(), normalized(&format!("python{python}"))));
    }
    for (group, content) in table(at("tool.poetry.group")) {
        let part = format!("poetry {group}");
        versions(&part, content.get("dependencies"), &mut found);
    }
    for (name, env) in table(at("tool.hatch.envs")) {
        let part = format!("hatch {name}");
        for key in HATCH {
            strings(&part, env.get(key), &mut found);
        }
        whole(&format!("{part} python"), env.get("python"), &mut found);
    }
    Ok(found)
}

type Requirements = Vec<(String, String)>;

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
