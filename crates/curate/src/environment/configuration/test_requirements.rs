//! Chooses the requirements for tests among the lists of a project.

use std::collections::BTreeMap;

use super::{Configuration, Files, RequirementLists, TestRequirement, requirements};
use crate::dependencies::project_name;

/// Names of extras, groups and environments for tests, in order of preference.
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
/// Names for everything developers need; less preferred than the former.
pub const DEV_NAMES: [&str; 5] = ["dev", "develop", "development", "devel", "all"];
/// Extras that no test needs.
const NOT_FOR_TESTS: [&str; 12] = [
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
/// Requirements files for tests and for developers; `*` stands for the name.
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

pub(super) fn choose(files: &Files, lists: &RequirementLists, read: &mut Configuration) {
    select_named(lists, &TEST_NAMES, read);
    if read.extras_for_tests.is_empty() && read.groups_for_tests.is_empty() {
        // Anything tox installs is for tests, whatever its name.
        let tox_extras: Vec<&str> = lists.tox_extras.iter().map(String::as_str).collect();
        select_named(lists, &tox_extras, read);
    }
    if read.has_test_dependencies() {
        return;
    }
    let from_tools = |names: &[&str]| {
        names.iter().find_map(|name| {
            let mut all = lists.tools.iter();
            all.find(|(_, tool, list)| project_name(tool) == **name && !list.is_empty())
        })
    };
    let take = |read: &mut Configuration, list: &[String], place: &str| {
        read.test_requirements
            .extend(list.iter().map(|spec| TestRequirement {
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
            select_named(lists, names, read);
            if read.has_test_dependencies() {
                return;
            }
        }
        if let Some((place, name, list)) = from_tools(names) {
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
        let others = lists.extras.keys();
        let others = others.filter(|name| !NOT_FOR_TESTS.contains(&project_name(name).as_str()));
        read.extras_for_tests.extend(others.cloned());
    }
}

impl Configuration {
    fn has_test_dependencies(&self) -> bool {
        !self.extras_for_tests.is_empty() || !self.test_requirements.is_empty()
    }
}

/// Selects the first extra and the first group with one of the names.
fn select_named(lists: &RequirementLists, names: &[&str], read: &mut Configuration) {
    read.extras_for_tests
        .extend(first_named(names, &lists.extras).cloned());
    if let Some(group) = first_named(names, &lists.groups) {
        read.groups_for_tests.push(group.clone());
        let specs = lists.groups[group].iter();
        read.test_requirements
            .extend(specs.map(|spec| TestRequirement {
                spec: spec.clone(),
                place: format!("pyproject.toml dependency-groups, {group}"),
            }));
    }
}

fn first_named<'a, T>(names: &[&str], all: &'a BTreeMap<String, T>) -> Option<&'a String> {
    let mut names = names.iter();
    names.find_map(|name| {
        all.keys()
            .find(|key| project_name(key) == project_name(name))
    })
}
