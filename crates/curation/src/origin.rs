//! Fetches repositories: clones them with git, or assembles them from a
//! package's releases.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use jiff::Timestamp;
use swe_ci_base::blocking::blocking;
use swe_ci_base::code::CodeTree;
use swe_ci_base::files;
use swe_ci_base::machine_failure::is_machine_failure;
use swe_ci_candidates::environment::distribution::{Index, IndexFile};
use swe_ci_candidates::environment::version::{Version, described};
use swe_ci_dataset::{CommitInfo, write_history};
use tokio::net::TcpStream;
use tokio::process::Command;
use tokio::time::timeout;

use crate::Settings;
use crate::fetch_failure::FetchFailure;
use crate::plan::{Limits, Origin};

const CLONE_TIME_LIMIT: Duration = Duration::from_hours(2);
/// For a server to say whether it has a repository.
const ANSWER_TIME_LIMIT: Duration = Duration::from_mins(1);
const SIZE_CHECK_INTERVAL: Duration = Duration::from_secs(2);
/// The most bytes the code of a release may have.
const MAX_CODE: u64 = 256 << 20;

pub struct Fetcher<'a> {
    pub index: &'a Index,
    pub limits: &'a Limits,
    /// Proxies, for git.
    pub env: &'a [(String, String)],
    pub ca_bundle: Option<&'a Path>,
}

impl Fetcher<'_> {
    /// Fetches a repository into `folder`, completely or not at all; an
    /// existing folder is left as it is.
    ///
    /// # Errors
    /// Why it cannot be fetched, in words for people.
    pub async fn fetch(&self, origin: &Origin, folder: &Path) -> Result<(), FetchFailure> {
        if folder.exists() {
            return Ok(());
        }
        let partial = files::beside(folder, "partial");
        files::remove_folder(&partial)?;
        if let Some(parent) = folder.parent() {
            std::fs::create_dir_all(parent)
                .with_context(|| format!("cannot create {}", parent.display()))?;
        }
        match origin {
            Origin::Git { address, branch } => {
                self.clone(address, branch.as_deref(), &partial).await?;
            }
            Origin::Package { package, from, to } => {
                let releases = self.releases(package, from.as_deref(), to.as_deref());
                self.assemble(package, &releases.await?, &partial).await?;
            }
        }
        std::fs::rename(&partial, folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(())
    }

    /// Clones one branch with its whole history and its tags, without files.
    async fn clone(
        &self,
        address: &str,
        branch: Option<&str>,
        to: &Path,
    ) -> Result<(), FetchFailure> {
        let mut git = self.git();
        git.args(["clone", "--quiet", "--bare", "--single-branch"]);
        git.args(branch.iter().flat_map(|branch| ["--branch", branch]));
        git.arg("--").arg(address).arg(to);
        let most = self.limits.repository_mib << 20;
        let cloning = run(git);
        let watching = async {
            loop {
                tokio::time::sleep(SIZE_CHECK_INTERVAL).await;
                let folder = to.to_owned();
                let bytes = blocking(move || Ok(files::bytes_below(&folder))).await;
                if bytes.is_ok_and(|bytes| bytes > most) {
                    return;
                }
            }
        };
        let (failed, by_git) = tokio::select! {
            done = cloning => match done {
                Ok(()) => return Ok(()),
                Err(error) => (error, true),
            },
            () = watching => (anyhow!(
                "it is larger than the {} MiB that limits.repository_mib allows",
                self.limits.repository_mib
            ), false),
            () = tokio::time::sleep(CLONE_TIME_LIMIT) => (anyhow!("it takes longer than {CLONE_TIME_LIMIT:?}"), false),
        };
        let error = failed.context(format!("cannot clone {address}"));
        match by_git && !is_machine_failure(&error) && self.may_come(address, branch).await {
            true => Err(FetchFailure::Unreachable(error)),
            false => Err(error.into()),
        }
    }

    /// Whether a repository that git did not clone may be cloned later. git tells why
    /// in words only, so its server is asked.
    async fn may_come(&self, address: &str, branch: Option<&str>) -> bool {
        let mut git = self.git();
        git.args(["ls-remote", "--quiet", "--exit-code", "--", address]);
        git.args(branch);
        let listed = timeout(ANSWER_TIME_LIMIT, git.output()).await;
        let listed = listed.ok().and_then(Result::ok);
        match listed.and_then(|output| output.status.code()) {
            Some(0) => true,
            // The repository is there, without such a branch.
            Some(2) => false,
            _ => !self.answers(address).await,
        }
    }

    /// Whether the server of a repository answers, whatever it says.
    async fn answers(&self, address: &str) -> bool {
        let (scheme, rest) = address.split_once("://").unwrap_or_default();
        let port = match scheme {
            "http" | "https" => {
                let address = address.trim_end_matches('/');
                let refs = format!("{address}/info/refs?service=git-upload-pack");
                return self.index.answers_at(&refs).await;
            }
            "ssh" => 22,
            "git" => 9_418,
            // A folder.
            _ => return true,
        };
        let host = rest.split('/').next().unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or_default();
        let has_port = host
            .rsplit(':')
            .next()
            .is_some_and(|end| end.parse::<u16>().is_ok());
        let place = match has_port {
            true => host.to_owned(),
            false => format!("{host}:{port}"),
        };
        let connected = timeout(ANSWER_TIME_LIMIT, TcpStream::connect(place)).await;
        connected.is_ok_and(|connected| connected.is_ok())
    }

    fn git(&self) -> Command {
        git_of_others(self.env, self.ca_bundle)
    }

    /// The releases of a package in sequence: source distributions that were
    /// not withdrawn, each with a higher version than all before it. Later
    /// backports are not part of the main line.
    async fn releases(
        &self,
        package: &str,
        from: Option<&str>,
        to: Option<&str>,
    ) -> anyhow::Result<Vec<(String, IndexFile)>> {
        let files = self.index.files(package).await;
        let files = files.with_context(|| format!("cannot look up the releases of {package}"))?;
        let (from, to) = (bound(from)?, bound(to)?);
        let mut releases = main_line(files, from.as_ref(), to.as_ref());
        let rest = releases.len().saturating_sub(self.limits.releases);
        releases.drain(..rest);
        ensure!(
            releases.len() > 1,
            "{package} has {} releases with source distributions in that range; a history needs two",
            releases.len()
        );
        Ok(releases)
    }

    /// A history with a commit for each release.
    async fn assemble(
        &self,
        package: &str,
        releases: &[(String, IndexFile)],
        to: &Path,
    ) -> anyhow::Result<()> {
        let mut versions = Vec::new();
        for (version, file) in releases {
            let what = || format!("{package} {version}");
            let bytes = self.index.download(file).await.with_context(what)?;
            let unpacked = blocking(move || {
                let unpacked = flate2::read::GzDecoder::new(bytes.as_slice());
                Ok(CodeTree::from_tar(unpacked, 1, MAX_CODE)?)
            });
            let unpacked = unpacked.await;
            let code = unpacked.with_context(|| format!("cannot unpack {}", what()))?;
            let commit = CommitInfo {
                sha: String::new(),
                time: file.upload_time.map_or(0, Timestamp::as_second),
                message: format!("Release {package} {version}\n"),
            };
            versions.push((commit, code));
        }
        let to = to.to_owned();
        blocking(move || write_history(&to, &versions).map(|_| ())).await
    }
}

