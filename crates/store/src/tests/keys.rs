//! Sealed keys, and the exclusive access of whoever seals.

use swe_ci_core::agent::{Endpoint, HarnessConfig, Protocol};
use swe_ci_core::permissions::{Keyring, Reach};

use super::*;
use crate::SealedKey;

const OURS: &Keyring = &Keyring::Operator;

#[tokio::test]
async fn keys_are_stored_with_their_master_key() {
    on_both(async |store| {
        assert!(store.keys(OURS).await.unwrap().is_empty());
        for (name, sealed) in [("b", "1"), ("a", "2"), ("b", "3")] {
            let mut keys = store.keys_alone().await.unwrap();
            keys.put(OURS, name, sealed).await.unwrap();
            keys.commit("m1").await.unwrap();
        }
        let stored = async |name: &str| store.sealed_key(OURS, name).await.unwrap();
        let key = |sealed: &str, master: &str| {
            Some(SealedKey {
                sealed: sealed.into(),
                master: master.into(),
            })
        };
        assert_eq!(stored("b").await, key("3", "m1"));
        assert_eq!(stored("c").await, None);

        let before = store.keys(OURS).await.unwrap();
        let names: Vec<&str> = before.iter().map(|key| key.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(before.iter().all(|key| key.used_at.is_none()));
        store.note_key_use(OURS, "a").await.unwrap();
        assert!(store.keys(OURS).await.unwrap()[0].used_at.is_some());

        let mut keys = store.keys_alone().await.unwrap();
        assert_eq!(keys.master(), Some("m1"));
        for (ring, name, sealed) in keys.all().await.unwrap() {
            let sealed = format!("{sealed}'");
            keys.reseal(&ring, &name, &sealed).await.unwrap();
        }
        drop(keys);
        assert_eq!(
            stored("b").await,
            key("3", "m1"),
            "a dropped change is not saved"
        );
        let mut keys = store.keys_alone().await.unwrap();
        keys.reseal(OURS, "b", "4").await.unwrap();
        keys.commit("m2").await.unwrap();
        assert_eq!(stored("b").await, key("4", "m2"));
        let after = store.keys(OURS).await.unwrap();
        assert_eq!(after[1], before[1], "its value is the same");

        for name in ["a", "b"] {
            store
                .remove_key(OURS, name, &Actor::Operator)
                .await
                .unwrap();
        }
        let missing = store
            .remove_key(OURS, "a", &Actor::Operator)
            .await
            .unwrap_err();
        assert_eq!(missing.to_string(), "there is no key `a`");
        let keys = store.keys_alone().await.unwrap();
        assert_eq!(keys.master(), None, "any master key will do");
    })
    .await;
}

#[tokio::test]
async fn sealing_is_exclusive() {
    on_both(async |store| {
        let mut first = store.keys_alone().await.unwrap();
        first.put(OURS, "a", "1").await.unwrap();
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
        let runs = store.unfinished_runs_with(OURS).await.unwrap();
        let unfinished: Vec<&str> = runs.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(unfinished, ids[..2]);
        assert_eq!(runs[0].1, RunConfig::human("s"));
        let ada = Keyring::Account("ada".into());
        let none = store.unfinished_runs_with(&ada).await.unwrap();
        assert!(none.is_empty());
    })
    .await;
}

#[tokio::test]
async fn each_keyring_has_its_own_names() {
    on_both(async |store| {
        let ada = Keyring::Account("ada".into());
        let mut keys = store.keys_alone().await.unwrap();
        keys.put(OURS, "a", "1").await.unwrap();
        keys.put(&ada, "a", "2").await.unwrap();
        keys.put(&ada, "a", "3").await.unwrap();
        let all = keys.all().await.unwrap();
        let key = |ring: &Keyring, sealed: &str| (ring.clone(), "a".into(), sealed.into());
        assert_eq!(all, [key(OURS, "1"), key(&ada, "3")]);
        keys.reseal(&ada, "a", "4").await.unwrap();
        keys.commit("m1").await.unwrap();
        let sealed = async |ring: &Keyring| {
            let key = store.sealed_key(ring, "a").await.unwrap();
            key.map(|key| key.sealed)
        };
        assert_eq!(sealed(OURS).await.as_deref(), Some("1"));
        assert_eq!(sealed(&ada).await.as_deref(), Some("4"));
        store.note_key_use(&ada, "a").await.unwrap();
        assert!(store.keys(OURS).await.unwrap()[0].used_at.is_none());
        assert!(store.keys(&ada).await.unwrap()[0].used_at.is_some());
        store.remove_key(&ada, "a", &Actor::Operator).await.unwrap();
        assert_eq!(sealed(OURS).await.as_deref(), Some("1"));
        assert_eq!(sealed(&ada).await, None);
    })
    .await;
}

#[tokio::test]
async fn a_run_keeps_what_it_was_granted() {
    on_both(async |store| {
        let plain = run(&store, &[("a", 1.0)]).await;
        assert_eq!(
            store.permissions(&plain).await.unwrap(),
            RunPermissions::default()
        );
        let grant = RunPermissions {
            keyring: Keyring::Account("ada".into()),
            reach: Reach::Public,
        };
        let new = NewRun {
            standing: Standing::default(),
            grant: grant.clone(),
            config: RunConfig::human("s"),
            provenance: Provenance::default(),
            tasks: vec![(TaskId::new("a").unwrap(), 1.0)],
            preflight: false,
            forget_keys: false,
        };
        let id = store.insert_run(&new, &Actor::Operator).await.unwrap();
        assert_eq!(store.permissions(&id).await.unwrap(), grant);
        let runs = store.unfinished_runs_with(&grant.keyring).await.unwrap();
        assert_eq!(runs[0].0, id);
        assert!(store.permissions("nothing").await.is_err());
    })
    .await;
}

#[tokio::test]
async fn keys_for_one_run_are_removed_with_it() {
    on_both(async |store| {
        run(&store, &[("a", 1.0)]).await;
        let ada = Keyring::Account("ada".into());
        let mut keys = store.keys_alone().await.unwrap();
        for (ring, name) in [(&ada, "once"), (&ada, "shared"), (OURS, "once")] {
            keys.put(ring, name, "sealed").await.unwrap();
        }
        keys.commit("m1").await.unwrap();
        let names = async |ring: &Keyring| {
            let keys = store.keys(ring).await.unwrap();
            keys.into_iter().map(|key| key.name).collect::<Vec<_>>()
        };
        let submitted = async |keyring: &Keyring, owner: Option<&str>, key: &str, forget_keys| {
            let endpoint = Endpoint {
                protocol: Protocol::Chat,
                url: "https://models.example".into(),
                model: "m".into(),
                key: Some(key.into()),
                ..Endpoint::default()
            };
            let config = RunConfig {
                harness: HarnessConfig::Builtin,
                endpoint: Some(endpoint),
                ..RunConfig::human("s")
            };
            let new = NewRun {
                standing: Standing {
                    owner: owner.map(str::to_owned),
                    ..Standing::default()
                },
                grant: RunPermissions {
                    keyring: keyring.clone(),
                    reach: Reach::Anywhere,
                },
                config,
                provenance: Provenance::default(),
                tasks: Vec::new(),
                preflight: false,
                forget_keys,
            };
            store.insert_run(&new, &Actor::Operator).await.unwrap()
        };
        let over = async |id: &str| {
            store.cancel_run(id, &Actor::Operator).await.unwrap();
        };
        over(&submitted(&ada, Some("ada"), "once", false).await).await;
        assert_eq!(names(&ada).await, ["once", "shared"], "kept by default");
        let other = submitted(&ada, Some("ada"), "shared", false).await;
        over(&submitted(&ada, Some("ada"), "shared", true).await).await;
        over(&submitted(&ada, Some("ada"), "once", true).await).await;
        assert_eq!(names(&ada).await, ["shared"], "another run still needs it");
        over(&other).await;
        assert_eq!(names(&ada).await, ["shared"]);
        // An administrator's run may use the operator's keys, but removes none.
        over(&submitted(OURS, Some("ada"), "once", true).await).await;
        assert_eq!(names(OURS).await, ["once"]);
        over(&submitted(OURS, None, "once", true).await).await;
        assert!(names(OURS).await.is_empty());
    })
    .await;
}
