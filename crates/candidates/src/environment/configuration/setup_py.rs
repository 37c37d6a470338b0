//! Reads `setup.py`.

use super::{Configuration, RequirementLists};
use crate::dependencies::required_project;
use crate::setup_py::{Literal, Names, argument, assigned};

pub(super) fn read(text: &str, read: &mut Configuration, lists: &mut RequirementLists) {
    read.installable = true;
    let given = |name| argument(text, name, Names::Unchanged).ok().flatten();
    let strings = |name| given(name).map_or_else(Vec::new, |literal| literal.strings());
    // One string may contain several requirements, one per line.
    let lines = |name| {
        let strings = strings(name);
        let lines = strings.iter().flat_map(|text| text.lines()).map(str::trim);
        let lines = lines.filter(|line| !line.is_empty()).map(str::to_owned);
        lines.collect::<Vec<_>>()
    };
    let one = |name| strings(name).into_iter().next();
    read.name = read.name.take().or_else(|| one("name"));
    let python = read.requires_python.take();
    read.requires_python = python.or_else(|| one("python_requires"));
    read.classified(lines("classifiers").iter());
    read.dependencies.extend(lines("install_requires"));
    read.build_system.requires.extend(lines("setup_requires"));
    let from_vcs = assigned(text, "use_scm_version");
    read.version_from_vcs |= from_vcs.is_some_and(|value| !value.trim_start().starts_with("False"));
    if let Some(Literal::Map(extras)) = given("extras_require") {
        for (name, list) in extras {
            lists.extras.entry(name).or_insert(list.strings());
        }
    }
    lists.add_tool("setup.py tests_require", "test", lines("tests_require"));
}

/// Whether one of the requirements takes the version from tags
/// (`setuptools-scm`, `hatch-vcs`, `pbr`, …).
pub(super) fn takes_version_from_vcs(requires: &[String]) -> bool {
    const TAKERS: &str = "\
        setuptools-scm hatch-vcs pbr poetry-dynamic-versioning setuptools-git-versioning \
        flit-scm versioningit";
    let mut projects = requires.iter().filter_map(|spec| required_project(spec));
    projects.any(|project| TAKERS.split(' ').any(|taker| taker == project))
}
