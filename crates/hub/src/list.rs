//! Lists of a dataset's files and splits.

use std::collections::HashSet;

use reqwest::Response;
use reqwest::header::LINK;
use serde::Deserialize;
use url::Url;

use super::request::HubRequest;
use super::{Checksum, DatasetId, Hub, HubError, Pinned, RemotePath, Revision};

/// The most files and folders in a list.
const MAX_ENTRIES: usize = 100_000;
/// The most pages; the hub puts 1000 entries on each.
const MAX_PAGES: usize = 1_000;

/// A file of a dataset in the hub's list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RemoteFile {
    pub path: RemotePath,
    /// In bytes.
    pub size: u64,
    pub checksum: Checksum,
}

#[derive(Debug, Deserialize)]
struct Commit {
    sha: String,
}

#[derive(Debug, Deserialize)]
struct Entry {
    #[serde(rename = "type")]
    kind: String,
    path: String,
    #[serde(default)]
    oid: String,
    #[serde(default)]
    size: u64,
    lfs: Option<Lfs>,
}

#[derive(Debug, Deserialize)]
struct Lfs {
    oid: String,
    size: u64,
}

impl Hub {
    /// Resolves a revision to its current commit. All other requests use the
    /// commit, so that the dataset cannot change halfway.
    ///
    /// # Errors
    /// [`HubError::NotFound`] and [`HubError::Denied`] say what to do.
    pub async fn pin(&self, id: &DatasetId, revision: &Revision) -> Result<Pinned, HubError> {
        let parts = ["api", "datasets"].into_iter().chain(id.parts());
        let request = HubRequest {
            url: self.address(parts.chain(["revision", revision.as_str()])),
            what: format!("the dataset {id} (revision {revision})"),
            advice: "the dataset's id may have changed: look for it on the hub and pass another",
        };
        let (commit, ()) = self.json::<Commit, ()>(&request, |_| ()).await?;
        Pinned::new(id.clone(), &commit.sha).map_err(|error| request.malformed(error.to_string()))
    }

    /// The entries of the leaderboard that a dataset has as a benchmark, also of models
    /// that are made from others.
    ///
    /// # Errors
    /// [`HubError::NotFound`] when it is no benchmark.
    pub async fn leaderboard<T: serde::de::DeserializeOwned>(
        &self,
        id: &DatasetId,
    ) -> Result<Vec<T>, HubError> {
        let parts = ["api", "datasets"].into_iter().chain(id.parts());
        let mut url = self.address(parts.chain(["leaderboard"]));
        url.set_query(Some("baseModelOnly=false"));
        let request = HubRequest {
            url,
            what: format!("the leaderboard of the dataset {id}"),
            advice: "the dataset may be no benchmark: that takes an eval.yaml, and the hub's consent",
        };
        let (entries, ()) = self.json::<Vec<T>, ()>(&request, |_| ()).await?;
        Ok(entries)
    }

    /// All files in a folder and below it, sorted by path; `folder` is empty
    /// for the whole dataset.
    ///
    /// # Errors
    /// A single path that leads outside fails the whole list.
    pub async fn list(&self, pinned: &Pinned, folder: &str) -> Result<Vec<RemoteFile>, HubError> {
        let mut request = self.tree(pinned, folder)?;
        let mut files = Vec::new();
        let mut paths = HashSet::new();
        let mut entries = 0;
        for _ in 0..MAX_PAGES {
            let next = |response: &Response| self.next_page(&request, response);
            let (page, next) = self.json::<Vec<Entry>, _>(&request, next).await?;
            entries += page.len();
            if entries > MAX_ENTRIES {
                let why = format!("it lists more than {MAX_ENTRIES} files and folders");
                return Err(request.malformed(why));
            }
            for entry in page.iter().filter(|entry| entry.kind == "file") {
                let file = file(entry, folder).map_err(|why| request.malformed(why))?;
                if !paths.insert(file.path.clone()) {
                    let why = format!("it lists `{}` twice", file.path);
                    return Err(request.malformed(why));
                }
                files.push(file);
            }
            let Some(next) = next? else {
                files.sort_by(|a, b| a.path.cmp(&b.path));
                return Ok(files);
            };
            request.url = next;
        }
        Err(request.malformed(format!("it has more than {MAX_PAGES} pages")))
    }

    /// The names of the splits, sorted: every `metadata/<split>.csv`.
    pub async fn splits(&self, pinned: &Pinned) -> Result<Vec<String>, HubError> {
        let files = self.list(pinned, "metadata").await?;
        let split = |path: &str| {
            let name = path.strip_prefix("metadata/")?.strip_suffix(".csv")?;
            (!name.is_empty() && !name.contains('/')).then(|| name.to_owned())
        };
        Ok(files
            .iter()
            .filter_map(|file| split(file.path.as_str()))
            .collect())
    }

