//! The façade's keys of providers: set, listed, removed, never shown.

use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use swe_ci_core::run::RunConfig;
use swe_ci_core::step::Role;
use swe_ci_core::task::is_plain_name;

use crate::Engine;
use crate::clock::rfc3339;
use crate::error::{Error, Result};
use crate::secrets::{MasterKey, Secrets};
use crate::store::{KeyRow, SealedKey, Store};

/// What may be shown of a key. Times are RFC 3339.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyView {
    pub name: String,
    pub created_at: String,
    /// When its value was set last.
    pub changed_at: String,
    pub used_at: Option<String>,
}

impl Engine {
    /// Stores a key under a name, in the place of the one that was there.
    ///
    /// # Errors
    /// [`Error::Invalid`] when name or value cannot be used, or the master key
    /// is not the one that the other keys are sealed with.
    pub async fn set_key(&self, name: &str, value: &SecretString) -> Result<()> {
        if !is_plain_name(name) {
            return Err(Error::Invalid(
                "a key's name has 1 to 200 letters, digits, `.`, `_` and `-`, and no `.` first"
                    .into(),
            ));
        }
        let value = header_value(value)?;
        let mut keys = self.inner.store.keys_alone().await?;
        let secrets = self.secrets();
        let master = match keys.master() {
            Some(id) => secrets.find(id)?,
            None => secrets.any()?,
        };
        keys.put(name, &master.seal(name, &value)?).await?;
        keys.commit(master.id()).await
    }

    /// The keys there are, by name.
    pub async fn key_names(&self) -> Result<Vec<KeyView>> {
        let keys = self.inner.store.keys().await?;
        Ok(keys.into_iter().map(view).collect())
    }

    /// Removes a key. One that runs still need only when `forced`.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none, [`Error::Conflict`] naming the
    /// runs that need it.
    pub async fn remove_key(&self, name: &str, forced: bool) -> Result<()> {
        let runs = self.inner.store.unfinished_runs().await?;
        let needing: Vec<String> = runs
            .into_iter()
            .filter(|(_, config)| needs(config, name))
            .map(|(id, _)| id)
            .collect();
        if !needing.is_empty() && !forced {
            return Err(Error::Conflict(format!(
                "the key `{name}` is needed by what is queued or running: {}",
                needing.join(", ")
            )));
        }
        self.inner.store.remove_key(name).await
    }

    /// Seals all keys with another master key: with `new` where the operator
    /// keeps it in the environment, else with one that is made and written to
    /// the data folder. Killed at any instant, all keys can be opened as before
    /// or as after. Returns the new master key's id and how many keys there are.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the present master key is not at hand, or `new`
    /// is none.
    pub async fn rotate_secret(&self, new: Option<&SecretString>) -> Result<(String, usize)> {
        let secrets = self.secrets();
        let mut keys = self.inner.store.keys_alone().await?;
        // Found before a new one is made: without it nothing may change.
        let old = keys.master().map(|id| secrets.find(id)).transpose()?;
        // On disk before any row needs it.
        let new = match new {
            Some(text) => MasterKey::parse(text)?,
            None => secrets.add()?,
        };
        let all = keys.all().await?;
        if let Some(old) = old {
            for (name, sealed) in &all {
                let value = old.open(name, sealed)?;
                keys.reseal(name, &new.seal(name, &value)?).await?;
            }
        }
        keys.commit(new.id()).await?;
        self.forget_old_secrets(&new).await?;
        Ok((new.id().to_owned(), all.len()))
    }

    /// The file keeps the present master key alone. Nobody rotates meanwhile,
    /// and the one to keep is what the database says now.
    async fn forget_old_secrets(&self, new: &MasterKey) -> Result<()> {
        let keys = self.inner.store.keys_alone().await?;
        self.secrets().keep_only(keys.master().unwrap_or(new.id()))
    }

    /// Looked up anew each time: another process may have rotated.
    fn secrets(&self) -> Secrets {
        self.inner.keys.secrets()
    }
}

/// The stored keys, for those who ask providers. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Keys {
    store: Store,
    secret: Option<SecretString>,
    data: PathBuf,
}

impl Keys {
    /// `secret` is the master key where the operator keeps it in the
    /// environment; `data` the data folder.
    pub fn new(store: Store, secret: Option<SecretString>, data: &Path) -> Self {
        Self {
            store,
            secret,
            data: data.to_owned(),
        }
    }

    /// The value of a key, for a request to its provider.
    ///
    /// # Errors
    /// [`Error::Invalid`] saying what to do when it is not there or cannot be
    /// opened.
    pub async fn open(&self, name: &str) -> Result<SecretString> {
        let mut kept = self.sealed_key(name).await?;
        let master = loop {
            match self.secrets().find(&kept.master) {
                Ok(master) => break master,
                Err(error) => {
                    // Rotated between our two looks, unless nothing has changed.
                    let now = self.sealed_key(name).await?;
                    if now.master == kept.master {
                        return Err(error);
                    }
                    kept = now;
                }
            }
        };
        let value = master.open(name, &kept.sealed)?;
        self.store.note_key_use(name).await?;
        Ok(value)
    }

