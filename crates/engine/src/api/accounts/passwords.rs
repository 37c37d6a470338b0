//! Passwords: hashed slowly, and never many at once.

use std::sync::Arc;

use anyhow::anyhow;
use argon2::password_hash::Error as HashError;
use argon2::{Argon2, Params, PasswordHasher, PasswordVerifier};
use secrecy::{ExposeSecret, SecretString};
use swe_ci_base::blocking::blocking;
use tokio::sync::Semaphore;

/// OWASP's recommendation for argon2id: 19 MiB, two passes.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Concurrent hashes, so that many sign-ins at once cannot exhaust memory and
/// processors.
const CONCURRENT: usize = 2;

/// A hash that no password has, at the same cost as all others: verified when
/// there is no account, so that the time discloses nothing.
const UNKNOWN_ACCOUNT_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$c3dlLWNpIG5vYm9keSEhIQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Hashes passwords and verifies them. Cheap to clone; clones share the
/// permits.
#[derive(Debug, Clone)]
pub struct Passwords(Arc<Semaphore>);

impl Default for Passwords {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(CONCURRENT)))
    }
}

impl Passwords {
    /// A hash with its own salt, in the PHC string format.
    pub async fn hash(&self, password: &SecretString) -> anyhow::Result<String> {
        let password = password.clone();
        let hash = move || {
            let hashed = argon2()?.hash_password(password.expose_secret().as_bytes());
            let hashed = hashed.map_err(|e| anyhow!("the password cannot be hashed: {e}"))?;
            Ok(hashed.to_string())
        };
        self.with_permit(hash).await
    }

    /// Whether the password matches the hash; without a hash it does not, after
    /// the same time.
    pub async fn verify(
        &self,
        password: &SecretString,
        hash: Option<String>,
    ) -> anyhow::Result<bool> {
        let password = password.clone();
        let verify = move || {
            let hash = hash.as_deref().unwrap_or(UNKNOWN_ACCOUNT_HASH);
            match argon2()?.verify_password(password.expose_secret().as_bytes(), hash) {
                Ok(()) => Ok(true),
                Err(HashError::PasswordInvalid) => Ok(false),
                Err(e) => Err(anyhow!("a password hash in the database is invalid: {e}")),
            }
        };
        self.with_permit(verify).await
    }

    /// Holds the permit until the work is done, even if the caller has gone.
    async fn with_permit<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let permit = self.0.clone().acquire_owned().await?;
        blocking(move || {
            let done = work();
            drop(permit);
            done
        })
        .await
    }
}

fn argon2() -> anyhow::Result<Argon2<'static>> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None);
    params
        .map(Argon2::from)
        .map_err(|e| anyhow!("argon2 rejects its parameters: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_password_has_its_hash() {
        let passwords = Passwords::default();
        let right = SecretString::from("correct horse battery");
        let hash = passwords.hash(&right).await.unwrap();
        assert!(
            hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{hash}"
        );
        assert_ne!(hash, passwords.hash(&right).await.unwrap(), "salted");
        let check = async |password: &str, hash: Option<&str>, expect: Option<bool>| {
            let given = SecretString::from(password);
            let found = passwords.verify(&given, hash.map(str::to_owned)).await;
            assert_eq!(found.ok(), expect, "{password} {hash:?}");
        };
        check("correct horse battery", Some(&hash), Some(true)).await;
        check("correct horse batterY", Some(&hash), Some(false)).await;
        check("", Some(&hash), Some(false)).await;
        check("correct horse battery", None, Some(false)).await;
        check("", None, Some(false)).await;
        check("correct horse battery", Some("nonsense"), None).await;
    }

    #[tokio::test]
    async fn the_hash_of_unknown_accounts_costs_the_same() {
        let hash = Passwords::default().hash(&"0123456789".into()).await;
        let cost = |hash: &str| {
            hash.split('$')
                .take(4)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(cost(UNKNOWN_ACCOUNT_HASH), cost(&hash.unwrap()));
    }
}
