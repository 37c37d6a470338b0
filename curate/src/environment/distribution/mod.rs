//! Which distribution provides a module.
//!
//! Names differ (`yaml` is of PyYAML), and anybody may upload a distribution
//! under the name of a module. So first a table of well-known ones is asked,
//! then distributions whose name is the module's, then a few usual ways to
//! derive a name; and each is taken only when the newest file uploaded before
//! the cut-off really has the module in it. How it was found is kept as
//! [`Evidence`]: whoever publishes a dataset can look at what was guessed.

mod archive;
mod index;
mod table;

use anyhow::Context;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use index::{Index, IndexFile};
pub use table::{is_of_python, known};

use crate::dependencies::project_name;
use crate::environment::version::Version;

/// The most names that are tried for a module, and files of one name.
const MOST_CANDIDATES: usize = 8;
const MOST_FILES: usize = 2;

/// How a distribution was found. The later, the weaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The table says so, and the file has the module.
    Table,
    /// Its name is the module's, and the file has the module.
    SameName,
    /// Its name is that of a package the module is in, and the file has the module.
    Parent,
    /// Its name is derived (`python-…`), and the file has the module.
    DerivedName,
}

impl std::fmt::Display for Evidence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Table => "known by this name",
            Self::SameName => "of the same name",
            Self::Parent => "of its package's name",
            Self::DerivedName => "of a likely name",
        })
    }
}

/// What provides a module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// As the index compares names, or as the table writes it.
    pub distribution: String,
    /// The newest before the cut-off, in whose file the module is.
    pub version: String,
    /// That file.
    pub file: String,
    pub evidence: Evidence,
}

/// Finds what provides modules, with the help of a package index.
#[derive(Debug)]
pub struct Finder {
    index: Index,
}

impl Finder {
    #[must_use]
    pub fn new(index: Index) -> Self {
        Self { index }
    }

    /// The distribution that provides a module (with dots), among the files
    /// uploaded before `cut_off`; none if no candidate does. An error is of the
    /// network or the index.
    pub async fn find(&self, module: &str, cut_off: Timestamp) -> anyhow::Result<Option<Found>> {
        for (name, evidence) in candidates(module) {
            let found = self.provided(&name, module, cut_off).await;
            let found = found.with_context(|| {
                format!("cannot tell whether {name} provides the module {module}")
            })?;
            if let Some((version, file)) = found {
                tracing::info!(module, distribution = name, version, ?evidence, "found");
                return Ok(Some(Found {
                    distribution: name,
                    version,
                    file,
                    evidence,
                }));
            }
        }
        Ok(None)
    }

    /// Whether the index has any file of a distribution that was uploaded before
    /// the cut-off. An error is of the network or the index.
    pub async fn has(&self, distribution: &str, cut_off: Timestamp) -> anyhow::Result<bool> {
        let files = self.index.files(distribution).await?;
        Ok(!newest(&files, cut_off).is_empty())
    }

    /// Whether the index answers now. An error says why not.
    pub async fn answers(&self) -> anyhow::Result<()> {
        self.index.answers().await
    }

    /// The version and file in which a distribution has a module.
    async fn provided(
        &self,
        name: &str,
        module: &str,
        cut_off: Timestamp,
    ) -> anyhow::Result<Option<(String, String)>> {
        let files = self.index.files(name).await?;
        for (version, file) in newest(&files, cut_off).into_iter().take(MOST_FILES) {
            let paths = match self.index.paths(file).await {
                Ok(paths) => paths,
                // Too large or broken: another file of the release may be better.
                Err(error) => {
                    tracing::warn!(file = file.filename, "not looked into: {error:#}");
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

/// The files of the newest release before the cut-off: wheels first, of those
/// one for Linux, and the smallest. What was withdrawn does not count; pre-releases do only where
/// there is nothing else.
fn newest(files: &[IndexFile], cut_off: Timestamp) -> Vec<(String, &IndexFile)> {
    let there = files.iter().filter(|file| {
        let in_time = file.upload_time.is_some_and(|time| time < cut_off);
        in_time && !file.is_yanked()
    });
    let versions = there.filter_map(|file| {
        let text = file.version()?;
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

/// Distributions that may provide a module, the likeliest first.
fn candidates(module: &str) -> Vec<(String, Evidence)> {
    let is_name = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let parts: Vec<&str> = module.split('.').collect();
    // Names with a leading underscore are nobody's to install.
    let is_nobodys = module.starts_with('_') || is_of_python(module);
    if is_nobodys || !parts.iter().all(|part| is_name(part)) {
        return Vec::new();
    }
    let prefixes = || {
        (1..=parts.len())
            .rev()
            .map(|count| parts[..count].join("."))
    };
    let mut all: Vec<(String, Evidence)> = Vec::new();
    let mut add = |name: String, evidence| {
        let plain = project_name(&name);
        if !plain.is_empty() && !all.iter().any(|(other, _)| project_name(other) == plain) {
            all.push((name, evidence));
        }
    };
    for prefix in prefixes() {
        for name in known(&prefix) {
            add((*name).to_owned(), Evidence::Table);
        }
    }
    add(project_name(module), Evidence::SameName);
    for prefix in prefixes().skip(1) {
        add(project_name(&prefix), Evidence::Parent);
    }
    let top = project_name(parts[0]);
    for name in [
        format!("python-{top}"),
        format!("py{top}"),
        format!("{top}-python"),
    ] {
        add(name, Evidence::DerivedName);
    }
    all.truncate(MOST_CANDIDATES);
    all
}

#[cfg(test)]
mod tests;
