//! A client of a package index in JSON (PEP 691 with the upload times of PEP
//! 700). For a mirror without upload times it uses the JSON API beside it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use jiff::Timestamp;
use reqwest::header::{ACCEPT, CONTENT_RANGE, RANGE};
use reqwest::{Response, StatusCode};
use serde::{Deserialize, Serialize};
use swe_ci_base::digest::sha256_hex;
use swe_ci_hub::http::{self, BodyError, body};
use url::Url;

use super::archive;
use crate::dependencies::project_name;

const JSON: &str = "application/vnd.pypi.simple.v1+json";
/// A project that every index has.
const PROBE: &str = "pip";
const TIMEOUT: Duration = Duration::from_secs(60);
/// How long a cached list of files is valid. Files are only added or withdrawn.
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);
/// Maximum bytes of one index page.
const MAX_PAGE: usize = 64 << 20;
/// Maximum bytes of a downloaded file.
const MAX_FILE: usize = 20 << 20;
/// Maximum unpacked bytes of a source distribution.
const MAX_UNPACKED: u64 = 512 << 20;
/// Bytes fetched from the end of a wheel, at the first and the second attempt.
const ENDS: [usize; 2] = [32 << 10, 1 << 20];

/// A client for one index, with a cache on disk.
#[derive(Debug)]
pub struct Index {
    pub(super) client: reqwest::Client,
    pub(super) url: String,
    pub(super) cache: PathBuf,
}

/// A file of a project, on a page or in the JSON API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct IndexFile {
    pub filename: String,
    pub url: String,
    /// None if the index does not publish it; such a file is not used.
    #[serde(default, alias = "upload_time_iso_8601")]
    pub upload_time: Option<Timestamp>,
    #[serde(default)]
    pub size: Option<u64>,
    /// `false`, `true`, or the reason.
    #[serde(default)]
    yanked: serde_json::Value,
    #[serde(default, alias = "digests")]
    hashes: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
struct Page {
    files: Vec<IndexFile>,
}

/// A project in the JSON API.
#[derive(Debug, Deserialize)]
struct Project {
    releases: BTreeMap<String, Vec<IndexFile>>,
}

impl IndexFile {
    pub fn is_wheel(&self) -> bool {
        self.filename.ends_with(".whl")
    }

    pub fn is_yanked(&self) -> bool {
        !matches!(
            self.yanked,
            serde_json::Value::Null | serde_json::Value::Bool(false)
        )
    }

    /// The version in the name of a wheel or a `.tar.gz`; other files are not
    /// used.
    pub fn version(&self) -> Option<String> {
        if let Some(stem) = self.filename.strip_suffix(".whl") {
            return stem.split('-').nth(1).map(str::to_owned);
        }
        let stem = self.filename.strip_suffix(".tar.gz")?;
        // Names may contain dashes; versions of current build tools do not.
        stem.rsplit_once('-').map(|(_, version)| version.to_owned())
    }
}

impl Index {
    /// `url` is pip's `--index-url`; `extra_ca` is in PEM.
    pub fn new(url: &str, cache: &Path, extra_ca: Option<&[u8]>) -> anyhow::Result<Self> {
        let client = http::client(swe_ci_base::tls::http_client().timeout(TIMEOUT), extra_ca)?;
        std::fs::create_dir_all(cache)
            .with_context(|| format!("cannot create {}", cache.display()))?;
        Ok(Self {
            client,
            url: url.trim_end_matches('/').to_owned(),
            cache: cache.to_owned(),
        })
    }

    /// All files of a project in the index's order; empty if the index does not
    /// know the project.
    pub async fn files(&self, project: &str) -> anyhow::Result<Vec<IndexFile>> {
        let project = project_name(project);
        let cached = self.cached("project", &format!("{} {project}", self.url));
        if let Some(files) = read_fresh(&cached) {
            return Ok(files);
        }
        let files = match self.page(&project).await? {
            Some(files) if have_upload_times(&files) => files,
            Some(files) => self.json_api_files(&project).await.unwrap_or(files),
            None => self.json_api_files(&project).await.with_context(|| {
                format!(
                    "the package index {} serves {project} neither in the JSON of PEP 691 nor in a JSON API beside it: use another index",
                    self.url
                )
            })?,
        };
        write(&cached, &serde_json::to_vec(&files)?)?;
        Ok(files)
    }

    /// The files on the JSON page of a project; none if the index answers in
    /// another format.
    async fn page(&self, project: &str) -> anyhow::Result<Option<Vec<IndexFile>>> {
        let problem = || format!("cannot read {project} from the package index {}", self.url);
        let response = self.get_page(project, JSON).await.with_context(problem)?;
        match response.status() {
            StatusCode::NOT_FOUND => return Ok(Some(Vec::new())),
            StatusCode::NOT_ACCEPTABLE => return Ok(None),
            _ => {}
        }
        let response = response.error_for_status().with_context(problem)?;
        let base = response.url().clone();
        let bytes = body(response, MAX_PAGE).await.with_context(problem)?;
        serde_json::from_slice::<Page>(&bytes)
            .ok()
            .map(|page| with_absolute_urls(page.files, &base))
            .transpose()
    }

    pub(super) async fn get_page(&self, project: &str, format: &str) -> reqwest::Result<Response> {
        let page = format!("{}/{project}/", self.url);
        self.client.get(page).header(ACCEPT, format).send().await
    }

