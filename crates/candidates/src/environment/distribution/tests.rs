//! Tests the search for distributions against a local index.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex};

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::*;

/// A loopback index with real wheels that records requests.
#[derive(Debug, Clone, Default)]
struct Served {
    projects: BTreeMap<String, Vec<Value>>,
    files: BTreeMap<String, Vec<u8>>,
    no_ranges: bool,
    /// Answers in HTML (PEP 503), with a JSON API beside it.
    no_times: bool,
    requests: Arc<Mutex<Vec<String>>>,
}

fn wheel(paths: &[&str]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for path in paths {
        archive
            .start_file(*path, zip::write::SimpleFileOptions::default())
            .unwrap();
        archive.write_all(b"x = 1\n").unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn sdist(paths: &[&str]) -> Vec<u8> {
    let mut archive = tar::Builder::new(flate2::write::GzEncoder::new(
        Vec::new(),
        flate2::Compression::fast(),
    ));
    for path in paths {
        let mut header = tar::Header::new_gnu();
        header.set_size(1);
        header.set_mode(0o644);
        archive.append_data(&mut header, path, &b"x"[..]).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

impl Served {
    fn file(&mut self, name: &str, day: &str, yanked: impl Into<Value>, bytes: Vec<u8>) {
        let project = project_name(name.split('-').next().unwrap());
        self.projects.entry(project).or_default().push(json!({
            "filename": name, "url": format!("../../files/{name}"), "hashes": {},
            "upload-time": format!("{day}T00:00:00.123456Z"), "size": bytes.len(), "yanked": yanked.into(),
        }));
        self.files.insert(name.to_owned(), bytes);
    }

    fn wheel(&mut self, release: &str, day: &str, paths: &[&str]) {
        self.file(
            &format!("{release}-py3-none-any.whl"),
            day,
            false,
            wheel(paths),
        );
    }

    async fn serve(self) -> (Finder, tempfile::TempDir) {
        let app = axum::Router::new()
            .route("/simple/{project}/", axum::routing::get(project))
            .route("/pypi/{project}/json", axum::routing::get(released))
            .route("/files/{name}", axum::routing::get(file))
            .with_state(self);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/simple/", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        let cache = tempfile::tempdir().unwrap();
        (
            Finder::new(Index::new(&url, cache.path(), None).unwrap()),
            cache,
        )
    }
}

async fn project(
    State(served): State<Served>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response {
    served.requests.lock().unwrap().push(name.clone());
    assert_eq!(headers["accept"], "application/vnd.pypi.simple.v1+json");
    if served.no_times {
        return "<!DOCTYPE html>".into_response();
    }
    match served.projects.get(&name) {
        Some(files) => {
            axum::Json(json!({"meta": {"api-version": "1.1"}, "name": name, "files": files}))
                .into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn released(State(served): State<Served>, Path(name): Path<String>) -> Response {
    let Some(files) = served.projects.get(&name).filter(|_| served.no_times) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let file = |file: &Value| {
        json!({
            "filename": file["filename"], "url": format!("/simple/x/{}", file["url"].as_str().unwrap()),
            "digests": {}, "upload_time_iso_8601": file["upload-time"], "size": file["size"],
            "yanked": file["yanked"], "requires_python": null,
        })
    };
    let files: Vec<Value> = files.iter().map(file).collect();
    axum::Json(json!({"info": {}, "releases": {"1.0": files}})).into_response()
}

async fn file(
    State(served): State<Served>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response {
    served.requests.lock().unwrap().push(name.clone());
    let bytes = served.files[&name].clone();
    let range = headers.get("range").filter(|_| !served.no_ranges);
    let Some(range) = range else {
        return bytes.into_response();
    };
    let length: usize = range
        .to_str()
        .unwrap()
        .strip_prefix("bytes=-")
        .unwrap()
        .parse()
        .unwrap();
    let start = bytes.len().saturating_sub(length);
    let content_range = format!("bytes {start}-{}/{}", bytes.len() - 1, bytes.len());
    (
        StatusCode::PARTIAL_CONTENT,
        [("content-range", content_range)],
        bytes[start..].to_vec(),
    )
        .into_response()
}

async fn found(finder: &Finder, module: &str, day: &str) -> Option<(String, String, Evidence)> {
    let cut_off = format!("{day}T00:00:00Z").parse().unwrap();
    let found = finder.find(module, cut_off).await.unwrap()?;
    Some((found.distribution, found.version, found.evidence))
}

fn expect(
    distribution: &str,
    version: &str,
    evidence: Evidence,
) -> Option<(String, String, Evidence)> {
    Some((distribution.into(), version.into(), evidence))
}

#[tokio::test]
async fn found_by_what_is_in_the_files() {
    let mut served = Served::default();
    served.wheel("same-1.0", "2020-01-01", &["same/__init__.py"]);
    served.wheel("same-1.10", "2021-01-01", &["same/__init__.py"]);
    served.wheel("same-1.9", "2021-06-01", &["same/__init__.py"]);
    served.wheel("same-2.0", "2022-01-01", &["same/__init__.py"]);
    // The table has another name; somebody uploaded the module's name.
    served.wheel(
        "PyYAML-6.0",
        "2020-01-01",
        &["yaml/__init__.py", "_yaml/__init__.py"],
    );
    served.wheel("yaml-1.0", "2020-01-01", &["yaml/__init__.py"]);
    // The distribution exists but lacks the module; a derived name has it.
    served.wheel("thing-1.0", "2020-01-01", &["other/__init__.py"]);
    served.wheel("python_thing-3.0", "2020-01-01", &["thing.py"]);
    served.wheel("alone-1.0", "2020-01-01", &["else.py"]);
    // Packages without `__init__.py`, and a module in a package.
    served.wheel(
        "spaced_out_name-1.0",
        "2020-01-01",
        &["spaced/out/name/core.py"],
    );
    served.wheel(
        "outer-1.0",
        "2020-01-01",
        &["outer/__init__.py", "outer/inner.py"],
    );
    served.file(
        "packed-1.0.tar.gz",
        "2020-01-01",
        false,
        sdist(&["packed-1.0/src/packed/__init__.py"]),
    );
    let (finder, _cache) = served.serve().await;

    let day = "2030-01-01";
    assert_eq!(
        found(&finder, "same", day).await,
        expect("same", "2.0", Evidence::SameName)
    );
    assert_eq!(
        found(&finder, "yaml", day).await,
        expect("PyYAML", "6.0", Evidence::Table)
    );
    assert_eq!(
        found(&finder, "thing", day).await,
        expect("python-thing", "3.0", Evidence::DerivedName)
    );
    assert_eq!(found(&finder, "alone", day).await, None);
    assert_eq!(found(&finder, "absent", day).await, None);
    assert_eq!(
        found(&finder, "spaced.out.name", day).await,
        expect("spaced-out-name", "1.0", Evidence::SameName)
    );
    assert_eq!(
        found(&finder, "outer.inner", day).await,
        expect("outer", "1.0", Evidence::Parent)
    );
    assert_eq!(found(&finder, "outer.absent", day).await, None);
    assert_eq!(
        found(&finder, "packed", day).await,
        expect("packed", "1.0", Evidence::SameName)
    );
    // The newest version before the day, and none before the first.
    assert_eq!(
        found(&finder, "same", "2021-12-01").await,
        expect("same", "1.10", Evidence::SameName)
    );
    assert_eq!(
        found(&finder, "same", "2020-06-01").await,
        expect("same", "1.0", Evidence::SameName)
    );
    assert_eq!(found(&finder, "same", "2020-01-01").await, None);
}

#[tokio::test]
async fn withdrawn_and_unfinished_releases_do_not_count() {
    let mut served = Served::default();
    served.wheel("a-1.0", "2020-01-01", &["a.py"]);
    served.file(
        "a-2.0-py3-none-any.whl",
        "2020-02-01",
        "broken",
        wheel(&["a.py"]),
    );
    served.file(
        "a-3.0-py3-none-any.whl",
        "2020-02-01",
        true,
        wheel(&["a.py"]),
    );
    served.wheel("a-4.0rc1", "2020-02-01", &["a.py"]);
    served.wheel("b-1.0b1", "2020-02-01", &["b.py"]);
    // Files without an upload time are unused; an unusable file is replaced by
    // its sibling.
    served.wheel("c-1.0", "2020-01-01", &["c.py"]);
    served.projects.get_mut("c").unwrap()[0]
        .as_object_mut()
        .unwrap()
        .remove("upload-time");
    served.file(
        "d-1.0-py3-none-any.whl",
        "2020-01-01",
        false,
        b"no zip".to_vec(),
    );
    served.file("d-1.0.tar.gz", "2020-01-01", false, sdist(&["d-1.0/d.py"]));
    served.file("d-1.0.exe", "2020-01-01", false, Vec::new());
    let (finder, _cache) = served.serve().await;
    let day = "2030-01-01";
    assert_eq!(
        found(&finder, "a", day).await,
        expect("a", "1.0", Evidence::SameName)
    );
    assert_eq!(
        found(&finder, "b", day).await,
        expect("b", "1.0b1", Evidence::SameName)
    );
    assert_eq!(found(&finder, "c", day).await, None);
    assert_eq!(
        found(&finder, "d", day).await,
        expect("d", "1.0", Evidence::SameName)
    );
}

#[tokio::test]
async fn large_wheels_are_looked_into_by_their_end_and_once() {
    let many: Vec<String> = (0..2_000)
        .map(|n| format!("big/module_with_a_rather_long_name_{n}.py"))
        .collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for no_ranges in [false, true] {
        let mut served = Served {
            no_ranges,
            ..Served::default()
        };
        served.wheel("big-1.0", "2020-01-01", &many);
        let requests = served.requests.clone();
        let (finder, _cache) = served.serve().await;
        for _ in 0..2 {
            assert_eq!(
                found(
                    &finder,
                    "big.module_with_a_rather_long_name_7",
                    "2030-01-01"
                )
                .await,
                expect("big", "1.0", Evidence::Parent)
            );
        }
        let requests = requests.lock().unwrap().clone();
        let files = requests
            .iter()
            .filter(|name| name.ends_with(".whl"))
            .count();
        assert_eq!(
            files, 2,
            "a part and a longer one, or a try and the whole: {requests:?}"
        );
    }
}

#[tokio::test]
async fn index_content_and_availability() {
    let mut served = Served::default();
    served.wheel("same-1.0", "2020-01-01", &["same/__init__.py"]);
    let (finder, _cache) = served.serve().await;
    for (name, day, expect) in [
        ("same", "2020-01-02", true),
        ("same", "2019-12-31", false),
        ("other", "2020-01-02", false),
    ] {
        let cut_off = format!("{day}T00:00:00Z").parse().unwrap();
        let has = finder.has(name, cut_off).await.unwrap();
        assert_eq!(has, expect, "{name} {day}");
    }
    finder.answers().await.unwrap();

    let cache = tempfile::tempdir().unwrap();
    let index = Index::new("http://127.0.0.1:9/simple", cache.path(), None).unwrap();
    let error = Finder::new(index).answers().await.unwrap_err();
    assert!(error.to_string().contains("127.0.0.1:9"), "{error:#}");
}

#[tokio::test]
async fn times_may_be_in_the_json_api_alone() {
    for no_times in [false, true] {
        let mut served = Served {
            no_times,
            ..Served::default()
        };
        served.wheel("pip-1.0", "2020-01-01", &["pip/__init__.py"]);
        served.wheel("same-1.0", "2020-01-01", &["same/__init__.py"]);
        let (finder, _cache) = served.serve().await;
        let without = finder.index.without_times().await.unwrap();
        assert_eq!(without.is_some(), no_times);
        let expected = expect("same", "1.0", Evidence::SameName);
        assert_eq!(found(&finder, "same", "2021-01-01").await, expected);
        assert_eq!(found(&finder, "same", "2019-01-01").await, None);
        assert_eq!(found(&finder, "other", "2021-01-01").await, None);
        finder.answers().await.unwrap();
    }
}

#[tokio::test]
async fn an_index_that_does_not_answer_is_an_error_that_says_so() {
    let cache = tempfile::tempdir().unwrap();
    let index = Index::new("http://127.0.0.1:9/simple", cache.path(), None).unwrap();
    let error = Finder::new(index)
        .find("yaml", Timestamp::UNIX_EPOCH)
        .await
        .unwrap_err();
    let text = format!("{error:#}");
    assert!(
        text.contains("whether PyYAML provides the module yaml") && text.contains("127.0.0.1:9"),
        "{text}"
    );
}

#[test]
fn candidates_in_order() {
    let check = |module: &str, expect: &[&str]| {
        let names: Vec<_> = candidates(module)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, expect, "{module}");
    };
    check(
        "thing",
        &["thing", "python-thing", "pything", "thing-python"],
    );
    check("jwt", &["PyJWT", "jwt", "python-jwt", "jwt-python"]);
    check(
        "google.cloud.storage.blob",
        &[
            "google-cloud-storage",
            "google-cloud-storage-blob",
            "google-cloud",
            "google",
            "python-google",
            "pygoogle",
            "google-python",
        ],
    );
    check(
        "under_score",
        &[
            "under-score",
            "python-under-score",
            "pyunder-score",
            "under-score-python",
        ],
    );
    for none in [
        "imp",
        "distutils.core",
        "",
        "_private",
        "a b",
        "a..b",
        "../x",
        "a/b",
    ] {
        check(none, &[]);
    }
}
