//! Tests of keys: owners, sealing, and rotations of the master key.

use std::path::Path;

use swe_ci_core::agent::{Endpoint, HarnessConfig, HeaderText, Protocol};
use swe_ci_store::testing::account;

use super::*;
use crate::Config;

async fn engine(data: &Path, secret: Option<&str>) -> Engine {
    let config = Config {
        secret: secret.map(SecretString::from),
        ..Config::new(data.to_owned())
    };
    Engine::open(config).await.unwrap()
}

async fn opened(engine: &Engine, name: &str) -> String {
    let keys = &engine.keys;
    let value = keys.open(&Keyring::Operator, name).await.unwrap();
    value.expose_secret().to_owned()
}

async fn refused(engine: &Engine, name: &str) -> String {
    let keys = &engine.keys;
    let refused = keys.open(&Keyring::Operator, name).await;
    refused.unwrap_err().to_string()
}

#[tokio::test]
async fn a_key_is_set_used_and_removed() {
    let data = tempfile::tempdir().unwrap();
    let engine = engine(data.path(), None).await;
    let message = refused(&engine, "a").await;
    assert!(message.contains("swe-ci key set a"), "{message}");
    assert!(!data.path().join("secret.key").exists());
    for value in ["sk-old", "sk-marked\r\n"] {
        engine.set_key("a", &value.into()).await.unwrap();
    }
    assert!(engine.key_names().await.unwrap()[0].used_at.is_none());
    assert_eq!(opened(&engine, "a").await, "sk-marked");
    let keys = engine.key_names().await.unwrap();
    assert_eq!((keys.len(), keys[0].name.as_str()), (1, "a"));
    assert!(keys[0].used_at.is_some());
    engine.remove_key("a", false).await.unwrap();
    assert!(engine.remove_key("a", true).await.is_err());
    assert!(engine.key_names().await.unwrap().is_empty());
}

#[tokio::test]
async fn everybody_has_their_own_keys() {
    let data = tempfile::tempdir().unwrap();
    let operator = engine(data.path(), None).await;
    let ada = operator.acting_for(account("ada", AccountRole::Submitter));
    let bob = operator.acting_for(account("bob", AccountRole::Submitter));
    let root = operator.acting_for(account("root", AccountRole::Admin));
    for (who, value) in [(&operator, "sk-0"), (&ada, "sk-ada"), (&root, "sk-root")] {
        who.set_key("acme", &value.into()).await.unwrap();
    }
    let seen = async |who: &Engine| {
        let keys = who.key_names().await.unwrap();
        let seen = keys.into_iter().map(|key| (key.name, key.own));
        seen.collect::<Vec<_>>()
    };
    let acme = |own| ("acme".to_owned(), own);
    assert_eq!(seen(&operator).await, [acme(true)]);
    assert_eq!(seen(&ada).await, [acme(true)]);
    assert_eq!(seen(&bob).await, []);
    assert_eq!(seen(&root).await, [acme(true), acme(false)]);

    let opened = async |ring: &Keyring| {
        let key = operator.keys.open(ring, "acme").await;
        key.map(|key| key.expose_secret().to_owned())
    };
    let of = |id: &str| Keyring::Account(id.into());
    operator.rotate_secret(None).await.unwrap();
    assert_eq!(opened(&Keyring::Operator).await.unwrap(), "sk-0");
    assert_eq!(opened(&of("ada")).await.unwrap(), "sk-ada");
    let message = opened(&of("bob")).await.unwrap_err().to_string();
    assert!(message.contains("/keys"), "{message}");

    // Nobody removes the key of another account.
    assert!(bob.remove_key("acme", true).await.is_err());
    root.remove_key("acme", false).await.unwrap();
    assert_eq!(seen(&root).await, [acme(false)]);
    assert!(root.remove_key("acme", true).await.is_err());
    assert_eq!(opened(&of("ada")).await.unwrap(), "sk-ada");
}

#[tokio::test]
async fn a_key_moved_to_another_keyring_cannot_be_opened() {
    let data = tempfile::tempdir().unwrap();
    let operator = engine(data.path(), None).await;
    let ada = operator.acting_for(account("ada", AccountRole::Submitter));
    ada.set_key("acme", &"sk-ada".into()).await.unwrap();
    operator.set_key("acme", &"sk-0".into()).await.unwrap();
    let store = &operator.store;
    let of = |id: &str| Keyring::Account(id.into());
    let stolen = store.sealed_key(&of("ada"), "acme").await.unwrap();
    let mut keys = store.keys_alone().await.unwrap();
    let master = keys.master().unwrap().to_owned();
    let sealed = stolen.unwrap().sealed;
    keys.put(&of("bob"), "acme", &sealed).await.unwrap();
    keys.reseal(&Keyring::Operator, "acme", &sealed)
        .await
        .unwrap();
    keys.commit(&master).await.unwrap();
    for (ring, expect) in [
        (of("bob"), "its owner can store it again"),
        (Keyring::Operator, "`swe-ci key set acme`"),
    ] {
        let refused = operator.keys.open(&ring, "acme").await;
        let message = refused.unwrap_err().to_string();
        assert!(message.contains(expect), "{message}");
    }
}

#[tokio::test]
async fn readers_have_no_keys() {
    let data = tempfile::tempdir().unwrap();
    let operator = engine(data.path(), None).await;
    for actor in [Actor::Visitor, account("r", AccountRole::Reader)] {
        let engine = operator.acting_for(actor);
        assert!(engine.key_names().await.is_err());
        assert!(engine.set_key("a", &"x".into()).await.is_err());
        assert!(engine.remove_key("a", true).await.is_err());
        assert!(engine.rotate_secret(None).await.is_err());
    }
    let ada = operator.acting_for(account("ada", AccountRole::Submitter));
    assert!(ada.rotate_secret(None).await.is_err());
}

