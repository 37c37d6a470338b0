//! Projects whose own modules are compiled. They cannot be had: `/app/code`
//! changes with every iteration, and nothing compiles it again there.

use crate::dependencies::required_project;
use crate::environment::configuration::{BuildSystem, Files};
use crate::text::decoded;

/// Build requirements and backends that compile, and what they compile.
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

/// Words of `setup.py` that speak of compiled modules.
const WORDS: [(&str, &str); 8] = [
    ("ext_modules", "ext_modules"),
    ("cffi_modules", "cffi_modules"),
    ("rust_extensions", "rust_extensions"),
    ("cythonize", "cythonize"),
    ("mypycify", "mypycify"),
    ("Extension(", "Extension"),
    ("Pybind11Extension", "Pybind11Extension"),
    ("CMakeExtension", "CMakeExtension"),
];

/// Why the project's modules have to be compiled; none where nothing says so.
/// What this does not see, the build of the project's wheel does.
#[must_use]
pub fn reason(build: &BuildSystem, files: &Files) -> Option<String> {
    let projects = build
        .requires
        .iter()
        .filter_map(|spec| required_project(spec));
    for project in projects {
        if let Some((_, what)) = COMPILERS.iter().find(|(name, _)| *name == project) {
            return Some(format!("it is built with {project}, which compiles {what}"));
        }
    }
    for path in ["setup.py", "build.py"] {
        let text = files.get(path).map(|bytes| decoded(bytes));
        let text = text.unwrap_or_default();
        let lines = text
            .lines()
            .map(|line| line.split('#').next().unwrap_or_default());
        for line in lines {
            let is_import = line.trim_start().starts_with("from ") || line.contains("import ");
            let word = WORDS
                .iter()
                .find(|(word, _)| line.contains(word) && !is_import);
            if let Some((_, shown)) = word {
                return Some(format!("{path} speaks of {shown}"));
            }
        }
    }
    let text = files.get("pyproject.toml").map(|bytes| decoded(bytes));
    let file = text.and_then(|text| text.parse::<toml::Table>().ok())?;
    let setuptools = file.get("tool")?.get("setuptools")?;
    let found = setuptools.get("ext-modules")?;
    found
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
