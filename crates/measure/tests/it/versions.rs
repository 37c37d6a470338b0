//! complexipy, Vulture and griffe on versions beside each other.

use std::collections::BTreeSet;
use std::process::Command;

use swe_ci_measure::{Mode, Source, VersionFigure, read_versions, version_path, versions_request};

use crate::source;
use crate::tools::{Workspace, release, site};

fn measure(mode: Mode, versions: &[&Source]) -> Vec<VersionFigure> {
    let mut all = Source::new();
    for (number, version) in versions.iter().enumerate() {
        for (path, bytes) in *version {
            all.insert(version_path(number, path), bytes.clone());
        }
    }
    let workspace = Workspace::new(&all);
    let found = workspace.run(mode, &versions_request(&workspace.root(), versions));
    read_versions(mode, &found.unwrap(), versions.len()).unwrap()
}

fn check(mode: Mode, versions: &[&[(&str, &str)]], expect: &[Option<f64>]) {
    let versions: Vec<Source> = versions.iter().map(|files| source(files)).collect();
    let found = measure(mode, &versions.iter().collect::<Vec<_>>());
    let expect: Vec<VersionFigure> = expect.iter().copied().map(Ok).collect();
    assert_eq!(found, expect, "{mode:?}");
}

const PLAIN: &str = "def f(a):\n    return a\n\n\ndef _g(a):\n    return f(a)\n";
/// An `if` (1) in a `for` (1), nested (1): 3 of two functions.
const NESTED: &str = "def f(a):\n    for x in a:\n        if x:\n            return x\n    return a\n\n\ndef _g(a):\n    return f(a)\n";

#[test]
fn cognitive_complexity_by_hand() {
    let broken = ("b.py", "def f(:\n");
    check(
        Mode::Complexipy,
        &[
            &[("a.py", PLAIN)],
            &[("a.py", NESTED), broken],
            &[("a.py", "x = 1\n")],
            &[],
        ],
        &[Some(0.0), Some(1.5), None, None],
    );
}

/// `f` is used by `_g`, which nothing uses: 2 of 6 lines. The method in the unused
/// class counts once: 3 of 8 lines. Unreachable code is 1 of 6.
#[test]
fn unused_code_by_hand() {
    let class = "\n\nclass C:\n    def m(self):\n        return 1\n";
    let unreachable = "def f():\n    return 1\n    print(1)\n\n\nf()\n";
    check(
        Mode::Vulture,
        &[
            &[("a.py", PLAIN)],
            &[("a.py", &format!("_g = 1\nprint(_g)\n\n{class}"))],
            &[("a.py", unreachable), ("b.py", "def f(:\n")],
            &[("a.py", "")],
        ],
        &[
            Some(100.0 * 2.0 / 6.0),
            Some(100.0 * 3.0 / 8.0),
            Some(100.0 / 6.0),
            None,
        ],
    );
}

/// A private name, a new name and a new optional parameter break nobody. A removed
/// name does, and so does a parameter that becomes required, in flat and src layouts.
#[test]
fn broken_names_by_hand() {
    let kept = "def f(a, b=1):\n    return a + b\n\n\ndef new():\n    return 1\n";
    let required = "def f(a, b):\n    return a\n";
    let base = ("p/__init__.py", PLAIN);
    check(
        Mode::Griffe,
        &[
            &[
                base,
                ("p/_q.py", PLAIN),
                ("src/m.py", PLAIN),
                ("setup.py", PLAIN),
            ],
            &[base, ("p/_q.py", ""), ("src/m.py", PLAIN)],
            &[("p/__init__.py", kept), ("src/m.py", PLAIN)],
            &[("p/__init__.py", required), ("src/m.py", "")],
            &[base],
        ],
        &[Some(0.0), Some(0.0), Some(0.0), Some(2.0), Some(1.0)],
    );
    check(Mode::Griffe, &[&[], &[base]], &[None, None]);
}

