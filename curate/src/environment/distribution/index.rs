//! A package index as its JSON tells (PEP 691 with the times of PEP 700), or,
//! of a mirror that leaves those out, the JSON API beside it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use jiff::Timestamp;
use reqwest::StatusCode;
use reqwest::header::{ACCEPT, CONTENT_RANGE, RANGE};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use swe_ci_hub::http::{self, body};

use super::archive;
use crate::dependencies::project_name;

const JSON: &str = "application/vnd.pypi.simple.v1+json";
/// A project that every index has.
const KNOWN: &str = "pip";
const PATIENCE: Duration = Duration::from_secs(60);
/// How long what the index says of a project is believed. Files only come, or
/// are withdrawn.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);
/// The most bytes of what the index says of a project.
const MOST_PAGE: usize = 64 << 20;
/// The most bytes of a file that is fetched as a whole.
const MOST_FILE: usize = 20 << 20;
/// The most bytes a source distribution unpacks to.
const MOST_UNPACKED: u64 = 512 << 20;
/// How much of a wheel's end is fetched, first and second.
const ENDS: [usize; 2] = [32 << 10, 1 << 20];

/// A client for one index, with a cache on disk.
#[derive(Debug)]
pub struct Index {
    client: reqwest::Client,
    url: String,
    cache: PathBuf,
}

/// A file of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct IndexFile {
    pub filename: String,
    pub url: String,
    /// Absent where the index does not tell: then the file has no day, and is
    /// not used.
    #[serde(default)]
    pub upload_time: Option<Timestamp>,
    #[serde(default)]
    pub size: Option<u64>,
    /// `false`, `true`, or the reason.
    #[serde(default)]
    yanked: serde_json::Value,
    #[serde(default)]
    hashes: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
struct Page {
    files: Vec<IndexFile>,
}

impl Page {
    fn tells_times(&self) -> bool {
        self.files.iter().all(|file| file.upload_time.is_some())
    }
}

/// A project in the JSON API.
#[derive(Debug, Deserialize)]
struct Project {
    releases: BTreeMap<String, Vec<ReleaseFile>>,
}

#[derive(Debug, Deserialize)]
struct ReleaseFile {
    filename: String,
    url: String,
    upload_time_iso_8601: Timestamp,
    size: Option<u64>,
    #[serde(default)]
    yanked: serde_json::Value,
    #[serde(default)]
    digests: BTreeMap<String, String>,
}

impl From<ReleaseFile> for IndexFile {
    fn from(file: ReleaseFile) -> Self {
        Self {
            filename: file.filename,
            url: file.url,
            upload_time: Some(file.upload_time_iso_8601),
            size: file.size,
            yanked: file.yanked,
            hashes: file.digests,
        }
    }
}

impl IndexFile {
    #[must_use]
    pub fn is_wheel(&self) -> bool {
        self.filename.ends_with(".whl")
    }

    #[must_use]
    pub fn is_yanked(&self) -> bool {
        !matches!(
            self.yanked,
            serde_json::Value::Null | serde_json::Value::Bool(false)
        )
    }

    /// The version in the name of a wheel or a `.tar.gz`; other files are not used.
    #[must_use]
    pub fn version(&self) -> Option<String> {
        if let Some(stem) = self.filename.strip_suffix(".whl") {
            return stem.split('-').nth(1).map(str::to_owned);
        }
        let stem = self.filename.strip_suffix(".tar.gz")?;
        // A name may have dashes, a version has none in what is built today.
        stem.rsplit_once('-').map(|(_, version)| version.to_owned())
    }
}

impl Index {
    /// `url` as pip's `--index-url`; `extra_ca` as PEM.
    pub fn new(url: &str, cache: &Path, extra_ca: Option<&[u8]>) -> anyhow::Result<Self> {
        let client = http::client(reqwest::Client::builder().timeout(PATIENCE), extra_ca)?;
        std::fs::create_dir_all(cache)
            .with_context(|| format!("cannot create {}", cache.display()))?;
        Ok(Self {
            client,
            url: url.trim_end_matches('/').to_owned(),
            cache: cache.to_owned(),
        })
    }

    /// All files of a project, as the index lists them; none where it does not
    /// know the project.
    pub async fn files(&self, project: &str) -> anyhow::Result<Vec<IndexFile>> {
        let project = project_name(project);
        let cached = self.cached("project", &format!("{} {project}", self.url));
        if let Some(files) = read_fresh(&cached) {
            return Ok(files);
        }
        let files = match self.page(&project).await? {
            Some(page) if page.tells_times() => page.files,
            Some(page) => self.released(&project).await.unwrap_or(page.files),
            None => self.released(&project).await.with_context(|| {
                format!(
                    "the package index {} tells of {project} neither in the JSON of PEP 691 nor in a JSON API beside it: name another index",
                    self.url
                )
            })?,
        };
        write(&cached, &files)?;
        Ok(files)
    }

    /// What it says of a project; none where it does so in another language.
    async fn page(&self, project: &str) -> anyhow::Result<Option<Page>> {
        let page = format!("{}/{project}/", self.url);
        let asked = || format!("the package index {} does not tell of {project}", self.url);
        let response = self.client.get(&page).header(ACCEPT, JSON).send();
        let response = response.await.with_context(asked)?;
        match response.status() {
            StatusCode::NOT_FOUND => return Ok(Some(Page { files: Vec::new() })),
            StatusCode::NOT_ACCEPTABLE => return Ok(None),
            _ => {}
        }
        let response = response.error_for_status().with_context(asked)?;
        let base = response.url().clone();
        let bytes = body(response, MOST_PAGE).await.with_context(asked)?;
        let Ok(mut page) = serde_json::from_slice::<Page>(&bytes) else {
            return Ok(None);
        };
        for file in &mut page.files {
            file.url = base.join(&file.url)?.into();
        }
        Ok(Some(page))
    }

