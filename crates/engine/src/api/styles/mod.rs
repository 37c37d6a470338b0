//! Code style of evolutions, by Pylint and radon (the paper, section 4.4), and
//! their erosion: measured when an evolution is over, in its task's image.
//!
//! Radon's result for a file depends only on its content, so each content is
//! measured once, whichever versions have it. Pylint's result for a file
//! depends on all the others, so each version is measured as a whole, and equal
//! versions once.

mod erosion;
mod queries;
mod queue;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use anyhow::Context;
use futures::{StreamExt, TryStreamExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use swe_ci_base::blocking::blocking;
use swe_ci_base::code::{CodeTree, Entry};
use swe_ci_base::error::Result;
use swe_ci_candidates::dependencies::DeclaredDependencies;
use swe_ci_core::metrics::Verdict;
use swe_ci_measure::{self as measure, Radon, Source, is_source};
use swe_ci_sandbox::host;
use swe_ci_store::artifacts::{is_missing, is_outage};
use swe_ci_store::{CodeStyleRow, EvolutionRow, Measured, TaskRow};
use swe_ci_views::style::{CodeVersion, Erosion, EvolutionStyle, FileStyle, VersionStyle};

use crate::style_tools::{METHOD, StyleMeter, recipe};
use crate::{Engine, Say, unavailable};

pub use queries::FolderStyle;
pub use queue::StylesMeasured;

/// The most bytes of one version's source: all versions of an evolution are in
/// memory together.
const MAX_SOURCE: usize = 64 << 20;

/// Larger code is refused.
const MAX_CODE: u64 = 512 << 20;

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
        source.insert(path.to_owned(), bytes.to_vec());
    }
    Ok(source)
}

/// The parts of some code that the tools and the comparison of dependencies read.
#[derive(Debug)]
struct Code {
    source: Source,
    dependencies: DeclaredDependencies,
}

impl Code {
    /// # Errors
    /// When the source is larger than [`MAX_SOURCE`].
    fn of(code: &CodeTree) -> anyhow::Result<Self> {
        Ok(Self {
            source: source_of(code)?,
            dependencies: erosion::declared(code),
        })
    }
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// Measures a finished evolution; inside is why it has no style.
    async fn measure(&self, evolution_id: &str, say: Say<'_>) -> Result<Measured> {
        let evolution = self.store.evolution(evolution_id).await?;
        let task = self.store.task_of_evolution(&evolution).await?;
        if let Some(plan) = task.test_command.plan() {
            let language = &plan.language;
            return Ok(Err(format!(
                "the style tools measure Python, not {language}"
            )));
        }
        let versions = match self.versions(&evolution, &task).await {
            Ok(versions) => versions,
            Err(error) if is_outage(&error) || is_missing(&error) => return Err(error),
            Err(error) => return Ok(Err(format!("its code cannot be read: {error}"))),
        };
        let sources = versions
            .iter()
            .map(|version| (version.digest.clone(), version.source.clone()))
            .collect();
        let meter = self.meter(&task.image, evolution_id, say).await?;
        let rows = match self.measure_sources(&meter, sources).await? {
            Ok(rows) => rows,
            Err(why) => return Ok(Err(why)),
        };
        let erosion = erosion::erosion(&meter, &versions).await?;
        let base = versions.first().map(|base| base.digest.clone());
        for version in &versions {
            let key = changed_key(base.as_deref().unwrap_or_default(), &version.digest);
            self.put_json(&key, &version.changed.files).await?;
        }
        let style_of = |(version, (erosion, problems)): (&Version, erosion::VersionErosion)| {
            let style = rows.get(&version.digest)?.style.clone();
            Some(VersionStyle {
                version: version.version,
                source: version.digest.clone(),
                erosion: Erosion {
                    cognitive_complexity: erosion.cognitive_complexity,
                    unused_code: erosion.unused_code,
                    broken_names: erosion.broken_names,
                    changed_dependencies: erosion.changed_dependencies,
                    ..style.point().erosion
                },
                style,
                lines: version.changed.lines,
                problems,
            })
        };
        let tools = rows.values().next().map(|row| row.tools.clone());
        Ok(Ok(EvolutionStyle {
            tools: tools.unwrap_or_default(),
            image: task.image,
            versions: versions.iter().zip(erosion).filter_map(style_of).collect(),
        }))
    }

    /// The tools, in an image.
    async fn meter(&self, image: &str, what_for: &str, say: Say<'_>) -> Result<StyleMeter> {
        let layer = self.harnesses.layer(&recipe(), say).await;
        Ok(StyleMeter {
            sandbox: self.sandbox(),
            layer: layer.map_err(unavailable)?.volume,
            image: image.to_owned(),
            limits: self.config().style_limits,
            what_for: what_for.to_owned(),
        })
    }

