//! Chooses the requirements for tests among the lists of a project.

use std::collections::BTreeMap;

use super::{Configuration, Files, RequirementLists, TestRequirement, requirements};
use crate::dependencies::project_name;

/// Names of extras, groups and environments for tests, in order of preference.
pub const TEST_NAMES: &str = "\
    test tests testing test-requires unittest unit unit-test pytest hatch-test tests-require \
    test-dependencies ci";
/// Names for everything developers need; less preferred than the former.
pub const DEV_NAMES: &str = "dev develop development devel all";
/// Extras that no test needs.
const NOT_FOR_TESTS: &str = "\
    doc docs documentation lint linting style format typing types build release publish";
/// Requirements files for tests and for developers; `*` stands for the name.
const FILES: &str = "\
    requirements-*.txt requirements_*.txt *-requirements.txt *_requirements.txt \
    requirements/*.txt requirements/requirements-*.txt requirements.*.txt requirements/*.in";

pub(super) fn choose(files: &Files, lists: &RequirementLists, read: &mut Configuration) {
    let [test_names, dev_names] =
        [TEST_NAMES, DEV_NAMES].map(|names| names.split(' ').collect::<Vec<_>>());
    select_named(lists, &test_names, read);
    if read.extras_for_tests.is_empty() && read.groups_for_tests.is_empty() {
        // Anything tox installs is for tests, whatever its name.
        let tox_extras: Vec<&str> = lists.tox_extras.iter().map(String::as_str).collect();
        select_named(lists, &tox_extras, read);
        // An extra that `setup.py` computes is known by its name alone. Pip only
        // warns where there is none.
        if !read.has_test_dependencies() {
            read.extras_for_tests
                .extend(lists.tox_extras.iter().cloned());
        }
    }
    if read.has_test_dependencies() {
        return;
    }
    for names in [&test_names, &dev_names] {
        if *names == dev_names {
            select_named(lists, names, read);
            if read.has_test_dependencies() {
                return;
            }
        }
        let found = from_tools(lists, names).or_else(|| from_file(files, names));
        if let Some((place, list)) = found {
            read.require_for_tests(&list, &place);
            return;
        }
    }
    let list = requirements::read(files, "requirements.txt");
    read.require_for_tests(&list, "requirements.txt");
    if list.is_empty() {
        let others = lists.extras.keys();
        let is_apart = |name: &str| NOT_FOR_TESTS.split(' ').any(|other| other == name);
        let others = others.filter(|name| !is_apart(&project_name(name)));
        read.extras_for_tests.extend(others.cloned());
    }
}

/// A list of a tool with one of the names, and its place.
fn from_tools(lists: &RequirementLists, names: &[&str]) -> Option<(String, Vec<String>)> {
    names.iter().find_map(|wanted| {
        let mut tools = lists.tools.iter();
        let found =
            tools.find(|(_, name, list)| project_name(name) == **wanted && !list.is_empty());
        found.map(|(place, name, list)| (format!("{place}, {name}"), list.clone()))
    })
}

/// The requirements of a file with one of the names, and its path.
fn from_file(files: &Files, names: &[&str]) -> Option<(String, Vec<String>)> {
    let named = |name| FILES.split(' ').map(move |file| file.replace('*', name));
    let paths = names.iter().copied().flat_map(named);
    let mut read = paths.map(|path| (requirements::read(files, &path), path));
    let (list, path) = read.find(|(list, _)| !list.is_empty())?;
    Some((path, list))
}

impl Configuration {
    fn has_test_dependencies(&self) -> bool {
        !self.extras_for_tests.is_empty() || !self.test_requirements.is_empty()
    }

    fn require_for_tests(&mut self, specs: &[String], place: &str) {
        let requirement = |spec: &String| TestRequirement {
            spec: spec.clone(),
            place: place.to_owned(),
        };
        self.test_requirements.extend(specs.iter().map(requirement));
    }
}

fn select_named(lists: &RequirementLists, names: &[&str], read: &mut Configuration) {
    let extra = first_named(names, &lists.extras);
    read.extras_for_tests.extend(extra.cloned());
    if let Some(group) = first_named(names, &lists.groups) {
        read.groups_for_tests.push(group.clone());
        let place = format!("pyproject.toml dependency-groups, {group}");
        read.require_for_tests(&lists.groups[group], &place);
    }
}

fn first_named<'a, T>(names: &[&str], all: &'a BTreeMap<String, T>) -> Option<&'a String> {
    let mut names = names.iter();
    names.find_map(|name| {
        all.keys()
            .find(|key| project_name(key) == project_name(name))
    })
}
