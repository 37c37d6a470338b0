//! Which of the lists a project has are for its tests.

use std::collections::BTreeMap;

use super::{Configuration, Declared, Files, Wanted, requirements};
use crate::dependencies::project_name;

/// Names under which extras, groups and environments are for tests; the first
/// that is there is taken.
pub const TEST_NAMES: [&str; 12] = [
    "test",
    "tests",
    "testing",
    "test-requires",
    "unittest",
    "unit",
    "unit-test",
    "pytest",
    "hatch-test",
    "tests-require",
    "test-dependencies",
    "ci",
];
/// Names under which everything developers use is; asked after the former.
pub const DEV_NAMES: [&str; 5] = ["dev", "develop", "development", "devel", "all"];
/// Extras that no test wants.
const APART: [&str; 12] = [
    "doc",
    "docs",
    "documentation",
    "lint",
    "linting",
    "style",
    "format",
    "typing",
    "types",
    "build",
    "release",
    "publish",
];
/// Requirements files for tests, and for developers; `*` is a name.
const FILES: [&str; 8] = [
    "requirements-*.txt",
    "requirements_*.txt",
    "*-requirements.txt",
    "*_requirements.txt",
    "requirements/*.txt",
    "requirements/requirements-*.txt",
    "requirements.*.txt",
    "requirements/*.in",
];

pub(super) fn choose(files: &Files, declared: &Declared, read: &mut Configuration) {
    named(declared, &TEST_NAMES, read);
    if read.extras_for_tests.is_empty() && read.groups_for_tests.is_empty() {
        // What tox installs is for tests whatever it is called.
        let of_tox: Vec<&str> = declared.of_tox.iter().map(String::as_str).collect();
        named(declared, &of_tox, read);
    }
    if read.has_tests_from() {
        return;
    }
    let of_tools = |names: &[&str]| {
        let named = |name: &&&str| (**name).to_owned();
        names.iter().find_map(|name| {
            let mut all = declared.tools.iter();
            all.find(|(_, tool, list)| project_name(tool) == named(&name) && !list.is_empty())
        })
    };
    let take = |read: &mut Configuration, list: &[String], place: &str| {
        read.test_requirements
            .extend(list.iter().map(|spec| Wanted {
                spec: spec.clone(),
                place: place.to_owned(),
            }));
    };
    let from_file = |names: &[&str]| {
        let patterns = |name: &str| FILES.map(|pattern| pattern.replace('*', name));
        let mut paths = names.iter().flat_map(|name| patterns(name));
        paths.find_map(|path| {
            let list = requirements::read(files, &path);
            (!list.is_empty()).then_some((path, list))
        })
    };
    for names in [&TEST_NAMES[..], &DEV_NAMES[..]] {
        if names == DEV_NAMES {
            named(declared, names, read);
            if read.has_tests_from() {
                return;
            }
        }
        if let Some((place, name, list)) = of_tools(names) {
            take(read, list, &format!("{place}, {name}"));
            return;
        }
        if let Some((path, list)) = from_file(names) {
            take(read, &list, &path);
            return;
        }
    }
    let list = requirements::read(files, "requirements.txt");
    take(read, &list, "requirements.txt");
    if list.is_empty() {
        let others = declared.extras.keys();
        let others = others.filter(|name| !APART.contains(&project_name(name).as_str()));
        read.extras_for_tests.extend(others.cloned());
    }
}

impl Configuration {
    fn has_tests_from(&self) -> bool {
        !self.extras_for_tests.is_empty() || !self.test_requirements.is_empty()
    }
}

/// The first extra and the first group under one of the names.
fn named(declared: &Declared, names: &[&str], read: &mut Configuration) {
    read.extras_for_tests
        .extend(first(names, &declared.extras).cloned());
    if let Some(group) = first(names, &declared.groups) {
        read.groups_for_tests.push(group.clone());
        let specs = declared.groups[group].iter();
        read.test_requirements.extend(specs.map(|spec| Wanted {
            spec: spec.clone(),
            place: format!("pyproject.toml dependency-groups, {group}"),
        }));
    }
}

fn first<'a, T>(names: &[&str], all: &'a BTreeMap<String, T>) -> Option<&'a String> {
    let mut names = names.iter();
    names.find_map(|name| {
        all.keys()
            .find(|key| project_name(key) == project_name(name))
    })
}
