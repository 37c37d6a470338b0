//! Tests of downloading one file, with faults of the server.

use std::time::Instant;

use super::super::HubError;
use super::*;

const PATH: &str = "data/t/code.zip";
const SIZE: usize = 1_000_000;

async fn server() -> Server {
    Site::with(&[
        (PATH, bytes(SIZE)),
        ("data/t/note.csv", b"hello\n".to_vec()),
        ("data/t/empty.csv", Vec::new()),
    ])
    .serve()
    .await
}

/// Downloads `PATH`.
async fn fetch(server: &Server, folder: &Path) -> Result<(), HubError> {
    let file = server.listed(PATH);
    server.hub().fetch(&pinned(), &file, folder, &|_| {}).await
}

fn assert_downloaded(server: &Server, folder: &Path) {
    assert_eq!(on_disk(folder), [PATH]);
    assert!(std::fs::read(folder.join(PATH)).unwrap() == server.site.files[PATH]);
}

fn range(from: usize) -> Option<String> {
    (from > 0).then(|| format!("bytes={from}-"))
}

/// Transient faults, and the ranges that the client requests then.
#[tokio::test]
async fn transient_faults() {
    use Fault::*;
    let check = async |faults: &[Fault], ranges: &[usize]| {
        let server = server().await;
        let folder = tempfile::tempdir().unwrap();
        server.next(faults.iter().cloned());
        fetch(&server, folder.path()).await.unwrap();
        assert_downloaded(&server, folder.path());
        let expect: Vec<_> = ranges.iter().map(|from| range(*from)).collect();
        assert_eq!(server.ranges(), expect, "{faults:?}");
    };
    let unavailable = Answer(StatusCode::SERVICE_UNAVAILABLE, vec![]);
    check(&[], &[0]).await;
    check(&[unavailable.clone(), unavailable.clone()], &[0, 0, 0]).await;
    check(&[Cut(600_000)], &[0, 600_000]).await;
    check(&[Short(600_000)], &[0, 600_000]).await;
    // Each additional byte resets the count of failures.
    let cuts: Vec<Fault> = (0..8).map(|_| Cut(100_000)).collect();
    let from: Vec<usize> = (0..=8).map(|cut| cut * 100_000).collect();
    check(&cuts, &from).await;
    check(&[Corrupt], &[0, 0]).await;
    check(&[Cut(600_000), Corrupt], &[0, 600_000, 0]).await;
    check(&[Cut(600_000), NoRange], &[0, 600_000]).await;
    check(&[Cut(600_000), OtherRange], &[0, 600_000, 0]).await;
    let beyond = Answer(StatusCode::RANGE_NOT_SATISFIABLE, vec![]);
    check(&[Cut(600_000), beyond], &[0, 600_000, 0]).await;
    check(&[Cut(600_000), unavailable], &[0, 600_000, 600_000]).await;
}

#[tokio::test]
async fn bytes_before_a_cut_are_not_sent_again() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    server.next([Fault::Cut(600_000)]);
    fetch(&server, folder.path()).await.unwrap();
    let received = server.received();
    assert_eq!(received[1].range, range(600_000));
    assert_eq!(
        received.iter().map(|received| received.sent).sum::<usize>(),
        SIZE
    );
}

#[tokio::test]
async fn a_silent_server_gets_another_request() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    server.next([Fault::Stall(600_000)]);
    let impatient = Timing {
        read_timeout: Duration::from_secs(1),
        ..timing()
    };
    let file = server.listed(PATH);
    let hub = server.hub_with(impatient);
    hub.fetch(&pinned(), &file, folder.path(), &|_| {})
        .await
        .unwrap();
    assert_downloaded(&server, folder.path());
    assert_eq!(server.ranges(), [None, range(600_000)]);
}

#[tokio::test]
async fn the_requested_delay_is_respected() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    let headers = vec![("retry-after", "1".to_owned())];
    server.next([Fault::Answer(StatusCode::TOO_MANY_REQUESTS, headers)]);
    let start = Instant::now();
    fetch(&server, folder.path()).await.unwrap();
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert_eq!(server.received().len(), 2);
}

