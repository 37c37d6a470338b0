//! Measured style for pages, and measuring the code of any folder.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use serde::Serialize;
use swe_ci_base::blocking::blocking;
use swe_ci_base::code::CodeTree;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::diff::Diff;
use swe_ci_core::metrics::{Convention, Series, Verdict};
use swe_ci_measure::{self as measure, Source, is_source};
use swe_ci_store::{EvolutionRow, IterationRow, Measured};
use swe_ci_views::style::{
    CodeStyle, CodeVersion, Erosion, EvolutionStyle, FileBeside, FileStyle, StyleBeside,
    StyleTools, VersionFiles, VersionStyle, beside,
};

use super::{changed_key, erosion};
use crate::style_tools::METHOD;
use crate::{Engine, Say, as_u32};

/// How many files of an evolution are listed beside the oracle's, and of how
/// many of them the code is shown.
const LISTED: usize = 50;
const SHOWN: usize = 5;
/// The most bytes of source below a folder.
const MAX_FOLDER: u64 = 512 << 20;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FolderStyle {
    pub tools: StyleTools,
    pub style: CodeStyle,
    /// Without the numbers that need a base.
    pub erosion: Erosion,
    /// Why numbers of its erosion are absent.
    pub problems: Vec<String>,
    pub files: Vec<FileStyle>,
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// The style of an evolution, or why it has none; `None` before it is
    /// measured.
    pub async fn style(
        &self,
        evolution_id: &str,
    ) -> Result<Option<std::result::Result<EvolutionStyle, String>>> {
        let evolution = self.visible_evolution(evolution_id).await?;
        self.style_with_tests(&evolution).await
    }

    /// The stored style, and the lines it took per test gained: tests are counted
    /// when they are read, since they may be graded again.
    async fn style_with_tests(&self, evolution: &EvolutionRow) -> Result<Option<Measured>> {
        let style = match self.store.style(&evolution.id, METHOD).await? {
            Some(Ok(style)) => style,
            other => return Ok(other),
        };
        let iterations = self.store.iterations(&evolution.id).await?;
        let verdicts: Vec<Verdict> = iterations.into_iter().map(|row| row.verdict).collect();
        let count = |convention| Series::count(convention, evolution.counts, u32::MAX, &verdicts);
        let series = count(Convention::Paper).or_else(|| count(Convention::Reference));
        Ok(Some(Ok(match series {
            Some(series) => style.with_tests(&series),
            None => style,
        })))
    }

    /// The results for each file of one version of an evolution's code, and the
    /// files that differ from the base.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such evolution, or that version of
    /// it was not measured.
    pub async fn style_files(
        &self,
        evolution_id: &str,
        version: CodeVersion,
    ) -> Result<VersionFiles> {
        let evolution = self.visible_evolution(evolution_id).await?;
        let style = self.measured(&evolution).await?;
        self.version_files(&style, version).await
    }

    /// The last code of an evolution beside the oracle's.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such evolution, or it was not
    /// measured.
    pub async fn style_beside(&self, evolution_id: &str) -> Result<StyleBeside> {
        let evolution = self.visible_evolution(evolution_id).await?;
        let style = self.measured(&evolution).await?;
        let Some(last) = style.last().map(|last| last.version) else {
            return Err(Error::not_found("measured iteration of", evolution_id));
        };
        let own = self.version_files(&style, last).await?;
        let oracle = self.version_files(&style, CodeVersion::Oracle).await?;
        let mut files = beside(&own, &oracle);
        let more_files = files.len().saturating_sub(LISTED);
        files.truncate(LISTED);
        // The figures are valid without the code.
        let diff = self.side_by_side(&evolution, &style, &files).await;
        let diff = diff
            .inspect_err(|error| tracing::debug!("code not shown beside the oracle's: {error:#}"));
        Ok(StyleBeside {
            style,
            files,
            more_files: as_u32(more_files),
            diff: diff.ok(),
        })
    }

    /// The diff of the first files, from the oracle's version to the
    /// evolution's.
    async fn side_by_side(
        &self,
        evolution: &EvolutionRow,
        style: &EvolutionStyle,
        files: &[FileBeside],
    ) -> anyhow::Result<Diff> {
        let (last, oracle) = (style.last(), style.version(CodeVersion::Oracle));
        let (last, oracle) = last.zip(oracle).context("there is nothing to compare")?;
        let end = |version: &VersionStyle| format!("style/{}/{}", style.image, version.source);
        let ends = (end(oracle), end(last));
        // It holds much across its awaits.
        let codes = Box::pin(async {
            let task = self.store.task_of_evolution(evolution).await?;
            let rows = self.store.iterations(&evolution.id).await?;
            let is_last =
                |row: &&IterationRow| CodeVersion::Iteration(row.iteration) == last.version;
            let row = rows.iter().find(is_last).context("it no longer exists")?;
            let oracle = self.code_of_commit(&task, &task.target_sha).await?;
            let own = self.stored_code(&row.code).await?;
            let paths = || files.iter().take(SHOWN).map(|file| file.path.as_str());
            Ok((
                subset(&oracle.source, paths()),
                subset(&own.source, paths()),
            ))
        });
        let diff = self.diffs.between(ends, codes).await?;
        Ok(Diff::clone(&diff))
    }

    /// Measures the source below a folder, in `image` so that the tools know
    /// its packages, else in the base image.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the folder cannot be read or has no source;
    /// [`Error::Unavailable`] when the container engine fails.
    pub async fn style_of_folder(
        &self,
        folder: &Path,
        image: Option<&str>,
        say: Say<'_>,
    ) -> Result<FolderStyle> {
        self.require(swe_ci_views::account::AccountRole::Admin)?;
        let image = image.unwrap_or(&self.config().base_image);
        let digest = self.images.digest(image).await?;
        let digest = digest.ok_or_else(|| {
            Error::Invalid(format!("the container engine has no image `{image}`"))
        })?;
        let path = folder.to_owned();
        let source = blocking(move || read_folder(&path)).await;
        let source = source.map_err(|error| Error::Invalid(format!("{error:#}")))?;
        let id = measure::digest(&source);
        let source = Arc::new(source);
        let sources = BTreeMap::from([(id.clone(), source.clone())]);
        let meter = self
            .meter(&digest, &folder.display().to_string(), say)
            .await?;
        let rows = self.measure_sources(&meter, sources).await?;
        let mut rows = rows.map_err(Error::Invalid)?;
        let row = rows.remove(&id).context("the measured style is missing")?;
        let (erosion, problems) = erosion::erosion_alone(&meter, source).await?;
        Ok(FolderStyle {
            erosion: Erosion {
                cognitive_complexity: erosion.cognitive_complexity,
                unused_code: erosion.unused_code,
                ..row.style.point().erosion
            },
            problems,
            files: self.get_json(&row.files).await?,
            tools: row.tools,
            style: row.style,
        })
    }

    async fn measured(&self, evolution: &EvolutionRow) -> Result<EvolutionStyle> {
        let style = self.style_with_tests(evolution).await?;
        style
            .and_then(std::result::Result::ok)
            .ok_or_else(|| Error::not_found("code style of the evolution", &evolution.id))
    }

    async fn version_files(
        &self,
        style: &EvolutionStyle,
        version: CodeVersion,
    ) -> Result<VersionFiles> {
        let none = || Error::not_found("measured version", version.name());
        let base = style.version(CodeVersion::Base).ok_or_else(none)?;
        let source = &style.version(version).ok_or_else(none)?.source;
        let row = self.store.code_style(METHOD, source, &style.image);
        let row = row.await?.ok_or_else(none)?;
        let changed = format!("{}.zst", changed_key(&base.source, source));
        let _permit = self.heavy_reads.permit().await?;
        Ok(VersionFiles {
            files: self.get_json(&row.files).await?,
            changed: self.get_json(&changed).await?,
        })
    }
}

