//! The Python that runs the driver, and how its imports resolve.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use swe_ci_measure::{Mode, Pylint, read_pylint, request};

use crate::source;
use crate::tools::Workspace;

/// This machine's `PATH`, with a folder in front.
#[expect(clippy::disallowed_methods, reason = "it locates programs")]
fn path_with(folder: &Path) -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let rest: Vec<PathBuf> = std::env::split_paths(&path).collect();
    std::env::join_paths(std::iter::once(folder.to_owned()).chain(rest)).unwrap()
}

fn program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// An import is an error (E0401) unless the package is visible.
fn errors(path: &Path, package: &str) -> u32 {
    let text = format!("\"\"\"Doc.\"\"\"\nimport {package}\n\nprint({package})\n");
    let code = source(&[("a.py", &text)]);
    let workspace = Workspace::new(&code);
    let request_json = request(Mode::Pylint, &workspace.root(), &code);
    let found = workspace.run_with(Mode::Pylint, &request_json, |command| {
        command.env("PATH", path_with(path));
    });
    let found: Pylint = read_pylint(&found.unwrap(), &code).unwrap();
    found.files["a.py"].error
}

#[test]
fn the_tasks_packages_are_visible() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    for path in ["none", "old", "older", "packages/site-packages"] {
        fs::create_dir_all(at(path)).unwrap();
    }
    fs::write(at("packages/site-packages/known.py"), "X = 1\n").unwrap();
    assert_eq!(errors(&at("none"), "known"), 1);

    // A Python that is too old reports its packages: the layer's Python runs
    // instead, and sees them.
    let packages = at("packages/site-packages");
    let says = format!("#!/bin/sh\necho /nowhere:{}\n", packages.display());
    program(&at("old/python"), &says);
    assert_eq!(errors(&at("old"), "known"), 0);

    // A Python without `-I` is Python 2, which does not run the tests.
    program(&at("older/python"), "#!/bin/sh\nexit 2\n");
    assert_eq!(errors(&at("older"), "known"), 1);

    // A tool's own package is not one of the task's, whichever Python runs it.
    for place in ["none", "old"] {
        assert_eq!(errors(&at(place), "mando"), 1, "{place}");
    }
}
