//! Code style of evolutions, by Pylint and radon themselves (the paper, section
//! 4.4): measured when an evolution is over, in its task's image.
//!
//! What radon says of a file depends on its content alone, so each content is
//! looked at once, whichever versions have it. What Pylint says of a file
//! depends on all the others, so each version is looked at as a whole, and
//! equal versions once.

mod gauge;
mod queue;
mod show;
mod versions;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use anyhow::Context;
use futures::{StreamExt, TryStreamExt};
use swe_ci_core::run::Limits;
use swe_ci_core::style::{EvolutionStyle, FileLines, FileStyle, VersionStyle};
use swe_ci_measure::{self as measure, Radon, Source, is_source};

use self::gauge::Gauge;
use self::versions::Version;
use crate::Engine;
use crate::blocking::blocking;
use crate::code::{CodeTree, Entry};
use crate::error::{Error, Result};
use crate::harness::Recipe;
use crate::host;
use crate::sandbox::SandboxError;
use crate::store::{CodeStyleRow, Measured};

pub use queue::StylesMeasured;
pub use show::FolderStyle;

/// Which tools are used, and how; rises when that changes, so that results of
/// another method are never compared.
pub const METHOD: u32 = 2;

/// The most bytes of one version's source: all versions of an evolution are in
/// memory together.
const HEAVIEST: usize = 64 << 20;

/// Told while something is measured.
type Say<'a> = &'a (dyn Fn(String) + Send + Sync);

/// The tools, in a layer of their own.
fn recipe() -> Recipe {
    let install = format!("pip install {}", measure::PACKAGES.join(" "));
    let install = [
        &*install,
        r#""$python" -c "import pylint.lint, radon.metrics""#,
    ];
    Recipe::python("style-tools", "Pylint and radon", measure::PYLINT, &install)
}

/// What a tool's container has: as a test run, but half an hour, since each of
/// an evolution's versions may take as long while the next evolutions wait.
pub fn limits() -> Limits {
    Limits {
        test_seconds: 1_800,
        ..Limits::default()
    }
}

/// The source of some code: see [`is_source`]. Links are none, wherever they
/// lead: what they lead to is measured where it stands.
///
/// # Errors
/// When it weighs more than [`HEAVIEST`].
fn source_of(code: &CodeTree) -> anyhow::Result<Source> {
    let mut room = HEAVIEST;
    let mut source = Source::new();
    for (path, entry) in code.iter() {
        let Entry::File { bytes, .. } = entry else {
            continue;
        };
        if !is_source(path) {
            continue;
        }
        let left = room.checked_sub(bytes.len());
        room = left.with_context(|| format!("the source weighs over {} MiB", HEAVIEST >> 20))?;
        source.insert(path.to_owned(), bytes.clone());
    }
    Ok(source)
}