fn bound(text: Option<&str>) -> anyhow::Result<Option<Version>> {
    let none = |text: &str| format!("`{text}` is no version of a package");
    text.map(|text| Version::parse(text).with_context(|| none(text)))
        .transpose()
}

fn main_line(
    files: Vec<IndexFile>,
    from: Option<&Version>,
    to: Option<&Version>,
) -> Vec<(String, IndexFile)> {
    let release = |file: IndexFile| {
        let text = file.version()?;
        let version = Version::parse(&text)?;
        let wanted = !file.is_wheel()
            && file.filename.ends_with(".tar.gz")
            && !file.is_yanked()
            && !version.is_pre()
            && from.is_none_or(|from| version >= *from)
            && to.is_none_or(|to| version <= *to);
        (wanted && file.upload_time.is_some()).then_some((version, text, file))
    };
    let mut releases: Vec<_> = files.into_iter().filter_map(release).collect();
    releases.sort_by_key(|(_, _, file)| file.upload_time);
    let mut highest: Option<Version> = None;
    releases.retain(|(version, _, _)| {
        let higher = highest.as_ref().is_none_or(|highest| version > highest);
        if higher {
            highest = Some(version.clone());
        }
        higher
    });
    let named = |(_, text, file)| (text, file);
    releases.into_iter().map(named).collect()
}

/// Creates a task's checkout: a folder with the files of `base` and the history
/// up to `target`, without anything later.
pub async fn checkout(
    repository: &Path,
    base: &str,
    target: &str,
    folder: &Path,
) -> anyhow::Result<()> {
    files::remove_folder(folder)?;
    let branch = format!("swe-ci/{target}");
    let name = format!("refs/heads/{branch}");
    run(in_folder(repository, &["update-ref", &name, target])).await?;
    let mut clone = git();
    // The objects are transferred, not copied as files: those of later commits
    // stay behind.
    clone.args(["clone", "--quiet", "--no-local", "--single-branch"]);
    clone.args(["--no-tags", "--no-checkout", "--branch", &branch, "--"]);
    clone.arg(repository).arg(folder);
    run(clone).await?;
    for arguments in [
        &["branch", "--quiet", "--move", "main"][..],
        &["remote", "remove", "origin"],
        &["checkout", "--quiet", "--detach", base],
    ] {
        run(in_folder(folder, arguments)).await?;
    }
    Ok(())
}

