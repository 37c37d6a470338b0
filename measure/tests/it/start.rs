//! Which Python the driver is run by, and what imports resolve to there.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use swe_ci_measure::{Mode, Pylint, read_pylint, request};

use crate::source;
use crate::tools::Place;

/// The paths of this machine, with a folder before them.
#[expect(clippy::disallowed_methods, reason = "programs are found by it")]
fn path_with(folder: &Path) -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let rest: Vec<PathBuf> = std::env::split_paths(&path).collect();
    std::env::join_paths(std::iter::once(folder.to_owned()).chain(rest)).unwrap()
}

fn program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// `import known` is an error (E0401) where the package is not in sight.
fn errors(path: &Path) -> u32 {
    let code = source(&[("a.py", "\"\"\"Doc.\"\"\"\nimport known\n\nprint(known.X)\n")]);
    let place = Place::new(&code);
    let asked = request(Mode::Pylint, &place.root(), &code);
    let found = place.run_by(Mode::Pylint, &asked, |command| {
        command.env("PATH", path_with(path));
    });
    let found: Pylint = read_pylint(&found.unwrap(), &code).unwrap();
    found.files["a.py"].error
}

#[test]
fn the_tasks_packages_are_in_sight() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    for path in ["none", "old", "older", "packages/site-packages"] {
        fs::create_dir_all(at(path)).unwrap();
    }
    fs::write(at("packages/site-packages/known.py"), "X = 1\n").unwrap();
    assert_eq!(errors(&at("none")), 1);

    // A Python that is too old says where its packages are: the layer's own is
    // used, and it sees them.
    let packages = at("packages/site-packages");
    let says = format!("#!/bin/sh\necho /nowhere:{}\n", packages.display());
    program(&at("old/python"), &says);
    assert_eq!(errors(&at("old")), 0);

    // One that does not know `-I` is Python 2; the tests are not run by it.
    program(&at("older/python"), "#!/bin/sh\nexit 2\n");
    assert_eq!(errors(&at("older")), 1);
}
