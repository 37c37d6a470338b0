//! Tests of downloading many files into a folder.

use std::time::Instant;

use super::super::{HubError, Progress, bytes_missing};
use super::*;

async fn server(delay: Duration) -> Server {
    let names: Vec<String> = (0..9)
        .map(|task| format!("data/t{task}/code.zip"))
        .collect();
    let files: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(task, name)| (name.as_str(), bytes(10_000 + task)))
        .collect();
    let site = Site {
        delay,
        ..Site::with(&files)
    };
    site.serve().await
}

async fn fetch_all(server: &Server, folder: &Path, parallel: usize) -> Vec<super::super::Failure> {
    let (hub, files, at) = (server.hub(), server.all(), folder.to_owned());
    // Spawned, to check that the future can move to another thread.
    let all = tokio::spawn(async move {
        hub.fetch_all(&pinned(), &files, &at, parallel, &|_| {})
            .await
    });
    all.await.unwrap().unwrap()
}

#[tokio::test]
async fn a_second_run_transfers_nothing() {
    let server = server(Duration::ZERO).await;
    let folder = tempfile::tempdir().unwrap();
    let files = server.all();
    let total: u64 = files.iter().map(|file| file.size).sum();
    assert_eq!(bytes_missing(&files, folder.path()).unwrap(), total);
    assert!(fetch_all(&server, folder.path(), 4).await.is_empty());
    assert_eq!(on_disk(folder.path()).len(), 9);
    assert_eq!(server.received().len(), 9);
    assert_eq!(bytes_missing(&files, folder.path()).unwrap(), 0);
    let record = folder.path().join(".checked.jsonl");
    let before = std::fs::read(&record).unwrap();
    assert!(fetch_all(&server, folder.path(), 4).await.is_empty());
    assert_eq!(server.received(), []);
    assert_eq!(
        std::fs::read(&record).unwrap(),
        before,
        "nothing was hashed again"
    );
    // Without the record, files are hashed but not downloaded.
    std::fs::remove_file(&record).unwrap();
    assert!(fetch_all(&server, folder.path(), 4).await.is_empty());
    assert_eq!(server.received(), []);
    // A changed file is downloaded, whether its size changed or only its
    // content.
    let changed = folder.path().join("data/t3/code.zip");
    std::fs::write(&changed, vec![0; 10_003]).unwrap();
    std::fs::write(folder.path().join("data/t4/code.zip"), "short").unwrap();
    assert!(fetch_all(&server, folder.path(), 4).await.is_empty());
    assert_eq!(server.received().len(), 2);
    assert_eq!(std::fs::read(&changed).unwrap(), bytes(10_003));
}

#[tokio::test]
async fn parallel_downloads_respect_the_limit() {
    for parallel in [1, 3] {
        let server = server(Duration::from_millis(100)).await;
        let folder = tempfile::tempdir().unwrap();
        assert!(fetch_all(&server, folder.path(), parallel).await.is_empty());
        let most = server.site.max_open.load(Ordering::SeqCst);
        assert_eq!(most, parallel);
    }
}

#[tokio::test]
async fn one_failure_does_not_stop_the_others() {
    let server = server(Duration::ZERO).await;
    let folder = tempfile::tempdir().unwrap();
    let resolve = format!("/datasets/o/n/resolve/{COMMIT}/data/t2/");
    let missing = (
        resolve,
        StatusCode::NOT_FOUND,
        HeaderMap::new(),
        String::new(),
    );
    server.site.answers.lock().unwrap().push(missing);
    let failures = fetch_all(&server, folder.path(), 2).await;
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].file, server.listed("data/t2/code.zip"));
    assert!(matches!(failures[0].error, HubError::NotFound { .. }));
    let names = on_disk(folder.path());
    assert_eq!(
        names.iter().filter(|name| name.ends_with(".zip")).count(),
        8
    );
}

#[tokio::test]
async fn progress_is_reported_periodically() {
    let server = server(Duration::from_millis(150)).await;
    let folder = tempfile::tempdir().unwrap();
    let (files, reports) = (server.all(), Mutex::new(Vec::<Progress>::new()));
    let report = |progress| reports.lock().unwrap().push(progress);
    let (hub, start) = (server.hub(), Instant::now());
    let failures = hub
        .fetch_all(&pinned(), &files, folder.path(), 2, &report)
        .await;
    assert!(failures.unwrap().is_empty());
    let reports = reports.into_inner().unwrap();
    let bytes = files.iter().map(|file| file.size).sum();
    let end = Progress {
        files_done: 9,
        files: 9,
        bytes_done: bytes,
        bytes,
    };
    let (last, earlier) = reports.split_last().unwrap();
    assert_eq!(*last, end);
    let most = 1 + start.elapsed().as_millis() / 250;
    assert!((2..=most).contains(&(earlier.len() as u128)), "{reports:?}");
    assert!(earlier.is_sorted_by_key(|progress| progress.bytes_done));
}

#[tokio::test]
async fn a_file_twice_in_the_list_is_refused() {
    let server = server(Duration::ZERO).await;
    let folder = tempfile::tempdir().unwrap();
    let mut files = server.all();
    files.push(files[0].clone());
    let refused = server
        .hub()
        .fetch_all(&pinned(), &files, folder.path(), 2, &|_| {})
        .await;
    let error = refused.unwrap_err().to_string();
    assert!(
        error.contains("`data/t0/code.zip` is in the list twice"),
        "{error}"
    );
}

#[tokio::test]
async fn an_empty_list_downloads_nothing() {
    let server = Site::default().serve().await;
    let folder = tempfile::tempdir().unwrap();
    assert!(
        fetch_all(&server, &folder.path().join("new"), 0)
            .await
            .is_empty()
    );
}
