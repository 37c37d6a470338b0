//! Keys of providers: set, listed, removed, never shown. They belong to
//! accounts, or to the operator.

use secrecy::{ExposeSecret, SecretString};
use swe_ci_base::error::{Error, Result};
use swe_ci_core::permissions::Keyring;
use swe_ci_core::provider_key::KeyView;
use swe_ci_core::task::is_plain_name;
use swe_ci_runner::key_encryption::MasterKey;
use swe_ci_views::account::{AccountRole, Actor};

use crate::Engine;

#[swe_ci_boxed::boxed]
impl Engine {
    /// The actor's own keyring.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] and [`Error::Forbidden`] for actors that
    /// submit no runs, and so need no keys.
    pub(crate) fn own_keyring(&self) -> Result<Keyring> {
        self.require(AccountRole::Submitter)?;
        match self.by() {
            Actor::Account(who) => Ok(Keyring::Account(who.account_id.clone())),
            Actor::Operator => Ok(Keyring::Operator),
            Actor::Visitor => Err(Error::Unauthenticated("sign in first".into())),
        }
    }

    /// Stores a key of the actor under a name, and replaces any key of that
    /// name.
    ///
    /// # Errors
    /// As [`Engine::own_keyring`]; [`Error::Invalid`] when name or value is
    /// invalid, or the master key is not the one that sealed the other keys.
    pub async fn set_key(&self, name: &str, value: &SecretString) -> Result<()> {
        let ring = self.own_keyring()?;
        check_name(name)?;
        let value = header_value(value)?;
        let mut keys = self.store.keys_alone().await?;
        let master = self.keys.master_of(&keys)?;
        let sealed = master.seal(&ring.full_name(name), &value)?;
        keys.put(&ring, name, &sealed).await?;
        keys.note(self.by(), "key.set", name).await?;
        keys.commit(master.id()).await
    }

    /// The keys that the actor's runs may use, by name: its own and, for
    /// administrators, the operator's after them.
    pub async fn key_names(&self) -> Result<Vec<KeyView>> {
        let mut keys = Vec::new();
        let own = self.own_keyring()?;
        for ring in self.keyrings()? {
            let rows = self.store.keys(&ring).await?;
            let own = ring == own;
            keys.extend(rows.into_iter().map(|key| KeyView { own, ..key }));
        }
        Ok(keys)
    }

    /// The keyrings that the actor's runs may use, its own first.
    pub(crate) fn keyrings(&self) -> Result<Vec<Keyring>> {
        let own = self.own_keyring()?;
        let shared = self.by().is(AccountRole::Admin) && own != Keyring::Operator;
        let shared = shared.then_some(Keyring::Operator);
        Ok([own].into_iter().chain(shared).collect())
    }

    /// Removes a key of the actor. One that runs still need only when `forced`.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none, [`Error::Conflict`] naming the
    /// runs that need it.
    pub async fn remove_key(&self, name: &str, forced: bool) -> Result<()> {
        let ring = self.own_keyring()?;
        let mut runs = self.store.unfinished_runs_with(&ring).await?;
        runs.retain(|(_, config)| config.keys().iter().any(|key| key == name));
        let needing: Vec<String> = runs.into_iter().map(|(id, _)| id).collect();
        if !needing.is_empty() && !forced {
            return Err(Error::Conflict(format!(
                "queued or running runs need the key `{name}`: {}",
                needing.join(", ")
            )));
        }
        self.store.remove_key(&ring, name, self.by()).await
    }

    /// Seals all keys with another master key: with `new` if the operator keeps
    /// it in the environment, else with a new one in the data folder. If the
    /// process is killed at any moment, all keys still open with the old or the
    /// new one. Returns the new master key's id and the number of keys.
    ///
    /// # Errors
    /// [`Error::Forbidden`] for all but administrators; [`Error::Invalid`] when
    /// the present master key is missing, or `new` is invalid.
    pub async fn rotate_secret(&self, new: Option<&SecretString>) -> Result<(String, usize)> {
        self.require(AccountRole::Admin)?;
        let secrets = self.keys.secrets();
        let mut keys = self.store.keys_alone().await?;
        // Read before a new one is created: without it nothing may change.
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
                let value =
                    value.ok_or_else(|| swe_ci_runner::provider_keys::damaged(ring, name))?;
                let sealed = new.seal(&full_name, &value)?;
                keys.reseal(ring, name, &sealed).await?;
            }
        }
        keys.note(self.by(), "key.rotate", new.id()).await?;
        keys.commit(new.id()).await?;
        // Removes all but the present master key from the file. The lock
        // excludes rotations, so the database names the present one.
        let keys = self.store.keys_alone().await?;
        let present = keys.master().unwrap_or(new.id());
        self.keys.secrets().keep_only(present)?;
        Ok((new.id().to_owned(), all.len()))
    }
}

pub(crate) fn check_name(name: &str) -> Result<()> {
    match is_plain_name(name) {
        true => Ok(()),
        false => Err(Error::Invalid(
            "a key's name has 1 to 200 letters, digits, `.`, `_` and `-`, and no `.` first".into(),
        )),
    }
}

/// Without the line end of files and pipes; the rest must fit into a header.
pub(crate) fn header_value(value: &SecretString) -> Result<SecretString> {
    let value = value.expose_secret().trim_end_matches(['\r', '\n']);
    let fits = (1..=4_096).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_graphic());
    match fits {
        true => Ok(value.into()),
        false => Err(Error::Invalid(
            "a key has 1 to 4,096 visible ASCII characters, without spaces, on one line".into(),
        )),
    }
}

#[cfg(test)]
mod tests;
