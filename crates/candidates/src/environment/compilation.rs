//! Detects projects whose own modules are compiled. They are unsuitable:
//! `/app/code` changes with every iteration, and nothing there compiles it
//! again.

use crate::dependencies::required_project;
use crate::environment::project_files::{BuildSystem, Files, text};
use crate::toml_values::{self, at};

/// Build requirements and backends that compile, and the languages they
/// compile.
const COMPILERS: [(&str, &str); 12] = [
    ("cython", "Cython"),
    ("setuptools-rust", "Rust, with setuptools-rust"),
    ("maturin", "Rust, with maturin"),
    ("scikit-build", "C or C++, with scikit-build"),
    ("scikit-build-core", "C or C++, with scikit-build-core"),
    ("meson-python", "C or C++, with Meson"),
    ("pybind11", "C++, with pybind11"),
    ("nanobind", "C++, with nanobind"),
    ("cffi", "C, with cffi"),
    ("mypyc", "Python, with mypyc"),
    ("sip", "C++, with SIP"),
    ("py-build-cmake", "C or C++, with CMake"),
];

/// Words of `setup.py` that indicate compiled modules.
const WORDS: &str = "ext_modules cffi_modules rust_extensions cythonize mypycify Extension( \
    Pybind11Extension CMakeExtension";

/// Why the project's modules must be compiled; none if no file indicates it.
/// Building the project's wheel detects the remaining cases.
pub fn reason(build: &BuildSystem, files: &Files) -> Option<String> {
    let requires = build.requires.iter();
    for project in requires.filter_map(|spec| required_project(spec)) {
        if let Some((_, what)) = COMPILERS.iter().find(|(name, _)| *name == project) {
            return Some(format!("it builds with {project}, which compiles {what}"));
        }
    }
    for path in ["setup.py", "build.py"] {
        let text = text(files, path).unwrap_or_default();
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default();
            let is_import = line.trim_start().starts_with("from ") || line.contains("import ");
            let mut words = WORDS.split(' ').filter(|_| !is_import);
            if let Some(word) = words.find(|word| line.contains(word)) {
                let shown = word.trim_end_matches('(');
                return Some(format!("{path} contains {shown}"));
            }
        }
    }
    let file = toml_values::parsed(&text(files, "pyproject.toml")?).ok()?;
    at(&file, "tool.setuptools.ext-modules")?
        .is_array()
        .then(|| "pyproject.toml has tool.setuptools.ext-modules".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiled_and_not() {
        let check = |path: &str, text: &str, requires: &[&str], expect: Option<&str>| {
            let files = Files::from([(path.to_owned(), text.as_bytes().to_vec())]);
            let requires = requires.iter().map(|s| (*s).to_owned()).collect();
            let build = BuildSystem {
                requires,
                backend: None,
            };
            let found = reason(&build, &files);
            match expect {
                Some(part) => assert!(
                    found.as_deref().unwrap_or("").contains(part),
                    "{text}: {found:?}"
                ),
                None => assert_eq!(found, None, "{text}"),
            }
        };
        check("setup.py", "setup(name='a')", &["setuptools>=61"], None);
        check(
            "setup.py",
            "# no ext_modules here\nfrom setuptools import Extension\n",
            &[],
            None,
        );
        check(
            "setup.py",
            "setup(ext_modules=[Extension('a', ['a.c'])])",
            &[],
            Some("ext_modules"),
        );
        check(
            "pyproject.toml",
            "",
            &["setuptools", "Cython>=3"],
            Some("Cython"),
        );
        check("pyproject.toml", "", &["setuptools_rust"], Some("Rust"));
        check("pyproject.toml", "", &["maturin>=1,<2"], Some("maturin"));
        check(
            "pyproject.toml",
            "",
            &["scikit-build-core"],
            Some("scikit-build-core"),
        );
        check(
            "pyproject.toml",
            "[[tool.setuptools.ext-modules]]\nname='a'",
            &[],
            Some("ext-modules"),
        );
        check(
            "pyproject.toml",
            "[tool.setuptools]\nzip-safe=false",
            &[],
            None,
        );
        check("pyproject.toml", "[", &[], None);
    }
}
