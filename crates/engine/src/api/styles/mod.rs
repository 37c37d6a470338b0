//! Code style of evolutions, by Pylint and radon (the paper, section 4.4):
//! measured when an evolution is over, in its task's image.
//!
//! Radon's result for a file depends only on its content, so each content is
//! measured once, whichever versions have it. Pylint's result for a file
//! depends on all the others, so each version is measured as a whole, and equal
//! versions once.

mod queries;
mod queue;
mod versions;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use anyhow::Context;
use futures::{StreamExt, TryStreamExt};
use swe_ci_base::blocking::blocking;
use swe_ci_base::code::{CodeTree, Entry};
use swe_ci_base::error::{Error, Result};
use swe_ci_measure::{self as measure, Radon, Source, is_source};
use swe_ci_sandbox::{SandboxError, host};
use swe_ci_store::{CodeStyleRow, Measured};
use swe_ci_views::style::{EvolutionStyle, FileLines, FileStyle, VersionStyle};

use self::versions::Version;
use crate::Engine;
use crate::style_tools::{METHOD, StyleMeter, recipe};

pub use queries::FolderStyle;
pub use queue::StylesMeasured;

/// The most bytes of one version's source: all versions of an evolution are in
/// memory together.
const MAX_SOURCE: usize = 64 << 20;

/// Reports progress.
type Say<'a> = &'a (dyn Fn(String) + Send + Sync);

/// The source files of some code: see [`is_source`]. Skips links; their targets
/// are measured in place.
///
/// # Errors
/// When it is larger than [`MAX_SOURCE`].
fn source_of(code: &CodeTree) -> anyhow::Result<Source> {
    let mut room = MAX_SOURCE;
    let mut source = Source::new();
    for (path, entry) in code.iter() {
        let Entry::File { bytes, .. } = entry else {
            continue;
        };
        if !is_source(path) {
            continue;
        }
        let rest = room.checked_sub(bytes.len());
        room = rest.with_context(|| format!("the source weighs over {} MiB", MAX_SOURCE >> 20))?;
        source.insert(path.to_owned(), bytes.clone());
    }
    Ok(source)
}

impl Engine {
    /// Measures a finished evolution; inside is why it has no style.
    async fn measure(&self, evolution_id: &str, say: Say<'_>) -> Result<Measured> {
        let evolution = self.store.evolution(evolution_id).await?;
        let task = self.store.task(&evolution.task_id).await?;
        let versions = match self.versions(&evolution, &task).await {
            Ok(versions) => versions,
            Err(error) => return Ok(Err(format!("its code cannot be read: {error}"))),
        };
        let sources = versions
            .iter()
            .map(|version| (version.digest.clone(), version.source.clone()))
            .collect();
        let measured = self.measure_sources(&task.image, sources, evolution_id, say);
        let rows = match measured.await? {
            Ok(rows) => rows,
            Err(why) => return Ok(Err(why)),
        };
        let base = versions.first().map(|base| base.digest.clone());
        for version in &versions {
            self.store_changed(base.as_deref().unwrap_or_default(), version)
                .await?;
        }
        let style_of = |version: &Version| {
            let row = rows.get(&version.digest)?;
            Some(VersionStyle {
                version: version.version,
                source: version.digest.clone(),
                style: row.style.clone(),
                lines: version.changed.lines,
            })
        };
        let tools = rows.values().next().map(|row| row.tools.clone());
        Ok(Ok(EvolutionStyle {
            tools: tools.unwrap_or_default(),
            image: task.image,
            versions: versions.iter().filter_map(style_of).collect(),
        }))
    }

    /// Measures sources in an image, each of them once for all; inside is why
    /// that failed.
    async fn measure_sources(
        &self,
        image: &str,
        sources: BTreeMap<String, Arc<Source>>,
        what_for: &str,
        say: Say<'_>,
    ) -> Result<std::result::Result<HashMap<String, CodeStyleRow>, String>> {
        let mut rows = HashMap::new();
        let mut missing = Vec::new();
        for (digest, source) in sources {
            match self.store.code_style(METHOD, &digest, image).await? {
                Some(row) => {
                    rows.insert(digest, row);
                }
                None => missing.push((digest, source)),
            }
        }
        if missing.is_empty() {
            return Ok(Ok(rows));
        }
        let layer = self.harnesses.layer(&recipe(), say).await;
        let layer = layer.map_err(|error| Error::Unavailable(format!("{error:#}")))?;
        let sandbox = self.sandbox();
        let limits = self.config().style_limits;
        let meter = StyleMeter {
            sandbox: &*sandbox,
            layer: &layer.volume,
            image,
            limits,
            what_for: what_for.to_owned(),
        };
        let radon = match self.radon(&meter, &rows, &missing).await? {
            Ok(radon) => radon,
            Err(why) => return Ok(Err(why)),
        };
        let (meter, radon) = (&meter, &radon);
        let measured: Vec<CodeStyleRow> = futures::stream::iter(missing)
            .map(|(digest, source)| self.measure_one(meter, radon, digest, source))
            .buffer_unordered(host::carries(limits))
            .try_collect()
            .await?;
        rows.extend(measured.into_iter().map(|row| (row.source.clone(), row)));
        Ok(Ok(rows))
    }

