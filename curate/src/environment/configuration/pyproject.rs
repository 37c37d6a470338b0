//! `pyproject.toml` and `Pipfile`.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::{Configuration, Declared};
use crate::environment::poetry::of_poetry;

pub(super) fn read(text: &str, read: &mut Configuration, declared: &mut Declared) {
    let file: Value = match text.parse::<Table>() {
        Ok(table) => table.into(),
        Err(error) => {
            let why = error.message().to_owned();
            read.unread
                .push(format!("pyproject.toml is not TOML: {why}"));
            return;
        }
    };
    let at = |path: &[&str]| path.iter().try_fold(&file, |value, key| value.get(key));
    let text_at = |path: &[&str]| at(path).and_then(Value::as_str).map(str::to_owned);

    read.installable |= at(&["build-system"]).is_some() || at(&["project"]).is_some();
    read.build_system.requires = strings(at(&["build-system", "requires"]));
    read.build_system.backend = text_at(&["build-system", "build-backend"]);
    read.name = text_at(&["project", "name"]).or_else(|| text_at(&["tool", "poetry", "name"]));
    read.requires_python = text_at(&["project", "requires-python"]);
    read.dependencies = strings(at(&["project", "dependencies"]));
    read.classified(strings(at(&["project", "classifiers"])).iter());
    read.classified(strings(at(&["tool", "poetry", "classifiers"])).iter());
    read.version_from_vcs |= at(&["tool", "setuptools_scm"]).is_some();
    for (name, list) in table(at(&["project", "optional-dependencies"])) {
        declared.extras.insert(name.clone(), strings(Some(list)));
    }
    let groups: BTreeMap<_, _> = table(at(&["dependency-groups"])).collect();
    for name in groups.keys() {
        let list = group(&groups, name, &mut Vec::new());
        declared.groups.insert((*name).clone(), list);
    }
    if let Some(poetry) = at(&["tool", "poetry"]) {
        of_tool_poetry(poetry, read, declared);
    }
    let tool =
        |place: &str, name: &str, list: Vec<String>| (place.to_owned(), name.to_owned(), list);
    for (name, list) in table(at(&["tool", "pdm", "dev-dependencies"])) {
        declared
            .tools
            .push(tool("pyproject.toml tool.pdm", name, strings(Some(list))));
    }
    let uv = strings(at(&["tool", "uv", "dev-dependencies"]));
    declared
        .tools
        .push(tool("pyproject.toml tool.uv", "dev", uv));
    for (name, env) in table(at(&["tool", "hatch", "envs"])) {
        let mut list = strings(env.get("dependencies"));
        list.extend(strings(env.get("extra-dependencies")));
        declared.of_tox.extend(strings(env.get("features")));
        // Hatch runs the tests of most projects in the environment `default`.
        let name = if name == "default" { "dev" } else { name };
        declared
            .tools
            .push(tool("pyproject.toml tool.hatch", name, list));
    }
}

fn of_tool_poetry(poetry: &Value, read: &mut Configuration, declared: &mut Declared) {
    for (name, versions) in table(poetry.get("dependencies")) {
        if name == "python" {
            let asked = versions.as_str().map(|text| of_poetry("", text));
            let asked = asked.filter(|list| !list.is_empty());
            read.requires_python = read.requires_python.take().or(asked);
        } else if !is_optional(versions) {
            read.dependencies.extend(in_poetry(name, versions));
        }
    }
    for (name, list) in table(poetry.get("extras")) {
        declared.extras.insert(name.clone(), strings(Some(list)));
    }
    for (name, content) in table(poetry.get("group")) {
        let list = packages(content.get("dependencies"));
        let place = "pyproject.toml tool.poetry.group".to_owned();
        declared.tools.push((place, name.clone(), list));
    }
    let dev = packages(poetry.get("dev-dependencies"));
    let place = "pyproject.toml tool.poetry.dev-dependencies".to_owned();
    declared.tools.push((place, "dev".into(), dev));
}

/// A group of PEP 735 with the groups it includes; a circle ends where it closes.
fn group(groups: &BTreeMap<&String, &Value>, name: &str, open: &mut Vec<String>) -> Vec<String> {
    let plain = crate::dependencies::project_name(name);
    let found = groups
        .iter()
        .find(|(n, _)| crate::dependencies::project_name(n) == plain);
    let Some((_, list)) = found.filter(|_| !open.contains(&plain)) else {
        return Vec::new();
    };
    open.push(plain);
    let mut all = Vec::new();
    for item in list.as_array().into_iter().flatten() {
        match item {
            Value::String(spec) => all.push(spec.clone()),
            other => {
                let included = other.get("include-group").and_then(Value::as_str);
                all.extend(
                    included
                        .into_iter()
                        .flat_map(|name| group(groups, name, open)),
                );
            }
        }
    }
    open.pop();
    all
}

pub(super) fn pipfile(text: &str, read: &mut Configuration, declared: &mut Declared) {
    let file = match text.parse::<Table>() {
        Ok(file) => file,
        Err(error) => {
            let why = error.message().to_owned();
            read.unread.push(format!("Pipfile is not TOML: {why}"));
            return;
        }
    };
    if !read.installable {
        read.dependencies.extend(packages(file.get("packages")));
    }
    let dev = packages(file.get("dev-packages"));
    declared
        .tools
        .push(("Pipfile dev-packages".into(), "dev".into(), dev));
    let python = file.get("requires").and_then(|r| r.get("python_version"));
    let python = python.and_then(Value::as_str).map(|v| format!("=={v}.*"));
    read.requires_python = read.requires_python.take().or(python);
}

/// Strings of a list; whatever else is in it is left out.
pub(super) fn strings(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn table(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_table).into_iter().flatten()
}

fn packages(value: Option<&Value>) -> Vec<String> {
    table(value)
        .filter_map(|(name, versions)| in_poetry(name, versions))
        .collect()
}

fn is_optional(versions: &Value) -> bool {
    versions.get("optional").and_then(Value::as_bool) == Some(true)
}

/// A package as Poetry and Pipenv name it. One in a folder is no package of an
/// index; one of a repository is taken by its name.
fn in_poetry(name: &str, versions: &Value) -> Option<String> {
    let versions = match versions {
        // Constraints for several platforms: the first is as good as any.
        Value::Array(all) => all.first()?,
        other => other,
    };
    let Value::Table(table) = versions else {
        return Some(of_poetry(name, versions.as_str()?));
    };
    if table.contains_key("path") {
        return None;
    }
    let said = |key: &str| table.get(key).and_then(Value::as_str);
    let extras = strings(table.get("extras"));
    let name = match extras.is_empty() {
        true => name.to_owned(),
        false => format!("{name}[{}]", extras.join(",")),
    };
    let spec = of_poetry(&name, said("version").unwrap_or("*"));
    Some(match said("markers") {
        Some(marker) => format!("{spec} ; {marker}"),
        None => spec,
    })
}
