//! Which repositories are collected (paper, section 3.1, step 1).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Facts, Few, Licence};

/// What a repository has to be. All have to hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CollectRules {
    /// Years from the first commit to the last: 3 in section 3.1.
    pub min_age_years: f64,
    /// A file that says what it needs.
    pub require_manifest: bool,
    /// A file that pins it. The paper names lock files as an example; of
    /// libraries few have one.
    pub require_lock_file: bool,
    /// Modules of tests in `tests/`.
    pub require_tests: bool,
    pub licences: Licences,
    /// Whether parts may be in other repositories, which are not fetched.
    pub allow_submodules: bool,
    /// Whether files may be at a server of Git LFS; their pointers are taken
    /// for them.
    pub allow_lfs: bool,
    /// Whether links may lead out of the repository.
    pub allow_links_outside: bool,
}

impl Default for CollectRules {
    fn default() -> Self {
        Self {
            min_age_years: 3.0,
            require_manifest: true,
            require_lock_file: false,
            require_tests: true,
            licences: Licences::Permissive,
            allow_submodules: true,
            allow_lfs: true,
            allow_links_outside: false,
        }
    }
}

/// Which licences are taken. Every licence a repository states has to be one
/// of them, and it has to state one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Licences {
    /// [`Licence::permissive`] ones, as section 3.1 asks.
    Permissive,
    /// Those with these SPDX identifiers.
    Listed(Vec<String>),
    /// All, and none as well.
    Any,
}

/// What a repository is not, in words: the value and what is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    TooYoung {
        years: f64,
        least: f64,
    },
    NoManifest,
    NoLockFile,
    NoTests {
        test_files: usize,
    },
    NoSource {
        files: usize,
    },
    /// No licence file is known and no manifest states one.
    NoLicence {
        unknown: Vec<String>,
    },
    Licence {
        licence: Licence,
        allowed: String,
    },
    Submodules {
        found: Few,
    },
    Lfs {
        found: Few,
    },
    LinksOutside {
        found: Few,
    },
}

impl Refusal {
    /// A few words for each kind.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::TooYoung { .. } => "too young",
            Self::NoManifest => "no manifest",
            Self::NoLockFile => "no lock file",
            Self::NoTests { .. } => "no tests",
            Self::NoSource { .. } => "no source",
            Self::NoLicence { .. } => "no licence",
            Self::Licence { .. } => "another licence",
            Self::Submodules { .. } => "submodules",
            Self::Lfs { .. } => "files elsewhere",
            Self::LinksOutside { .. } => "links out of it",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooYoung { years, least } => {
                write!(
                    f,
                    "{years:.1} years from the first commit to the last, at least {least} needed"
                )
            }
            Self::NoManifest => write!(
                f,
                "no pyproject.toml, setup.cfg, setup.py, Pipfile or requirements that say what it \
                 needs, one needed"
            ),
            Self::NoLockFile => write!(f, "no lock file, one needed"),
            Self::NoTests { test_files } => write!(
                f,
                "no test_*.py or *_test.py in tests/ ({test_files} files of tests elsewhere), \
                 at least 1 needed"
            ),
            Self::NoSource { files } => {
                write!(
                    f,
                    "no Python outside of tests among {files} files, at least 1 needed"
                )
            }
            Self::NoLicence { unknown } if unknown.is_empty() => {
                write!(f, "no licence is stated, one needed")
            }
            Self::NoLicence { unknown } => {
                let unknown = unknown.join(", ");
                write!(
                    f,
                    "no licence that is known here ({unknown} is another), one needed"
                )
            }
            Self::Licence { licence, allowed } => {
                write!(
                    f,
                    "{} says {}, {allowed} needed",
                    licence.file, licence.spdx
                )
            }
            Self::Submodules { found } => write!(f, "{}, none allowed", told(found, "submodules")),
            Self::Lfs { found } => {
                write!(
                    f,
                    "{}, none allowed",
                    told(found, "files at a server of Git LFS")
                )
            }
            Self::LinksOutside { found } => {
                write!(
                    f,
                    "{}, none allowed",
                    told(found, "links out of the repository")
                )
            }
        }
    }
}

fn told(found: &Few, what: &str) -> String {
    let first = found.first.first().map_or("", String::as_str);
    format!("{} {what} ({first} is the first)", found.count)
}

impl CollectRules {
    /// Everything that speaks against a repository; nothing if it is taken.
    #[must_use]
    pub fn refuse(&self, facts: &Facts) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        let mut unless = |holds: bool, refusal: &dyn Fn() -> Refusal| {
            if !holds {
                refusals.push(refusal());
            }
        };
        let (years, least) = (facts.age_years, self.min_age_years);
        unless(years >= least, &|| Refusal::TooYoung { years, least });
        let manifest = !self.require_manifest || !facts.manifests.is_empty();
        unless(manifest, &|| Refusal::NoManifest);
        let lock_file = !self.require_lock_file || !facts.lock_files.is_empty();
        unless(lock_file, &|| Refusal::NoLockFile);
        let test_files = facts.test_files;
        let tests = !self.require_tests || facts.test_modules > 0;
        unless(tests, &|| Refusal::NoTests { test_files });
        let files = facts.files;
        unless(facts.source_files > 0, &|| Refusal::NoSource { files });
        for (allowed, found, refusal) in [
            (
                self.allow_submodules,
                &facts.submodules,
                submodules as fn(Few) -> Refusal,
            ),
            (self.allow_lfs, &facts.lfs_pointers, lfs),
            (
                self.allow_links_outside,
                &facts.links_outside,
                links_outside,
            ),
        ] {
            unless(allowed || found.count == 0, &|| refusal(found.clone()));
        }
        refusals.extend(self.licences.refuse(facts));
        refusals
    }
}

fn submodules(found: Few) -> Refusal {
    Refusal::Submodules { found }
}

fn lfs(found: Few) -> Refusal {
    Refusal::Lfs { found }
}

fn links_outside(found: Few) -> Refusal {
    Refusal::LinksOutside { found }
}

impl Licences {
    fn refuse(&self, facts: &Facts) -> Vec<Refusal> {
        let allowed = match self {
            Self::Any => return Vec::new(),
            Self::Permissive => "a permissive licence".to_owned(),
            Self::Listed(all) => format!("one of {}", all.join(", ")),
        };
        if facts.licences.is_empty() {
            let unknown = facts.unknown_licences.clone();
            return vec![Refusal::NoLicence { unknown }];
        }
        let allows = |licence: &&Licence| match self {
            Self::Listed(all) => licence.allowed_by(|spdx| all.iter().any(|one| one == spdx)),
            _ => licence.permissive(),
        };
        let refused = facts.licences.iter().filter(|licence| !allows(licence));
        refused
            .map(|licence| Refusal::Licence {
                licence: licence.clone(),
                allowed: allowed.clone(),
            })
            .collect()
    }
}
