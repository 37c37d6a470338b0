//! Tests the division of a search into ranges of stars.

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use super::super::{GapReason, Stars};
use super::*;

fn names(found: &SearchResults) -> Vec<&str> {
    found
        .hits
        .iter()
        .map(|hit| hit.full_name.as_str())
        .collect()
}

/// Asserts the order: most stars first, then by name.
fn assert_order(found: &SearchResults) {
    assert!(
        found
            .hits
            .is_sorted_by_key(|hit| (std::cmp::Reverse(hit.stars), hit.full_name.clone())),
        "{:?}",
        names(found)
    );
}

#[tokio::test]
async fn more_than_github_shows_at_once_are_all_found_once() {
    // Groups of 23 with equal stars, so that ranges begin and end within them.
    let server = Server::with((0..2_300).map(|number| 501 + number % 100 * 7)).await;
    let (found, progress) = search_with_progress(&server.github(), &search()).await;
    let found = found.unwrap();
    assert_eq!(found.hits.len(), 2_300);
    assert_eq!(found.total, 2_300);
    assert_eq!((&found.gaps, &found.skipped), (&vec![], &vec![]));
    assert_eq!(names(&found).iter().collect::<HashSet<_>>().len(), 2_300);
    assert_order(&found);
    let slices: Vec<_> = progress
        .iter()
        .filter_map(|progress| match progress {
            Progress::Slice { total, .. } => Some(*total),
            _ => None,
        })
        .collect();
    assert!(slices.iter().all(|total| *total <= 1_000), "{slices:?}");
    assert_eq!(slices.iter().sum::<u64>(), 2_300);
    assert_eq!(progress.last(), Some(&Progress::Listed { hits: 2_300 }));
    assert!(server.requests().iter().all(|request| request.page() <= 10));
    assert!(server.requests().len() < 40, "{}", server.requests().len());
}

#[tokio::test]
async fn one_number_of_stars_that_too_many_have_is_told() {
    let tied = std::iter::repeat_n(700, 1_250);
    let server = Server::with(tied.chain(600..650)).await;
    let found = server.search(&search()).await.unwrap();
    assert_eq!((found.hits.len(), found.total), (1_050, 1_300));
    assert_order(&found);
    let [gap] = found.gaps.as_slice() else {
        panic!("{:?}", found.gaps)
    };
    let at = Stars {
        from: 700,
        to: Some(700),
    };
    assert_eq!((gap.stars, gap.reason), (at, GapReason::Truncated));
    assert_eq!((gap.listed, gap.total), (1_000, 1_250));
    assert_eq!(gap.licence.as_deref(), Some("mit"));
}

#[tokio::test]
async fn the_number_of_stars_is_exclusive_and_the_most_are_the_best() {
    let check = async |most: usize, expect: usize, least_stars: u64, requests: usize| {
        let server = Server::with(498..700).await;
        let found = server.search(&Search { most, ..search() }).await.unwrap();
        assert_eq!(found.hits.len(), expect, "{most}");
        assert_eq!(found.hits.last().unwrap().stars, least_stars, "{most}");
        assert_eq!(found.total, 199, "{most}");
        assert_order(&found);
        assert_eq!(server.requests().len(), requests, "{most}");
    };
    check(1_000, 199, 501, 2).await;
    check(199, 199, 501, 2).await;
    check(5, 5, 695, 2).await;
}

#[tokio::test]
async fn no_more_ranges_are_asked_for_than_needed() {
    let server = Server::with((0..3_000).map(|number| 501 + number)).await;
    let found = server
        .search(&Search {
            most: 300,
            ..search()
        })
        .await
        .unwrap();
    assert_eq!(found.hits.len(), 300);
    assert_eq!(found.hits.last().unwrap().stars, 3_201);
    assert!(server.requests().len() <= 15, "{}", server.requests().len());
}

#[tokio::test]
async fn each_licence_is_a_search_of_its_own() {
    let server = Server::with_site(|host| {
        let licences = ["mit", "apache-2.0", "gpl-3.0"];
        let of = |number: u64| {
            let mut repository = repository(host, number, 1_000 + number);
            repository["license"]["key"] = licences[number as usize % 3].into();
            repository
        };
        Site {
            repositories: (0..9).map(of).collect(),
            ..Site::default()
        }
    })
    .await;
    let licences = vec!["mit".into(), "apache-2.0".into()];
    let found = server
        .search(&Search {
            licences,
            most: 4,
            ..search()
        })
        .await
        .unwrap();
    assert_eq!(
        names(&found),
        ["o/n00007", "o/n00006", "o/n00004", "o/n00003"]
    );
    assert_eq!(found.total, 6);
    let request = server.requests();
    let licences: Vec<_> = request
        .iter()
        .map(|request| request.qualifier("license"))
        .collect();
    assert_eq!(licences, [Some("mit"), Some("apache-2.0")]);
    let all = Search {
        licences: vec![],
        ..search()
    };
    assert_eq!(server.search(&all).await.unwrap().hits.len(), 9);
}

#[tokio::test]
async fn nothing_fits() {
    let server = Server::with([3]).await;
    let found = server.search(&search()).await.unwrap();
    assert_eq!((found.hits.len(), found.total, found.gaps.len()), (0, 0, 0));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn searches_out_of_time_are_tried_again_and_then_told() {
    let check = async |timeouts: usize, expect: Option<GapReason>, requests: usize| {
        let server = Server::with(600..650).await;
        server.site.timeouts.store(timeouts, Ordering::SeqCst);
        let found = server.search(&search()).await.unwrap();
        assert_eq!(found.hits.len(), 50);
        let reason = found.gaps.first().map(|gap| gap.reason);
        assert_eq!(reason, expect, "{timeouts}");
        assert_eq!(server.requests().len(), requests, "{timeouts}");
    };
    check(0, None, 1).await;
    check(2, None, 3).await;
    check(3, Some(GapReason::TimedOut), 3).await;
}

#[tokio::test]
async fn a_list_that_changes_while_it_is_read() {
    let server = Server::with(501..651).await;
    // The second page repeats the first.
    let first: Vec<_> = server.site.repositories.iter().rev().take(100).collect();
    let page = json!({"total_count": 150, "incomplete_results": false, "items": first});
    server.site.replies.lock().unwrap().push_back(None);
    server.reply(200, &[], &page.to_string());
    let found = server.search(&search()).await.unwrap();
    assert_eq!(found.hits.len(), 100, "none twice");
    let gap = &found.gaps[0];
    assert_eq!((gap.listed, gap.total), (100, 150));
    assert_eq!(gap.reason, GapReason::Fewer);
}
