//! Files that configure pytest or the interpreter. A change to one of them may
//! be legitimate, but it is never silent: every difference from both the base
//! and the oracle is a finding shown with the result.

use std::collections::BTreeSet;

use swe_ci_base::code::{CodeTree, Entry};
use swe_ci_sandbox::test_suite::TESTS;

/// Besides these, all `*.pth`.
const ANYWHERE: [&str; 3] = ["conftest.py", "sitecustomize.py", "usercustomize.py"];
const AT_THE_ROOT: &str = "\
    pytest.ini .pytest.ini pytest.toml .pytest.toml tox.ini setup.cfg pyproject.toml";

/// The changes in words, sorted by path.
pub fn findings(code: &CodeTree, base: &CodeTree, oracle: &CodeTree) -> Vec<String> {
    let watched: BTreeSet<&str> = [code, base, oracle]
        .into_iter()
        .flat_map(CodeTree::paths)
        .filter(|path| is_watched(path))
        .collect();
    watched
        .into_iter()
        .filter_map(|path| {
            let now = pytest_part(code, path);
            if now == pytest_part(base, path) || now == pytest_part(oracle, path) {
                return None;
            }
            Some(match now {
                Some(_) => format!("{path} differs from the base's and the oracle's"),
                None => format!("{path} was removed, or no longer configures pytest"),
            })
        })
        .collect()
}

fn is_watched(path: &str) -> bool {
    if path.split('/').next() == Some(TESTS) {
        return false; // the oracle's copy is in place
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let at_the_root = AT_THE_ROOT.split(' ').any(|known| known == path);
    at_the_root || name.ends_with(".pth") || ANYWHERE.contains(&name)
}

/// The part of a file that configures pytest: all of it, or a section.
fn pytest_part(tree: &CodeTree, path: &str) -> Option<Vec<u8>> {
    let (_, entry) = tree.iter().find(|(p, _)| *p == path)?;
    let bytes = match entry {
        Entry::File { bytes, .. } => bytes,
        Entry::Symlink { target } => return Some(format!("→ {target}").into_bytes()),
    };
    match path {
        "pyproject.toml" => pytest_table(bytes),
        "setup.cfg" => ini_section(bytes, "[tool:pytest]"),
        "tox.ini" => ini_section(bytes, "[pytest]"),
        _ => Some(bytes.clone()),
    }
}

/// `[tool.pytest]` as canonical JSON. A file that is not valid TOML counts
/// whole, since pytest would fail on it.
fn pytest_table(bytes: &[u8]) -> Option<Vec<u8>> {
    let Ok(table) = toml::from_slice::<toml::Table>(bytes) else {
        return Some(bytes.to_vec());
    };
    let pytest = table.get("tool")?.get("pytest")?;
    serde_json::to_vec(pytest).ok()
}

fn ini_section(bytes: &[u8], heading: &str) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines().skip_while(|line| line.trim() != heading);
    lines.next()?;
    let body: Vec<&str> = lines
        .take_while(|line| !line.starts_with('['))
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect();
    Some(body.join("\n").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> CodeTree {
        let mut tree = CodeTree::default();
        for (path, text) in files {
            tree.insert_file(path, *text);
        }
        tree
    }

    #[test]
    fn only_what_steers_the_tests_is_a_finding() {
        let base = tree(&[(
            "pyproject.toml",
            "[project]\nversion = '1'\n[tool.pytest.ini_options]\naddopts = '-q'\n",
        )]);
        let oracle = tree(&[
            (
                "pyproject.toml",
                "[project]\nversion = '2'\n[tool.pytest.ini_options]\naddopts = ''\n",
            ),
            ("setup.cfg", "[tool:pytest]\nx = 1\n"),
        ]);
        let check = |files: &[(&str, &str)], expect: &[&str]| {
            let found = findings(&tree(files), &base, &oracle);
            assert_eq!(found.len(), expect.len(), "{found:?}");
            for (finding, part) in found.iter().zip(expect) {
                assert!(finding.contains(part), "{finding}");
            }
        };
        let harmless = (
            "pyproject.toml",
            "[project]\nversion = '3'\n[tool.pytest.ini_options]\naddopts = '-q' # same\n",
        );
        check(&[harmless], &[]);
        check(
            &[
                harmless,
                ("src/a.py", "x"),
                ("tests/conftest.py", "x"),
                ("setup.cfg", "[metadata]\n"),
            ],
            &[],
        );
        check(&[harmless, ("conftest.py", "x")], &["conftest.py differs"]);
        check(
            &[
                harmless,
                ("pkg/conftest.py", "x"),
                ("evil.pth", "import os"),
            ],
            &["evil.pth", "pkg/conftest.py"],
        );
        check(
            &[(
                "pyproject.toml",
                "[tool.pytest.ini_options]\naddopts = '-p mine'\n",
            )],
            &["pyproject.toml differs"],
        );
        check(
            &[(
                "pyproject.toml",
                "[tool]\npytest = {ini_options = {addopts = '-p mine'}}\n",
            )],
            &["pyproject.toml differs"],
        );
        check(
            &[("pyproject.toml", "[project]\n")],
            &["no longer configures"],
        );
        check(
            &[harmless, ("setup.cfg", "[tool:pytest]\nx = 2\n")],
            &["setup.cfg differs"],
        );
    }
}