    /// Measures sources, each of them once for all; inside is why that failed.
    async fn measure_sources(
        &self,
        meter: &StyleMeter,
        sources: BTreeMap<String, Arc<Source>>,
    ) -> Result<std::result::Result<HashMap<String, CodeStyleRow>, String>> {
        let mut rows = HashMap::new();
        let mut missing = Vec::new();
        for (digest, source) in sources {
            match self.store.code_style(METHOD, &digest, &meter.image).await? {
                Some(row) => {
                    rows.insert(digest, row);
                }
                None => missing.push((digest, source)),
            }
        }
        if missing.is_empty() {
            return Ok(Ok(rows));
        }
        let radon = &match self.radon(meter, &rows, &missing).await? {
            Ok(radon) => radon,
            Err(why) => return Ok(Err(why)),
        };
        let measured: Vec<CodeStyleRow> = futures::stream::iter(missing)
            .map(|(digest, source)| self.measure_one(meter, radon, digest, source))
            .buffer_unordered(host::carries(meter.limits))
            .try_collect()
            .await?;
        rows.extend(measured.into_iter().map(|row| (row.source.clone(), row)));
        Ok(Ok(rows))
    }

    /// Radon's results for all files of `missing` that no version of `known`
    /// has.
    async fn radon(
        &self,
        meter: &StyleMeter,
        known: &HashMap<String, CodeStyleRow>,
        missing: &[(String, Arc<Source>)],
    ) -> Result<std::result::Result<Radon, String>> {
        let mut radon = Radon::default();
        for row in known.values() {
            radon.tools = row.tools.clone();
            let files: Vec<FileStyle> = self.get_json(&row.files).await?;
            radon.learn(&files);
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
        meter: &StyleMeter,
        radon: &Radon,
        digest: String,
        source: Arc<Source>,
    ) -> Result<CodeStyleRow> {
        let measured = meter.version(&source, radon).await;
        let (style, files) = measured.map_err(unavailable)?;
        // A digest as part of a file name.
        let image = meter.image.replace(':', "-");
        let key = format!("styles/{METHOD}/{image}/{digest}.json");
        let row = CodeStyleRow {
            source: digest,
            image: meter.image.clone(),
            tools: radon.tools.clone(),
            style,
            files: self.put_json(&key, &files).await?,
        };
        self.store.put_code_style(METHOD, &row).await?;
        Ok(row)
    }

    /// Base (or the code that was handed over), oracle, and each scored iteration with stored code, in order.
    async fn versions(&self, evolution: &EvolutionRow, task: &TaskRow) -> Result<Vec<Version>> {
        let base = match &evolution.start {
            Some(start) => self.stored_code(&start.code).await?,
            None => self.code_of_commit(task, &task.base_sha).await?,
        };
        let base = Arc::new(base);
        let oracle = Arc::new(self.code_of_commit(task, &task.target_sha).await?);
        let mut versions = vec![
            Version::new(CodeVersion::Base, base.clone(), &base).await?,
            Version::new(CodeVersion::Oracle, oracle, &base).await?,
        ];
        for row in self.store.iterations(&evolution.id).await? {
            if !row.code.is_empty() && matches!(row.verdict, Verdict::Scored { .. }) {
                let code = Arc::new(self.stored_code(&row.code).await?);
                let version = CodeVersion::Iteration(row.iteration);
                versions.push(Version::new(version, code, &base).await?);
            }
        }
        Ok(versions)
    }

    async fn code_of_commit(&self, task: &TaskRow, sha: &str) -> Result<Code> {
        let history = self.folders.fetched(task).await?;
        let sha = sha.to_owned();
        Ok(blocking(move || Code::of(&history.code(&sha)?)).await?)
    }

    async fn stored_code(&self, key: &str) -> Result<Code> {
        let code = self.artifacts.get_code_within(key, MAX_CODE).await?;
        Ok(blocking(move || Code::of(&code)).await?)
    }

    async fn put_json(&self, key: &str, value: &impl Serialize) -> Result<String> {
        let bytes = serde_json::to_vec(value).map_err(anyhow::Error::new)?;
        Ok(self.artifacts.put(key, bytes).await?)
    }

    async fn get_json<T: DeserializeOwned + Send + 'static>(&self, key: &str) -> Result<T> {
        let bytes = self.artifacts.get(key).await?;
        Ok(blocking(move || Ok(serde_json::from_slice(&bytes)?)).await?)
    }
}

/// Key of the list of files that differ between two sources.
fn changed_key(base: &str, source: &str) -> String {
    format!("styles/changed/{base}-{source}.json")
}

#[derive(Debug)]
struct Version {
    version: CodeVersion,
    source: Arc<Source>,
    /// Digest of its files.
    digest: String,
    /// How it differs from the base.
    changed: measure::Changed,
    /// Projects whose requirements differ from the base's.
    changed_dependencies: u32,
}

impl Version {
    async fn new(version: CodeVersion, code: Arc<Code>, base: &Arc<Code>) -> anyhow::Result<Self> {
        let base = base.clone();
        blocking(move || {
            Ok(Self {
                version,
                digest: measure::digest(&code.source),
                changed: measure::changed(&base.source, &code.source),
                changed_dependencies: erosion::changed_dependencies(&base, &code),
                source: Arc::new(code.source.clone()),
            })
        })
        .await
    }
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