impl Engine {
    /// The style of an evolution that is over; inside is why it has none.
    async fn measure(&self, evolution_id: &str, say: Say<'_>) -> Result<Measured> {
        let store = &self.inner.store;
        let evolution = store.evolution(evolution_id).await?;
        let task = store.task(&evolution.task_id).await?;
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
            self.keep_changed(base.as_deref().unwrap_or_default(), version)
                .await?;
        }
        let told = |version: &Version| {
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
            versions: versions.iter().filter_map(told).collect(),
        }))
    }

    /// Measures sources in an image, each of them once and for all; inside is
    /// why that cannot be.
    async fn measure_sources(
        &self,
        image: &str,
        sources: BTreeMap<String, Arc<Source>>,
        what_for: &str,
        say: Say<'_>,
    ) -> Result<std::result::Result<HashMap<String, CodeStyleRow>, String>> {
        let store = &self.inner.store;
        let mut rows = HashMap::new();
        let mut wanted = Vec::new();
        for (digest, source) in sources {
            match store.code_style(METHOD, &digest, image).await? {
                Some(row) => {
                    rows.insert(digest, row);
                }
                None => wanted.push((digest, source)),
            }
        }
        if wanted.is_empty() {
            return Ok(Ok(rows));
        }
        let layer = self.inner.harnesses.layer(&recipe(), say).await;
        let layer = layer.map_err(|error| Error::Unavailable(format!("{error:#}")))?;
        let sandbox = self.sandbox();
        let limits = self.config().style_limits;
        let gauge = Gauge {
            sandbox: &*sandbox,
            layer: &layer.volume,
            image,
            limits,
            what_for: what_for.to_owned(),
        };
        let radon = match self.radon(&gauge, &rows, &wanted).await? {
            Ok(radon) => radon,
            Err(why) => return Ok(Err(why)),
        };
        let (gauge, radon) = (&gauge, &radon);
        let measured: Vec<CodeStyleRow> = futures::stream::iter(wanted)
            .map(|(digest, source)| self.measure_one(gauge, radon, digest, source))
            .buffer_unordered(host::carries(limits))
            .try_collect()
            .await?;
        rows.extend(measured.into_iter().map(|row| (row.source.clone(), row)));
        Ok(Ok(rows))
    }

    /// What radon finds in all files of `wanted` that no version of `known` has.
    async fn radon(
        &self,
        gauge: &Gauge<'_>,
        known: &HashMap<String, CodeStyleRow>,
        wanted: &[(String, Arc<Source>)],
    ) -> Result<std::result::Result<Radon, String>> {
        let mut radon = Radon::default();
        for row in known.values() {
            radon.tools = row.tools.clone();
            radon.learn(&self.files_of(row).await?);
        }
        let mut contents = BTreeMap::new();
        for bytes in wanted.iter().flat_map(|(_, source)| source.values()) {
            let digest = measure::file_digest(bytes);
            if !radon.knows(&digest) {
                contents.insert(format!("{digest}.py"), bytes.clone());
            }
        }
        if !contents.is_empty() || known.is_empty() {
            match gauge.radon(&contents).await.map_err(unavailable)? {
                Ok(found) => radon.extend(found),
                Err(why) => return Ok(Err(why)),
            }
        }
        Ok(Ok(radon))
    }

    async fn measure_one(
        &self,
        gauge: &Gauge<'_>,
        radon: &Radon,
        digest: String,
        source: Arc<Source>,
    ) -> Result<CodeStyleRow> {
        let found = gauge.version(&source, radon).await.map_err(unavailable)?;
        let key = format!("styles/{METHOD}/{}/{digest}.json", plain(gauge.image));
        let files = serde_json::to_vec(&found.files).map_err(anyhow::Error::new)?;
        let row = CodeStyleRow {
            source: digest,
            image: gauge.image.to_owned(),
            tools: found.tools,
            style: found.style,
            files: self.inner.artifacts.put(&key, files).await?,
        };
        self.inner.store.put_code_style(METHOD, &row).await?;
        Ok(row)
    }

    /// Keeps which files differ from the base, for those who look at them.
    async fn keep_changed(&self, base: &str, version: &Version) -> Result<()> {
        let files = serde_json::to_vec(&version.changed.files).map_err(anyhow::Error::new)?;
        let key = changed_key(base, &version.digest);
        self.inner.artifacts.put(&key, files).await?;
        Ok(())
    }

    /// Which files differ from the base, as it was kept.
    async fn changed_lines(&self, base: &str, source: &str) -> Result<Vec<FileLines>> {
        let key = format!("{}.zst", changed_key(base, source));
        let bytes = self.inner.artifacts.get(&key).await?;
        let read = blocking(move || Ok(serde_json::from_slice(&bytes)?));
        Ok(read.await?)
    }

    /// What was found in each file of a version.
    async fn files_of(&self, row: &CodeStyleRow) -> Result<Vec<FileStyle>> {
        let bytes = self.inner.artifacts.get(&row.files).await?;
        let read = blocking(move || Ok(serde_json::from_slice(&bytes)?));
        Ok(read.await?)
    }
}

/// Where the files are found that differ between two sources.
fn changed_key(base: &str, source: &str) -> String {
    format!("styles/changed/{base}-{source}.json")
}

/// A digest as a part of a file's name.
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
        code.insert_file("a.py", vec![b'#'; HEAVIEST - 1]);
        code.insert_file("b.txt", vec![b'#'; 2]);
        assert!(source_of(&code).is_ok());
        code.insert_file("b.py", vec![b'#'; 2]);
        let error = source_of(&code).unwrap_err();
        assert!(error.to_string().contains("64 MiB"), "{error}");
    }
}
