//! Rules for collecting a repository (paper, section 3.1, step 1).

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
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    #[error("{years:.1} years from the first commit to the last, at least {least} required")]
    TooYoung { years: f64, least: f64 },
    #[error(
        "no pyproject.toml, setup.cfg, setup.py, Pipfile or requirements file that lists its requirements, one required"
    )]
    NoManifest,
    #[error("no lock file, one required")]
    NoLockFile,
    #[error(
        "no test_*.py or *_test.py in tests/ ({test_files} test files elsewhere), at least 1 required"
    )]
    NoTests { test_files: usize },
    #[error("no Python outside of tests among {files} files, at least 1 required")]
    NoSource { files: usize },
    /// No licence file was recognised and no manifest states a licence.
    #[error("{}, one required", no_licence(.unknown))]
    NoLicence { unknown: Vec<String> },
    #[error("{} states {}, {allowed} required", .licence.file, .licence.spdx)]
    Licence { licence: Licence, allowed: String },
    #[error("{}, none allowed", .found.counted("submodules"))]
    Submodules { found: PathSample },
    #[error("{}, none allowed", .found.counted("Git LFS pointers"))]
    Lfs { found: PathSample },
    #[error("{}, none allowed", .found.counted("links out of the repository"))]
    LinksOutside { found: PathSample },
}

fn no_licence(unknown: &[String]) -> String {
    if unknown.is_empty() {
        "no licence stated".to_owned()
    } else {
        let unknown = unknown.join(", ");
        format!("no known licence ({unknown} was not recognised)")
    }
}

impl Refusal {
    /// A short name, under which curation stores the refusal.
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

impl CollectRules {
    /// All reasons to refuse a repository; empty if it is accepted.
    pub fn refuse(&self, facts: &Facts) -> Vec<Refusal> {
        let (years, least) = (facts.age_years, self.min_age_years);
        let (test_files, files) = (facts.test_files, facts.files);
        let forbidden = |found: &PathSample, allowed: bool| {
            let some = found.count > 0 && !allowed;
            some.then(|| found.clone())
        };
        let submodules = forbidden(&facts.submodules, self.allow_submodules);
        let lfs = forbidden(&facts.lfs_pointers, self.allow_lfs);
        let links = forbidden(&facts.links_outside, self.allow_links_outside);
        let too_young = years.total_cmp(&least).is_lt();
        let no_manifest = self.require_manifest && facts.manifests.is_empty();
        let no_lock_file = self.require_lock_file && facts.lock_files.is_empty();
        let no_tests = self.require_tests && facts.test_modules == 0;
        let no_source = facts.source_files == 0;
        let refusals = [
            too_young.then_some(Refusal::TooYoung { years, least }),
            no_manifest.then_some(Refusal::NoManifest),
            no_lock_file.then_some(Refusal::NoLockFile),
            no_tests.then_some(Refusal::NoTests { test_files }),
            no_source.then_some(Refusal::NoSource { files }),
            submodules.map(|found| Refusal::Submodules { found }),
            lfs.map(|found| Refusal::Lfs { found }),
            links.map(|found| Refusal::LinksOutside { found }),
        ];
        let refusals = refusals.into_iter().flatten();
        refusals.chain(self.licences.refuse(facts)).collect()
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
