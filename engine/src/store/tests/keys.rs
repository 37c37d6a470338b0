//! Sealed keys, and the row whoever seals holds.

use super::*;
use crate::store::SealedKey;

#[tokio::test]
async fn keys_are_kept_with_what_seals_them() {
    on_both(async |store| {
        assert!(store.keys().await.unwrap().is_empty());
        for (name, sealed) in [("b", "1"), ("a", "2"), ("b", "3")] {
            let mut keys = store.keys_alone().await.unwrap();
            keys.put(name, sealed).await.unwrap();
            keys.commit("m1").await.unwrap();
        }
        let kept = async |name: &str| store.sealed_key(name).await.unwrap();
        let key = |sealed: &str, master: &str| {
            Some(SealedKey {
                sealed: sealed.into(),
                master: master.into(),
            })
        };
        assert_eq!(kept("b").await, key("3", "m1"));
        assert_eq!(kept("c").await, None);

        let before = store.keys().await.unwrap();
        let names: Vec<&str> = before.iter().map(|key| key.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(before.iter().all(|key| key.used_at.is_none()));
        store.note_key_use("a").await.unwrap();
        assert!(store.keys().await.unwrap()[0].used_at.is_some());

        let mut keys = store.keys_alone().await.unwrap();
        assert_eq!(keys.master(), Some("m1"));
        for (name, sealed) in keys.all().await.unwrap() {
            keys.reseal(&name, &format!("{sealed}'")).await.unwrap();
        }
        drop(keys);
        assert_eq!(kept("b").await, key("3", "m1"), "dropped is not done");
        let mut keys = store.keys_alone().await.unwrap();
        keys.reseal("b", "4").await.unwrap();
        keys.commit("m2").await.unwrap();
        assert_eq!(kept("b").await, key("4", "m2"));
        let after = store.keys().await.unwrap();
        assert_eq!(after[1], before[1], "its value is the same");

        for name in ["a", "b"] {
            store.remove_key(name).await.unwrap();
        }
        let gone = store.remove_key("a").await.unwrap_err();
        assert_eq!(gone.to_string(), "there is no key `a`");
        let keys = store.keys_alone().await.unwrap();
        assert_eq!(keys.master(), None, "any master key will do");
    })
    .await;
}

#[tokio::test]
async fn who_seals_is_alone() {
    on_both(async |store| {
        let mut first = store.keys_alone().await.unwrap();
        first.put("a", "1").await.unwrap();
        let waiting = tokio::spawn({
            let store = store.clone();
            async move {
                let keys = store.keys_alone().await.unwrap();
                keys.master().map(str::to_owned)
            }
        });
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        assert!(!waiting.is_finished());
        first.commit("m1").await.unwrap();
        assert_eq!(waiting.await.unwrap().as_deref(), Some("m1"));
    })
    .await;
}

#[tokio::test]
async fn runs_that_are_not_over() {
    on_both(async |store| {
        let mut ids = Vec::new();
        for progress in ["queued", "running", "finished", "cancelled"] {
            let id = run(&store, &[("a", 1.0)]).await;
            sqlx::query("UPDATE runs SET progress = $1 WHERE id = $2")
                .bind(progress)
                .bind(&id)
                .execute(&store.pool)
                .await
                .unwrap();
            ids.push(id);
        }
        let runs = store.unfinished_runs().await.unwrap();
        let found: Vec<&str> = runs.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(found, ids[..2]);
        assert_eq!(runs[0].1, RunConfig::human("s"));
    })
    .await;
}
