//! Files that steer pytest or the interpreter. The oracle's versions steer, as
//! its `tests/` are the tests; the versions of the code under test stand where
//! they belong once pytest has read its settings. That they differ is a finding.

use std::collections::BTreeSet;

use swe_ci_base::code::{CodeTree, Entry};
use swe_ci_core::finding::{Finding, FindingKind};

use crate::{TESTS, is_test, python};

/// pytest looks for its settings in these files at the root, and for `setup.py`
/// to find the root.
pub(crate) const SETTINGS: [&str; 8] = [
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "tox.ini",
    "setup.cfg",
    "pyproject.toml",
    "setup.py",
];

/// What goes into the container: the code as pytest starts on it, and the files
/// to be put back once it has read its settings.
#[derive(Debug, PartialEq)]
pub(crate) struct Placed {
    pub code: CodeTree,
    /// The code's own versions of settings files.
    pub aside: CodeTree,
    /// Settings files that only the oracle has.
    pub absent: Vec<String>,
}

/// Puts the oracle's tests and steering files in place.
pub(crate) fn place(code: &CodeTree, base: &CodeTree, oracle: &CodeTree) -> Placed {
    let mut placed = code.clone().with_folder_of(TESTS, oracle);
    for path in code.paths().filter(|path| stands_for_tests(path)) {
        if entry(base, path).is_none() && entry(oracle, path).is_none() {
            placed.remove(path);
        }
    }
    for path in conftests(&[code, base, oracle]) {
        let steering = entry(oracle, &path).or_else(|| entry(base, &path));
        replace(&mut placed, &path, steering);
    }
    let (mut aside, mut absent) = (CodeTree::default(), Vec::new());
    for path in SETTINGS {
        let (own, steering) = (entry(code, path), entry(oracle, path));
        let same = match path {
            "setup.py" => own.is_some() == steering.is_some(),
            _ => own == steering,
        };
        if same {
            continue;
        }
        match own {
            Some(own) => aside.set(path, own.clone()),
            None => absent.push(path.to_owned()),
        }
        replace(&mut placed, path, steering);
    }
    Placed {
        code: placed,
        aside,
        absent,
    }
}

/// Whether Python could import a file instead of the tests, when these are a
/// folder without `__init__.py`.
pub(crate) fn stands_for_tests(path: &str) -> bool {
    let top = path.strip_prefix("src/").unwrap_or(path);
    let (name, below) = top
        .split_once('/')
        .map_or((top, false), |(name, _)| (name, true));
    match below {
        true => name == TESTS && top != path,
        false => python::module_name(name) == Some(TESTS),
    }
}

/// Replaces a file, and whatever lies below a folder of that name.
fn replace(tree: &mut CodeTree, path: &str, with: Option<&Entry>) {
    tree.remove(path);
    if let Some(entry) = with {
        tree.set(path, entry.clone());
    }
}

fn entry<'a>(tree: &'a CodeTree, path: &str) -> Option<&'a Entry> {
    tree.entry(path)
}

pub(crate) fn conftests(trees: &[&CodeTree]) -> BTreeSet<String> {
    let paths = trees.iter().flat_map(|tree| tree.paths());
    paths
        .filter(|path| !is_test(path) && path.rsplit('/').next() == Some("conftest.py"))
        .map(str::to_owned)
        .collect()
}

/// What differs from both the base and the oracle, sorted by path.
pub(crate) fn findings(code: &CodeTree, base: &CodeTree, oracle: &CodeTree) -> Vec<Finding> {
    let watched: BTreeSet<&str> = [code, base, oracle]
        .into_iter()
        .flat_map(CodeTree::paths)
        .filter(|path| !is_test(path) && Watched::of(path).is_some())
        .collect();
    let differs = |path: &&str| {
        let now = steering_part(code, path);
        now != steering_part(base, path) && now != steering_part(oracle, path)
    };
    let about = |path: &str| {
        let kind = FindingKind::Steering;
        match (steering_part(code, path), Watched::of(path)) {
            (None, _) => Finding::note(
                kind,
                format!("{path} was removed, or no longer configures pytest"),
            ),
            (Some(_), Some(Watched::Settings)) => Finding::note(
                kind,
                format!("{path} differs from the base's and the oracle's, and was not used"),
            ),
            (Some(_), _) => Finding::suspicious(
                kind,
                format!(
                    "{path} is a file that Python or pytest runs by itself; it was given no chance to"
                ),
            ),
        }
    };
    watched.into_iter().filter(differs).map(about).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Watched {
    /// Configures pytest.
    Settings,
    /// Is executed, or loads something, when Python or pytest starts.
    Startup,
}

impl Watched {
    fn of(path: &str) -> Option<Self> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if name == "conftest.py" || SETTINGS.contains(&path) && path != "setup.py" {
            return Some(Self::Settings);
        }
        let module = python::module_name(name);
        let customizes = ["sitecustomize", "usercustomize"];
        let metadata = folder.ends_with(".egg-info") || folder.ends_with(".dist-info");
        let starts = module.is_some_and(|module| customizes.contains(&module))
            || name == "__init__.py" && customizes.iter().any(|c| folder.ends_with(c))
            || name.ends_with(".pth")
            || metadata && name == "entry_points.txt"
            || stands_for_tests(path);
        starts.then_some(Self::Startup)
    }
}

