//! The Debian packages that distributions, libraries, headers and commands
//! need. Distribution names are in the normal form of PEP 503.

mod tables;

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tables::TOOLS;

use crate::dependencies::project_name;
use crate::text::{self, Table};

static TO_RUN: LazyLock<Table> = LazyLock::new(|| text::table(tables::TO_RUN));
static TO_BUILD: LazyLock<Table> = LazyLock::new(|| text::table(tables::TO_BUILD));
static LIBRARIES: LazyLock<Table> = LazyLock::new(|| text::table(tables::LIBRARIES));
static HEADERS: LazyLock<Table> = LazyLock::new(|| text::table(tables::HEADERS));
static COMMANDS: LazyLock<Table> = LazyLock::new(|| text::table(tables::COMMANDS));

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SystemPackage {
    pub name: String,
    pub reason: String,
}

/// The packages a distribution needs even if it has a wheel.
pub fn for_distribution(name: &str) -> &'static [&'static str] {
    exact(&TO_RUN, &project_name(name)).unwrap_or_default()
}

/// The packages needed to build a distribution, including the compiler.
pub fn for_building(name: &str) -> Vec<&'static str> {
    let name = project_name(name);
    let known = [exact(&TO_RUN, &name), exact(&TO_BUILD, &name)];
    let all = TOOLS.iter().chain(known.into_iter().flatten().flatten());
    let mut packages: Vec<&str> = Vec::new();
    for package in all {
        if !packages.contains(package) {
            packages.push(package);
        }
    }
    packages
}

/// The packages that contain a shared library such as `libGL.so.1`.
pub fn for_library(file: &str) -> Option<&'static [&'static str]> {
    beginning(&LIBRARIES, file)
}

/// The packages that contain a header such as `libxml/xmlversion.h`.
pub fn for_header(path: &str) -> Option<&'static [&'static str]> {
    beginning(&HEADERS, path)
}

/// The packages that contain a command, by its name or path.
pub fn for_command(command: &str) -> Option<&'static [&'static str]> {
    exact(&COMMANDS, command.rsplit('/').next().unwrap_or(command))
}

fn exact(table: &'static Table, name: &str) -> Option<&'static [&'static str]> {
    let found = table.iter().find(|(key, _)| key == name);
    found.map(|(_, packages)| packages.as_slice())
}

fn beginning(table: &'static Table, name: &str) -> Option<&'static [&'static str]> {
    let found = table.iter().find(|(key, _)| name.starts_with(key));
    found.map(|(_, packages)| packages.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_debian() {
        assert_eq!(for_distribution("GitPython"), ["git"]);
        assert_eq!(for_distribution("lxml"), [""; 0], "it has wheels");
        assert_eq!(
            for_building("lxml"),
            ["gcc", "python3-dev", "libxml2-dev", "libxslt1-dev"]
        );
        assert_eq!(
            for_building("psycopg2"),
            ["gcc", "python3-dev", "libpq-dev"]
        );
        assert_eq!(for_building("unheard-of"), ["gcc", "python3-dev"]);
        assert_eq!(for_library("libGL.so.1"), Some(&["libgl1"][..]));
        assert_eq!(for_library("libunheard.so"), None);
        assert_eq!(for_header("libxml/xmlversion.h").unwrap()[0], "libxml2-dev");
        assert_eq!(for_command("/usr/bin/git"), Some(&["git"][..]));
        assert_eq!(for_command("unheard"), None);
    }

    /// Names in the tables are normalized, and no table has a name twice.
    #[test]
    fn tables_are_well_formed() {
        for (name, packages) in TO_RUN.iter().chain(TO_BUILD.iter()) {
            assert_eq!(project_name(name), *name);
            assert!(!packages.is_empty(), "{name}");
        }
        for table in [&TO_RUN, &TO_BUILD, &LIBRARIES, &HEADERS, &COMMANDS] {
            for (at, (name, packages)) in table.iter().enumerate() {
                assert!(
                    !table[..at].iter().any(|(other, _)| other == name),
                    "{name} twice"
                );
                let is_name = |p: &&str| {
                    p.bytes()
                        .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
                };
                assert!(packages.iter().all(is_name), "{name}: {packages:?}");
            }
        }
    }
}