/// Users cannot import a module that cannot be parsed. One that they could not
/// import before breaks nobody, and the others still count.
#[test]
fn an_unparsable_module_is_a_broken_name() {
    let (fine, odd) = (("p/__init__.py", PLAIN), ("odd.py", "def f(:\n"));
    check(
        Mode::Griffe,
        &[
            &[fine, odd],
            &[("p/__init__.py", "def f(:\n"), odd],
            &[("p/__init__.py", "x = 1\n"), ("odd.py", PLAIN)],
            &[odd],
        ],
        &[Some(0.0), Some(1.0), Some(1.0), Some(1.0)],
    );
}

fn command_line(code: &str, source: &Source, options: &[&str]) -> String {
    let workspace = Workspace::new(source);
    let mut python = Command::new("python3");
    python.args(["-X", "utf8", "-B", "-c", code]).args(options);
    python.args(source.keys()).env("PYTHONPATH", site());
    python.current_dir(workspace.at("code"));
    // The exit code depends on the findings, so it is ignored.
    String::from_utf8(python.output().unwrap().stdout).unwrap()
}

fn number(text: &str) -> usize {
    text.parse().unwrap_or_else(|_| panic!("{text}"))
}

#[test]
fn complexipy_agrees_with_its_command_line() {
    let source = release("sqlparse==0.5.3");
    let code = "from complexipy.cli import main; main()";
    let options = ["--isolated", "--plain", "--max-complexity-allowed", "999"];
    let text = command_line(code, &source, &options);
    let of_line = |line: &str| line.rsplit(' ').next().map(number);
    let all: Vec<usize> = text.lines().filter_map(of_line).collect();
    assert!(all.len() > 100, "{text}");
    let mean = all.iter().sum::<usize>() as f64 / all.len() as f64;
    let found = measure(Mode::Complexipy, &[&source]).remove(0);
    let found = found.unwrap().unwrap();
    assert!((found - mean).abs() < 1e-9, "{found} and {mean}");
}

#[test]
fn vulture_agrees_with_its_command_line() {
    let source = release("sqlparse==0.5.3");
    let code = "from vulture.core import main; main()";
    let text = command_line(code, &source, &["--sort-by-size"]);
    let mut unused = BTreeSet::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':');
        let [path, first, rest] = [(); 3].map(|()| parts.next().unwrap());
        let size = rest.split(", ").last().unwrap();
        let size = number(size.split(' ').next().unwrap());
        let first = number(first);
        unused.extend((first..first + size).map(|line| (path.to_owned(), line)));
    }
    assert!(unused.len() > 100, "{text}");
    let lines = source.values().map(|bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        text.lines().count()
    });
    let share = 100.0 * unused.len() as f64 / lines.sum::<usize>() as f64;
    let found = measure(Mode::Vulture, &[&source])
        .remove(0)
        .unwrap()
        .unwrap();
    assert!((found - share).abs() < 1e-9, "{found} and {share}");
}

/// They parse the code, whatever it does when it is run.
#[test]
fn versions_are_never_run() {
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("marker");
    let text = format!("open({:?}, 'w')\n", marker.display().to_string());
    let names = [
        "griffe",
        "vulture",
        "complexipy",
        "logging",
        "json",
        "p/__init__",
    ];
    let paths = names.map(|name| format!("{name}.py"));
    let files = paths.each_ref().map(|path| (path.as_str(), text.as_str()));
    let harmful = source(&files);
    for mode in [Mode::Complexipy, Mode::Vulture, Mode::Griffe] {
        let found = measure(mode, &[&harmful, &harmful]);
        assert!(found.iter().all(Result::is_ok), "{found:?}");
        assert!(!marker.exists(), "{mode:?}");
    }
}

/// Pylint finds the same lines in two files.
#[test]
fn duplicated_lines_have_a_share() {
    let same = "import os\n\n\ndef go(a, b):\n    x = a + b\n    y = x * a\n    z = y - b\n    w = z / x\n    return [x, y, z, w, os]\n";
    let twice = source(&[("a.py", same), ("b.py", same)]);
    let share = crate::pylint(&twice).unwrap().duplicated.unwrap();
    assert!(share > 20.0, "{share}");
    let once = source(&[("a.py", same)]);
    assert_eq!(crate::pylint(&once).unwrap().duplicated, Some(0.0));
    assert_eq!(crate::pylint(&Source::new()).unwrap().duplicated, None);
}