#[tokio::test]
async fn a_file_that_is_always_wrong_gets_no_name() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    server.always(Fault::Corrupt);
    let error = fetch(&server, folder.path()).await.unwrap_err();
    assert!(matches!(error, HubError::Mismatch { .. }), "{error:?}");
    let right = &server.site.files[PATH];
    let mut wrong = right.clone();
    wrong[0] ^= 1;
    let error = error.to_string();
    for part in [PATH, &sha256(right), &sha256(&wrong)] {
        assert!(error.contains(part), "{error}");
    }
    assert!(
        on_disk(folder.path()).is_empty(),
        "{:?}",
        on_disk(folder.path())
    );
    assert_eq!(server.received().len(), 2);
}

#[tokio::test]
async fn too_many_bytes_stop_the_download() {
    for announced in [true, false] {
        let server = server().await;
        let folder = tempfile::tempdir().unwrap();
        server.always(Fault::TooLong { announced });
        let error = fetch(&server, folder.path()).await.unwrap_err();
        assert!(matches!(error, HubError::TooLong { .. }), "{error:?}");
        assert!(error.to_string().contains(PATH), "{error}");
        assert!(on_disk(folder.path()).is_empty());
        assert_eq!(server.received().len(), 1, "not tried again");
    }
}

#[tokio::test]
async fn a_permanent_error_keeps_the_partial_download() {
    let check = async |first: &[Fault], always: Fault, requests: usize, expect: &str| {
        let server = server().await;
        let folder = tempfile::tempdir().unwrap();
        server.next(first.iter().cloned());
        server.always(always.clone());
        let error = fetch(&server, folder.path()).await.unwrap_err().to_string();
        assert!(error.contains(expect) && error.contains(PATH), "{error}");
        assert!(
            !error.contains("signature") && !error.contains(TOKEN),
            "{error}"
        );
        assert_eq!(server.received().len(), requests, "{always:?}");
        let on_disk_after = on_disk(folder.path());
        assert_eq!(on_disk_after, [format!("{PATH}.partial")], "{always:?}");
    };
    let answer = |status| Fault::Answer(status, vec![]);
    let moved = |to: &str| {
        let headers = vec![("location", to.to_owned())];
        Fault::Answer(StatusCode::FOUND, headers)
    };
    let cut = [Fault::Cut(300_000)];
    let bad_gateway = answer(StatusCode::BAD_GATEWAY);
    check(&cut, bad_gateway, 1 + 3, "after 4 tries").await;
    check(
        &[],
        answer(StatusCode::NOT_FOUND),
        1,
        "not part of this commit",
    )
    .await;
    check(&[], answer(StatusCode::UNAUTHORIZED), 1, "HF_TOKEN").await;
    check(&[], answer(StatusCode::GONE), 1, "answered 410").await;
    check(&[], moved("ftp://h/x?signature=1"), 1, "http or https").await;
    // Bytes that come again after starting over are no progress.
    let again = [Fault::Cut(300_000), Fault::OtherRange];
    check(&again, Fault::Cut(0), 2 + 2, "after 4 tries").await;
    let target = format!("/datasets/o/n/resolve/{COMMIT}/{PATH}?signature=1");
    check(&[], moved(&target), 11, "more than 10 times").await;
}

#[tokio::test]
async fn an_unreachable_hub() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let hub = Hub::with_timing(&url, None, None, timing()).unwrap();
    let file = server.listed(PATH);
    let error = hub.fetch(&pinned(), &file, folder.path(), &|_| {}).await;
    let error = error.unwrap_err();
    assert!(
        matches!(error, HubError::GaveUp { tries: 4, .. }),
        "{error}"
    );
}

