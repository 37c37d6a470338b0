//! Tests the hints about the roots of repositories.

use std::time::Instant;

use super::super::{RepositoryHit, RootHints, RootNames};
use super::*;

fn entries(names: &[(&str, &str)]) -> Value {
    names
        .iter()
        .map(|(kind, name)| json!({"type": kind, "name": name, "path": name, "size": 1}))
        .collect()
}

fn hit(host: &str, number: u64) -> RepositoryHit {
    let url = format!("https://{host}");
    RepositoryHit::new(&repository(host, number, 600), &url).unwrap()
}

/// A server with `count` repositories that have a manifest each.
async fn many(count: u64, delay: Duration) -> (Server, Vec<RepositoryHit>) {
    let root = entries(&[("file", "setup.py")]);
    let server = Server::with_site(|host| Site {
        roots: (0..count)
            .map(|number| (hit(host, number).full_name, root.clone()))
            .collect(),
        delay,
        ..Site::default()
    })
    .await;
    let host = server.url.trim_start_matches("http://");
    let hits = (0..count).map(|number| hit(host, number)).collect();
    (server, hits)
}

#[tokio::test]
async fn root_entries() {
    let check = async |names: &[(&str, &str)], expect: [Option<&str>; 3]| {
        let root = entries(names);
        let server = Server::with_site(|_| Site {
            roots: [("o/n00001".to_owned(), root)].into(),
            ..Site::default()
        })
        .await;
        let mut hit = hit("h", 1);
        hit.default_branch = "a/b&c".into();
        let hints = server
            .github()
            .root_hints(&hit, &RootNames::default(), &|_| {})
            .await;
        let [manifest, lock_file, tests] = expect.map(|name| name.map(str::to_owned));
        let expect = RootHints {
            manifest,
            lock_file,
            tests,
        };
        assert_eq!(hints.unwrap(), expect, "{names:?}");
        assert_eq!(server.requests()[0].parameters["ref"], "a/b&c");
    };
    check(&[], [None; 3]).await;
    let all = [("file", "setup.py"), ("dir", "tests"), ("file", "uv.lock")];
    check(&all, [Some("setup.py"), Some("uv.lock"), Some("tests")]).await;
    let two = [("file", "setup.cfg"), ("file", "pyproject.toml")];
    check(&two, [Some("pyproject.toml"), None, None]).await;
    // Of another kind or another case.
    let other = [("dir", "setup.py"), ("file", "tests"), ("file", "UV.lock")];
    check(&other, [None; 3]).await;
}

#[tokio::test]
async fn roots_are_read_in_parallel_and_in_order() {
    let (server, mut hits) = many(20, Duration::from_millis(10)).await;
    hits[3].full_name = "o/gone".into();
    hits[5].full_name = "o/../../user".into();
    let events = Mutex::new(Vec::new());
    let listener = |progress| events.lock().unwrap().push(progress);
    let names = RootNames::default();
    let found = server
        .github()
        .all_root_hints(&hits, &names, &listener)
        .await
        .unwrap();
    for (number, found) in found.iter().enumerate() {
        let error = found.as_ref().err().map(ToString::to_string);
        let expect = match number {
            3 => Some("skip it"),
            5 => Some("owner/name"),
            _ => None,
        };
        assert_eq!(error.is_some(), expect.is_some(), "{number} {error:?}");
        let error = error.unwrap_or_default();
        assert!(error.contains(expect.unwrap_or_default()), "{error}");
    }
    let events = events.into_inner().unwrap();
    assert_eq!(events.last(), Some(&Progress::Looked { done: 20, of: 20 }));
    assert_eq!(
        server.requests().len(),
        19,
        "the path with .. was not requested"
    );
    let most = server.site.most_open.load(Ordering::SeqCst);
    assert!((2..=4).contains(&most), "{most}");
}

#[tokio::test]
async fn a_limit_stops_all_of_them_and_is_told_once() {
    let (server, hits) = many(12, Duration::from_millis(10)).await;
    server.reply(429, &[("retry-after", "1")], "{}");
    let events = Mutex::new(Vec::new());
    let listener = |progress| events.lock().unwrap().push(progress);
    let start = Instant::now();
    let names = RootNames::default();
    let found = server
        .github()
        .all_root_hints(&hits, &names, &listener)
        .await
        .unwrap();
    assert!(found.iter().all(Result::is_ok), "{found:?}");
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert_eq!(server.requests().len(), 13, "only one was refused");
    let events = events.into_inner().unwrap();
    let waits = |event: &&Progress| matches!(event, Progress::Waiting { .. });
    assert_eq!(events.iter().filter(waits).count(), 1, "{events:?}");
}

#[tokio::test]
async fn errors_that_concern_all_stop() {
    let (server, hits) = many(50, Duration::ZERO).await;
    server.always(401, &[], "{}");
    let names = RootNames::default();
    let found = server.github().all_root_hints(&hits, &names, &|_| {}).await;
    assert!(found.unwrap_err().to_string().contains("no longer valid"));
    assert!(server.requests().len() < 10, "{}", server.requests().len());
}

#[tokio::test]
async fn one_that_is_refused_does_not_end_it() {
    let (server, hits) = many(3, Duration::ZERO).await;
    let blocked = r#"{"message":"Repository access blocked"}"#;
    server.always(403, &[], blocked);
    let names = RootNames::default();
    let found = server
        .github()
        .all_root_hints(&hits, &names, &|_| {})
        .await
        .unwrap();
    let reports_missing_root = |found: &Result<RootHints, GitHubError>| {
        found
            .as_ref()
            .unwrap_err()
            .to_string()
            .contains("access blocked")
    };
    assert!(
        found.len() == 3 && found.iter().all(reports_missing_root),
        "{found:?}"
    );
    server.always(200, &[], r#"{"type":"file","name":"x"}"#);
    let found = server.github().root_hints(&hits[0], &names, &|_| {}).await;
    assert!(found.unwrap_err().to_string().contains("root of o/n00000"));
}

#[test]
fn futures_are_send() {
    fn goes<T: Send>(future: T) {
        drop(future);
    }
    let github = GitHub::new(super::super::DEFAULT_ENDPOINT, None, None).unwrap();
    let names = RootNames::default();
    goes(github.search(&search(), now(), &|_| {}));
    goes(github.all_root_hints(&[], &names, &|_| {}));
}