    /// Radon's results for all files of `missing` that no version of `known`
    /// has.
    async fn radon(
        &self,
        meter: &StyleMeter<'_>,
        known: &HashMap<String, CodeStyleRow>,
        missing: &[(String, Arc<Source>)],
    ) -> Result<std::result::Result<Radon, String>> {
        let mut radon = Radon::default();
        for row in known.values() {
            radon.tools = row.tools.clone();
            radon.learn(&self.files_of(row).await?);
        }
        let mut contents = BTreeMap::new();
        for bytes in missing.iter().flat_map(|(_, source)| source.values()) {
            let digest = measure::file_digest(bytes);
            if !radon.knows(&digest) {
                contents.insert(format!("{digest}.py"), bytes.clone());
            }
        }
        if !contents.is_empty() || known.is_empty() {
            match meter.radon(&contents).await.map_err(unavailable)? {
                Ok(found) => radon.extend(found),
                Err(why) => return Ok(Err(why)),
            }
        }
        Ok(Ok(radon))
    }

    async fn measure_one(
        &self,
        meter: &StyleMeter<'_>,
        radon: &Radon,
        digest: String,
        source: Arc<Source>,
    ) -> Result<CodeStyleRow> {
        let measured = meter.version(&source, radon).await.map_err(unavailable)?;
        let key = format!("styles/{METHOD}/{}/{digest}.json", plain(meter.image));
        let files = serde_json::to_vec(&measured.files).map_err(anyhow::Error::new)?;
        let row = CodeStyleRow {
            source: digest,
            image: meter.image.to_owned(),
            tools: measured.tools,
            style: measured.style,
            files: self.artifacts.put(&key, files).await?,
        };
        self.store.put_code_style(METHOD, &row).await?;
        Ok(row)
    }

    /// Stores which files differ from the base.
    async fn store_changed(&self, base: &str, version: &Version) -> Result<()> {
        let files = serde_json::to_vec(&version.changed.files).map_err(anyhow::Error::new)?;
        let key = changed_key(base, &version.digest);
        self.artifacts.put(&key, files).await?;
        Ok(())
    }

    /// The stored list of files that differ from the base.
    async fn changed_lines(&self, base: &str, source: &str) -> Result<Vec<FileLines>> {
        let key = format!("{}.zst", changed_key(base, source));
        let bytes = self.artifacts.get(&key).await?;
        let read = blocking(move || Ok(serde_json::from_slice(&bytes)?));
        Ok(read.await?)
    }

    /// The results for each file of a version.
    async fn files_of(&self, row: &CodeStyleRow) -> Result<Vec<FileStyle>> {
        let bytes = self.artifacts.get(&row.files).await?;
        let read = blocking(move || Ok(serde_json::from_slice(&bytes)?));
        Ok(read.await?)
    }
}

/// Key of the list of files that differ between two sources.
fn changed_key(base: &str, source: &str) -> String {
    format!("styles/changed/{base}-{source}.json")
}

/// A digest as part of a file name.
fn plain(digest: &str) -> String {
    digest.replace(':', "-")
}

fn unavailable(error: SandboxError) -> Error {
    Error::Unavailable(format!("{:#}", anyhow::Error::new(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_tests_are_no_source() {
        let mut code = CodeTree::default();
        for path in ["a.py", "p/b.py", "p/tests/c.py", "d.txt"] {
            code.insert_file(path, "x = 1\n");
        }
        for (path, target) in [("link.py", "a.py"), ("out.py", "/etc/passwd"), ("up", "..")] {
            let link = Entry::Symlink {
                target: target.into(),
            };
            assert!(code.insert(path.as_ref(), link).unwrap());
        }
        let source = source_of(&code).unwrap();
        assert_eq!(source.keys().collect::<Vec<_>>(), ["a.py", "p/b.py"]);
    }

    #[test]
    fn a_heavy_source_is_refused() {
        let mut code = CodeTree::default();
        code.insert_file("a.py", vec![b'#'; MAX_SOURCE - 1]);
        code.insert_file("b.txt", vec![b'#'; 2]);
        assert!(source_of(&code).is_ok());
        code.insert_file("b.py", vec![b'#'; 2]);
        let error = source_of(&code).unwrap_err();
        assert!(error.to_string().contains("64 MiB"), "{error}");
    }
}
