//! A project's automation installs more than the project declares. That may be
//! for other jobs than the tests, so curation tries it only when tests fail or are
//! skipped.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Files, TestRequirement, tox};
use crate::dependencies::required_project;
use crate::environment::project_files::{is_workflow, text};
use crate::environment::system::SystemPackage;
use crate::ini::entries;
use crate::setup_py::string;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hints {
    /// Debian packages of the workflows.
    pub system_packages: Vec<SystemPackage>,
    /// Requirements of single environments of tox and nox.
    pub requirements: Vec<TestRequirement>,
}

/// More is no hint any more.
const MAX_HINTS: usize = 50;

impl Hints {
    pub(super) fn read(files: &Files) -> Self {
        let mut packages = BTreeSet::new();
        for path in files.keys().filter(|path| is_workflow(path)) {
            let reason = format!("{path} installs it");
            let text = text(files, path).unwrap_or_default();
            let names = apt_packages(&text).into_iter();
            packages.extend(names.map(|name| SystemPackage {
                name,
                reason: reason.clone(),
            }));
        }
        let mut requirements = Vec::new();
        if let Some(ini) = text(files, "tox.ini") {
            let specs = of_tox(&ini).into_iter();
            requirements.extend(specs.map(|spec| (spec, "tox.ini")));
        }
        if let Some(nox) = text(files, "noxfile.py") {
            let specs = of_nox(&nox).into_iter();
            requirements.extend(specs.map(|spec| (spec, "noxfile.py")));
        }
        let requirements = requirements
            .into_iter()
            .map(|(spec, place)| TestRequirement {
                spec,
                place: format!("{place} installs it in some environments"),
            });
        Self {
            system_packages: packages.into_iter().take(MAX_HINTS).collect(),
            requirements: requirements.take(MAX_HINTS).collect(),
        }
    }
}

/// What `apt-get install` and `apt install` install in a workflow.
fn apt_packages(text: &str) -> BTreeSet<String> {
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let commands = joined
        .lines()
        .flat_map(|line| line.split(['&', ';', '|', '#']));
    let mut names = BTreeSet::new();
    for command in commands {
        let mut words = command.split_whitespace();
        let apt = words.find(|word| ["apt-get", "apt"].contains(word));
        if apt.is_none() || !words.by_ref().any(|word| word == "install") {
            continue;
        }
        names.extend(words.filter(|word| is_debian_name(word)).map(str::to_owned));
    }
    names
}

/// A name in Debian's syntax; no option, variable or version.
fn is_debian_name(word: &str) -> bool {
    let part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c);
    word.len() > 1
        && word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.chars().all(part)
}

/// The requirements that tox has in single environments: those with a condition
/// before them, such as `rich: rich`, and those of other sections that run pytest.
fn of_tox(text: &str) -> Vec<String> {
    let entries = entries(text);
    let runs_pytest = |section: &str| {
        let mut commands = entries.iter().filter(|e| e.key == "commands");
        commands.any(|e| e.section == section && e.lines.iter().any(|l| l.contains("pytest")))
    };
    let mut specs = Vec::new();
    for entry in entries.iter().filter(|entry| entry.key == "deps") {
        let is_for_all = entry.section == "testenv";
        let is_for_some = entry.section.starts_with("testenv:") && runs_pytest(entry.section);
        if !is_for_all && !is_for_some {
            continue;
        }
        for line in &entry.lines {
            let plain = (!is_for_all && !line.contains(['{', ':'])).then_some(line.trim());
            let spec = tox::conditional(line).or(plain);
            let spec = spec.filter(|spec| required_project(spec).is_some());
            specs.extend(spec.map(str::to_owned));
        }
    }
    specs
}

/// The texts that nox's sessions pass to `session.install`.
fn of_nox(text: &str) -> Vec<String> {
    let mut specs = Vec::new();
    for call in text.split(".install(").skip(1) {
        let mut rest = call;
        while let Some(at) = rest.find(['"', '\'', ')']) {
            rest = &rest[at..];
            let Some((spec, length)) = string(rest) else {
                break; // the end of the call
            };
            let is_plain = !spec.ends_with(".txt");
            if is_plain && required_project(&spec).is_some() && !specs.contains(&spec) {
                specs.push(spec);
            }
            rest = &rest[length..];
        }
    }
    specs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_workflows() {
        let check = |text: &str, expect: &[&str]| {
            let found: Vec<String> = apt_packages(text).into_iter().collect();
            assert_eq!(found, expect, "{text}");
        };
        check("run: sudo apt-get install -y gettext", &["gettext"]);
        check(
            "- run: |\n    sudo apt update && sudo apt install --yes \\\n      libxml2-dev g++ && make x\n",
            &["g++", "libxml2-dev"],
        );
        check("run: apt-get install $PACKAGES ./a.deb a=1", &[]);
        check("run: pip install gettext", &[]);
        check("run: apt-get update", &[]);
    }

    #[test]
    fn requirements_of_single_environments() {
        let check = |path: &str, text: &str, expect: &[&str]| {
            let files = Files::from([(path.to_owned(), text.as_bytes().to_vec())]);
            let found = Hints::read(&files).requirements;
            let specs: Vec<&str> = found.iter().map(|r| r.spec.as_str()).collect();
            assert_eq!(specs, expect, "{path}: {text}");
        };
        check(
            "tox.ini",
            "[testenv]\ndeps =\n  pytest\n  rich: rich>=1\n  py{37,38}: mock\n  be: {env:X}\n[testenv:docs]\ndeps = x: sphinx\n",
            &["rich>=1", "mock"],
        );
        check(
            "tox.ini",
            "[testenv:py3{7,11}{,-be}]\ndeps =\n  py311: twisted\n  be: better-exceptions\n  coverage\n\
             commands = coverage run -m pytest {posargs}\n[testenv:docs]\ndeps = sphinx\ncommands = sphinx-build\n",
            &["twisted", "better-exceptions", "coverage"],
        );
        check(
            "noxfile.py",
            "def tests(session):\n    session.install('.[test]', '-r', 'a.txt')\n    session.install(\n        \"rich\",\n        'msgpack<2',\n    )\n    print('other')\n",
            &["rich", "msgpack<2"],
        );
    }
}
