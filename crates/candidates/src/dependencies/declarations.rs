//! The dependencies that all files of a commit declare together.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::source::Source;
use super::{ini, lock, pyproject, setup_py};
use crate::{bounds, text};

/// Requirements by where they are declared: `pyproject.toml project`,
/// `poetry.lock packages`, …. Equal declarations should give equal
/// environments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeclaredDependencies {
    places: BTreeMap<String, BTreeSet<String>>,
    unparsed: BTreeMap<String, Unparsed>,
}

/// Why a file is compared by its text instead of its requirements.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unparsed {
    /// Longer than [`bounds::BLOB`]; compared by its object id.
    #[error("longer than {} MiB", bounds::BLOB >> 20)]
    TooLong,
    /// Not in the format its name promises, with the parser's message.
    #[error("malformed: {0}")]
    Malformed(String),
    /// A program computes the requirements, and this crate runs no programs.
    #[error("computed by a program")]
    Computed,
}

impl DeclaredDependencies {
    /// Adds the requirements of a file, or its text if it cannot be parsed.
    pub fn add(&mut self, path: &str, source: Source, bytes: &[u8]) {
        let text = text::decoded(bytes);
        let read = match source {
            Source::Pyproject => pyproject::pyproject(&text),
            Source::SetupCfg => Ok(ini::setup_cfg(&text)),
            Source::SetupPy => setup_py::declared(&text),
            Source::Requirements | Source::RequirementsLock => Ok(ini::requirements(&text)),
            Source::Pipfile => pyproject::pipfile(&text),
            Source::PipfileLock => lock::pipfile_lock(&text),
            Source::Lock => lock::lock(&text),
        };
        match read {
            Ok(found) => found
                .into_iter()
                .for_each(|(part, requirement)| self.insert(path, &part, requirement)),
            Err((why, text)) => self.add_text(path, why, text),
        }
    }

    /// Adds a file that is too long to read, by its object id.
    pub fn add_too_long(&mut self, path: &str, id: &str) {
        self.add_text(path, Unparsed::TooLong, id.to_owned());
    }

    fn add_text(&mut self, path: &str, why: Unparsed, text: String) {
        self.insert(path, "text", text);
        self.unparsed.insert(path.to_owned(), why);
    }

    fn insert(&mut self, path: &str, part: &str, requirement: String) {
        let place = format!("{path} {part}");
        self.places.entry(place).or_default().insert(requirement);
    }

    pub fn places(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        self.places.iter().map(|(place, all)| (place.as_str(), all))
    }

    /// The files compared by their text, and why.
    pub fn unparsed(&self) -> impl Iterator<Item = (&str, &Unparsed)> {
        self.unparsed.iter().map(|(path, why)| (path.as_str(), why))
    }

    /// Drops what a file requires for tests, builds and developers only.
    pub fn keep_runtime(&mut self, path: &str) {
        self.places.retain(|place, _| {
            let part = place.strip_prefix(path).unwrap_or(place).trim_start();
            is_runtime(path, part)
        });
    }

    /// Whether no requirement is declared; a library may need none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub fn merge(&mut self, other: &Self) {
        for (place, all) in &other.places {
            let mine = self.places.entry(place.clone()).or_default();
            mine.extend(all.iter().cloned());
        }
        self.unparsed
            .extend(other.unparsed.iter().map(|(p, w)| (p.clone(), w.clone())));
    }
}

