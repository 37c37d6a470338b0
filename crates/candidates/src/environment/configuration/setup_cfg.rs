//! Reads `setup.cfg`.

use super::{Configuration, RequirementLists};
use crate::ini::entries;

/// Reads the sections of setuptools.
pub(super) fn read(text: &str, read: &mut Configuration, lists: &mut RequirementLists) {
    for entry in entries(text) {
        let whole = entry.lines.join(",");
        let lines = || entry.lines.iter().map(|line| (*line).to_owned());
        match (entry.section, entry.key.as_str()) {
            ("metadata", "name") => {
                read.name.get_or_insert(whole);
            }
            ("metadata", "classifiers" | "classifier") => read.classified(entry.lines.iter()),
            ("options", "python_requires") => {
                read.requires_python.get_or_insert(whole);
            }
            ("options", "install_requires") => read.dependencies.extend(lines()),
            ("options", "tests_require") => {
                lists.add_tool("setup.cfg tests_require", "test", lines().collect());
            }
            ("options", "setup_requires") => read.build_system.requires.extend(lines()),
            ("options.extras_require", name) => {
                let extra = lists.extras.entry(name.to_owned());
                extra.or_insert_with(|| lines().collect());
            }
            _ => {}
        }
    }
}
