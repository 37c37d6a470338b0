//! Reads `setup.py`.

use super::{Configuration, RequirementLists};
use crate::dependencies::required_project;
use crate::setup_py::{Literal, Names, argument, assigned};

pub(super) fn read(text: &str, read: &mut Configuration, lists: &mut RequirementLists) {
    read.installable = true;
    let given = |name| argument(text, name, Names::Unchanged).ok().flatten();
    let strings = |name| given(name).map_or_else(Vec::new, |literal| literal.strings());
    let one = |name| strings(name).into_iter().next();
    read.name = read.name.take().or_else(|| one("name"));
    read.requires_python = read
        .requires_python
        .take()
        .or_else(|| one("python_requires"));
    read.classified(strings("classifiers").iter().flat_map(|text| text.lines()));
    read.dependencies
        .extend(lines(&strings("install_requires")));
    read.build_system
        .requires
        .extend(lines(&strings("setup_requires")));
    read.version_from_vcs |= argument_is_given(text, "use_scm_version");
    if let Some(Literal::Map(extras)) = given("extras_require") {
        for (name, list) in extras {
            lists.extras.entry(name).or_insert(list.strings());
        }
    }
    let tests = lines(&strings("tests_require"));
    lists
        .tools
        .push(("setup.py tests_require".into(), "test".into(), tests));
}

/// One string may contain several requirements, one per line.
fn lines(strings: &[String]) -> Vec<String> {
    let lines = strings.iter().flat_map(|text| text.lines());
    let lines = lines.map(str::trim).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// Whether one of the requirements takes the version from tags
/// (`setuptools-scm`, `hatch-vcs`, `pbr`, …).
pub(super) fn takes_version_from_vcs(requires: &[String]) -> bool {
    const TAKERS: [&str; 7] = [
        "setuptools-scm",
        "hatch-vcs",
        "pbr",
        "poetry-dynamic-versioning",
        "setuptools-git-versioning",
        "flit-scm",
        "versioningit",
    ];
    let projects = requires.iter().filter_map(|spec| required_project(spec));
    projects
        .into_iter()
        .any(|project| TAKERS.contains(&project.as_str()))
}

fn argument_is_given(text: &str, name: &str) -> bool {
    assigned(text, name).is_some_and(|value| !value.trim_start().starts_with("False"))
}
