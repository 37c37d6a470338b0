//! The same figures as the tools' own command lines, file by file.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde_json::Value;
use swe_ci_core::style::{PylintCounts, RadonCounts};
use swe_ci_measure::{Source, file_digest, join};

use crate::tools::{Place, release, site};
use crate::{pylint, radon, source};

/// Runs a tool by hand in the folder of the code.
fn by_hand(place: &Place, tool: &[&str], source: &Source) -> Value {
    let settings = place.at("empty.rc");
    fs::write(&settings, "").unwrap();
    let mut python = Command::new("python3");
    python.args(["-X", "utf8", "-B", "-m"]).args(tool);
    if tool[0] == "pylint" {
        python.arg(format!("--rcfile={}", settings.display()));
    }
    python
        .env("PYTHONPATH", site())
        .env("PYLINTHOME", place.at("home"));
    python.current_dir(place.at("code")).args(source.keys());
    // Pylint's exit code tells what kinds of messages there are.
    let done = python.output().unwrap();
    serde_json::from_slice(&done.stdout).unwrap_or_else(|error| {
        let text = String::from_utf8_lossy(&done.stderr).into_owned();
        panic!("{tool:?}: {error}\n{text}")
    })
}

const PYLINT: [&str; 3] = ["pylint", "--persistent=n", "--output-format=json2"];

fn same(ours: f64, theirs: &Value, what: &str) {
    let theirs = theirs.as_f64().unwrap();
    assert!((ours - theirs).abs() < 1e-9, "{what}: {ours} and {theirs}");
}

fn whole(ours: u32, theirs: &Value, what: &str) {
    assert_eq!(Some(u64::from(ours)), theirs.as_u64(), "{what}");
}

/// Messages by file and category, from what Pylint shows.
fn shown(found: &Value) -> BTreeMap<String, PylintCounts> {
    let mut files: BTreeMap<String, PylintCounts> = BTreeMap::new();
    for message in found["messages"].as_array().unwrap() {
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

fn check_pylint(place: &Place, source: &Source) {
    let ours = pylint(source).unwrap();
    let theirs = by_hand(place, &PYLINT, source);
    let messages = shown(&theirs);
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
    same(score, &theirs["statistics"]["score"], "score");
    assert!(messages.keys().all(|path| source.contains_key(path)));
}

fn check_radon(place: &Place, source: &Source) {
    let ours = radon(source);
    let [mi, raw, cc, hal] = [
        ["radon", "mi", "-j"].as_slice(),
        &["radon", "raw", "-j"],
        &["radon", "cc", "-j"],
        &["radon", "hal", "-j"],
    ]
    .map(|tool| by_hand(place, tool, source));
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
        same(index, &mi[path]["mi"], path);
        whole(sloc, &raw[path]["sloc"], path);
        whole(comments, &raw[path]["comments"], path);
        same(volume, &hal[path]["total"]["volume"], path);
        let found = cc[path].as_array().map_or(&[][..], Vec::as_slice);
        let of = |block: &Value| block["complexity"].as_u64().unwrap();
        assert_eq!(blocks as usize, found.len(), "{path}");
        assert_eq!(
            u64::from(complexity),
            found.iter().map(of).sum::<u64>(),
            "{path}"
        );
        let most = found.iter().map(of).max().unwrap_or(0);
        assert_eq!(u64::from(complexity_most), most, "{path}");
    }
}

fn check(package: &str) {
    let mut source = release(package);
    check_pylint(&Place::new(&source), &source);
    // Its own command takes minutes for a table of some thousand lines.
    let lines = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').count();
    source.retain(|_, bytes| lines(bytes) < 1_000);
    check_radon(&Place::new(&source), &source);
}

#[test]
fn of_sqlparse() {
    check("sqlparse==0.5.3");
}

#[test]
fn of_tinydb() {
    check("tinydb==4.8.2");
}

#[test]
fn of_wcwidth() {
    check("wcwidth==0.2.13");
}

#[test]
fn of_more_itertools() {
    check("more-itertools==10.2.0");
}

/// Modules of one name, names that Pylint would take for something else,
/// duplicates, and settings that are no business of ours.
#[test]
fn of_a_crooked_project() {
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
    check_pylint(&Place::new(&source), &source);
}

#[test]
fn nothing_is_measured_where_nothing_is() {
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

/// Cycles that Pylint finds more or fewer of from run to run, by itself.
#[test]
fn the_same_is_found_every_time() {
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