    fn tree(&self, pinned: &Pinned, folder: &str) -> Result<HubRequest, HubError> {
        let what = match folder {
            "" => format!("the files of the dataset {pinned}"),
            _ => format!("the folder `{folder}` of the dataset {pinned}"),
        };
        if !folder.is_empty()
            && let Err(error) = RemotePath::new(folder)
        {
            let why = error.to_string();
            return Err(HubError::Malformed { what, why });
        }
        let parts = ["api", "datasets"].into_iter().chain(pinned.id().parts());
        let parts = parts.chain(["tree", pinned.commit()]);
        let folders = folder.split('/').filter(|part| !part.is_empty());
        let mut url = self.address(parts.chain(folders));
        url.set_query(Some("recursive=true&expand=false"));
        Ok(HubRequest {
            url,
            what,
            advice: "it is not part of this dataset, or the dataset's id has changed: check both, and pass another id",
        })
    }

    /// The address of the next page. It must be on the endpoint, since the
    /// token goes there.
    fn next_page(&self, request: &HubRequest, page: &Response) -> Result<Option<Url>, HubError> {
        let links = page.headers().get_all(LINK);
        let mut links = links.iter().filter_map(|value| value.to_str().ok());
        let Some(link) = links.find_map(next_link) else {
            return Ok(None);
        };
        let next = request.url.join(link).ok();
        next.filter(|url| self.is_endpoint(url))
            .map(Some)
            .ok_or_else(|| {
                request.malformed("its next page is not on the same host; use the hub's own address as the endpoint")
            })
    }
}

/// The address of `rel="next"` in a `Link` header.
fn next_link(header: &str) -> Option<&str> {
    // Commas separate links, but addresses may contain them as well.
    let mut rest = header;
    while let Some((_, after)) = rest.split_once('<') {
        let (address, after) = after.split_once('>')?;
        let parameters = after.split('<').next()?;
        let is_next = parameters
            .split([';', ','])
            .any(|parameter| ["rel=\"next\"", "rel=next"].contains(&parameter.trim()));
        if is_next {
            return Some(address);
        }
        rest = after;
    }
    None
}

fn file(entry: &Entry, folder: &str) -> Result<RemoteFile, String> {
    let path = RemotePath::new(&entry.path).map_err(|error| error.to_string())?;
    let inside = path.as_str().strip_prefix(folder);
    if !folder.is_empty() && !inside.is_some_and(|rest| rest.starts_with('/')) {
        return Err(format!("`{path}` is not in this folder"));
    }
    let (size, checksum) = match &entry.lfs {
        Some(lfs) => (lfs.size, Checksum::sha256(&lfs.oid)),
        None => (entry.size, Checksum::git_blob(&entry.oid)),
    };
    let checksum = checksum.ok_or_else(|| format!("`{path}` has no checksum"))?;
    Ok(RemoteFile {
        path,
        size,
        checksum,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_next_page() {
        let check = |header: &str, expect: Option<&str>| {
            assert_eq!(next_link(header), expect, "{header}");
        };
        check(
            "<https://h/a?cursor=x>; rel=\"next\"",
            Some("https://h/a?cursor=x"),
        );
        check("</a,b>; rel=\"prev\", </c,d>; rel=\"next\"", Some("/c,d"));
        check("</a>; title=\"x\"; rel=next", Some("/a"));
        check("</a>; rel=\"prev\"", None);
        check("</a; rel=\"next\"", None);
        check("", None);
    }

    #[test]
    fn entries_become_files() {
        let check = |json: &str, expect: Result<(u64, &str), &str>| {
            let entry: Entry = serde_json::from_str(json).unwrap();
            let file = file(&entry, "data");
            match (&file, expect) {
                (Ok(file), Ok((size, checksum))) => {
                    assert_eq!(file.size, size);
                    assert!(file.checksum.to_string().starts_with(checksum));
                }
                (Err(why), Err(expect)) => assert!(why.contains(expect), "{why}"),
                _ => panic!("{json} → {file:?}"),
            }
        };
        let plain = "a".repeat(40);
        let large = "b".repeat(64);
        check(
            &format!(r#"{{"type":"file","path":"data/x","oid":"{plain}","size":3}}"#),
            Ok((3, "git blob id aaaa")),
        );
        check(
            &format!(
                r#"{{"type":"file","path":"data/x","oid":"{plain}","size":5,"lfs":{{"oid":"{large}","size":5,"pointerSize":130}},"xetHash":"c"}}"#
            ),
            Ok((5, "sha256 bbbb")),
        );
        let bad = |path: &str, oid: &str| {
            format!(r#"{{"type":"file","path":"{path}","oid":"{oid}","size":3}}"#)
        };
        check(&bad("data/x", ""), Err("no checksum"));
        check(&bad("data/x", "aa"), Err("no checksum"));
        check(&bad("data/../../x", &plain), Err("`..`"));
        check(&bad("/data/x", &plain), Err("absolute"));
        check(&bad("data2/x", &plain), Err("not in this folder"));
        check(&bad("data", &plain), Err("not in this folder"));
    }
}
