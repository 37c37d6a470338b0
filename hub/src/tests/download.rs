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

/// Fetches `PATH` and says how it went.
async fn fetch(server: &Server, folder: &Path) -> Result<(), HubError> {
    let file = server.listed(PATH);
    server.hub().fetch(&pinned(), &file, folder, &|_| {}).await
}

fn arrived(server: &Server, folder: &Path) {
    assert_eq!(on_disk(folder), [PATH]);
    assert!(std::fs::read(folder.join(PATH)).unwrap() == server.site.files[PATH]);
}

fn range(from: usize) -> Option<String> {
    (from > 0).then(|| format!("bytes={from}-"))
}

/// What goes wrong in passing, and the ranges that are asked for then.
#[tokio::test]
async fn passing_troubles() {
    use Mischief::*;
    let check = async |mischief: &[Mischief], ranges: &[usize]| {
        let server = server().await;
        let folder = tempfile::tempdir().unwrap();
        server.next(mischief.iter().cloned());
        fetch(&server, folder.path()).await.unwrap();
        arrived(&server, folder.path());
        let expect: Vec<_> = ranges.iter().map(|from| range(*from)).collect();
        assert_eq!(server.ranges(), expect, "{mischief:?}");
    };
    let unavailable = Answer(StatusCode::SERVICE_UNAVAILABLE, vec![]);
    check(&[], &[0]).await;
    check(&[unavailable.clone(), unavailable.clone()], &[0, 0, 0]).await;
    check(&[Cut(600_000)], &[0, 600_000]).await;
    check(&[Short(600_000)], &[0, 600_000]).await;
    // Every byte more counts the tries anew.
    let cuts: Vec<Mischief> = (0..8).map(|_| Cut(100_000)).collect();
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
async fn what_arrived_before_a_cut_is_not_sent_again() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    server.next([Mischief::Cut(600_000)]);
    fetch(&server, folder.path()).await.unwrap();
    let asked = server.asked();
    assert_eq!(asked[1].range, range(600_000));
    assert_eq!(asked.iter().map(|asked| asked.sent).sum::<usize>(), SIZE);
}

#[tokio::test]
async fn a_server_that_says_nothing_is_asked_again() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    server.next([Mischief::Stall(600_000)]);
    let impatient = Pace {
        silence: Duration::from_secs(1),
        ..pace()
    };
    let file = server.listed(PATH);
    let hub = server.hub_with(impatient);
    hub.fetch(&pinned(), &file, folder.path(), &|_| {})
        .await
        .unwrap();
    arrived(&server, folder.path());
    assert_eq!(server.ranges(), [None, range(600_000)]);
}

#[tokio::test]
async fn the_pause_a_server_asks_for_is_kept() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    let headers = vec![("retry-after", "1".to_owned())];
    server.next([Mischief::Answer(StatusCode::TOO_MANY_REQUESTS, headers)]);
    let start = Instant::now();
    fetch(&server, folder.path()).await.unwrap();
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn a_file_that_is_always_wrong_gets_no_name() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    server.always(Mischief::Corrupt);
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
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn too_many_bytes_stop_the_download() {
    for announced in [true, false] {
        let server = server().await;
        let folder = tempfile::tempdir().unwrap();
        server.always(Mischief::TooLong { announced });
        let error = fetch(&server, folder.path()).await.unwrap_err();
        assert!(matches!(error, HubError::TooLong { .. }), "{error:?}");
        assert!(error.to_string().contains(PATH), "{error}");
        assert!(on_disk(folder.path()).is_empty());
        assert_eq!(server.asked().len(), 1, "not tried again");
    }
}

