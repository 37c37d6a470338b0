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

/// A server of so many repositories with a manifest each.
async fn many(count: u64, delay: Duration) -> (Server, Vec<RepositoryHit>) {
    let root = entries(&[("file", "setup.py")]);
    let server = Server::of(|host| Site {
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
async fn what_is_in_a_root() {
    let check = async |names: &[(&str, &str)], expect: [Option<&str>; 3]| {
        let root = entries(names);
        let server = Server::of(|_| Site {
            roots: [("o/n00001".to_owned(), root)].into(),
            ..Site::default()
        })
        .await;
        let mut hit = hit("h", 1);
        hit.default_branch = "a/b&c".into();
        let hints = server
            .github()
            .has(&hit, &RootNames::default(), &|_| {})
            .await;
        let [manifest, lock_file, tests] = expect.map(|name| name.map(str::to_owned));
        let expect = RootHints {
            manifest,
            lock_file,
            tests,
        };
        assert_eq!(hints.unwrap(), expect, "{names:?}");
        assert_eq!(server.asked()[0].parameters["ref"], "a/b&c");
    };
    check(&[], [None; 3]).await;
    let all = [("file", "setup.py"), ("dir", "tests"), ("file", "uv.lock")];
    check(&all, [Some("setup.py"), Some("uv.lock"), Some("tests")]).await;
    let two = [("file", "setup.cfg"), ("file", "pyproject.toml")];
    check(&two, [Some("pyproject.toml"), None, None]).await;
    // Of another kind, or case.
    let other = [("dir", "setup.py"), ("file", "tests"), ("file", "UV.lock")];
    check(&other, [None; 3]).await;
}

#[tokio::test]
async fn many_are_looked_into_a_few_at_a_time_in_order() {
    let (server, mut hits) = many(20, Duration::from_millis(10)).await;
    hits[3].full_name = "o/gone".into();
    hits[5].full_name = "o/../../user".into();
    let events = Mutex::new(Vec::new());
    let tell = |progress| events.lock().unwrap().push(progress);
    let names = RootNames::default();
    let found = server.github().has_all(&hits, &names, &tell).await.unwrap();
    for (number, found) in found.iter().enumerate() {
        let error = found.as_ref().err().map(ToString::to_string);
        let expect = match number {
            3 => Some("leave it out"),
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
        server.asked().len(),
        19,
        "the climbing one was not asked for"
    );
    let most = server.site.most_open.load(Ordering::SeqCst);
    assert!((2..=4).contains(&most), "{most}");
}

#[tokio::test]
async fn a_limit_stops_all_of_them_and_is_told_once() {
    let (server, hits) = many(12, Duration::from_millis(10)).await;
    server.reply(429, &[("retry-after", "1")], "{}");
    let events = Mutex::new(Vec::new());
    let tell = |progress| events.lock().unwrap().push(progress);
    let start = Instant::now();
    let names = RootNames::default();
    let found = server.github().has_all(&hits, &names, &tell).await.unwrap();
    assert!(found.iter().all(Result::is_ok), "{found:?}");
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert_eq!(server.asked().len(), 13, "only one was refused");
    let events = events.into_inner().unwrap();
    let waits = |event: &&Progress| matches!(event, Progress::Waiting { .. });
    assert_eq!(events.iter().filter(waits).count(), 1, "{events:?}");
}

#[tokio::test]
async fn what_all_would_meet_ends_it() {
    let (server, hits) = many(50, Duration::ZERO).await;
    server.always(401, &[], "{}");
    let names = RootNames::default();
    let found = server.github().has_all(&hits, &names, &|_| {}).await;
    assert!(found.unwrap_err().to_string().contains("not valid"));
    assert!(server.asked().len() < 10, "{}", server.asked().len());
}

#[tokio::test]
async fn one_that_is_refused_does_not_end_it() {
    let (server, hits) = many(3, Duration::ZERO).await;
    let blocked = r#"{"message":"Repository access blocked"}"#;
    server.always(403, &[], blocked);
    let names = RootNames::default();
    let found = server
        .github()
        .has_all(&hits, &names, &|_| {})
        .await
        .unwrap();
    let said = |found: &Result<RootHints, GitHubError>| {
        found
            .as_ref()
            .unwrap_err()
            .to_string()
            .contains("access blocked")
    };
    assert!(found.len() == 3 && found.iter().all(said), "{found:?}");
    server.always(200, &[], r#"{"type":"file","name":"x"}"#);
    let found = server.github().has(&hits[0], &names, &|_| {}).await;
    assert!(found.unwrap_err().to_string().contains("root of o/n00000"));
}

#[test]
fn what_is_asked_can_go_to_another_thread() {
    fn goes<T: Send>(future: T) {
        drop(future);
    }
    let github = GitHub::new(super::super::DEFAULT_ENDPOINT, None, None).unwrap();
    let names = RootNames::default();
    goes(github.search(&search(), now(), &|_| {}));
    goes(github.has_all(&[], &names, &|_| {}));
}
