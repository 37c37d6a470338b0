//! Looks for manifests, lock files and tests in the roots of repositories
//! before they are cloned.

use futures::StreamExt;
use serde::{Deserialize, Serialize};

use super::limits::Resource;
use super::request::ApiRequest;
use super::{GitHub, GitHubError, Progress, ProgressListener, RepositoryHit, hit};

/// GitHub asks clients to send few requests in parallel.
const PARALLEL: usize = 4;

/// Names to look for in the root of a repository, in order of preference. Case
/// matters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RootNames {
    /// Files that list the project's requirements: `pyproject.toml`,
    /// `setup.py`, `setup.cfg`, `Pipfile`, `requirements.txt`.
    pub manifests: Vec<String>,
    /// Lock files: `uv.lock`, `poetry.lock`, `pdm.lock`, `Pipfile.lock`,
    /// `pylock.toml`.
    pub lock_files: Vec<String>,
    /// Folders of unit tests: `tests`.
    pub tests: Vec<String>,
}

impl Default for RootNames {
    fn default() -> Self {
        let names = |names: &str| names.split(' ').map(str::to_owned).collect();
        Self {
            manifests: names("pyproject.toml setup.py setup.cfg Pipfile requirements.txt"),
            lock_files: names("uv.lock poetry.lock pdm.lock Pipfile.lock pylock.toml"),
            tests: names("tests"),
        }
    }
}

/// The [`RootNames`] that exist. They are only hints: the content of a file,
/// and whether the folder has tests, is known once the repository is cloned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootHints {
    pub manifest: Option<String>,
    pub lock_file: Option<String>,
    pub tests: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    name: String,
    #[serde(rename = "type")]
    kind: String,
}

impl GitHub {
    /// Lists the root of a repository on its default branch. One request.
    ///
    /// # Errors
    /// [`GitHubError::concerns_all`] tells whether other repositories would
    /// fail as well.
    pub async fn root_hints(
        &self,
        hit: &RepositoryHit,
        names: &RootNames,
        listener: ProgressListener<'_>,
    ) -> Result<RootHints, GitHubError> {
        let entries: Vec<Entry> = self.json(&self.root(hit)?, listener).await?;
        let first = |names: &[String], kind: &str| {
            let has = |name: &&String| {
                entries
                    .iter()
                    .any(|entry| entry.kind == kind && entry.name == **name)
            };
            names.iter().find(has).cloned()
        };
        Ok(RootHints {
            manifest: first(&names.manifests, "file"),
            lock_file: first(&names.lock_files, "file"),
            tests: first(&names.tests, "dir"),
        })
    }

    /// Looks into many repositories, a few in parallel; the results are in the
    /// order of `hits`.
    ///
    /// # Errors
    /// The first error that [`GitHubError::concerns_all`]. Other errors take
    /// the place of the repository's hints.
    pub async fn all_root_hints(
        &self,
        hits: &[RepositoryHit],
        names: &RootNames,
        listener: ProgressListener<'_>,
    ) -> Result<Vec<Result<RootHints, GitHubError>>, GitHubError> {
        // By index: a stream of borrowed hits would not be `Send`.
        let mut looks = futures::stream::iter(0..hits.len())
            .map(|number| self.root_hints(&hits[number], names, listener))
            .buffered(PARALLEL);
        let mut found = Vec::with_capacity(hits.len());
        while let Some(look) = looks.next().await {
            match look {
                Err(error) if error.concerns_all() => return Err(error),
                look => found.push(look),
            }
            listener(Progress::Looked {
                done: found.len(),
                of: hits.len(),
            });
        }
        Ok(found)
    }

    fn root(&self, hit: &RepositoryHit) -> Result<ApiRequest, GitHubError> {
        // The hits may come from a file and be unchecked.
        let (owner, name) = hit::parts(&hit.full_name).ok_or(GitHubError::Malformed {
            what: "a repository".to_owned(),
            why: "its name is not of the form owner/name".to_owned(),
        })?;
        let mut url = self.address(["repos", owner, name, "contents"]);
        url.query_pairs_mut()
            .append_pair("ref", &hit.default_branch);
        Ok(ApiRequest {
            url,
            what: format!("the root of {}", hit.full_name),
            resource: Resource::Core,
            advice: "it is empty or was removed after the search: skip it",
        })
    }
}