#[tokio::test]
async fn names_and_values_are_checked() {
    let data = tempfile::tempdir().unwrap();
    let engine = engine(data.path(), None).await;
    let check = async |name: &str, value: &str, expect: Option<&str>| {
        let found = engine.set_key(name, &value.into()).await;
        match (found, expect) {
            (Ok(()), None) => {}
            (Err(error), Some(expect)) => assert!(error.to_string().contains(expect)),
            (found, _) => panic!("{name}, {value} → {found:?}"),
        }
    };
    let most = "x".repeat(4_096);
    check("acme.main-1", &most, None).await;
    check("a", "x\n", None).await;
    check("a", &format!("{most}x"), Some("4,096")).await;
    for bad in ["", "\n", "two words", "two\nlines", "schlüssel"] {
        check("a", bad, Some("visible ASCII")).await;
    }
    for bad in ["", ".a", "a/b", "a b"] {
        check(bad, "x", Some("a key's name")).await;
    }
}

#[tokio::test]
async fn the_wrong_master_key_loses_nothing() {
    let data = tempfile::tempdir().unwrap();
    let right = engine(data.path(), None).await;
    right.set_key("a", &"sk-marked".into()).await.unwrap();
    let text = std::fs::read_to_string(data.path().join("secret.key")).unwrap();

    let other = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let wrong = engine(data.path(), Some(other)).await;
    let message = refused(&wrong, "a").await;
    assert!(
        message.contains("SWE_CI_SECRET holds 66687aad"),
        "{message}"
    );
    assert!(wrong.set_key("b", &"x".into()).await.is_err());
    assert!(wrong.rotate_secret(Some(&other.into())).await.is_err());
    assert_eq!(opened(&right, "a").await, "sk-marked");

    // The environment may hold the content of the file instead.
    std::fs::remove_file(data.path().join("secret.key")).unwrap();
    assert!(refused(&right, "a").await.contains("is not there"));
    assert!(right.set_key("b", &"x".into()).await.is_err());
    let moved = engine(data.path(), Some(&text)).await;
    assert_eq!(opened(&moved, "a").await, "sk-marked");

    // With the master key in the environment, the operator must provide the new
    // one.
    let error = moved.rotate_secret(None).await.unwrap_err();
    assert!(error.to_string().contains("stdin"), "{error}");
    let (id, keys) = moved.rotate_secret(Some(&other.into())).await.unwrap();
    assert_eq!((id.as_str(), keys), ("66687aad", 1));
    assert_eq!(opened(&wrong, "a").await, "sk-marked");
    let keys = &moved.keys;
    assert!(keys.open(&Keyring::Operator, "a").await.is_err());
}

#[tokio::test]
async fn killed_while_rotating_all_keys_open() {
    let data = tempfile::tempdir().unwrap();
    let engine = engine(data.path(), None).await;
    engine.set_key("a", &"sk-marked".into()).await.unwrap();
    let file = data.path().join("secret.key");
    let read = || std::fs::read_to_string(&file).unwrap();
    let old = read();

    // Killed before the transaction: the file has a master key that no row
    // uses.
    engine.keys.secrets().add().unwrap();
    let both = read();
    assert_eq!(opened(&engine, "a").await, "sk-marked");
    engine.set_key("b", &"sk-other".into()).await.unwrap();
    // Killed after it: the file still has the old one.
    let (id, keys) = engine.rotate_secret(None).await.unwrap();
    assert_eq!(keys, 2);
    let new = read();
    assert_eq!(new.lines().count(), 1);
    assert!(!both.contains(&new));
    std::fs::write(&file, format!("{new}{old}")).unwrap();
    assert_eq!(opened(&engine, "a").await, "sk-marked");
    assert_eq!(opened(&engine, "b").await, "sk-other");
    // The next rotation removes the rest.
    assert_ne!(engine.rotate_secret(None).await.unwrap().0, id);
    assert_eq!(read().lines().count(), 1);
    assert_eq!(opened(&engine, "a").await, "sk-marked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn rotated_and_used_and_set_at_once() {
    let data = tempfile::tempdir().unwrap();
    let engine = engine(data.path(), None).await;
    engine.set_key("a", &"sk-marked".into()).await.unwrap();
    let all = (0..24).map(|i| {
        let engine = engine.clone();
        tokio::spawn(async move {
            match i % 3 {
                0 => drop(engine.rotate_secret(None).await.unwrap()),
                1 => engine.set_key(&format!("k{i}"), &"x".into()).await.unwrap(),
                _ => assert_eq!(opened(&engine, "a").await, "sk-marked"),
            }
        })
    });
    for task in all.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    for key in engine.key_names().await.unwrap() {
        opened(&engine, &key.name).await;
    }
}

#[test]
fn a_run_needs_the_keys_of_both_agents() {
    let endpoint = |key: &str| Endpoint {
        protocol: Protocol::Chat,
        url: "https://api.example.org/v1".into(),
        model: "m".into(),
        key: Some(key.into()),
        ..Endpoint::default()
    };
    let mut config = swe_ci_core::run::RunConfig::human("s");
    assert!(config.keys().is_empty());
    config.endpoint = Some(endpoint("a"));
    config.programmer = Some(swe_ci_core::agent::AgentConfig {
        harness: HarnessConfig::Builtin,
        endpoint: Some(endpoint("b")),
    });
    let token = HeaderText::Stored { key: "c".into() };
    let endpoint = config.endpoint.as_mut().unwrap();
    endpoint.headers = [("x-token".to_owned(), token)].into();
    assert_eq!(config.keys(), ["a", "c", "b"]);
}
