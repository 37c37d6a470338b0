//! The links of invitations.

use std::net::SocketAddr;

use secrecy::{ExposeSecret, SecretString};

/// The link of an invitation, on a site at this origin.
pub(crate) fn invitation_link(origin: &str, secret: &SecretString) -> SecretString {
    format!("{origin}/invitation/{}", secret.expose_secret()).into()
}

/// The address at which a browser on this machine reaches the server.
pub(crate) fn local(address: SocketAddr) -> String {
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