    /// Requests a file or a page that must exist.
    pub(super) async fn get(&self, url: impl reqwest::IntoUrl) -> reqwest::Result<Response> {
        self.client.get(url).send().await?.error_for_status()
    }

    /// The files of a project from the JSON API, all with upload times.
    async fn json_api_files(&self, project: &str) -> anyhow::Result<Vec<IndexFile>> {
        let root = self.url.strip_suffix("/simple").unwrap_or(&self.url);
        let response = self.get(format!("{root}/pypi/{project}/json")).await;
        let response = match response {
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => return Ok(Vec::new()),
            response => response?,
        };
        let base = response.url().clone();
        let project: Project = serde_json::from_slice(&body(response, MAX_PAGE).await?)?;
        let files: Vec<_> = project.releases.into_values().flatten().collect();
        ensure!(have_upload_times(&files), "a file has no upload time");
        with_absolute_urls(files, &base)
    }

    /// The index's address if only its JSON API publishes upload times.
    pub async fn without_times(&self) -> anyhow::Result<Option<&str>> {
        let files = self.page(PROBE).await?;
        if files.is_some_and(|files| have_upload_times(&files)) {
            return Ok(None);
        }
        let files = self.json_api_files(PROBE).await;
        let has_times = files.is_ok_and(|files| !files.is_empty());
        Ok(has_times.then_some(&self.url))
    }

    /// Checks that the index answers; a 404 counts as an answer.
    pub(super) async fn answers(&self) -> anyhow::Result<()> {
        let problem = || format!("the package index {} does not answer", self.url);
        let answer = self.get_page(PROBE, JSON).await.with_context(problem)?;
        match answer.status() {
            StatusCode::NOT_FOUND => Ok(()),
            _ => answer.error_for_status().map(drop).with_context(problem),
        }
    }

    /// Whether the server at an address of http answers, and is not in trouble.
    pub async fn answers_at(&self, url: &str) -> bool {
        !self.get(url).await.is_err_and(|error| is_passing(&error))
    }

    /// The file names in a wheel or a source distribution.
    pub(super) async fn paths(&self, file: &IndexFile) -> anyhow::Result<Vec<String>> {
        let cached = self.cached("names", &format!("{} {:?}", file.url, file.hashes));
        if let Ok(bytes) = std::fs::read(&cached)
            && let Ok(paths) = serde_json::from_slice(&bytes)
        {
            return Ok(paths);
        }
        let paths = if !file.is_wheel() {
            archive::names_in_tar(&self.download(file).await?, MAX_UNPACKED)?
        } else if let Some(paths) = self.names_from_end(file).await {
            paths
        } else {
            let bytes = self.download(file).await?;
            let size = bytes.len() as u64;
            archive::names_at_end(bytes, size)?
        };
        write(&cached, &serde_json::to_vec(&paths)?)?;
        Ok(paths)
    }

    /// The file names from the end of a wheel; none if the server does not
    /// support ranges, or the directory is too long.
    async fn names_from_end(&self, file: &IndexFile) -> Option<Vec<String>> {
        for length in ENDS {
            let range = format!("bytes=-{length}");
            let request = self.client.get(&file.url).header(RANGE, range);
            let response = request.send().await.ok()?;
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

    /// Downloads a file and checks it against the index's SHA-256.
    pub async fn download(&self, file: &IndexFile) -> anyhow::Result<Vec<u8>> {
        let name = &file.filename;
        let bytes = body(self.get(&file.url).await?, MAX_FILE)
            .await
            .with_context(|| format!("cannot fetch {name}"))?;
        if let Some(expected) = file.hashes.get("sha256") {
            let found = sha256_hex(&bytes);
            ensure!(
                found == *expected,
                "{name} has the sha256 {found}, but the index lists {expected}"
            );
        }
        Ok(bytes)
    }

    fn cached(&self, kind: &str, what: &str) -> PathBuf {
        let digest = sha256_hex(what.as_bytes());
        self.cache.join(format!("{kind}-{}.json", &digest[..32]))
    }
}

/// Whether a cause of the error is a request that another try may bring through.
pub fn may_pass(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| match cause.downcast_ref() {
        Some(BodyError::Connection(error)) => is_passing(error),
        _ => cause.downcast_ref().is_some_and(is_passing),
    })
}

/// Whether the server did not answer, or not to the end, or is in trouble.
fn is_passing(error: &reqwest::Error) -> bool {
    let is_trouble = |status: StatusCode| {
        status.is_server_error()
            || [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT].contains(&status)
    };
    !error.is_builder() && error.status().is_none_or(is_trouble)
}

fn have_upload_times(files: &[IndexFile]) -> bool {
    files.iter().all(|file| file.upload_time.is_some())
}

fn with_absolute_urls(mut files: Vec<IndexFile>, base: &Url) -> anyhow::Result<Vec<IndexFile>> {
    for file in &mut files {
        file.url = base.join(&file.url)?.into();
    }
    Ok(files)
}

fn read_fresh(path: &Path) -> Option<Vec<IndexFile>> {
    let age = path.metadata().ok()?.modified().ok()?.elapsed().ok()?;
    let bytes = std::fs::read(path).ok().filter(|_| age < MAX_AGE)?;
    serde_json::from_slice(&bytes).ok()
}

/// Several processes may share a cache.
pub(super) fn write(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let partial = path.with_extension(format!("{}.partial", std::process::id()));
    let written = std::fs::write(&partial, content).and_then(|()| std::fs::rename(&partial, path));
    written.with_context(|| format!("cannot write {}", path.display()))
}
