//! The providers' stored keys, unsealed for the requests that need them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::agent::Endpoint;
use swe_ci_core::permissions::Keyring;
use swe_ci_store::{KeysAlone, SealedKey, Store};

use crate::key_encryption::{MasterKey, Secrets};

/// The stored keys, for code that calls providers. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Keys {
    store: Store,
    secret: Option<SecretString>,
    data: PathBuf,
}

impl Keys {
    /// `secret` is the master key if the operator sets it in the environment;
    /// `data` is the data folder.
    pub fn new(store: Store, secret: Option<SecretString>, data: &Path) -> Self {
        Self {
            store,
            secret,
            data: data.to_owned(),
        }
    }

    /// The value of a key, for a request to its provider. Records that the key
    /// was used.
    ///
    /// # Errors
    /// [`Error::Invalid`] with advice when the key is missing or cannot be
    /// opened.
    pub async fn open(&self, ring: &Keyring, name: &str) -> Result<SecretString> {
        let value = self.unseal(ring, name).await?;
        self.store.note_key_use(ring, name).await?;
        Ok(value)
    }

    /// The values of all keys that an endpoint names, by their names.
    ///
    /// # Errors
    /// As [`Keys::open`].
    pub async fn of_endpoint(
        &self,
        ring: &Keyring,
        endpoint: &Endpoint,
    ) -> Result<BTreeMap<String, SecretString>> {
        let mut values = BTreeMap::new();
        for (_, name) in endpoint.keys() {
            values.insert(name.to_owned(), self.open(ring, name).await?);
        }
        Ok(values)
    }

    /// Checks that a key could be opened. It writes nothing: a key that is only
    /// checked is not used.
    ///
    /// # Errors
    /// As [`Keys::open`].
    pub async fn check(&self, ring: &Keyring, name: &str) -> Result<()> {
        self.unseal(ring, name).await.map(drop)
    }

    async fn unseal(&self, ring: &Keyring, name: &str) -> Result<SecretString> {
        let mut key = self.sealed_key(ring, name).await?;
        let master = loop {
            match self.secrets().find(&key.master) {
                Ok(master) => break master,
                Err(error) => {
                    // The master key was rotated between the two reads, unless
                    // nothing has changed.
                    let now = self.sealed_key(ring, name).await?;
                    if now.master == key.master {
                        return Err(error);
                    }
                    key = now;
                }
            }
        };
        let value = master.open(&ring.full_name(name), &key.sealed);
        value.ok_or_else(|| damaged(ring, name))
    }

    /// The master key to seal with; `keys` keeps others from sealing meanwhile.
    pub fn master_of(&self, keys: &KeysAlone) -> Result<MasterKey> {
        match keys.master() {
            Some(id) => self.secrets().find(id),
            None => self.secrets().any(),
        }
    }

    pub async fn has(&self, ring: &Keyring, name: &str) -> Result<bool> {
        Ok(self.store.sealed_key(ring, name).await?.is_some())
    }

    async fn sealed_key(&self, ring: &Keyring, name: &str) -> Result<SealedKey> {
        let key = self.store.sealed_key(ring, name).await?;
        key.ok_or_else(|| Error::Invalid(missing(ring, name)))
    }

    pub fn secrets(&self) -> Secrets {
        Secrets::new(self.secret.clone(), &self.data)
    }
}

pub fn missing(ring: &Keyring, name: &str) -> String {
    match ring {
        Keyring::Operator => {
            format!("there is no key `{name}`; `swe-ci key set {name}` stores one")
        }
        Keyring::Account(_) => {
            format!("you have no key `{name}`; store it on the page /keys")
        }
        Keyring::Webhooks => {
            format!("the webhook {name} has no signing key; its owner can add it again")
        }
    }
}

pub fn damaged(ring: &Keyring, name: &str) -> Error {
    let advice = match ring {
        Keyring::Operator => format!("`swe-ci key set {name}` stores it again"),
        Keyring::Account(_) => "its owner can store it again on the page /keys".into(),
        Keyring::Webhooks => "its owner can add the webhook again".into(),
    };
    Error::Invalid(format!(
        "the stored key `{name}` was damaged or swapped and cannot be opened; {advice}"
    ))
}
