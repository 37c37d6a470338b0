//! Builds the demo split: four real packages, each from an older release to a
//! newer one, from their source distributions. The releases in between are the
//! real steps of the maintainers.

use std::path::{Path, PathBuf};

use anyhow::Context;
use swe_ci_base::blocking::blocking;
use swe_ci_base::code::CodeTree;
use swe_ci_base::files;
use swe_ci_candidates::environment::distribution::Index;
use swe_ci_core::task::{TaskId, TestCommand};
use swe_ci_sandbox::Sandbox;
use swe_ci_sandbox::images::{BuildNetwork, Images, no_base_image};

use super::history::{self, CommitInfo};
use super::metadata::{self, TEST_COMMAND, TaskLine};
use super::{metadata_file, pip};

pub const SPLIT: &str = "demo";
/// Name of the image that its tasks share.
pub const IMAGE: &str = "swe-ci/demo:1";
/// The Dockerfile lines for the tests of all four packages.
const IMAGE_LINES: [&str; 4] = [
    "RUN python3 -m venv /opt/venv",
    "RUN /opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check pytest==9.2.0 pytest-json-report==1.5.0",
    "ENV PATH=/opt/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "WORKDIR /app",
];
/// Package, version, release date, sha256; oldest first within a package.
const RELEASES: &str = include_str!("releases.csv");
/// The known gap of each package.
const GAPS: [(&str, u32); 4] = [
    ("sqlparse", 35),
    ("more-itertools", 60),
    ("tinydb", 5),
    ("wcwidth", 14),
];
/// Maximum unpacked bytes of a release.
const MAX_CODE: u64 = 256 * 1024 * 1024;

struct Release {
    version: String,
    /// Unix seconds.
    time: i64,
    sha256: String,
}

#[expect(missing_debug_implementations, reason = "it holds a closure")]
pub struct DemoBuilder<'a> {
    pub images: &'a Images,
    pub sandbox: &'a dyn Sandbox,
    pub base_image: &'a str,
    pub network: &'a BuildNetwork,
    /// The package index; if absent, the default of pip in the base image.
    pub index: Option<&'a str>,
    pub cache: &'a Path,
    pub say: &'a (dyn Fn(String) + Send + Sync),
}