/// The version of a commit by the nearest tag before it that names one.
pub async fn version_of_tag(repository: &Path, sha: &str) -> anyhow::Result<Option<String>> {
    let arguments = [
        "describe",
        "--tags",
        "--long",
        "--abbrev=7",
        "--match",
        "*[0-9]*",
        sha,
    ];
    let output = in_folder(repository, &arguments).output().await;
    let output = output.map_err(swe_ci_git::cannot_run)?;
    // It fails where there is no such tag.
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(output.status.success().then(|| described(&text)).flatten())
}

fn in_folder(folder: &Path, arguments: &[&str]) -> Command {
    let mut git = git();
    git.arg("-C").arg(folder).args(arguments);
    git
}

/// git, for addresses of others.
fn git_of_others(env: &[(String, String)], ca_bundle: Option<&Path>) -> Command {
    let mut git = git();
    git.envs(env.iter().map(|(name, value)| (name, value)));
    if let Some(bundle) = ca_bundle {
        git.env("GIT_SSL_CAINFO", bundle);
    }
    git
}

/// The commit at the end of a branch of a repository, or of its main one.
///
/// # Errors
/// Why it cannot be asked, in words for people.
pub async fn tip(
    address: &str,
    branch: Option<&str>,
    settings: &Settings,
) -> anyhow::Result<String> {
    let name = branch.map_or_else(|| "HEAD".to_owned(), |name| format!("refs/heads/{name}"));
    let mut git = git_of_others(&settings.build_env, settings.ca_bundle.as_deref());
    git.args(["ls-remote", "--quiet", "--exit-code", "--", address, &name]);
    let listed = timeout(ANSWER_TIME_LIMIT, git.output()).await;
    let listed = listed.context("its server does not answer")?;
    if listed
        .as_ref()
        .is_ok_and(|output| output.status.code() == Some(2))
    {
        anyhow::bail!("it has no commit at {name}");
    }
    let listed = swe_ci_git::checked(listed)?;
    let text = String::from_utf8_lossy(&listed);
    let sha = text.split_whitespace().next().unwrap_or_default();
    Ok(sha.to_owned())
}

/// git, which ends when its future is dropped.
fn git() -> Command {
    let mut git = Command::from(swe_ci_git::command());
    git.kill_on_drop(true);
    git
}

async fn run(mut git: Command) -> anyhow::Result<()> {
    swe_ci_git::checked(git.output().await).map(|_| ())
}

