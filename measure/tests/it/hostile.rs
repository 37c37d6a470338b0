//! Measured code is never run.

use std::fs;

use swe_ci_measure::{Mode, Source, read_pylint, request};

use crate::source;
use crate::tools::Place;

/// What Pylint, astroid, codecs, and modules of the standard library written in
/// C import when some file makes them.
const NAMES: &[&str] = &[
    "_decimal",
    "_elementtree",
    "_lzma",
    "astroid/__init__",
    "bz2",
    "colorama",
    "copy",
    "copyreg",
    "dill",
    "enchant/__init__",
    "encodings/__init__",
    "encodings/idna",
    "gi/__init__",
    "gi/repository",
    "isort/__init__",
    "json",
    "lzma",
    "numbers",
    "numpy/__init__",
    "pylint/__init__",
    "pylint_plugins",
    "radon",
    "sitecustomize",
    "six",
    "stringprep",
    "sub/bz2",
    "sub/stringprep",
    "toml",
    "tomli",
    "tomlkit",
    "typing_extensions",
    "usercustomize",
    "xml/__init__",
    "xml/etree/ElementPath",
    "xml/etree/__init__",
    "zlib",
];

/// Makes tools import.
const USE: &str = "\"\"\"Doc.\"\"\"
import _decimal
import _elementtree
import _lzma
import asyncio
import bz2
import ctypes
import curses
import decimal
import enchant
import gi
import gi.repository.Gtk
import json
import lzma
import numpy.core
import readline
import sqlite3
import toml
import xml.etree
import zoneinfo

from gi.repository import GLib

gi.require_version('Gtk', '3.0')
print(bz2, lzma, _lzma.X, _decimal.Decimal(1).foo, _elementtree.XML('').x, GLib.x)
";

const OTHER: &str =
    "\"\"\"Doc.\"\"\"\nimport os\nimport argparse\n\nx = argparse.ArgumentParser().foo\n";

/// The project, where modules do this when they are run.
fn project(when_run: &str) -> Source {
    let mut all = source(&[
        ("other.py", OTHER),
        ("pkg/use.py", USE),
        ("sub/a.py", "# coding: idna\nx = 1\n"),
        ("sub/b.py", "# coding: stringprep\nx = 1\n"),
        ("sub/c.py", "# coding: bz2\nx = 1\n"),
    ]);
    for name in NAMES {
        let text = format!("\"\"\"Doc.\"\"\"\n{when_run}\n");
        all.insert(format!("{name}.py"), text.into_bytes());
    }
    all
}

#[test]
fn nothing_that_is_measured_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let harmful = format!(
        "open({:?}, 'a').write(__name__ + '\\n')\nraise SystemError(__name__)",
        mark.display().to_string()
    );
    let all = project(&harmful);
    let place = Place::new(&all);
    let [radon, pylint] = [Mode::Radon, Mode::Pylint]
        .map(|mode| place.run(mode, &request(mode, &place.root(), &all)));
    let run = fs::read_to_string(&mark).unwrap_or_default();
    assert_eq!(run, "", "was run");
    radon.unwrap();
    let harmful = read_pylint(&pylint.unwrap(), &all).unwrap();

    // The counts of other files are those beside modules that do no harm, and
    // those without them where nothing is imported from there.
    let all = project("print()\nprint()");
    let place = Place::new(&all);
    let found = place.run(Mode::Pylint, &request(Mode::Pylint, &place.root(), &all));
    let harmless = read_pylint(&found.unwrap(), &all).unwrap();
    for path in ["other.py", "sub/a.py", "sub/b.py", "sub/c.py"] {
        assert_eq!(harmful.files[path], harmless.files[path], "{path}");
    }
    let alone = crate::pylint(&source(&[("other.py", OTHER)])).unwrap();
    assert_eq!(harmful.files["other.py"], alone.files["other.py"]);
    assert_eq!(alone.files["other.py"].error, 1, "it knows argparse");
}

/// An installation of the task's that leads to the measured folder: Python
/// itself would run a `sitecustomize.py` found there.
#[test]
fn nothing_is_run_where_the_code_is_installed() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let text = format!("open({:?}, 'w')\n", mark.display().to_string());
    let names = [
        "sitecustomize.py",
        "usercustomize.py",
        "enchant.py",
        "helper.py",
    ];
    let mut files: Vec<_> = names.iter().map(|name| (*name, text.as_str())).collect();
    files.push((
        "uses.py",
        "\"\"\"Doc.\"\"\"\nimport known\n\nprint(known.X)\n",
    ));
    let all = source(&files);
    let place = Place::new(&all);
    let venv = folder.path().join("venv");
    let mut make = std::process::Command::new("python3");
    make.args(["-m", "venv", "--without-pip"]).arg(&venv);
    crate::tools::run(&mut make).unwrap();
    let lib = fs::read_dir(venv.join("lib")).unwrap().next().unwrap();
    let site = lib.unwrap().path().join("site-packages");
    let leads = format!("{}\nimport helper\n", place.root());
    fs::write(site.join("editable.pth"), leads).unwrap();
    fs::write(site.join("known.py"), "X = 1\n").unwrap();

    let path = std::env::join_paths([venv.join("bin"), "/usr/bin".into(), "/bin".into()]).unwrap();
    for mode in [Mode::Radon, Mode::Pylint] {
        let request = request(mode, &place.root(), &all);
        let found = place.run_by(mode, &request, |command| {
            command.env("PATH", &path);
        });
        assert!(!mark.exists(), "{mode:?}");
        let found = found.unwrap();
        if mode == Mode::Pylint {
            let found = read_pylint(&found, &all).unwrap();
            assert_eq!(
                found.files["uses.py"].messages(),
                0,
                "its packages are in sight"
            );
        }
    }
    // It would have been.
    let mut python = std::process::Command::new(venv.join("bin/python"));
    let _ = crate::tools::run(python.args(["-I", "-c", ""]));
    assert!(mark.exists());
}
