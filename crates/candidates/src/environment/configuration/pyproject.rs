//! Reads `pyproject.toml` and `Pipfile`.

use std::collections::BTreeMap;

use toml::Value;

use super::{Configuration, RequirementLists};
use crate::dependencies::project_name;
use crate::environment::poetry;
use crate::toml_values::{self, table};

pub(super) fn read(text: &str, read: &mut Configuration, lists: &mut RequirementLists) {
    let Some(file) = parsed("pyproject.toml", text, read) else {
        return;
    };
    let at = |path: &str| toml_values::at(&file, path);
    let text_at = |path: &str| at(path).and_then(Value::as_str).map(str::to_owned);

    read.installable |= at("build-system").is_some() || at("project").is_some();
    read.build_system.requires = strings(at("build-system.requires"));
    read.build_system.backend = text_at("build-system.build-backend");
    read.name = text_at("project.name").or_else(|| text_at("tool.poetry.name"));
    read.requires_python = text_at("project.requires-python");
    read.dependencies = strings(at("project.dependencies"));
    read.classified(strings(at("project.classifiers")).iter());
    read.classified(strings(at("tool.poetry.classifiers")).iter());
    read.version_from_vcs |= at("tool.setuptools_scm").is_some();
    for (name, list) in table(at("project.optional-dependencies")) {
        lists.extras.insert(name.clone(), strings(Some(list)));
    }
    let groups: BTreeMap<_, _> = table(at("dependency-groups")).collect();
    for name in groups.keys() {
        let list = group(&groups, name, &mut Vec::new());
        lists.groups.insert((*name).clone(), list);
    }
    if let Some(poetry) = at("tool.poetry") {
        read_poetry(poetry, read, lists);
    }
    for (name, list) in table(at("tool.pdm.dev-dependencies")) {
        lists.add_tool("pyproject.toml tool.pdm", name, strings(Some(list)));
    }
    let uv = strings(at("tool.uv.dev-dependencies"));
    lists.add_tool("pyproject.toml tool.uv", "dev", uv);
    for (name, env) in table(at("tool.hatch.envs")) {
        let mut list = strings(env.get("dependencies"));
        list.extend(strings(env.get("extra-dependencies")));
        lists.tox_extras.extend(strings(env.get("features")));
        // Most projects test in Hatch's environment `default`.
        let name = if name == "default" { "dev" } else { name };
        lists.add_tool("pyproject.toml tool.hatch", name, list);
    }
}

/// A parsed file; records why it is none.
fn parsed(path: &str, text: &str, read: &mut Configuration) -> Option<Value> {
    let file = toml_values::parsed(text);
    file.map_err(|why| read.unread.push(format!("{path} is not TOML: {why}")))
        .ok()
}

fn read_poetry(poetry: &Value, read: &mut Configuration, lists: &mut RequirementLists) {
    for (name, versions) in table(poetry.get("dependencies")) {
        if name == "python" {
            let requires_python = versions.as_str().map(|text| poetry::requirement("", text));
            let requires_python = requires_python.filter(|list| !list.is_empty());
            read.requires_python = read.requires_python.take().or(requires_python);
        } else if !is_optional(versions) {
            read.dependencies.extend(poetry_requirement(name, versions));
        }
    }
    for (name, list) in table(poetry.get("extras")) {
        lists.extras.insert(name.clone(), strings(Some(list)));
    }
    for (name, content) in table(poetry.get("group")) {
        let list = packages(content.get("dependencies"));
        lists.add_tool("pyproject.toml tool.poetry.group", name, list);
    }
    let dev = packages(poetry.get("dev-dependencies"));
    lists.add_tool("pyproject.toml tool.poetry.dev-dependencies", "dev", dev);
}

/// The requirements of a group (PEP 735) and of the groups it includes, even if
/// they include each other.
fn group(groups: &BTreeMap<&String, &Value>, name: &str, open: &mut Vec<String>) -> Vec<String> {
    let plain = project_name(name);
    let found = groups.iter().find(|(n, _)| project_name(n) == plain);
    let Some((_, list)) = found.filter(|_| !open.contains(&plain)) else {
        return Vec::new();
    };
    open.push(plain);
    let mut all = Vec::new();
    for item in list.as_array().into_iter().flatten() {
        match item {
            Value::String(spec) => all.push(spec.clone()),
            other => {
                if let Some(name) = other.get("include-group").and_then(Value::as_str) {
                    all.extend(group(groups, name, open));
                }
            }
        }
    }
    open.pop();
    all
}

pub(super) fn pipfile(text: &str, read: &mut Configuration, lists: &mut RequirementLists) {
    let Some(file) = parsed("Pipfile", text, read) else {
        return;
    };
    if !read.installable {
        read.dependencies.extend(packages(file.get("packages")));
    }
    let dev = packages(file.get("dev-packages"));
    lists.add_tool("Pipfile dev-packages", "dev", dev);
    let python = toml_values::at(&file, "requires.python_version");
    let python = python.and_then(Value::as_str).map(|v| format!("=={v}.*"));
    read.requires_python = read.requires_python.take().or(python);
}

/// The strings of a list; other items are skipped.
fn strings(value: Option<&Value>) -> Vec<String> {
    toml_values::strings(value).map(str::to_owned).collect()
}

fn packages(value: Option<&Value>) -> Vec<String> {
    table(value)
        .filter_map(|(name, versions)| poetry_requirement(name, versions))
        .collect()
}

fn is_optional(versions: &Value) -> bool {
    versions.get("optional").and_then(Value::as_bool) == Some(true)
}

/// A package of Poetry or Pipenv as a requirement. None for a package in a
/// folder; a package from a repository is required by name.
fn poetry_requirement(name: &str, versions: &Value) -> Option<String> {
    let versions = match versions {
        // There may be constraints for several platforms; use the first.
        Value::Array(all) => all.first()?,
        other => other,
    };
    let Value::Table(table) = versions else {
        return Some(poetry::requirement(name, versions.as_str()?));
    };
    if table.contains_key("path") {
        return None;
    }
    let text = |key: &str| table.get(key).and_then(Value::as_str);
    let extras = strings(table.get("extras"));
    let name = match extras.is_empty() {
        true => name.to_owned(),
        false => format!("{name}[{}]", extras.join(",")),
    };
    let spec = poetry::requirement(&name, text("version").unwrap_or("*"));
    Some(match text("markers") {
        Some(marker) => format!("{spec} ; {marker}"),
        None => spec,
    })
}
