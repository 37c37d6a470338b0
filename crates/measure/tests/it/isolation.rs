//! Measured code is never run.

use std::fs;

use swe_ci_measure::{Mode, Source, read_pylint, request};

use crate::source;
use crate::tools::Workspace;

/// Modules that some file can make Pylint, astroid, codecs, and the standard
/// library's C modules import.
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

/// Makes the tools import modules.
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

/// A project whose modules execute `when_run` if they are run.
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
fn measured_code_is_never_run() {
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("marker");
    let harmful = format!(
        "open({:?}, 'a').write(__name__ + '\\n')\nraise SystemError(__name__)",
        marker.display().to_string()
    );
    let all = project(&harmful);
    let workspace = Workspace::new(&all);
    let [radon, pylint] = [Mode::Radon, Mode::Pylint]
        .map(|mode| workspace.run(mode, &request(mode, &workspace.root(), &all)));
    let run = fs::read_to_string(&marker).unwrap_or_default();
    assert_eq!(run, "", "was run");
    radon.unwrap();
    let harmful = read_pylint(&pylint.unwrap(), &all).unwrap();

    // The counts of other files match those beside harmless modules and,
    // without imports from there, those without the modules.
    let all = project("print()\nprint()");
    let workspace = Workspace::new(&all);
    let found = workspace.run(
        Mode::Pylint,
        &request(Mode::Pylint, &workspace.root(), &all),
    );
    let harmless = read_pylint(&found.unwrap(), &all).unwrap();
    for path in ["other.py", "sub/a.py", "sub/b.py", "sub/c.py"] {
        assert_eq!(harmful.files[path], harmless.files[path], "{path}");
    }
    let alone = crate::pylint(&source(&[("other.py", OTHER)])).unwrap();
    assert_eq!(harmful.files["other.py"], alone.files["other.py"]);
    assert_eq!(alone.files["other.py"].error, 1, "it knows argparse");
}

/// A package installation that refers to the measured folder: Python itself
/// would run a `sitecustomize.py` from there.
#[test]
fn installed_measured_code_is_never_run() {
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("marker");
    let text = format!("open({:?}, 'w')\n", marker.display().to_string());
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
    let workspace = Workspace::new(&all);
    let venv = folder.path().join("venv");
    let mut make = std::process::Command::new("python3");
    make.args(["-m", "venv", "--without-pip"]).arg(&venv);
    crate::tools::run(&mut make).unwrap();
    let lib = fs::read_dir(venv.join("lib")).unwrap().next().unwrap();
    let site = lib.unwrap().path().join("site-packages");
    let path_file = format!("{}\nimport helper\n", workspace.root());
    fs::write(site.join("editable.pth"), path_file).unwrap();
    fs::write(site.join("known.py"), "X = 1\n").unwrap();

    let path = std::env::join_paths([venv.join("bin"), "/usr/bin".into(), "/bin".into()]).unwrap();
    for mode in [Mode::Radon, Mode::Pylint] {
        let request = request(mode, &workspace.root(), &all);
        let found = workspace.run_with(mode, &request, |command| {
            command.env("PATH", &path);
        });
        assert!(!marker.exists(), "{mode:?}");
        let found = found.unwrap();
        if mode == Mode::Pylint {
            let found = read_pylint(&found, &all).unwrap();
            assert_eq!(
                found.files["uses.py"].messages(),
                0,
                "its packages are visible"
            );
        }
    }
    // Plain Python would have run it.
    let mut python = std::process::Command::new(venv.join("bin/python"));
    let _ = crate::tools::run(python.args(["-I", "-c", ""]));
    assert!(marker.exists());
}
