//! Agreement with the tools' own command lines, file by file.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde_json::Value;
use swe_ci_measure::{Source, file_digest, join};
use swe_ci_views::style::{PylintCounts, RadonCounts};

use crate::tools::{Workspace, release, site};
use crate::{pylint, radon, source};

/// Runs a tool's command line in the folder of the code.
fn run_command_line(workspace: &Workspace, tool: &[&str], source: &Source) -> Value {
    let settings = workspace.at("empty.rc");
    fs::write(&settings, "").unwrap();
    let mut python = Command::new("python3");
    python.args(["-X", "utf8", "-B", "-m"]).args(tool);
    if tool[0] == "pylint" {
        python.arg(format!("--rcfile={}", settings.display()));
    }
    python
        .env("PYTHONPATH", site())
        .env("PYLINTHOME", workspace.at("home"));
    python.current_dir(workspace.at("code")).args(source.keys());
    // Pylint's exit code depends on the kinds of messages, so it is ignored.
    let output = python.output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        panic!("{tool:?}: {error}\n{text}")
    })
}

const PYLINT: [&str; 3] = ["pylint", "--persistent=n", "--output-format=json2"];

fn assert_close(ours: f64, theirs: &Value, what: &str) {
    let theirs = theirs.as_f64().unwrap();
    assert!((ours - theirs).abs() < 1e-9, "{what}: {ours} and {theirs}");
}

fn assert_count(ours: u32, theirs: &Value, what: &str) {
    assert_eq!(Some(u64::from(ours)), theirs.as_u64(), "{what}");
}

/// Pylint's messages by file and category.
fn count_messages(output: &Value) -> BTreeMap<String, PylintCounts> {
    let mut files: BTreeMap<String, PylintCounts> = BTreeMap::new();
    for message in output["messages"].as_array().unwrap() {
        let kind = message["type"].as_str().unwrap();
        if kind == "info" {
            continue; // no part of the score
        }
        let path = message["path"].as_str().unwrap().to_owned();
        let counts = files.entry(path).or_default();
        *match kind {
            "fatal" => &mut counts.fatal,
            "error" => &mut counts.error,
            "warning" => &mut counts.warning,
            "refactor" => &mut counts.refactor,
            "convention" => &mut counts.convention,
            other => panic!("{other}"),
        } += 1;
    }
    files
}

fn check_pylint(workspace: &Workspace, source: &Source) {
    let ours = pylint(source).unwrap();
    let theirs = run_command_line(workspace, &PYLINT, source);
    let messages = count_messages(&theirs);
    for (path, counts) in &ours.files {
        let counts = PylintCounts {
            statements: 0,
            ..*counts
        };
        assert_eq!(
            counts,
            messages.get(path).copied().unwrap_or_default(),
            "{path}"
        );
    }
    let (style, _) = join(source, &radon(source), Ok(&ours));
    let score = style.pylint_score().unwrap();
    assert_close(score, &theirs["statistics"]["score"], "score");
    assert!(messages.keys().all(|path| source.contains_key(path)));
}

fn check_radon(workspace: &Workspace, source: &Source) {
    let ours = radon(source);
    let [mi, raw, cc, hal] = [
        ["radon", "mi", "-j"].as_slice(),
        &["radon", "raw", "-j"],
        &["radon", "cc", "-j"],
        &["radon", "hal", "-j"],
    ]
    .map(|tool| run_command_line(workspace, tool, source));
    for (path, bytes) in source {
        let RadonCounts {
            mi: index,
            sloc,
            comments,
            blocks,
            complexity,
            complexity_most,
            volume,
        } = *ours.files[&file_digest(bytes)].as_ref().unwrap();
        assert_close(index, &mi[path]["mi"], path);
        assert_count(sloc, &raw[path]["sloc"], path);
        assert_count(comments, &raw[path]["comments"], path);
        assert_close(volume, &hal[path]["total"]["volume"], path);
        let blocks_by_radon = cc[path].as_array().map_or(&[][..], Vec::as_slice);
        let complexity_of = |block: &Value| block["complexity"].as_u64().unwrap();
        assert_eq!(blocks as usize, blocks_by_radon.len(), "{path}");
        assert_eq!(
            u64::from(complexity),
            blocks_by_radon.iter().map(complexity_of).sum::<u64>(),
            "{path}"
        );
        let most = blocks_by_radon.iter().map(complexity_of).max().unwrap_or(0);
        assert_eq!(u64::from(complexity_most), most, "{path}");
    }
}

