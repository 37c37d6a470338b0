//! Runs `metadata.py` with the host's Python in temporary environments.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/src/environment/recipe/metadata.py"
);
const INFO: &str = "demo-1.2.dist-info";

/// An environment with a project and one more distribution.
struct Made {
    folder: TempDir,
    site: PathBuf,
}

/// Runs a program and returns its output.
fn output(command: &mut Command) -> Result<String, String> {
    let done = command.output().unwrap();
    let text = [done.stdout, done.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    if done.status.success() {
        Ok(text)
    } else {
        Err(text)
    }
}

impl Made {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let venv = folder.path().join("venv");
        let mut make = Command::new("python3");
        make.args(["-m", "venv", "--without-pip"]).arg(venv);
        output(&mut make).unwrap();
        let mut made = Self {
            site: PathBuf::new(),
            folder,
        };
        let site_packages = made.python("import sysconfig; print(sysconfig.get_path('purelib'))");
        made.site = site_packages.unwrap().trim().into();
        assert!(made.site.starts_with(made.folder.path()));
        made
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: impl AsRef<Path>, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn python(&self, program: &str) -> Result<String, String> {
        let mut python = Command::new(self.at("venv/bin/python"));
        // As in the image, Python writes no bytecode.
        python.env("PYTHONDONTWRITEBYTECODE", "1");
        output(python.env_remove("PYTHONPATH").args(["-c", program]))
    }

    /// Installs a wheel with these files as pip does, and removes its modules.
    fn run(&self, files: &BTreeMap<String, String>) -> String {
        let wheel = self.at("demo-1.2-py3-none-any.whl");
        let mut archive = zip::ZipWriter::new(fs::File::create(&wheel).unwrap());
        let metadata = "Metadata-Version: 2.1\nName: demo\nVersion: 1.2\n";
        let entry_points = "[console_scripts]\ndemo = demo.core:main\n";
        let info = [
            ("METADATA", metadata),
            ("entry_points.txt", entry_points),
            ("RECORD", ""),
        ];
        let info = info.map(|(name, text)| (format!("{INFO}/{name}"), text.to_owned()));
        let all: BTreeMap<_, _> = files.clone().into_iter().chain(info).collect();
        let mut record = format!("{INFO}/direct_url.json,sha256=x,1\n");
        for (name, text) in &all {
            let options = zip::write::SimpleFileOptions::default();
            archive.start_file(name.as_str(), options).unwrap();
            archive.write_all(text.as_bytes()).unwrap();
            self.write(self.site.join(name), text);
            record += &format!("{name},sha256=x,1\n");
        }
        archive.finish().unwrap();
        self.write(self.site.join(INFO).join("direct_url.json"), "{}");
        for name in files.keys().filter(|name| name.ends_with(".py")) {
            let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
            let stem = file.trim_end_matches(".py");
            let compiled = format!("{folder}/__pycache__/{stem}.cpython-311.pyc");
            record += &format!("{compiled},,\n");
            self.write(self.site.join(compiled.trim_start_matches('/')), "");
        }
        self.write(self.site.join(INFO).join("RECORD"), &record);
        let mut python = Command::new(self.at("venv/bin/python"));
        python.arg(SCRIPT).arg(self.at("tree")).arg(wheel);
        output(python.arg(self.at("generated")).arg(self.at("code"))).unwrap()
    }
}

fn files(all: &[(&str, &str)]) -> BTreeMap<String, String> {
    let all = all.iter();
    all.map(|(path, text)| ((*path).into(), (*text).into()))
        .collect()
}

#[test]
fn code_goes_and_what_installing_made_stays() {
    let made = Made::new();
    // Another distribution in the same namespace.
    made.write(made.site.join("space/other.py"), "whose = 'other'");
    let core = "def main(): return 'tree'\n";
    made.write("tree/src/demo/__init__.py", "");
    made.write("tree/src/demo/core.py", core);
    made.write("tree/src/space/mine.py", "whose = 'tree'");
    // A copy in a subfolder is not a root.
    made.write("tree/tests/copies/old/demo/core.py", core);
    let output = made.run(&files(&[
        ("demo/__init__.py", ""),
        ("demo/core.py", core),
        ("demo/_version.py", "version = '1.2'\n"),
        ("demo/data.txt", "data"),
        ("space/mine.py", "whose = 'tree'"),
    ]));
    assert!(
        output.contains("kept the generated demo/_version.py"),
        "{output}"
    );
    assert!(!made.site.join("demo").exists());
    assert!(!made.site.join("space/mine.py").exists());
    assert!(made.site.join("space/other.py").exists());
    assert!(!made.site.join(INFO).join("direct_url.json").exists());
    let record = fs::read_to_string(made.site.join(INFO).join("RECORD")).unwrap();
    let mut record: Vec<_> = record.lines().collect();
    record.sort_unstable();
    let kept = ["METADATA", "RECORD", "entry_points.txt"];
    assert_eq!(record, kept.map(|name| format!("{INFO}/{name},sha256=x,1")));
    let code = made.at("code");
    let code = code.to_str().unwrap();
    let path = fs::read_to_string(made.site.join("_swe_ci_code.pth")).unwrap();
    assert_eq!(
        path,
        format!("{code}\n{code}/src\nimport _swe_ci_generated\n")
    );

    // Without code, nothing of the project can be imported.
    let version = "import importlib.metadata as m; print(m.version('demo'), ";
    let points = format!("{version}[e.value for e in m.distribution('demo').entry_points])");
    assert_eq!(made.python(&points).unwrap(), "1.2 ['demo.core:main']\n");
    let error = made.python("import demo.core").unwrap_err();
    assert!(error.contains("No module named 'demo'"), "{error}");

    // Then there is code, and it differs.
    made.write("code/src/demo/__init__.py", "");
    made.write("code/src/demo/core.py", "def main(): return 'code'\n");
    let output = "import demo.core, demo._version; print(demo.core.main(), demo._version.version)";
    assert_eq!(made.python(output).unwrap(), "code 1.2\n");
    made.write("code/src/demo/_version.py", "version = 'its own'\n");
    assert_eq!(made.python(output).unwrap(), "code its own\n");
}

/// A module and a package in an unusual folder.
#[test]
fn roots_are_where_the_files_are() {
    let made = Made::new();
    made.write("tree/python/demo/__init__.py", "a = 1\n");
    made.write("tree/single.py", "b = 1\n");
    made.run(&files(&[
        ("demo/__init__.py", "a = 1\n"),
        ("single.py", "b = 1\n"),
    ]));
    assert!(!made.site.join("single.py").exists());
    assert!(!made.site.join("_swe_ci_generated.py").exists());
    let code = made.at("code");
    let code = code.to_str().unwrap();
    let path = fs::read_to_string(made.site.join("_swe_ci_code.pth")).unwrap();
    assert_eq!(path, format!("{code}/src\n{code}\n{code}/python\n"));
    made.write("code/python/demo/__init__.py", "a = 2\n");
    made.write("code/single.py", "b = 2\n");
    let output = made.python("import demo, single; print(demo.a, single.b)");
    assert_eq!(output.unwrap(), "2 2\n");
}

/// A build that rewrites everything, and a module too large to be a generated
/// one.
#[test]
fn code_is_not_taken_for_generated() {
    let made = Made::new();
    made.write("tree/setup.py", "");
    let names = (0..21).map(|n| (format!("demo/m{n}.py"), format!("{n}\n")));
    let output = made.run(&names.collect());
    assert!(
        output.contains("21 modules of the wheel are not in the code; none is kept"),
        "{output}"
    );
    assert!(!made.at("generated").exists() && !made.site.join("demo").exists());

    let made = Made::new();
    made.write("tree/demo/same.py", "a = 1\n");
    made.run(&files(&[
        ("demo/large.py", &"#".repeat(64 * 1024 + 1)),
        // Changed by the build: the code has a module of that name.
        ("demo/same.py", "a = 2\n"),
    ]));
    assert!(!made.at("generated").exists() && !made.site.join("demo").exists());
}
