//! Secrets of links, tokens and sessions: random, and stored as digests.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use secrecy::SecretString;
use swe_ci_base::digest::sha256_hex;

/// A secret of 256 random bits after `prefix`, in URL-safe characters.
pub fn random(prefix: &str) -> anyhow::Result<SecretString> {
    let text = BASE64_URL_SAFE_NO_PAD.encode(crate::random::<32>()?);
    Ok(format!("{prefix}{text}").into())
}

/// The stored form of a secret. Secrets have too many bits to guess, so the
/// digest need not be slow.
pub fn digest(secret: &str) -> String {
    sha256_hex(secret.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    #[test]
    fn secrets_fit_into_addresses_and_differ() {
        let [one, other] = [(); 2].map(|()| random("x_").unwrap());
        let text = one.expose_secret();
        assert_eq!(text.len(), 2 + 43);
        assert!(
            text.bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
        );
        assert_ne!(text, other.expose_secret());
        assert!(!format!("{one:?}").contains(text));
        let stored = digest("abc");
        assert!(
            stored.starts_with("ba7816bf") && stored.len() == 64,
            "{stored}"
        );
    }
}
