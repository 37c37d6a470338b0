//! The licences that manifests state: names, expressions and classifiers.

use super::licence::{plain, recognised};
use crate::dependencies::{Argument, Source, argument};
use crate::ini::entries;
use crate::toml_values::{self, at, strings};

/// The licences a file states, as SPDX identifiers or expressions. Unknown
/// names such as `see LICENSE` are skipped.
pub(super) fn declared(source: Source, text: &str) -> Vec<String> {
    let stated = match source {
        Source::Pyproject => pyproject(text),
        Source::SetupCfg => setup_cfg(text),
        Source::SetupPy => setup_py(text),
        _ => Vec::new(),
    };
    let mut found: Vec<String> = stated.iter().filter_map(|name| expression(name)).collect();
    found.dedup();
    found
}

fn pyproject(text: &str) -> Vec<String> {
    let Ok(file) = toml_values::parsed(text) else {
        return Vec::new();
    };
    let mut stated = Vec::new();
    for project in ["project", "tool.poetry"]
        .iter()
        .filter_map(|path| at(&file, path))
    {
        let licence = project.get("license");
        // A string since PEP 639, a table before it.
        let name = licence.and_then(|it| it.as_str().or_else(|| it.get("text")?.as_str()));
        stated.extend(name.map(str::to_owned));
        let classifiers = strings(project.get("classifiers"));
        stated.extend(classifiers.filter_map(classifier_licence));
    }
    stated
}

fn setup_cfg(text: &str) -> Vec<String> {
    let line_licence = |key: &str, line: &str| match key {
        "license" | "licence" => Some(line.to_owned()),
        "classifiers" | "classifier" => classifier_licence(line),
        _ => None,
    };
    let mut stated = Vec::new();
    for entry in entries(text).iter().filter(|it| it.section == "metadata") {
        let lines = entry.lines.iter();
        stated.extend(lines.filter_map(|line| line_licence(&entry.key, line)));
    }
    stated
}

fn setup_py(text: &str) -> Vec<String> {
    let strings = |name: &str| match argument(text, name) {
        Argument::Strings(all) => all,
        Argument::Absent | Argument::Computed => Vec::new(),
    };
    let mut stated = strings("license");
    let classifiers = strings("classifiers");
    stated.extend(classifiers.iter().filter_map(|one| classifier_licence(one)));
    stated
}

/// `License :: OSI Approved :: MIT License`.
fn classifier_licence(text: &str) -> Option<String> {
    let name = text.trim().strip_prefix("License ::")?;
    Some(name.rsplit("::").next()?.trim().to_owned())
}

/// A name, an expression of names, or a whole text.
fn expression(text: &str) -> Option<String> {
    const LONGEST_NAME: usize = 120;
    if text.len() > LONGEST_NAME {
        return recognised(text).map(str::to_owned);
    }
    let text = text.replace(['(', ')'], " ");
    for joint in [" OR ", " AND "] {
        if text.contains(joint) {
            let sides: Option<Vec<_>> = text.split(joint).map(expression).collect();
            return sides.map(|sides| sides.join(joint));
        }
    }
    named(&plain(&text)).map(str::to_owned)
}

