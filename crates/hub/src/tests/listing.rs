//! Tests of revisions, lists, endpoints and tokens.

use super::super::request::MAX_BYTES;
use super::super::{DatasetId, HubError, Revision};
use super::*;

fn dataset() -> Site {
    Site::with(&[
        ("README.md", bytes(9)),
        ("data/t1/code.zip", bytes(1_000)),
        ("data/t1/image.tar.gz", bytes(2_000)),
        ("data/t2/code.zip", bytes(10)),
        ("data/t2/note.csv", b"hello\n".to_vec()),
        ("metadata/full.csv", bytes(30)),
        ("metadata/mini.csv", bytes(20)),
        ("metadata/notes.txt", bytes(5)),
        ("metadata/old/deep.csv", bytes(5)),
    ])
}

fn reply(server: &Server, path: &str, status: u16, headers: &[(&'static str, &str)], body: &str) {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(*name, value.parse().unwrap());
    }
    let status = StatusCode::from_u16(status).unwrap();
    let mut answers = server.site.answers.lock().unwrap();
    answers.insert(0, (path.to_owned(), status, map, body.to_owned()));
}

#[tokio::test]
async fn a_revision_is_pinned_and_listed_page_by_page() {
    let server = dataset().serve().await;
    let hub = server.hub();
    let id: DatasetId = "o/n".parse().unwrap();
    let pinned = hub.pin(&id, &Revision::default()).await.unwrap();
    assert_eq!((pinned.id(), pinned.commit()), (&id, COMMIT));
    let files = hub.list(&pinned, "data").await.unwrap();
    let expect = [
        "data/t1/code.zip",
        "data/t1/image.tar.gz",
        "data/t2/code.zip",
        "data/t2/note.csv",
    ];
    assert_eq!(files, expect.map(|path| server.listed(path)));
    assert!(matches!(&files[0].checksum, Checksum::Sha256(_)));
    assert_eq!(
        files[3].checksum,
        Checksum::GitBlob("ce013625030ba8dba906f756967f9e9ca394464a".into())
    );
    let api = server.site.api.lock().unwrap().clone();
    let tree = format!("/api/datasets/o/n/tree/{COMMIT}/data");
    assert_eq!(
        api,
        [
            "/api/datasets/o/n/revision/main?".to_owned(),
            format!("{tree}?recursive=true&expand=false"),
            format!("{tree}?cursor=2"),
            format!("{tree}?cursor=4"),
        ]
    );
    assert_eq!(hub.splits(&pinned).await.unwrap(), ["full", "mini"]);
}

#[tokio::test]
async fn a_revision_is_one_part_of_the_address() {
    let server = dataset().serve().await;
    let revision = "refs/pr/1".parse().unwrap();
    let problem = server.hub().pin(pinned().id(), &revision).await;
    assert!(matches!(problem, Err(HubError::NotFound { .. })));
    assert_eq!(
        server.site.api.lock().unwrap()[0],
        "/api/datasets/o/n/revision/refs%2Fpr%2F1?"
    );
}

#[tokio::test]
async fn refusals_say_what_to_do() {
    let check = async |status: u16, code: &str, with_token: bool, expect: &[&str]| {
        let server = dataset().serve().await;
        reply(&server, "/api", status, &[("x-error-code", code)], "");
        let token = with_token.then(|| SecretString::from(TOKEN));
        let hub = Hub::with_timing(&server.url, token, None, timing()).unwrap();
        let error = hub.pin(pinned().id(), &Revision::default()).await;
        let error = format!("{:#}", anyhow::Error::new(error.unwrap_err()));
        for part in expect {
            assert!(error.contains(part), "{status} {code} → {error}");
        }
        assert!(!error.contains(TOKEN), "{error}");
        assert_eq!(server.site.api.lock().unwrap().len(), 1, "one request");
    };
    let missing = ["dataset o/n", "id may have changed", "pass another"];
    check(404, "RepoNotFound", true, &missing).await;
    check(
        404,
        "RevisionNotFound",
        true,
        &["not this revision", "main"],
    )
    .await;
    let unknown = [
        "o/n",
        "401",
        "private or gated",
        "set HF_TOKEN",
        "another id",
    ];
    check(401, "RepoNotFound", false, &unknown).await;
    check(401, "", true, &["HF_TOKEN is not valid"]).await;
    check(403, "GatedRepo", true, &["accept the terms"]).await;
    check(403, "GatedRepo", false, &["set HF_TOKEN"]).await;
    check(418, "", true, &["answered 418", "dataset o/n"]).await;
}

#[tokio::test]
async fn lists_that_cannot_be_trusted_are_refused() {
    let check = async |headers: &[(&'static str, &str)], body: &str, expect: &str| {
        let server = dataset().serve().await;
        reply(&server, "/api", 200, headers, body);
        let error = server.hub().list(&pinned(), "data").await.unwrap_err();
        assert!(matches!(error, HubError::Malformed { .. }), "{error:?}");
        let error = error.to_string();
        assert!(
            error.contains(expect) && error.contains("folder `data` of the dataset o/n"),
            "{expect} → {error}"
        );
    };
    let entry = |path: &str| {
        let oid = "a".repeat(40);
        format!(r#"{{"type":"file","path":"{path}","oid":"{oid}","size":1}}"#)
    };
    let list = |path: &str| format!("[{}]", entry(path));
    check(&[], &list("data/../../etc/passwd"), "`..`").await;
    check(&[], &list("/etc/passwd"), "absolute").await;
    check(&[], &list("data\\\\..\\\\x"), "backslash").await;
    check(&[], &list("data//x"), "empty").await;
    check(&[], &list("data/./x"), "`.`").await;
    check(&[], &list("metadata/x"), "not in this folder").await;
    check(&[], &list("data/x.partial"), "uses that name").await;
    let twice = format!("[{},{}]", entry("data/x"), entry("data/x"));
    check(&[], &twice, "`data/x` twice").await;
    check(&[], "<html>", "expected value").await;
    check(&[], &" ".repeat(MAX_BYTES + 1), "larger than").await;
    let folders = vec![r#"{"type":"directory","path":"d"}"#; 100_001].join(",");
    check(&[], &format!("[{folders}]"), "more than 100000 files").await;
    let elsewhere = [("link", "<http://127.0.0.1:9/api>; rel=\"next\"")];
    check(&elsewhere, "[]", "not on the same host").await;
    let for_ever = [("link", "</api/again>; rel=\"next\"")];
    check(&for_ever, "[]", "more than 1000 pages").await;
}

#[tokio::test]
async fn a_pin_without_a_commit_is_refused() {
    for body in [r#"{"sha":"main"}"#, "{}", r#"{"sha":"../../x"}"#] {
        let server = dataset().serve().await;
        reply(&server, "/api", 200, &[], body);
        let error = server.hub().pin(pinned().id(), &Revision::default()).await;
        assert!(matches!(error, Err(HubError::Malformed { .. })), "{body}");
    }
}

#[tokio::test]
async fn a_folder_that_is_not_there_and_one_that_climbs() {
    let server = dataset().serve().await;
    reply(&server, "/api", 404, &[], "");
    let error = server
        .hub()
        .splits(&pinned())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`metadata`") && error.contains("not part of this dataset"),
        "{error}"
    );
    let error = server.hub().list(&pinned(), "../x").await.unwrap_err();
    assert!(error.to_string().contains("`..`"), "{error}");
}

#[test]
fn endpoints_and_tokens() {
    let check = |endpoint: &str, token: &str, expect: Option<&str>| {
        let hub = Hub::new(endpoint, Some(SecretString::from(token)), None);
        let problem = hub.err().map(|error| format!("{error:#}"));
        match (&problem, expect) {
            (None, None) => {}
            (Some(problem), Some(expect)) => {
                assert!(problem.contains(expect), "{endpoint}: {problem}");
                assert!(!problem.contains("secret"), "{problem}");
            }
            _ => panic!("{endpoint} → {problem:?}"),
        }
    };
    check(super::super::DEFAULT_ENDPOINT, TOKEN, None);
    check("https://mirror.example/hf/", "", None);
    check("huggingface.co", "", Some("is not one"));
    check("ftp://h", "", Some("of the form"));
    check("https://h/?q", "", Some("of the form"));
    check("https://u:secret@h", "", Some("must not hold a user"));
    check("https://h", "secret\n", Some("the token alone"));
    let hub = Hub::new("https://h/hf/", Some(SecretString::from(TOKEN)), None).unwrap();
    assert_eq!(hub.address(["a", "b/c"]).as_str(), "https://h/hf/a/b%2Fc");
    let odd = hub.address(["ü %2f?#"]);
    assert_eq!(odd.as_str(), "https://h/hf/%C3%BC%20%252f%3F%23");
    assert!(!format!("{hub:?}").contains(TOKEN));
    assert!(Hub::new("https://h", None, Some(b"-----BEGIN CERTIFICATE-----\nx")).is_err());
}