pub fn repository_folder(home: &Path, position: u32) -> PathBuf {
    home.join("repositories").join(position.to_string())
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, Write};

    use super::*;

    #[test]
    fn the_main_line_of_releases() {
        let file = |name: &str, day: u32, yanked: bool| -> IndexFile {
            serde_json::from_value(serde_json::json!({
                "filename": name,
                "url": format!("https://example.org/{name}"),
                "hashes": {"sha256": "00"},
                "upload-time": format!("2024-01-{day:02}T00:00:00Z"),
                "yanked": yanked,
            }))
            .unwrap()
        };
        let files = vec![
            file("lib-2.0.tar.gz", 9, false),
            file("lib-1.0.tar.gz", 1, false),
            file("lib-1.0-py3-none-any.whl", 1, false),
            file("lib-1.1.tar.gz", 3, false),
            // A backport after 2.0, a withdrawn release, and a pre-release.
            file("lib-1.2.tar.gz", 10, false),
            file("lib-2.1.tar.gz", 11, true),
            file("lib-3.0rc1.tar.gz", 12, false),
            file("lib-3.0.zip", 13, false),
            file("lib-3.1.tar.gz", 14, false),
        ];
        let check = |from, to, expect: &str| {
            let (from, to) = (bound(from).unwrap(), bound(to).unwrap());
            let found = main_line(files.clone(), from.as_ref(), to.as_ref());
            let found: Vec<&str> = found.iter().map(|(version, _)| version.as_str()).collect();
            assert_eq!(found.join(" "), expect);
        };
        check(None, None, "1.0 1.1 2.0 3.1");
        check(Some("1.1"), Some("2"), "1.1 2.0");
        check(Some("9"), None, "");
        assert!(bound(Some("x")).is_err());
    }

    /// A bare repository with three commits on its branch.
    async fn repository(folder: &Path) -> Vec<String> {
        let version = |text: &str, time| {
            let mut code = CodeTree::default();
            code.insert_file("a.py", text);
            let commit = CommitInfo {
                sha: String::new(),
                time,
                message: "m".into(),
            };
            (commit, code)
        };
        let versions = [
            version("1", 1_000),
            version("2", 2_000),
            version("3", 3_000),
        ];
        write_history(folder, &versions).unwrap()
    }

    #[tokio::test]
    async fn a_task_is_shipped_without_what_came_after() {
        let home = tempfile::tempdir().unwrap();
        let source = home.path().join("source");
        let shas = repository(&source).await;
        let cache = home.path().join("cache");
        let index = Index::new("https://example.org/simple", &cache, None).unwrap();
        let fetcher = Fetcher {
            index: &index,
            limits: &Limits::default(),
            env: &[],
            ca_bundle: None,
        };
        let origin = Origin::Git {
            address: source.display().to_string(),
            branch: Some("main".into()),
        };
        let clone = home.path().join("clone");
        let tag = ["tag", "v1.0", &shas[0]];
        run(in_folder(&source, &tag)).await.unwrap();
        fetcher.fetch(&origin, &clone).await.unwrap();
        for (sha, version) in shas.iter().zip(["1.0", "1.1.dev1", "1.1.dev2"]) {
            let found = version_of_tag(&clone, sha).await.unwrap();
            assert_eq!(found.as_deref(), Some(version));
        }
        let task = home.path().join("task");
        checkout(&clone, &shas[0], &shas[1], &task).await.unwrap();
        assert_eq!(std::fs::read(task.join("a.py")).unwrap(), b"1");
        let history = swe_ci_dataset::History::new(&task);
        assert_eq!(history.between(&shas[0], &shas[1]).unwrap().len(), 1);
        assert_eq!(version_of_tag(&task, &shas[0]).await.unwrap(), None);
        let later = history.commit(&shas[2]).unwrap_err();
        assert!(later.to_string().contains("no commit"), "{later}");
        let config = std::fs::read_to_string(task.join(".git/config")).unwrap();
        assert!(
            !config.contains("source") && !config.contains("clone"),
            "{config}"
        );
        assert!(!task.join(".git/logs").join("HEAD").exists());

        let nothing = Origin::Git {
            address: home.path().join("nothing").display().to_string(),
            branch: None,
        };
        let into = home.path().join("into");
        let failure = fetcher.fetch(&nothing, &into).await.unwrap_err();
        let FetchFailure::Repository(error) = failure else {
            panic!("{failure:?}");
        };
        assert!(format!("{error:#}").contains("cannot clone"), "{error:#}");
        assert!(!into.exists());
    }

    /// A server that gives each request this status; its address.
    fn server(status: &'static str) -> String {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let _ = std::io::BufReader::new(&stream).read_line(&mut String::new());
                let answer =
                    format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        address
    }

    /// The server decides, not what git says of it.
    #[tokio::test]
    async fn whose_failure_it_is() {
        let home = tempfile::tempdir().unwrap();
        let source = home.path().join("source");
        repository(&source).await;
        let env = ["no_proxy", "NO_PROXY"].map(|name| (name.to_owned(), "*".to_owned()));
        let broken = server("502 Bad Gateway");
        let index = Index::new(&broken, &home.path().join("cache"), None).unwrap();
        let fetcher = Fetcher {
            index: &index,
            limits: &Limits::default(),
            env: &env,
            ca_bundle: None,
        };
        let into = home.path().join("into");
        let check = async |origin: Origin, expect: &str| {
            let failure = fetcher.fetch(&origin, &into).await.unwrap_err();
            let found = match &failure {
                FetchFailure::Machine(_) => "machine",
                FetchFailure::Unreachable(_) => "unreachable",
                FetchFailure::Repository(_) => "repository",
            };
            assert_eq!(found, expect, "{failure:?}");
        };
        let git = |address: String, branch: Option<&str>| Origin::Git {
            address,
            branch: branch.map(str::to_owned),
        };
        let closed = {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap()
        };
        for (status, expect) in [
            ("503 Service Unavailable", "unreachable"),
            ("429 Too Many Requests", "unreachable"),
            ("404 Not Found", "repository"),
            ("401 Unauthorized", "repository"),
        ] {
            check(git(format!("{}/a/b", server(status)), None), expect).await;
        }
        check(git(format!("http://{closed}/a/b"), None), "unreachable").await;
        check(git(format!("git://{closed}/a/b"), None), "unreachable").await;
        let there = source.display().to_string();
        check(git(there, Some("other")), "repository").await;
        let package = Origin::Package {
            package: "lib".into(),
            from: None,
            to: None,
        };
        check(package, "unreachable").await;
    }
}
