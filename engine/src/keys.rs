//! The façade's keys of providers: set, listed, removed, never shown. They
//! belong to accounts, or to the operator.

use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use swe_ci_core::account::{AccountRole, Actor};
use swe_ci_core::key::KeyView;
use swe_ci_core::task::is_plain_name;

use crate::Engine;
use crate::clock::rfc3339;
use crate::error::{Error, Result};
use crate::grant::Keyring;
use crate::secrets::{MasterKey, Secrets};
use crate::store::{KeyRow, KeysAlone, SealedKey, Store};

impl Engine {
    /// The keyring of whoever it acts for.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] and [`Error::Forbidden`] for those who submit
    /// no runs, and so have no use for keys.
    pub(crate) fn own_keyring(&self) -> Result<Keyring> {
        self.require(AccountRole::Submitter)?;
        match self.by() {
            Actor::Account(who) => Ok(Keyring::Account(who.account_id.clone())),
            Actor::Operator => Ok(Keyring::Operator),
            Actor::Visitor => Err(Error::Unauthenticated("sign in first".into())),
        }
    }

    /// Stores a key of one's own under a name, in the place of the one that
    /// was there.
    ///
    /// # Errors
    /// As [`Engine::own_keyring`]; [`Error::Invalid`] when name or value cannot be used, or the master key
    /// is not the one that the other keys are sealed with.
    pub async fn set_key(&self, name: &str, value: &SecretString) -> Result<()> {
        let ring = self.own_keyring()?;
        if !is_plain_name(name) {
            return Err(Error::Invalid(
                "a key's name has 1 to 200 letters, digits, `.`, `_` and `-`, and no `.` first"
                    .into(),
            ));
        }
        let value = header_value(value)?;
        let mut keys = self.inner.store.keys_alone().await?;
        let master = self.inner.keys.master_of(&keys)?;
        let sealed = master.seal(&ring.full_name(name), &value)?;
        keys.put(&ring, name, &sealed).await?;
        keys.note(self.by(), "key.set", name).await?;
        keys.commit(master.id()).await
    }

    /// The keys that runs of who asks may use, by name: their own and, for
    /// administrators, the operator's after them.
    pub async fn key_names(&self) -> Result<Vec<KeyView>> {
        let mut keys = Vec::new();
        let own = self.own_keyring()?;
        for ring in self.keyrings()? {
            let rows = self.inner.store.keys(&ring).await?;
            keys.extend(rows.into_iter().map(|key| view(key, ring == own)));
        }
        Ok(keys)
    }

    /// Whose keys runs of who asks may use, one's own first.
    pub(crate) fn keyrings(&self) -> Result<Vec<Keyring>> {
        let own = self.own_keyring()?;
        let shared = self.by().is(AccountRole::Admin) && own != Keyring::Operator;
        let shared = shared.then_some(Keyring::Operator);
        Ok([own].into_iter().chain(shared).collect())
    }

    /// Removes a key of one's own. One that runs still need only when `forced`.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none, [`Error::Conflict`] naming the
    /// runs that need it.
    pub async fn remove_key(&self, name: &str, forced: bool) -> Result<()> {
        let ring = self.own_keyring()?;
        let runs = self.inner.store.unfinished_runs_with(&ring).await?;
        let needing: Vec<String> = runs
            .into_iter()
            .filter(|(_, config)| config.keys().iter().any(|key| key == name))
            .map(|(id, _)| id)
            .collect();
        if !needing.is_empty() && !forced {
            return Err(Error::Conflict(format!(
                "the key `{name}` is needed by what is queued or running: {}",
                needing.join(", ")
            )));
        }
        self.inner.store.remove_key(&ring, name, self.by()).await
    }

    /// Seals all keys with another master key: with `new` where the operator
    /// keeps it in the environment, else with one that is made and written to
    /// the data folder. Killed at any instant, all keys can be opened as before
    /// or as after. Returns the new master key's id and how many keys there are.
    ///
    /// # Errors
    /// [`Error::Forbidden`] for all but administrators; [`Error::Invalid`] when
    /// the present master key is not at hand, or `new` is none.
    pub async fn rotate_secret(&self, new: Option<&SecretString>) -> Result<(String, usize)> {
        self.require(AccountRole::Admin)?;
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
            for (ring, name, sealed) in &all {
                let full_name = ring.full_name(name);
                let value = old.open(&full_name, sealed);
                let value = value.ok_or_else(|| damaged(ring, name))?;
                let sealed = new.seal(&full_name, &value)?;
                keys.reseal(ring, name, &sealed).await?;
            }
        }
        keys.note(self.by(), "key.rotate", new.id()).await?;
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
    pub async fn open(&self, ring: &Keyring, name: &str) -> Result<SecretString> {
        let mut kept = self.sealed_key(ring, name).await?;
        let master = loop {
            match self.secrets().find(&kept.master) {
                Ok(master) => break master,
                Err(error) => {
                    // Rotated between our two looks, unless nothing has changed.
                    let now = self.sealed_key(ring, name).await?;
                    if now.master == kept.master {
                        return Err(error);
                    }
                    kept = now;
                }
            }
        };
        let value = master.open(&ring.full_name(name), &kept.sealed);
        let value = value.ok_or_else(|| damaged(ring, name))?;
        self.store.note_key_use(ring, name).await?;
        Ok(value)
    }

    /// The master key to seal with, while nobody else seals.
    pub(crate) fn master_of(&self, keys: &KeysAlone) -> Result<MasterKey> {
        match keys.master() {
            Some(id) => self.secrets().find(id),
            None => self.secrets().any(),
        }
    }

    /// Whether a keyring has a key of this name.
    pub async fn has(&self, ring: &Keyring, name: &str) -> Result<bool> {
        Ok(self.store.sealed_key(ring, name).await?.is_some())
    }

    async fn sealed_key(&self, ring: &Keyring, name: &str) -> Result<SealedKey> {
        let kept = self.store.sealed_key(ring, name).await?;
        kept.ok_or_else(|| Error::Invalid(missing(ring, name)))
    }

    fn secrets(&self) -> Secrets {
        Secrets::new(self.secret.clone(), &self.data)
    }
}

/// What to do about a key that is not there.
pub(crate) fn missing(ring: &Keyring, name: &str) -> String {
    match ring {
        Keyring::Operator => {
            format!("there is no key `{name}`; `swe-ci key set {name}` stores one")
        }
        Keyring::Account(_) => {
            format!("you have no key `{name}`; store it on the page /keys")
        }
        Keyring::Webhooks => {
            format!("the webhook {name} has nothing to sign with; its owner can add it anew")
        }
    }
}

fn damaged(ring: &Keyring, name: &str) -> Error {
    let anew = match ring {
        Keyring::Operator => format!("`swe-ci key set {name}` stores it anew"),
        Keyring::Account(_) => "its owner can store it anew on the page /keys".into(),
        Keyring::Webhooks => "its owner can add the webhook anew".into(),
    };
    Error::Invalid(format!(
        "the stored key `{name}` was damaged or swapped and cannot be opened; {anew}"
    ))
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

fn view(key: KeyRow, own: bool) -> KeyView {
    KeyView {
        name: key.name,
        own,
        created_at: rfc3339(key.created_at),
        changed_at: rfc3339(key.changed_at),
        used_at: key.used_at.map(rfc3339),
    }
}

#[cfg(test)]
mod tests;