    /// The same by the JSON API.
    async fn released(&self, project: &str) -> anyhow::Result<Vec<IndexFile>> {
        let root = self.url.strip_suffix("/simple").unwrap_or(&self.url);
        let page = format!("{root}/pypi/{project}/json");
        let response = self.client.get(&page).send().await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Ok(Vec::new());
        }
        let response = response.error_for_status()?;
        let base = response.url().clone();
        let project: Project = serde_json::from_slice(&body(response, MOST_PAGE).await?)?;
        let files = project.releases.into_values().flatten();
        let mut files: Vec<IndexFile> = files.map(IndexFile::from).collect();
        for file in &mut files {
            file.url = base.join(&file.url)?.into();
        }
        Ok(files)
    }

    /// Its address, where it tells the times of files in its JSON API alone.
    pub async fn without_times(&self) -> anyhow::Result<Option<&str>> {
        let tells = self.page(KNOWN).await?;
        if tells.is_some_and(|page| page.tells_times()) {
            return Ok(None);
        }
        let released = self.released(KNOWN).await;
        let has_times = released.is_ok_and(|files| !files.is_empty());
        Ok(has_times.then_some(&self.url))
    }

    /// Whether it answers now; that it does not know a project is an answer.
    pub(super) async fn answers(&self) -> anyhow::Result<()> {
        let page = format!("{}/{KNOWN}/", self.url);
        let asked = || format!("the package index {} does not answer", self.url);
        let answer = self.client.get(&page).header(ACCEPT, JSON).send().await;
        let answer = answer.with_context(asked)?;
        match answer.status() {
            StatusCode::NOT_FOUND => Ok(()),
            _ => answer.error_for_status().map(drop).with_context(asked),
        }
    }

    /// The names in a wheel or a source distribution.
    pub(super) async fn paths(&self, file: &IndexFile) -> anyhow::Result<Vec<String>> {
        let cached = self.cached("names", &format!("{} {:?}", file.url, file.hashes));
        if let Some(bytes) = std::fs::read(&cached).ok()
            && let Ok(paths) = serde_json::from_slice(&bytes)
        {
            return Ok(paths);
        }
        let of_end = match file.is_wheel() {
            true => self.at_end(file).await,
            false => None,
        };
        let paths = match of_end {
            Some(paths) => paths,
            None => {
                let bytes = self.download(file).await?;
                let size = bytes.len() as u64;
                match file.is_wheel() {
                    true => archive::names_at_end(bytes, size)?,
                    false => archive::names_in_tar(&bytes, MOST_UNPACKED)?,
                }
            }
        };
        write(&cached, &paths)?;
        Ok(paths)
    }

    /// The names by the end of a wheel alone; none where the server does not
    /// give parts, or the list is longer than what is fetched.
    async fn at_end(&self, file: &IndexFile) -> Option<Vec<String>> {
        for length in ENDS {
            let range = format!("bytes=-{length}");
            let response = self
                .client
                .get(&file.url)
                .header(RANGE, range)
                .send()
                .await
                .ok()?;
            if response.status() != StatusCode::PARTIAL_CONTENT {
                return None;
            }
            let total = response.headers().get(CONTENT_RANGE)?.to_str().ok()?;
            let size = total.rsplit('/').next()?.parse().ok()?;
            let end = body(response, length).await.ok()?;
            if let Ok(paths) = archive::names_at_end(end, size) {
                return Some(paths);
            }
        }
        None
    }

    /// The bytes of a file, of the sha256 the index tells.
    pub async fn download(&self, file: &IndexFile) -> anyhow::Result<Vec<u8>> {
        let name = &file.filename;
        let response = self
            .client
            .get(&file.url)
            .send()
            .await?
            .error_for_status()?;
        let bytes = body(response, MOST_FILE)
            .await
            .with_context(|| format!("cannot fetch {name}"))?;
        if let Some(expected) = file.hashes.get("sha256") {
            let found = hex(&Sha256::digest(&bytes));
            ensure!(
                found == *expected,
                "{name} has the sha256 {found}, and the index says {expected}"
            );
        }
        Ok(bytes)
    }

    fn cached(&self, kind: &str, what: &str) -> PathBuf {
        self.cache
            .join(format!("{kind}-{}.json", &hex(&Sha256::digest(what))[..32]))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read_fresh(path: &Path) -> Option<Vec<IndexFile>> {
    let age = path.metadata().ok()?.modified().ok()?.elapsed().ok()?;
    let bytes = std::fs::read(path).ok().filter(|_| age < FRESH)?;
    serde_json::from_slice(&bytes).ok()
}

fn write(path: &Path, content: &impl Serialize) -> anyhow::Result<()> {
    let partial = path.with_extension(format!("{}.partial", std::process::id()));
    let kept = std::fs::write(&partial, serde_json::to_vec(content)?)
        .and_then(|()| std::fs::rename(&partial, path));
    kept.with_context(|| format!("cannot write {}", path.display()))
}
