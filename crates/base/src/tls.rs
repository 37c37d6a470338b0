//! TLS has one provider of cryptography in the whole process: ring.

/// Makes the start of an HTTP client. All clients begin here, because
/// `reqwest` panics in a process without a provider of cryptography.
pub fn http_client() -> reqwest::ClientBuilder {
    use_ring();
    #[expect(
        clippy::disallowed_methods,
        reason = "here the provider is there for certain"
    )]
    reqwest::Client::builder()
}

/// Makes ring the provider of this process, for clients that other crates build.
pub fn use_ring() {
    // Fails if a provider was chosen before, by an earlier call.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_can_be_built_again_and_again() {
        for _ in 0..2 {
            http_client().build().unwrap();
        }
    }
}
