use futures::StreamExt;
use serde::{Deserialize, Serialize};

use super::limits::Resource;
use super::request::Question;
use super::{GitHub, GitHubError, Progress, RepositoryHit, Told, hit};

/// GitHub asks for few requests at once.
const PARALLEL: usize = 4;

/// Names in the root of a repository that are looked for, the first ones
/// before the others. Case counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RootNames {
    /// Files that say what the project needs: `pyproject.toml`, `setup.py`,
    /// `setup.cfg`, `Pipfile`, `requirements.txt`.
    pub manifests: Vec<String>,
    /// Files that pin it: `uv.lock`, `poetry.lock`, `pdm.lock`, `Pipfile.lock`,
    /// `pylock.toml`.
    pub lock_files: Vec<String>,
    /// Folders of unit tests: `tests`.
    pub tests: Vec<String>,
}

impl Default for RootNames {
    fn default() -> Self {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            manifests: names(&[
                "pyproject.toml",
                "setup.py",
                "setup.cfg",
                "Pipfile",
                "requirements.txt",
            ]),
            lock_files: names(&[
                "uv.lock",
                "poetry.lock",
                "pdm.lock",
                "Pipfile.lock",
                "pylock.toml",
            ]),
            tests: names(&["tests"]),
        }
    }
}

/// What was found of [`RootNames`]. Only hints: what a file says, and whether
/// there are tests in the folder, is known once the repository is here.
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
    /// Looks into the root of a repository, on its default branch. One request.
    ///
    /// # Errors
    /// [`GitHubError::concerns_all`] tells those that others would meet as
    /// well.
    pub async fn has(
        &self,
        hit: &RepositoryHit,
        names: &RootNames,
        told: Told<'_>,
    ) -> Result<RootHints, GitHubError> {
        let entries: Vec<Entry> = self.json(&self.root(hit)?, told).await?;
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

    /// Looks into many, a few at a time; what there is to say of each is in
    /// the order of `hits`.
    ///
    /// # Errors
    /// The first that [`GitHubError::concerns_all`]. Those of one repository
    /// are returned in its place.
    pub async fn has_all(
        &self,
        hits: &[RepositoryHit],
        names: &RootNames,
        told: Told<'_>,
    ) -> Result<Vec<Result<RootHints, GitHubError>>, GitHubError> {
        // By number: a stream of borrowed hits could not go to another thread.
        let mut looks = futures::stream::iter(0..hits.len())
            .map(|number| self.has(&hits[number], names, told))
            .buffered(PARALLEL);
        let mut found = Vec::with_capacity(hits.len());
        while let Some(look) = looks.next().await {
            match look {
                Err(error) if error.concerns_all() => return Err(error),
                look => found.push(look),
            }
            told(Progress::Looked {
                done: found.len(),
                of: hits.len(),
            });
        }
        Ok(found)
    }

    fn root(&self, hit: &RepositoryHit) -> Result<Question, GitHubError> {
        // Hits may have been in a file since they were checked.
        let (owner, name) = hit::parts(&hit.full_name).ok_or(GitHubError::Malformed {
            what: "a repository".to_owned(),
            why: "its name is not of the form owner/name".to_owned(),
        })?;
        let mut url = self.address(["repos", owner, name, "contents"]);
        url.query_pairs_mut()
            .append_pair("ref", &hit.default_branch);
        Ok(Question {
            url,
            what: format!("the root of {}", hit.full_name),
            resource: Resource::Core,
            advice: "it is empty, or was removed since it was found: leave it out",
        })
    }
}
