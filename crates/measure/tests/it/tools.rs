//! The tools, installed once below `target/`, and workspaces to run them in.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use swe_ci_measure::{DRIVER, Mode, PACKAGES, Source, command_in, file_digest, is_source};
use tempfile::TempDir;

/// A layer like the engine's: this machine's Python, and the packages of the
/// tools.
pub fn layer() -> &'static Path {
    static LAYER: OnceLock<PathBuf> = OnceLock::new();
    LAYER.get_or_init(|| {
        cached_folder("style-layer", &PACKAGES, |folder| {
            install(&PACKAGES, &folder.join("python/lib/python3/site-packages"));
            let python = folder.join("python/bin/python3");
            fs::create_dir_all(python.parent().unwrap()).unwrap();
            fs::write(&python, "#!/bin/sh\nexec python3 -I -X utf8 \"$@\"\n").unwrap();
            fs::set_permissions(&python, PermissionsExt::from_mode(0o755)).unwrap();
        })
    })
}

pub fn site() -> PathBuf {
    layer().join("python/lib/python3/site-packages")
}

/// A release of a real project, as installed.
pub fn release(package: &str) -> Source {
    let folder = cached_folder("style-code", &[package], |folder| {
        install(&[package], folder);
    });
    let mut source = Source::new();
    add_sources(&folder, &folder, &mut source);
    assert!(!source.is_empty(), "{package}");
    source
}

fn add_sources(root: &Path, folder: &Path, source: &mut Source) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap();
        if path.is_dir() {
            add_sources(root, &path, source);
        } else if is_source(name) {
            source.insert(name.to_owned(), fs::read(&path).unwrap());
        }
    }
}

/// A folder that is created once for these packages, atomically.
fn cached_folder(name: &str, packages: &[&str], make: impl FnOnce(&Path)) -> PathBuf {
    let digest = file_digest(packages.join(" ").as_bytes());
    let base = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = base.join(format!("{name}-{}", &digest[..16]));
    if !folder.exists() {
        fs::create_dir_all(base).unwrap();
        let created = tempfile::tempdir_in(base).unwrap();
        make(created.path());
        // Another process may have been faster.
        if fs::rename(created.path(), &folder).is_err() {
            assert!(folder.exists());
        }
    }
    folder
}

/// Uses this machine's pip, or that of a new environment if it has none.
fn install(packages: &[&str], folder: &Path) {
    let environment = tempfile::tempdir().unwrap();
    let mut python = PathBuf::from("python3");
    if run(Command::new(&python).args(["-m", "pip", "--version"])).is_err() {
        let created = environment.path();
        run(Command::new(&python).args(["-m", "venv"]).arg(created)).unwrap();
        python = created.join("bin/python");
    }
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"]);
    run(pip.arg(folder).args(packages)).unwrap();
}

/// Runs a program to its end and returns its output.
pub fn run(command: &mut Command) -> Result<Vec<u8>, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    Err(format!("{command:?}: {}\n{text}", output.status))
}

/// Stands in for a container with some code.
pub struct Workspace {
    folder: TempDir,
}

impl Workspace {
    pub fn new(source: &Source) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, bytes) in source {
            let path = folder.path().join("code").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let _ = fs::create_dir(folder.path().join("code"));
        fs::create_dir(folder.path().join("style")).unwrap();
        Self { folder }
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub fn root(&self) -> String {
        self.at("code").to_str().unwrap().to_owned()
    }

    pub fn run(&self, mode: Mode, request: &[u8]) -> Result<Vec<u8>, String> {
        self.run_with(mode, request, |_| {})
    }

    /// Like [`Self::run`], after `set` has changed the command.
    pub fn run_with(
        &self,
        mode: Mode,
        request: &[u8],
        set: impl FnOnce(&mut Command),
    ) -> Result<Vec<u8>, String> {
        let folder = self.at("style");
        fs::write(folder.join("measure.py"), DRIVER).unwrap();
        fs::write(folder.join("request.json"), request).unwrap();
        let arguments = command_in(layer().to_str().unwrap(), mode, folder.to_str().unwrap());
        let mut command = Command::new(&arguments[0]);
        command
            .args(&arguments[1..])
            .current_dir(self.folder.path());
        set(&mut command);
        run(&mut command)?;
        assert!(!folder.join("found.json.part").exists());
        fs::read(folder.join("found.json")).map_err(|error| error.to_string())
    }
}