fn subset<'a>(source: &Source, paths: impl Iterator<Item = &'a str>) -> CodeTree {
    let mut subset = CodeTree::default();
    for path in paths {
        if let Some(bytes) = source.get(path) {
            subset.insert_file(path, bytes.clone());
        }
    }
    subset
}

/// The source below a folder. Skips links, and folders whose names begin with a
/// dot.
fn read_folder(folder: &Path) -> anyhow::Result<Source> {
    let mut source = Source::new();
    let mut bytes_left = MAX_FOLDER;
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        let shown = next.display().to_string();
        let entries = std::fs::read_dir(&next).with_context(|| format!("cannot read {shown}"))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot read {shown}"))?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if kind.is_dir() && !entry.file_name().as_encoded_bytes().starts_with(b".") {
                waiting.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap_or(&path);
            let Some(name) = name.to_str().filter(|n| kind.is_file() && is_source(n)) else {
                continue;
            };
            let bytes = swe_ci_base::files::read_limited(&path, bytes_left)?;
            bytes_left -= bytes.len() as u64;
            source.insert(name.to_owned(), bytes);
        }
    }
    anyhow::ensure!(
        !source.is_empty(),
        "{} holds no source: no `*.py` file outside of folders named tests or test",
        folder.display()
    );
    Ok(source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_of_a_folder_is_what_is_measured() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x = 1\n").unwrap();
        };
        assert!(read_folder(folder.path()).is_err());
        for path in ["a.py", "p/b.py", "p/tests/c.py", ".venv/d.py", "e.txt"] {
            write(path);
        }
        std::os::unix::fs::symlink("a.py", folder.path().join("link.py")).unwrap();
        std::os::unix::fs::symlink("..", folder.path().join("up")).unwrap();
        let source = read_folder(folder.path()).unwrap();
        assert_eq!(source.keys().collect::<Vec<_>>(), ["a.py", "p/b.py"]);
        let missing = read_folder(&folder.path().join("none")).unwrap_err();
        assert!(missing.to_string().contains("none"), "{missing}");
    }
}
