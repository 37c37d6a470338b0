//! Finds the distribution that provides a module.
//!
//! Names differ (PyYAML provides `yaml`), and anyone may upload a distribution
//! under the name of a module. So the candidates are first those of a table of
//! well-known distributions, then distributions with the module's name, then a
//! few derived names. A candidate counts only if its newest file uploaded
//! before the cut-off really contains the module. [`Evidence`] records how it
//! was found, so that publishers of a dataset can review the guesses.

mod archive;
mod index;
mod pinned;
mod table;

use anyhow::Context;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use index::{Index, IndexFile, may_pass};
pub use table::{is_standard_library, known_distributions};

use crate::dependencies::project_name;
use crate::environment::version::Version;

/// Maximum number of names tried for a module, and of files per name.
const MAX_CANDIDATES: usize = 8;
const MAX_FILES: usize = 2;

/// How a distribution was found, strongest evidence first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The table lists it, and the file contains the module.
    Table,
    /// It has the module's name, and the file contains the module.
    SameName,
    /// It has the name of a parent package, and the file contains the module.
    Parent,
    /// It has a derived name (`python-…`), and the file contains the module.
    DerivedName,
}

impl std::fmt::Display for Evidence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Table => "listed in the table",
            Self::SameName => "same name as the module",
            Self::Parent => "name of the parent package",
            Self::DerivedName => "derived name",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provider {
    /// In the normal form of PEP 503, or as the table writes it.
    pub distribution: String,
    /// The newest version before the cut-off; its file contains the module.
    pub version: String,
    /// That file.
    pub file: String,
    pub evidence: Evidence,
}

/// Finds the distributions of modules with the help of a package index.
#[derive(Debug)]
pub struct Finder {
    index: Index,
}

impl Finder {
    #[must_use]
    pub fn new(index: Index) -> Self {
        Self { index }
    }

    /// The distribution that provides a module (with dots), among files
    /// uploaded before `cut_off`; none if no candidate does. Fails if the
    /// network or the index fails.
    pub async fn find(&self, module: &str, cut_off: Timestamp) -> anyhow::Result<Option<Provider>> {
        for (name, evidence) in candidates(module) {
            let found = self.provided(&name, module, cut_off).await;
            let found = found.with_context(|| {
                format!("cannot check whether {name} provides the module {module}")
            })?;
            if let Some((version, file)) = found {
                tracing::info!(module, distribution = name, version, ?evidence, "found");
                return Ok(Some(Provider {
                    distribution: name,
                    version,
                    file,
                    evidence,
                }));
            }
        }
        Ok(None)
    }

    /// Whether the index has a file of a distribution uploaded before the
    /// cut-off. Fails if the network or the index fails.
    pub async fn has(&self, distribution: &str, cut_off: Timestamp) -> anyhow::Result<bool> {
        let files = self.index.files(distribution).await?;
        Ok(!newest(&files, cut_off).is_empty())
    }

    /// The newest version of a distribution whose files were uploaded before the
    /// cut-off. Fails if the network or the index fails.
    pub async fn newest_version(
        &self,
        distribution: &str,
        cut_off: Timestamp,
    ) -> anyhow::Result<Option<String>> {
        let files = self.index.files(distribution).await?;
        Ok(newest(&files, cut_off)
            .into_iter()
            .next()
            .map(|(version, _)| version))
    }

    /// Checks that the index answers.
    pub async fn answers(&self) -> anyhow::Result<()> {
        self.index.answers().await
    }

    /// The version and the file of a distribution that contain a module.
    async fn provided(
        &self,
        name: &str,
        module: &str,
        cut_off: Timestamp,
    ) -> anyhow::Result<Option<(String, String)>> {
        let files = self.index.files(name).await?;
        for (version, file) in newest(&files, cut_off).into_iter().take(MAX_FILES) {
            let paths = match self.index.paths(file).await {
                Ok(paths) => paths,
                // Too large or broken: another file of the release may work.
                Err(error) => {
                    tracing::warn!(file = file.filename, "cannot list the file: {error:#}");
                    continue;
                }
            };
            let provides = match file.is_wheel() {
                true => archive::wheel_provides(&paths, module),
                false => archive::sdist_provides(&paths, module),
            };
            if provides {
                return Ok(Some((version, file.filename.clone())));
            }
        }
        Ok(None)
    }
}

/// The files of the newest release before the cut-off: wheels first, then those
/// for Linux, then the smallest. Yanked files do not count; pre-releases count
/// only if there is nothing else.
fn newest(files: &[IndexFile], cut_off: Timestamp) -> Vec<(String, &IndexFile)> {
    let versions = files.iter().filter_map(|file| {
        let in_time = file.upload_time.is_some_and(|time| time < cut_off);
        let text = file.version().filter(|_| in_time && !file.is_yanked())?;
        Some((Version::parse(&text)?, text, file))
    });
    let mut all: Vec<_> = versions.collect();
    let rank = |version: &Version| (!version.is_pre(), version.clone());
    let Some(best) = all.iter().map(|(version, ..)| rank(version)).max() else {
        return Vec::new();
    };
    all.retain(|(version, ..)| *version == best.1);
    let fits = |file: &IndexFile| {
        file.filename.ends_with("-none-any.whl") || file.filename.contains("linux")
    };
    all.sort_by_key(|(_, _, file)| {
        let size = file.size.unwrap_or(u64::MAX);
        (!file.is_wheel(), !fits(file), size)
    });
    all.into_iter()
        .map(|(_, text, file)| (text, file))
        .collect()
}

/// Distributions that may provide a module, the most likely first.
fn candidates(module: &str) -> Vec<(String, Evidence)> {
    let is_name = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let parts: Vec<&str> = module.split('.').collect();
    // Nobody publishes names with a leading underscore.
    let is_nobodys = module.starts_with('_') || is_standard_library(module);
    if is_nobodys || !parts.iter().all(|part| is_name(part)) {
        return Vec::new();
    }
    let counts = || (1..=parts.len()).rev();
    let prefixes = || counts().map(|count| parts[..count].join("."));
    let mut all: Vec<(String, Evidence)> = Vec::new();
    let mut add = |name: String, evidence| {
        let plain = project_name(&name);
        if !plain.is_empty() && !all.iter().any(|(other, _)| project_name(other) == plain) {
            all.push((name, evidence));
        }
    };
    for prefix in prefixes() {
        for name in known_distributions(&prefix) {
            add((*name).to_owned(), Evidence::Table);
        }
    }
    add(project_name(module), Evidence::SameName);
    for prefix in prefixes().skip(1) {
        add(project_name(&prefix), Evidence::Parent);
    }
    let top = project_name(parts[0]);
    add(format!("python-{top}"), Evidence::DerivedName);
    add(format!("py{top}"), Evidence::DerivedName);
    add(format!("{top}-python"), Evidence::DerivedName);
    all.truncate(MAX_CANDIDATES);
    all
}

#[cfg(test)]
mod tests;