/// The licence a name means, in the form [`plain`] returns.
fn named(name: &str) -> Option<&'static str> {
    let has = |part: &str| name.contains(part);
    let word = |part: &str| name.split(' ').any(|word| word == part);
    let version = |digit: &str| {
        name.split(' ').any(|word| {
            word.trim_start_matches(|c: char| c.is_ascii_alphabetic())
                .starts_with(digit)
        })
    };
    Some(match name {
        _ if has("proprietary") || has("commercial") => "LicenseRef-Proprietary",
        _ if has("affero") || has("agpl") => "AGPL-3.0",
        _ if has("lgpl") || has("lesser general") || has("library general") => {
            match (version("3"), has("2 1"), version("2")) {
                (true, ..) => "LGPL-3.0",
                (_, true, _) => "LGPL-2.1",
                (_, _, true) => "LGPL-2.0",
                _ => "LGPL-2.0-or-later",
            }
        }
        _ if has("gpl") || has("general public") => match (version("3"), version("2")) {
            (true, _) => "GPL-3.0",
            (_, true) => "GPL-2.0",
            _ => "GPL-1.0-or-later",
        },
        _ if has("mozilla") || has("mpl") => match has("1 1") {
            true => "MPL-1.1",
            false => "MPL-2.0",
        },
        _ if has("apache") && !has("1 1") => "Apache-2.0",
        _ if has("0bsd") || has("zero clause") => "0BSD",
        _ if has("bsd") && (word("2") || has("simplified") || word("two")) => "BSD-2-Clause",
        _ if has("bsd") && (word("3") || has("new") || has("modified") || word("three")) => {
            "BSD-3-Clause"
        }
        _ if has("bsd") && word("4") => "BSD-4-Clause",
        // It could be any BSD licence; all are permissive.
        _ if word("bsd") => "LicenseRef-BSD",
        "mit 0" | "mit no attribution" => "MIT-0",
        _ if word("mit") || word("expat") => "MIT",
        _ if word("isc") || word("iscl") => "ISC",
        _ if has("unlicense") => "Unlicense",
        _ if word("psf") || word("psfl") || has("python software foundation") => "PSF-2.0",
        _ if has("zlib") => "Zlib",
        _ if has("boost") || has("bsl 1 0") => "BSL-1.0",
        _ if has("cc0") => "CC0-1.0",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_state_licences() {
        let check = |source: Source, text: &str, expect: &[&str]| {
            assert_eq!(declared(source, text), expect, "{text}");
        };
        let p = Source::Pyproject;
        check(p, "[project]\nlicense = 'MIT'", &["MIT"]);
        check(
            p,
            "[project]\nlicense = 'MIT OR (Apache-2.0)'",
            &["MIT OR Apache-2.0"],
        );
        check(
            p,
            "[project]\nlicense = {text = 'BSD 3-Clause'}",
            &["BSD-3-Clause"],
        );
        check(p, "[project]\nlicense = {file = 'LICENSE'}", &[]);
        check(
            p,
            "[project]\nclassifiers = ['Topic :: X', 'License :: OSI Approved :: Apache Software License']",
            &["Apache-2.0"],
        );
        check(
            p,
            "[tool.poetry]\nlicense = 'GPL-3.0-or-later'",
            &["GPL-3.0"],
        );
        check(p, "[project", &[]);
        check(
            Source::SetupCfg,
            "[metadata]\nlicense = BSD\nclassifiers =\n  Topic :: X\n  License :: OSI Approved :: BSD License\n",
            &["LicenseRef-BSD"],
        );
        check(
            Source::SetupPy,
            "setup(license='MIT', classifiers=['License :: OSI Approved :: MIT License'])",
            &["MIT"],
        );
        check(
            Source::SetupPy,
            "setup(license=open('LICENSE').read())",
            &[],
        );
        check(Source::Requirements, "mit", &[]);
    }

    #[test]
    fn names_of_licences() {
        let check = |name: &str, expect: &str| {
            assert_eq!(expression(name).unwrap_or_default(), expect, "{name}");
        };
        check("The MIT License (MIT)", "MIT");
        check("Apache 2.0", "Apache-2.0");
        check("Apache License, Version 2.0", "Apache-2.0");
        check("New BSD", "BSD-3-Clause");
        check("BSD-2-Clause", "BSD-2-Clause");
        check("GNU General Public License v3 (GPLv3)", "GPL-3.0");
        check("GPLv2+", "GPL-2.0");
        check("LGPL-2.1-only", "LGPL-2.1");
        check(
            "GNU Lesser General Public License v3 or later (LGPLv3+)",
            "LGPL-3.0",
        );
        check("GNU Affero General Public License v3", "AGPL-3.0");
        check("Mozilla Public License 2.0 (MPL 2.0)", "MPL-2.0");
        check("ISC License (ISCL)", "ISC");
        check("Python Software Foundation License", "PSF-2.0");
        check("The Unlicense (Unlicense)", "Unlicense");
        check("Other/Proprietary License", "LicenseRef-Proprietary");
        check("see LICENSE", "");
        check("limited permit", "");
    }
}