#[tokio::test]
async fn the_token_stays_with_the_hub() {
    let server = server().await;
    let elsewhere = self::server().await;
    let folder = tempfile::tempdir().unwrap();
    let signed = format!(
        "{}/datasets/o/n/resolve/{COMMIT}/{PATH}?signature=1",
        elsewhere.url
    );
    let headers = vec![("location", signed)];
    server.always(Fault::Answer(StatusCode::FOUND, headers));
    // The client survives an expired signed address, and resumes at the target
    // of the redirect.
    let old = Fault::Answer(StatusCode::FORBIDDEN, vec![]);
    elsewhere.next([old, Fault::Cut(600_000)]);
    fetch(&server, folder.path()).await.unwrap();
    assert_downloaded(&elsewhere, folder.path());
    let ours = server.received();
    let bearer = Some(format!("Bearer {TOKEN}"));
    assert_eq!(ours.len(), 3);
    assert!(ours.iter().all(|received| received.authorization == bearer));
    let theirs = elsewhere.received();
    assert!(
        theirs
            .iter()
            .all(|received| received.authorization.is_none())
    );
    let ranges: Vec<_> = theirs.into_iter().map(|received| received.range).collect();
    assert_eq!(ranges, [None, None, range(600_000)]);
}

#[tokio::test]
async fn a_dropped_download_is_resumed() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    server.next([Fault::Stall(600_000)]);
    let started = Arc::new(tokio::sync::Notify::new());
    let (hub, file, at, notify) = (
        server.hub(),
        server.listed(PATH),
        folder.path().to_owned(),
        started.clone(),
    );
    let download = tokio::spawn(async move {
        let on_bytes = |bytes| {
            if bytes > 0 {
                notify.notify_one();
            }
        };
        hub.fetch(&pinned(), &file, &at, &on_bytes).await
    });
    started.notified().await;
    download.abort();
    assert!(download.await.unwrap_err().is_cancelled());
    assert_eq!(on_disk(folder.path()), [format!("{PATH}.partial")]);
    server.received();
    fetch(&server, folder.path()).await.unwrap();
    assert_downloaded(&server, folder.path());
    let received = server.received();
    assert!(
        received.len() == 1 && received[0].range.is_some(),
        "{received:?}"
    );
    assert!(received[0].sent < SIZE, "{received:?}");
}

/// Partial downloads of earlier calls, in every state.
#[tokio::test]
async fn partial_downloads_of_all_kinds() {
    let check = async |partial: Vec<u8>, always: Option<Fault>, ranges: &[usize]| {
        let server = server().await;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("{PATH}.partial"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, &partial).unwrap();
        server.next(always);
        fetch(&server, folder.path()).await.unwrap();
        assert_downloaded(&server, folder.path());
        let expect: Vec<_> = ranges.iter().map(|from| range(*from)).collect();
        assert_eq!(server.ranges(), expect, "{} bytes", partial.len());
    };
    check(bytes(400), None, &[400]).await;
    check(bytes(SIZE), None, &[]).await;
    check(bytes(SIZE + 1), None, &[0]).await;
    check(vec![7; 400], None, &[400, 0]).await;
    check(vec![7; SIZE], None, &[0]).await;
    // A mismatch caused by another file's rest is not the server's fault: it
    // still gets its second attempt.
    let broken = check(vec![7; SIZE], Some(Fault::Cut(5)), &[0, 5]);
    broken.await;
}

#[tokio::test]
async fn small_files_and_empty_ones() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    for path in ["data/t/note.csv", "data/t/empty.csv"] {
        let file = server.listed(path);
        let hub = server.hub();
        hub.fetch(&pinned(), &file, folder.path(), &|_| {})
            .await
            .unwrap();
        let content = std::fs::read(folder.path().join(path)).unwrap();
        assert_eq!(content, server.site.files[path]);
    }
    let mut wrong = server.listed("data/t/note.csv");
    wrong.checksum = Checksum::git_blob(&"0".repeat(40)).unwrap();
    let error = server
        .hub()
        .fetch(&pinned(), &wrong, folder.path(), &|_| {})
        .await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("git blob id ce0136") && error.contains("git blob id 0000"),
        "{error}"
    );
}