    async fn sealed_key(&self, name: &str) -> Result<SealedKey> {
        let kept = self.store.sealed_key(name).await?;
        kept.ok_or_else(|| {
            Error::Invalid(format!(
                "there is no key `{name}`; `swe-ci key set {name}` stores one"
            ))
        })
    }

    fn secrets(&self) -> Secrets {
        Secrets::new(self.secret.clone(), &self.data)
    }
}

/// Without the line end that comes with files and pipes; what remains has to
/// fit into a header.
fn header_value(value: &SecretString) -> Result<SecretString> {
    let value = value.expose_secret().trim_end_matches(['\r', '\n']);
    let fits = (1..=4_096).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_graphic());
    if fits {
        Ok(SecretString::from(value))
    } else {
        Err(Error::Invalid(
            "a key has 1 to 4,096 visible ASCII characters, without spaces, on one line".into(),
        ))
    }
}

fn needs(config: &RunConfig, key: &str) -> bool {
    [Role::Architect, Role::Programmer]
        .into_iter()
        .filter_map(|role| config.agent(role)?.endpoint?.key)
        .any(|name| name == key)
}

fn view(key: KeyRow) -> KeyView {
    KeyView {
        name: key.name,
        created_at: rfc3339(key.created_at),
        changed_at: rfc3339(key.changed_at),
        used_at: key.used_at.map(rfc3339),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use swe_ci_core::agent::{Endpoint, HarnessConfig, Protocol};

    async fn engine(data: &Path, secret: Option<&str>) -> Engine {
        let config = Config {
            secret: secret.map(SecretString::from),
            ..Config::new(data.to_owned())
        };
        Engine::open(config).await.unwrap()
    }

    async fn opened(engine: &Engine, name: &str) -> String {
        let value = engine.inner.keys.open(name).await.unwrap();
        value.expose_secret().to_owned()
    }

    async fn refused(engine: &Engine, name: &str) -> String {
        engine.inner.keys.open(name).await.unwrap_err().to_string()
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

        // What the file says may be kept in the environment instead.
        std::fs::remove_file(data.path().join("secret.key")).unwrap();
        assert!(refused(&right, "a").await.contains("is not there"));
        assert!(right.set_key("b", &"x".into()).await.is_err());
        let moved = engine(data.path(), Some(&text)).await;
        assert_eq!(opened(&moved, "a").await, "sk-marked");

        // Rotated there, the new one is the operator's to keep.
        let asked = moved.rotate_secret(None).await.unwrap_err();
        assert!(asked.to_string().contains("stdin"), "{asked}");
        let (id, keys) = moved.rotate_secret(Some(&other.into())).await.unwrap();
        assert_eq!((id.as_str(), keys), ("66687aad", 1));
        assert_eq!(opened(&wrong, "a").await, "sk-marked");
        assert!(moved.inner.keys.open("a").await.is_err());
    }

    #[tokio::test]
    async fn killed_while_rotating_all_keys_open() {
        let data = tempfile::tempdir().unwrap();
        let engine = engine(data.path(), None).await;
        engine.set_key("a", &"sk-marked".into()).await.unwrap();
        let file = data.path().join("secret.key");
        let read = || std::fs::read_to_string(&file).unwrap();
        let old = read();

        // Before the transaction: the file has a master key nobody uses.
        engine.secrets().add().unwrap();
        let both = read();
        assert_eq!(opened(&engine, "a").await, "sk-marked");
        engine.set_key("b", &"sk-other".into()).await.unwrap();
        // After it: the file has still the old one.
        let (id, keys) = engine.rotate_secret(None).await.unwrap();
        assert_eq!(keys, 2);
        let new = read();
        assert_eq!(new.lines().count(), 1);
        assert!(!both.contains(&new));
        std::fs::write(&file, format!("{new}{old}")).unwrap();
        assert_eq!(opened(&engine, "a").await, "sk-marked");
        assert_eq!(opened(&engine, "b").await, "sk-other");
        // The next rotation tidies up.
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
            engine.inner.keys.open(&key.name).await.unwrap();
        }
    }

    #[test]
    fn a_run_needs_the_keys_of_both_agents() {
        let endpoint = |key: &str| Endpoint {
            protocol: Protocol::Chat,
            url: "https://api.example.org/v1".into(),
            model: "m".into(),
            key: Some(key.into()),
            parameters: serde_json::Map::new(),
            prices: None,
            recording: None,
        };
        let mut config = RunConfig::human("s");
        assert!(!needs(&config, "a"));
        config.endpoint = Some(endpoint("a"));
        config.programmer = Some(swe_ci_core::agent::AgentConfig {
            harness: HarnessConfig::Builtin,
            endpoint: Some(endpoint("b")),
        });
        assert!(needs(&config, "a") && needs(&config, "b") && !needs(&config, "c"));
    }
}