impl DemoBuilder<'_> {
    /// Writes the split into `folder` in the official layout, all or nothing. Does
    /// nothing if the folder already holds the split.
    pub async fn make(&self, folder: &Path) -> anyhow::Result<()> {
        if metadata_file(folder, SPLIT).exists() {
            return Ok(());
        }
        let partial = files::beside(folder, "partial");
        files::remove_folder(&partial)?;
        std::fs::create_dir_all(&partial)
            .with_context(|| format!("cannot create {}", partial.display()))?;
        let image = self.image_archive(&partial).await?;
        let mut tasks = Vec::new();
        for (package, releases) in packages()? {
            tasks.push(self.task(&partial, &image, &package, &releases).await?);
        }
        std::fs::remove_file(&image)?;
        metadata::write(&metadata_file(&partial, SPLIT), &tasks)?;
        files::remove_folder(folder)?;
        std::fs::rename(&partial, folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(())
    }

    /// Builds and saves the image once; all tasks link to the same file.
    async fn image_archive(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        build_image(self.images, self.base_image, self.network, self.say).await?;
        let archive = folder.join("image.tar.gz");
        (self.say)("saving the image".into());
        self.images.save(IMAGE, &archive).await?;
        Ok(archive)
    }

    async fn task(
        &self,
        folder: &Path,
        image: &Path,
        package: &str,
        releases: &[Release],
    ) -> anyhow::Result<TaskLine> {
        let (first, last) = (&releases[0], &releases[releases.len() - 1]);
        let task_id = TaskId::new(format!("{package}-{}-{}", first.version, last.version))?;
        (self.say)(format!(
            "{package}: {} releases, {} to {}",
            releases.len(),
            first.version,
            last.version
        ));
        let index = self.package_index().await?;
        let mut versions = Vec::new();
        for release in releases {
            let bytes = index
                .sdist(package, &release.version, &release.sha256)
                .await?;
            let code = blocking(move || {
                let unpacked = flate2::read::GzDecoder::new(bytes.as_slice());
                Ok(CodeTree::from_tar(unpacked, 1, MAX_CODE)?)
            })
            .await
            .with_context(|| format!("cannot unpack {package} {}", release.version))?;
            let commit = CommitInfo {
                sha: String::new(),
                time: release.time,
                message: format!("Release {package} {}\n", release.version),
            };
            versions.push((commit, code));
        }
        let data = folder.join("data").join(task_id.as_str());
        std::fs::create_dir_all(&data)?;
        std::fs::hard_link(image, data.join("image.tar.gz"))?;
        let shas = blocking(move || {
            let checkout = tempfile::tempdir()?;
            let shas = history::write(checkout.path(), &versions)?;
            files::zip_folder(checkout.path(), &data.join("code.zip"))?;
            Ok(shas)
        })
        .await?;
        let gap = GAPS.iter().find(|(name, _)| *name == package);
        Ok(TaskLine {
            task_id,
            base_sha: shas.first().cloned().unwrap_or_default(),
            target_sha: shas.last().cloned().unwrap_or_default(),
            declared_gap: gap.map(|(_, gap)| *gap),
            extra: vec![
                ("repo_name".into(), package.to_owned()),
                ("base_version".into(), first.version.clone()),
                ("target_version".into(), last.version.clone()),
                (TEST_COMMAND.into(), TestCommand::PLATFORM.into()),
            ],
        })
    }

    async fn package_index(&self) -> anyhow::Result<Index> {
        let url = match self.index {
            Some(url) => url.to_owned(),
            None => pip::default_index(self.sandbox, self.base_image).await?,
        };
        Index::new(&url, self.cache, self.network.ca_bundle.as_deref())
    }
}

/// Builds the image that the demo tasks share, and returns its digest; quick if
/// it was built before.
pub async fn build_image(
    images: &Images,
    base_image: &str,
    network: &BuildNetwork,
    say: &(dyn Fn(String) + Send + Sync),
) -> anyhow::Result<String> {
    let base = images.digest(base_image).await?;
    anyhow::ensure!(base.is_some(), no_base_image(base_image));
    say(format!("building the image {IMAGE}"));
    let built = images.build(IMAGE, base_image, &IMAGE_LINES, network, say);
    built.await
}

/// The releases, grouped by package.
fn packages() -> anyhow::Result<Vec<(String, Vec<Release>)>> {
    let mut packages: Vec<(String, Vec<Release>)> = Vec::new();
    for record in csv::Reader::from_reader(RELEASES.as_bytes()).deserialize() {
        let (package, version, released, sha256): (String, String, jiff::Timestamp, String) =
            record?;
        let release = Release {
            version,
            time: released.as_second(),
            sha256,
        };
        match packages.last_mut() {
            Some((name, releases)) if *name == package => releases.push(release),
            _ => packages.push((package, vec![release])),
        }
    }
    Ok(packages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_releases_are_in_order_and_pinned() {
        let packages = packages().unwrap();
        let ends: Vec<_> = packages
            .iter()
            .map(|(name, r)| {
                (
                    name.as_str(),
                    r[0].version.as_str(),
                    r[r.len() - 1].version.as_str(),
                )
            })
            .collect();
        assert_eq!(
            ends,
            [
                ("sqlparse", "0.4.4", "0.5.3"),
                ("more-itertools", "9.1.0", "10.2.0"),
                ("tinydb", "4.7.1", "4.8.2"),
                ("wcwidth", "0.2.5", "0.2.13")
            ]
        );
        for (name, releases) in &packages {
            assert!(releases.is_sorted_by_key(|r| r.time), "{name}");
            assert!(releases.iter().all(|r| r.sha256.len() == 64), "{name}");
            assert!(GAPS.iter().any(|(known, _)| known == name));
        }
    }
}