/// The part of a file that steers pytest: all of it, or a section.
fn steering_part(tree: &CodeTree, path: &str) -> Option<Vec<u8>> {
    let bytes = match tree.entry(path)? {
        Entry::File { bytes, .. } => bytes,
        Entry::Symlink { target } => return Some(format!("→ {target}").into_bytes()),
    };
    match path {
        "pyproject.toml" => pytest_table(bytes),
        "setup.cfg" => ini_sections(bytes, &["tool:pytest", "pytest"]),
        "tox.ini" => ini_sections(bytes, &["pytest", "tool:pytest"]),
        _ if path.ends_with("entry_points.txt") => ini_sections(bytes, &["pytest11"]),
        _ => Some(bytes.to_vec()),
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

/// The bodies of these sections, as iniconfig (pytest's parser) tells them
/// apart: a comment may follow a heading.
fn ini_sections(bytes: &[u8], sections: &[&str]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(bytes);
    let mut inside = false;
    let mut body: Option<Vec<&str>> = None;
    for line in text.lines() {
        if let Some(heading) = heading(line) {
            inside = sections.contains(&heading);
            if inside {
                body.get_or_insert_default().push(heading);
            }
        } else if inside && !line.trim().is_empty() {
            body.get_or_insert_default().push(line.trim_end());
        }
    }
    body.map(|lines| lines.join("\n").into_bytes())
}

fn heading(line: &str) -> Option<&str> {
    let uncommented = line.split(['#', ';']).next().unwrap_or_default();
    uncommented.trim_end().strip_prefix('[')?.strip_suffix(']')
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::finding::Grade;

    fn tree(files: &[(&str, &str)]) -> CodeTree {
        let mut tree = CodeTree::default();
        for (path, text) in files {
            tree.insert_file(path, *text);
        }
        tree
    }

    const ORACLE: [(&str, &str); 4] = [
        ("pyproject.toml", "[tool.pytest.ini_options]\nx = 1\n"),
        ("setup.cfg", "[tool:pytest]\nx = 1\n"),
        ("conftest.py", "oracle"),
        ("tests/test_a.py", "oracle"),
    ];

    #[test]
    fn the_oracles_files_stand_where_pytest_looks() {
        let code = tree(&[
            ("a.py", "mine"),
            ("pyproject.toml", "mine"),
            ("pytest.ini", "mine"),
            ("conftest.py", "mine"),
            ("pkg/conftest.py", "mine"),
            ("tests/test_a.py", "mine"),
            ("tox.ini/x", "mine"),
        ]);
        let placed = place(&code, &tree(&[]), &tree(&ORACLE));
        let mut expected = tree(&ORACLE);
        expected.insert_file("a.py", "mine");
        expected.insert_file("tox.ini/x", "mine");
        assert_eq!(placed.code, expected);
        let aside = tree(&[("pyproject.toml", "mine"), ("pytest.ini", "mine")]);
        assert_eq!(placed.aside, aside);
        assert_eq!(placed.absent, ["setup.cfg"]);
    }

    #[test]
    fn the_bases_conftest_stays_where_the_oracle_has_none() {
        let base = tree(&[("pkg/conftest.py", "base")]);
        let code = tree(&[("pkg/conftest.py", "mine")]);
        let placed = place(&code, &base, &tree(&[]));
        assert_eq!(placed.code, base);
        assert_eq!(placed.aside, tree(&[]));
    }

    #[test]
    fn only_what_steers_is_a_finding() {
        let base = tree(&[("pyproject.toml", "[tool.pytest.ini_options]\nx = 0\n")]);
        let oracle = tree(&ORACLE);
        let honest = (
            "pyproject.toml",
            "[tool.pytest.ini_options]\nx = 0 # same\n",
        );
        let check = |files: &[(&str, &str)], expect: &[(Grade, &str)]| {
            let mut code = tree(&[honest]);
            for (path, text) in files {
                code.insert_file(path, *text);
            }
            let found = findings(&code, &base, &oracle);
            assert_eq!(found.len(), expect.len(), "{found:?}");
            for (finding, (grade, part)) in found.iter().zip(expect) {
                assert_eq!(finding.grade, *grade, "{finding:?}");
                assert!(finding.text.contains(part), "{finding:?}");
            }
        };
        check(&[], &[]);
        check(&[("tests/conftest.py", "x"), ("a.py", "x")], &[]);
        let setup = |heading: &str| format!("{heading}\nx = 2\n");
        for heading in ["[tool:pytest]", "[tool:pytest] # x", "[tool:pytest]; x"] {
            let found = [(Grade::Note, "setup.cfg differs")];
            check(&[("setup.cfg", &setup(heading))], &found);
        }
        check(&[("setup.cfg", &setup("[metadata]"))], &[]);
        let table = "[tool]\npytest = {ini_options = {addopts = '-p mine'}}\n";
        let found = [(Grade::Note, "pyproject.toml differs")];
        check(&[("pyproject.toml", table)], &found);
        let gone = [(Grade::Note, "no longer configures")];
        check(&[("pyproject.toml", "[project]\n")], &gone);
        for path in ["tests.py", "src/tests.py", "src/tests/__init__.py"] {
            check(&[(path, "x")], &[(Grade::Suspicious, path)]);
            assert!(
                place(&tree(&[(path, "x")]), &base, &oracle)
                    .code
                    .file(path)
                    .is_none()
            );
        }
        for startup in ["sitecustomize.py", "src/usercustomize/__init__.py", "x.pth"] {
            check(&[(startup, "x")], &[(Grade::Suspicious, startup)]);
        }
        let points = "x.egg-info/entry_points.txt";
        let plugin = [(Grade::Suspicious, points)];
        check(&[(points, "[pytest11]\nx = y\n")], &plugin);
        check(&[(points, "[console_scripts]\nx = y\n")], &[]);
    }
}