fn check(package: &str) {
    let mut source = release(package);
    check_pylint(&Workspace::new(&source), &source);
    // radon's own command takes minutes for a table of some thousand lines.
    let lines = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').count();
    source.retain(|_, bytes| lines(bytes) < 1_000);
    check_radon(&Workspace::new(&source), &source);
}

#[test]
#[ignore = "slow: Pylint twice on a whole package"]
fn agrees_on_sqlparse() {
    check("sqlparse==0.5.3");
}

#[test]
#[ignore = "slow: Pylint twice on a whole package"]
fn agrees_on_tinydb() {
    check("tinydb==4.8.2");
}

#[test]
fn agrees_on_wcwidth() {
    check("wcwidth==0.2.13");
}

#[test]
#[ignore = "slow: Pylint twice on a whole package"]
fn agrees_on_more_itertools() {
    check("more-itertools==10.2.0");
}

/// Modules of the same name, names with a special meaning for Pylint,
/// duplicates, and in-file settings.
#[test]
fn agrees_on_a_crooked_project() {
    let same = "\"\"\"Doc.\"\"\"\nimport os\n\n\ndef go(a, b):\n    x = a + b\n    y = x * a\n    z = y - b\n    w = z / x\n    return [x, y, z, w]\n";
    let source = source(&[
        ("docs/conf.py", same),
        ("examples/conf.py", same),
        ("examples/more/conf.py", "import sys\nx=1\n"),
        ("src/pkg/__init__.py", "from . import a, b\n"),
        ("src/pkg/a.py", "from pkg import b\n\nX = b.Y.z\n"),
        (
            "src/pkg/b.py",
            "from pkg import a\nimport nowhere\n\nY = a.X\n",
        ),
        ("src/pkg/sub/deep.py", same),
        ("with space.py", "x=1\n"),
        ("gr\u{fc}n.py", "x=1\n"),
        ("skipped.py", "# pylint: skip-file\nx=1\n"),
        ("quiet.py", "# pylint: disable=all\nx=1\n"),
        (
            "told.py",
            "# pylint: enable=I0011\nx=1  # pylint: disable=C0103\n",
        ),
        ("nonsense.py", "# pylint: disable=no-such-thing\nx=1\n"),
        ("broken.py", "def f(:\n"),
        (".#lock.py", "x=1\n"),
        ("empty.py", ""),
    ]);
    check_pylint(&Workspace::new(&source), &source);
}

#[test]
fn empty_sources_have_no_scores() {
    let none = Source::new();
    let (style, files) = join(&none, &radon(&none), Ok(&pylint(&none).unwrap()));
    assert_eq!(
        (style.files, style.pylint_score(), style.mi),
        (0, None, None)
    );
    assert!(files.is_empty());
    let empty = source(&[("a.py", ""), ("b.py", "# only this\n")]);
    let (style, files) = join(&empty, &radon(&empty), Ok(&pylint(&empty).unwrap()));
    assert_eq!((style.files, style.unparsed, style.sloc), (2, 0, 0));
    assert_eq!((style.mi, style.pylint_score()), (None, None));
    assert_eq!(files[1].radon.unwrap().comments, 1);
}

/// Pylint by itself finds a varying number of import cycles.
#[test]
fn results_do_not_vary() {
    let modules = 12;
    let name = |n: usize| format!("pkg/m{}.py", n % modules);
    let text = |n: usize| {
        let others = [1, 3, 4, 7].map(|k| format!("import pkg.m{}\n", (n * k + k) % modules));
        format!("\"\"\"Doc.\"\"\"\n{}", others.concat())
    };
    let mut source = source(&[("pkg/__init__.py", "")]);
    source.extend((0..modules).map(|n| (name(n), text(n).into_bytes())));
    let first = pylint(&source).unwrap();
    assert!(first.files.values().any(|counts| counts.refactor > 3));
    for _ in 0..2 {
        assert_eq!(pylint(&source).unwrap(), first);
    }
}
