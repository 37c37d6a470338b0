//! Lock files. Some contain the project itself with its version. It is skipped,
//! because otherwise every release would end a span.

use serde_json::Value as Json;
use toml::Value;

use super::requirement::project_name;
use super::{Reading, Unparsed, pyproject};

pub(super) fn lock(text: &str) -> Reading {
    let file = pyproject::parsed(text)?;
    // Poetry, PDM and uv; PEP 751.
    let packages = file.get("package").or_else(|| file.get("packages"));
    let packages = packages.and_then(Value::as_array);
    let found = packages.into_iter().flatten().filter_map(package);
    Ok(found.map(|found| ("packages".to_owned(), found)).collect())
}

/// A package with its version, and with the commit if it comes from a
/// repository. None for the project itself.
fn package(package: &Value) -> Option<String> {
    let name = project_name(string_at(package, "name"));
    match folder(package) {
        Some("." | "./" | "") => None,
        // Other packages of the same repository are installed from their
        // folder.
        Some(folder) => Some(format!("{name} @ {folder}")),
        None => Some(format!(
            "{name}=={}{}",
            string_at(package, "version"),
            revision(package)
        )),
    }
}

/// The folder of this repository that contains the package.
fn folder(package: &Value) -> Option<&str> {
    let source = package.get("source");
    let of_uv = ["virtual", "editable", "directory"];
    let of_uv = of_uv.iter().find_map(|key| source?.get(key)?.as_str());
    let of_poetry = || {
        let source = source.filter(|source| string_at(source, "type") == "directory");
        source.map(|source| string_at(source, "url"))
    };
    let of_pdm = || package.get("path")?.as_str();
    let of_pep_751 = || package.get("directory")?.get("path")?.as_str();
    of_uv.or_else(of_poetry).or_else(of_pdm).or_else(of_pep_751)
}

/// The commit a package is taken from, prefixed with ` @ `.
fn revision(package: &Value) -> String {
    let source = package.get("source");
    let commit = None
        .or_else(|| source?.get("resolved_reference")?.as_str())
        .or_else(|| source?.get("git")?.as_str())
        .or_else(|| package.get("revision")?.as_str())
        .or_else(|| package.get("vcs")?.get("commit-id")?.as_str());
    commit
        .map(|commit| format!(" @ {commit}"))
        .unwrap_or_default()
}

fn string_at<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn pipfile_lock(text: &str) -> Reading {
    let file: Json = serde_json::from_str(text)
        .map_err(|error| (Unparsed::Malformed(error.to_string()), text.to_owned()))?;
    let mut found = Vec::new();
    for (part, packages) in file.as_object().into_iter().flatten() {
        if part == "_meta" {
            continue;
        }
        for (name, package) in packages.as_object().into_iter().flatten() {
            let text = |key: &str| package.get(key).and_then(Json::as_str).unwrap_or_default();
            let requirement = format!("{}{}{}", project_name(name), text("version"), text("ref"));
            found.push((part.clone(), requirement));
        }
    }
    Ok(found)
}