#[tokio::test]
async fn what_lasts_ends_and_keeps_what_is_here() {
    let check = async |first: &[Mischief], always: Mischief, asked: usize, expect: &str| {
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
        assert_eq!(server.asked().len(), asked, "{always:?}");
        let kept = on_disk(folder.path());
        assert_eq!(kept, [format!("{PATH}.partial")], "{always:?}");
    };
    let answer = |status| Mischief::Answer(status, vec![]);
    let moved = |to: &str| {
        let headers = vec![("location", to.to_owned())];
        Mischief::Answer(StatusCode::FOUND, headers)
    };
    let cut = [Mischief::Cut(300_000)];
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
    let again = [Mischief::Cut(300_000), Mischief::OtherRange];
    check(&again, Mischief::Cut(0), 2 + 2, "after 4 tries").await;
    let here = format!("/datasets/o/n/resolve/{COMMIT}/{PATH}?signature=1");
    check(&[], moved(&here), 11, "more than 10 times").await;
}

#[tokio::test]
async fn nobody_there() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let hub = Hub::with_pace(&url, None, None, pace()).unwrap();
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
    server.always(Mischief::Answer(StatusCode::FOUND, headers));
    // A signed address that is too old is not the end, and a cut goes on there.
    let old = Mischief::Answer(StatusCode::FORBIDDEN, vec![]);
    elsewhere.next([old, Mischief::Cut(600_000)]);
    fetch(&server, folder.path()).await.unwrap();
    arrived(&elsewhere, folder.path());
    let ours = server.asked();
    let bearer = Some(format!("Bearer {TOKEN}"));
    assert_eq!(ours.len(), 3);
    assert!(ours.iter().all(|asked| asked.authorization == bearer));
    let theirs = elsewhere.asked();
    assert!(theirs.iter().all(|asked| asked.authorization.is_none()));
    let ranges: Vec<_> = theirs.into_iter().map(|asked| asked.range).collect();
    assert_eq!(ranges, [None, None, range(600_000)]);
}

#[tokio::test]
async fn a_dropped_download_goes_on_later() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    server.next([Mischief::Stall(600_000)]);
    let begun = Arc::new(tokio::sync::Notify::new());
    let (hub, file, at, told) = (
        server.hub(),
        server.listed(PATH),
        folder.path().to_owned(),
        begun.clone(),
    );
    let download = tokio::spawn(async move {
        let here = |bytes| {
            if bytes > 0 {
                told.notify_one();
            }
        };
        hub.fetch(&pinned(), &file, &at, &here).await
    });
    begun.notified().await;
    download.abort();
    assert!(download.await.unwrap_err().is_cancelled());
    assert_eq!(on_disk(folder.path()), [format!("{PATH}.partial")]);
    server.asked();
    fetch(&server, folder.path()).await.unwrap();
    arrived(&server, folder.path());
    let asked = server.asked();
    assert!(asked.len() == 1 && asked[0].range.is_some(), "{asked:?}");
    assert!(asked[0].sent < SIZE, "{asked:?}");
}

/// What an earlier call left, in whatever state.
#[tokio::test]
async fn partials_of_all_kinds() {
    let check = async |partial: Vec<u8>, always: Option<Mischief>, ranges: &[usize]| {
        let server = server().await;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("{PATH}.partial"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, &partial).unwrap();
        server.next(always);
        fetch(&server, folder.path()).await.unwrap();
        arrived(&server, folder.path());
        let expect: Vec<_> = ranges.iter().map(|from| range(*from)).collect();
        assert_eq!(server.ranges(), expect, "{} bytes", partial.len());
    };
    check(bytes(400), None, &[400]).await;
    check(bytes(SIZE), None, &[]).await;
    check(bytes(SIZE + 1), None, &[0]).await;
    check(vec![7; 400], None, &[400, 0]).await;
    check(vec![7; SIZE], None, &[0]).await;
    // That the rest of another file did not fit is not the server's fault: it
    // still has its second try.
    let broken = check(vec![7; SIZE], Some(Mischief::Cut(5)), &[0, 5]);
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
        let there = std::fs::read(folder.path().join(path)).unwrap();
        assert_eq!(there, server.site.files[path]);
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