/// Whether a part of a file says what the project needs when it is used. The
/// text of a file that cannot be parsed may say it.
fn is_runtime(path: &str, part: &str) -> bool {
    let parts: &[&str] = match path {
        "pyproject.toml" => &["project", "dynamic", "python", "poetry", "flit"],
        "setup.cfg" => &["options install_requires", "options python_requires"],
        "setup.py" => &["install_requires", "python_requires"],
        "requirements.txt" => &["lines"],
        "Pipfile" => &["packages"],
        _ => &[],
    };
    part == "text" || parts.contains(&part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dependencies::is_declaration;

    #[test]
    fn requirements_at_run_time() {
        let check = |path: &str, text: &str, expect: &str| {
            let mut declared = parsed(path, text);
            declared.keep_runtime(path);
            let all: Vec<&str> = declared.places().map(|(place, _)| place).collect();
            assert_eq!(all.join(", "), expect, "{path}");
        };
        check(
            "pyproject.toml",
            "[project]\nrequires-python='>=3'\ndependencies=['a']\n[dependency-groups]\ndev=['b']\n\
             [build-system]\nrequires=['c']\n[project.optional-dependencies]\nx=['d']",
            "pyproject.toml project, pyproject.toml python",
        );
        check(
            "setup.cfg",
            "[options]\ninstall_requires=a\ntests_require=b",
            "setup.cfg options install_requires",
        );
        // Only the list that is computed counts as its text.
        check(
            "setup.py",
            "setup(install_requires=['a'], extras_require={'dev': LINT + ['b']})",
            "setup.py install_requires",
        );
        check(
            "setup.py",
            "setup(install_requires=read())",
            "setup.py text",
        );
        check("requirements-dev.txt", "a", "");
        check("requirements.txt", "a", "requirements.txt lines");
        check("pyproject.toml", "[", "pyproject.toml text");
    }

    fn parsed(path: &str, text: &str) -> DeclaredDependencies {
        let mut declared = DeclaredDependencies::default();
        declared.add(path, is_declaration(path).unwrap(), text.as_bytes());
        declared
    }

    /// Different spellings of the same requirements are equal; different
    /// requirements are not.
    #[test]
    fn the_same_and_not_the_same() {
        let same = |path: &str, a: &str, b: &str| {
            assert_eq!(parsed(path, a), parsed(path, b), "{path}: {a} {b}");
        };
        let other = |path: &str, a: &str, b: &str| {
            assert_ne!(parsed(path, a), parsed(path, b), "{path}: {a} {b}");
        };
        let p = "pyproject.toml";
        same(
            p,
            "[project]\nname='a'\nversion='1'\ndependencies=['B >=1','c']",
            "[project]\nname='a'\nversion='2'\ndependencies=['c', 'b>=1']",
        );
        other(
            p,
            "[project]\ndependencies=['b']",
            "[project]\ndependencies=['b', 'c']",
        );
        other(
            p,
            "[project]\nrequires-python='>=3.8'",
            "[project]\nrequires-python='>=3.9'",
        );
        other(
            p,
            "[project.optional-dependencies]\ntest=['a']",
            "[project.optional-dependencies]\ndoc=['a']",
        );
        other(
            p,
            "[dependency-groups]\ntest=['a']",
            "[dependency-groups]\ntest=['a', {include-group='b'}]",
        );
        other(
            p,
            "[tool.poetry.dependencies]\na='^1'",
            "[tool.poetry.dependencies]\na={version='^1', optional=true}",
        );
        other(
            p,
            "[tool.poetry.group.dev.dependencies]\na='^1'",
            "[tool.poetry.group.dev.dependencies]\na='^2'",
        );
        other(
            p,
            "[tool.pdm.dev-dependencies]\nt=['a']",
            "[tool.pdm.dev-dependencies]\nt=['b']",
        );
        other(
            p,
            "[tool.hatch.envs.test]\ndependencies=['a']",
            "[tool.hatch.envs.test]\ndependencies=['b']",
        );
        other(
            p,
            "[tool.uv]\ndev-dependencies=['a']",
            "[tool.uv]\ndev-dependencies=['b']",
        );
        same(
            p,
            "[tool.black]\nline-length=88",
            "[tool.black]\nline-length=100",
        );
        other(p, "[project\n", "[project\n\n");
        other(
            p,
            "[tool.poetry.extras]\na=['b']",
            "[tool.poetry.extras]\na=['c']",
        );
        other(
            p,
            "[tool.uv.sources]\na={git='x'}",
            "[tool.uv.sources]\na={git='y'}",
        );
        other(
            p,
            "[tool.setuptools.dynamic]\ndependencies={file='a'}",
            "[tool.setuptools.dynamic]\ndependencies={file='b'}",
        );
        same(
            p,
            "[tool.setuptools.dynamic]\nversion={attr='a'}",
            "[tool.setuptools.dynamic]\nversion={attr='b'}",
        );
        let c = "setup.cfg";
        same(
            c,
            "[options]\ninstall_requires =\n    a\n    b>=1  # why\n",
            "[options]\ninstall_requires=\n  b >=1\n\n  a\n[flake8]\nmax=1\n",
        );
        other(
            c,
            "[options]\ninstall_requires = a",
            "[options]\ninstall_requires = a<2",
        );
        other(
            c,
            "[options.extras_require]\ntest =\n  a",
            "[options.extras_require]\ntest =\n  b",
        );
        let s = "setup.py";
        same(
            s,
            "setup(version='1', install_requires=['a'])",
            "setup(version='2', install_requires=['A'])",
        );
        other(
            s,
            "setup(install_requires=['a'])",
            "setup(install_requires=['b'])",
        );
        other(
            s,
            "setup(install_requires=read())",
            "setup(version='2', install_requires=read())",
        );
        let r = "requirements.txt";
        same(
            r,
            "# all\na==1 \\\n  --hash=sha256:0\nb\n",
            "b # why\na==1   --hash=sha256:0\n",
        );
        same(
            r,
            "a==1 --hash=sha256:0",
            "a==1 \\\n  --hash=sha256:1 \\\n  --hash=sha256:2",
        );
        other(r, "a\n", "a\n-r more.txt\n");
        other(r, "-r a.txt", "-r b.txt");
        other("Pipfile", "[docs]\na='*'", "[docs]\nb='*'");
        same(
            "Pipfile",
            "[packages]\nA='*'",
            "[packages]\na='*'\n[scripts]\nx='y'",
        );
        other("Pipfile", "[packages]\na='*'", "[dev-packages]\na='*'");
        let l = "Pipfile.lock";
        same(
            l,
            r#"{"_meta":{"hash":1},"default":{"a":{"version":"==1"}}}"#,
            r#"{"_meta":{"hash":2},"default":{"a":{"version":"==1"}}}"#,
        );
        other(
            l,
            r#"{"default":{"a":{"version":"==1"}}}"#,
            r#"{"default":{"a":{"version":"==2"}}}"#,
        );
        let u = "uv.lock";
        same(
            u,
            "version=1\n[[package]]\nname='a'\nversion='1'",
            "version=2\n[[package]]\nname='a'\nversion='1'",
        );
        let own = |source: &str, version: &str| {
            format!(
                "[[package]]\nname='me'\nversion='{version}'\n{source}\n[[package]]\nname='a'\nversion='1'\nsource={{registry='https://pypi.org/simple'}}\n"
            )
        };
        for source in [
            "source={virtual='.'}",
            "source={editable='.'}",
            "source={directory='.'}",
            "source={editable='packages/b'}",
            "path='./b'",
            "directory={path='.'}",
        ] {
            same(u, &own(source, "1"), &own(source, "2"));
        }
        same(
            "poetry.lock",
            &own("[package.source]\ntype='directory'\nurl='.'", "1"),
            &own("[package.source]\ntype='directory'\nurl='.'", "2"),
        );
        other(
            u,
            &own("source={registry='x'}", "1"),
            &own("source={registry='x'}", "2"),
        );
        other(
            u,
            &own("source={git='https://x#abc'}", "1"),
            &own("source={git='https://x#abd'}", "1"),
        );
        other(
            "poetry.lock",
            &own("[package.source]\ntype='git'\nresolved_reference='a'", "1"),
            &own("[package.source]\ntype='git'\nresolved_reference='b'", "1"),
        );
        let rye = "requirements-dev.lock";
        same(rye, "# generated\n-e file:.\na==1", "-e file:.\na==1");
        other(rye, "-e file:.\na==1", "-e file:.\na==2");
        other(
            "pylock.toml",
            "[[packages]]\nname='a'\nversion='1'",
            "[[packages]]\nname='a'\nversion='2'",
        );
        other(
            u,
            "[[package]]\nname='a'\nversion='1'",
            "[[package]]\nname='a'\nversion='2'",
        );
    }

    #[test]
    fn any_input_is_read() {
        let texts = [
            "",
            "\0",
            "[",
            "=",
            "[options]\n=",
            "install_requires=",
            "install_requires='",
            "é\u{feff}",
        ];
        for path in [
            "pyproject.toml",
            "setup.cfg",
            "setup.py",
            "requirements.txt",
            "Pipfile",
            "Pipfile.lock",
            "pdm.lock",
        ] {
            for text in texts {
                parsed(path, text);
            }
        }
        let mut declared = DeclaredDependencies::default();
        declared.add("setup.py", Source::SetupPy, b"\xff\xfe");
        assert!(declared.is_empty());
        let wide: Vec<u8> = "\u{feff}a==1\r\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        declared.add("requirements.txt", Source::Requirements, &wide);
        assert_eq!(declared, parsed("requirements.txt", "a==1"));
    }

    #[test]
    fn unparsed_files_are_reported() {
        let why = |path: &str, text: &str| {
            parsed(path, text)
                .unparsed()
                .map(|(p, w)| format!("{p} {w}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let check = |path: &str, text: &str, expect: &str| {
            assert!(
                why(path, text).contains(expect),
                "{path}: {text} → {}",
                why(path, text)
            );
        };
        check("pyproject.toml", "[project", "pyproject.toml malformed: ");
        check("Pipfile.lock", "{", "Pipfile.lock malformed: EOF");
        check("uv.lock", "<<<<<<< HEAD", "malformed");
        check(
            "setup.py",
            "setup(install_requires=read())",
            "computed by a program",
        );
        assert_eq!(why("requirements.txt", "?"), "");
        let mut declared = DeclaredDependencies::default();
        declared.add_too_long("uv.lock", "abc");
        assert_eq!(
            declared.unparsed().collect::<Vec<_>>(),
            [("uv.lock", &Unparsed::TooLong)]
        );
    }
}
