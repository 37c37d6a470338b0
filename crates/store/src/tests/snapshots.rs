//! Snapshots: written once, and found by day and split.

use super::*;
use crate::NewSnapshot;

fn new<'a>(day: &'a str, split: &'a str, tasks: u32) -> NewSnapshot<'a> {
    NewSnapshot {
        day,
        split,
        digest: "d1",
        runs: 2,
        tasks,
        platform_version: "0.1.0",
        content: "packed",
    }
}

#[tokio::test]
async fn a_snapshot_is_written_once() {
    on_both(async |store| {
        let by = Actor::Operator;
        let changes = store.changes().await.unwrap();
        let first = new("2026-11-27", "small", 4);
        store.put_snapshot(&first, &by).await.unwrap();
        assert!(store.changes().await.unwrap() > changes);
        let other = NewSnapshot {
            content: "other",
            ..first
        };
        let refused = store.put_snapshot(&other, &by).await;
        assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
        let found = store.snapshot("2026-11-27", Some("small")).await.unwrap();
        assert_eq!((found.runs, found.tasks), (2, 4));
        assert_eq!((&*found.digest, &*found.made_by), ("d1", "operator"));
        assert_eq!(found.platform_version, "0.1.0");
        assert_eq!(store.snapshot_content(&found).await.unwrap(), "packed");
        let noted = store.audit(None, "", 10).await.unwrap();
        assert_eq!(noted[0].action, "snapshot.make");
    })
    .await;
}

#[tokio::test]
async fn snapshots_are_found_by_day_and_split() {
    on_both(async |store| {
        for (day, split, tasks) in [
            ("2026-11-27", "small", 4),
            ("2026-11-27", "large", 100),
            ("2026-11-28", "small", 4),
        ] {
            let new = new(day, split, tasks);
            store.put_snapshot(&new, &Actor::Operator).await.unwrap();
        }
        let all = store.snapshots().await.unwrap();
        let all: Vec<(&str, &str)> = all.iter().map(|s| (&*s.day, &*s.split)).collect();
        let expect = [
            ("2026-11-28", "small"),
            ("2026-11-27", "large"),
            ("2026-11-27", "small"),
        ];
        assert_eq!(all, expect);
        let check = async |day: &str, split: Option<&str>, expect: Option<&str>| {
            let found = store.snapshot(day, split).await.ok();
            assert_eq!(found.map(|s| s.split).as_deref(), expect, "{day} {split:?}");
        };
        check("2026-11-27", None, Some("large")).await;
        check("2026-11-27", Some("small"), Some("small")).await;
        check("2026-11-28", None, Some("small")).await;
        check("2026-11-28", Some("large"), None).await;
        check("2026-11-29", None, None).await;
        let last = store.last_snapshot("small").await.unwrap();
        assert_eq!(last.unwrap().day, "2026-11-28");
        assert_eq!(store.last_snapshot("none").await.unwrap(), None);
    })
    .await;
}
