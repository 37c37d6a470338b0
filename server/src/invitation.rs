//! The links of invitations, and the first administrator's.

use std::net::SocketAddr;

use secrecy::{ExposeSecret, SecretString};
use swe_ci_app::PublicUrl;
use swe_ci_engine::{Engine, Result};

/// The link to create the first administrator's account; `None` once there is
/// an account. Each start creates a new link and invalidates the previous one.
///
/// # Errors
/// `Internal` when the accounts cannot be read.
pub(crate) async fn first_link(
    engine: &Engine,
    public_url: Option<&PublicUrl>,
    address: SocketAddr,
) -> Result<Option<SecretString>> {
    let Some(secret) = engine.first_invitation().await? else {
        return Ok(None);
    };
    let origin = public_url.map_or_else(|| local(address), |url| url.as_str().to_owned());
    Ok(Some(invitation_link(&origin, &secret)))
}

/// The link of an invitation, on a site at this origin.
pub(crate) fn invitation_link(origin: &str, secret: &SecretString) -> SecretString {
    format!("{origin}/invitation/{}", secret.expose_secret()).into()
}

/// The address at which a browser on this machine reaches the server.
fn local(address: SocketAddr) -> String {
    match address.ip().is_unspecified() {
        true => format!("http://localhost:{}", address.port()),
        false => format!("http://{address}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_browser_goes() {
        let check = |address: &str, expect: &str| {
            assert_eq!(local(address.parse().unwrap()), expect);
        };
        check("127.0.0.1:3000", "http://127.0.0.1:3000");
        check("0.0.0.0:8080", "http://localhost:8080");
        check("[::]:8080", "http://localhost:8080");
        check("[::1]:8080", "http://[::1]:8080");
    }
}
