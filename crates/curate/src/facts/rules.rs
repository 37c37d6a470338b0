//! Rules for collecting a repository (paper, section 3.1, step 1).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Facts, Licence, PathSample};

/// Requirements on a repository. All must hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CollectRules {
    /// Years from the first commit to the last: 3 in section 3.1.
    pub min_age_years: f64,
    /// Require a file that lists the project's requirements.
    pub require_manifest: bool,
    /// Require a lock file. The paper names lock files as an example; few
    /// libraries have one.
    pub require_lock_file: bool,
    /// Require test modules in `tests/`.
    pub require_tests: bool,
    pub licences: Licences,
    /// Allow submodules, which are not fetched.
    pub allow_submodules: bool,
    /// Allow Git LFS pointers, which are then treated as the files.
    pub allow_lfs: bool,
    /// Allow links that point out of the repository.
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

/// The accepted licences. A repository must state a licence, and every licence
/// it states must be accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Licences {
    /// [`Licence::permissive`] ones, as in section 3.1.
    Permissive,
    /// Those with one of these SPDX identifiers.
    Listed(Vec<String>),
    /// Any licence or none.
    Any,
}

/// Why a repository was refused: the value found and the value required.
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
    /// No licence file was recognised and no manifest states a licence.
    NoLicence {
        unknown: Vec<String>,
    },
    Licence {
        licence: Licence,
        allowed: String,
    },
    Submodules {
        found: PathSample,
    },
    Lfs {
        found: PathSample,
    },
    LinksOutside {
        found: PathSample,
    },
}

impl Refusal {
    /// A short name, under which curation stores the refusal.
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
                    "{years:.1} years from the first commit to the last, at least {least} required"
                )
            }
            Self::NoManifest => write!(
                f,
                "no pyproject.toml, setup.cfg, setup.py, Pipfile or requirements file that lists its \
                 requirements, one required"
            ),
            Self::NoLockFile => write!(f, "no lock file, one required"),
            Self::NoTests { test_files } => write!(
                f,
                "no test_*.py or *_test.py in tests/ ({test_files} test files elsewhere), \
                 at least 1 required"
            ),
            Self::NoSource { files } => {
                write!(
                    f,
                    "no Python outside of tests among {files} files, at least 1 required"
                )
            }
            Self::NoLicence { unknown } if unknown.is_empty() => {
                write!(f, "no licence stated, one required")
            }
            Self::NoLicence { unknown } => {
                let unknown = unknown.join(", ");
                write!(
                    f,
                    "no known licence ({unknown} was not recognised), one required"
                )
            }
            Self::Licence { licence, allowed } => {
                write!(
                    f,
                    "{} states {}, {allowed} required",
                    licence.file, licence.spdx
                )
            }
            Self::Submodules { found } => none_allowed(f, found, "submodules"),
            Self::Lfs { found } => none_allowed(f, found, "Git LFS pointers"),
            Self::LinksOutside { found } => none_allowed(f, found, "links out of the repository"),
        }
    }
}

fn none_allowed(f: &mut fmt::Formatter<'_>, found: &PathSample, what: &str) -> fmt::Result {
    let first = found.first.first().map_or("", String::as_str);
    write!(f, "{} {what} (first: {first}), none allowed", found.count)
}

impl CollectRules {
    /// All reasons to refuse a repository; empty if it is accepted.
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
        let found = &facts.submodules;
        let submodules = self.allow_submodules || found.count == 0;
        unless(submodules, &|| Refusal::Submodules {
            found: found.clone(),
        });
        let found = &facts.lfs_pointers;
        let lfs = self.allow_lfs || found.count == 0;
        unless(lfs, &|| Refusal::Lfs {
            found: found.clone(),
        });
        let found = &facts.links_outside;
        let links = self.allow_links_outside || found.count == 0;
        unless(links, &|| Refusal::LinksOutside {
            found: found.clone(),
        });
        refusals.extend(self.licences.refuse(facts));
        refusals
    }
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
