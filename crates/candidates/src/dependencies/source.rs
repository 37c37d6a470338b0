//! The files of a repository that declare dependencies.

/// The kind of a declaring file, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Pyproject,
    SetupCfg,
    SetupPy,
    /// Pip's requirements and constraints.
    Requirements,
    Pipfile,
    PipfileLock,
    /// Of Poetry, PDM, uv or PEP 751: tables of packages.
    Lock,
    /// Of Rye: pip's requirements.
    RequirementsLock,
}

/// The kind of declarations in a file, by its path from the repository root;
/// none if it declares nothing. Only files in the root count, and requirements
/// anywhere below a root folder `requirements`.
pub fn is_declaration(path: &str) -> Option<Source> {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let is_text = file.ends_with(".txt") || file.ends_with(".in");
    let below_requirements = folder.split('/').next() == Some("requirements");
    match (folder, file) {
        ("", "pyproject.toml") => Some(Source::Pyproject),
        ("", "setup.cfg") => Some(Source::SetupCfg),
        ("", "setup.py") => Some(Source::SetupPy),
        ("", "Pipfile") => Some(Source::Pipfile),
        ("", "Pipfile.lock") => Some(Source::PipfileLock),
        ("", "poetry.lock" | "pdm.lock" | "uv.lock" | "pylock.toml") => Some(Source::Lock),
        ("", "requirements.lock" | "requirements-dev.lock") => Some(Source::RequirementsLock),
        ("", file)
            if is_text && (file.contains("requirements") || file.starts_with("constraints")) =>
        {
            Some(Source::Requirements)
        }
        _ if is_text && below_requirements => Some(Source::Requirements),
        _ => None,
    }
}

impl Source {
    pub fn is_lock(self) -> bool {
        matches!(
            self,
            Self::PipfileLock | Self::Lock | Self::RequirementsLock
        )
    }

    /// Whether a file with this text lists the project's needs, even if the
    /// list is empty. A `setup.cfg` may only configure linters.
    pub fn is_manifest(self, text: &str) -> bool {
        match self {
            Self::SetupPy | Self::Requirements | Self::Pipfile => true,
            Self::PipfileLock | Self::Lock | Self::RequirementsLock => false,
            Self::SetupCfg => crate::ini::entries(text)
                .iter()
                .any(|entry| entry.section == "metadata" || entry.section.starts_with("options")),
            Self::Pyproject => super::pyproject::declares(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_declare() {
        for path in [
            "pyproject.toml",
            "setup.cfg",
            "setup.py",
            "Pipfile",
            "Pipfile.lock",
            "uv.lock",
            "pylock.toml",
            "requirements.lock",
            "requirements-dev.lock",
            "requirements.txt",
            "dev-requirements.txt",
            "requirements-dev.in",
            "requirements_test.txt",
            "constraints.txt",
            "requirements/test.txt",
            "requirements/ci/py38.in",
        ] {
            assert!(is_declaration(path).is_some(), "{path}");
        }
        for path in [
            "docs/setup.py",
            "a/pyproject.toml",
            "notes.txt",
            "docs/requirements.txt",
            "a/requirements/b.txt",
            "requirements/README.md",
            "requirements",
            "",
        ] {
            assert!(is_declaration(path).is_none(), "{path}");
        }
    }

    #[test]
    fn manifests_list_requirements() {
        let check = |path: &str, text: &str, expect: bool| {
            let source = is_declaration(path).unwrap();
            assert_eq!(source.is_manifest(text), expect, "{path}: {text}");
        };
        check("pyproject.toml", "[project]\nname='a'", true);
        check("pyproject.toml", "[tool.poetry]\nname='a'", true);
        check("pyproject.toml", "[build-system]\nrequires=[]", true);
        check("pyproject.toml", "[tool.black]\nline-length=88", false);
        check("pyproject.toml", "[project", false);
        check("setup.cfg", "[flake8]\nmax=1", false);
        check("setup.cfg", "[metadata]\nname=a", true);
        check("setup.py", "", true);
        check("uv.lock", "", false);
    }
}
