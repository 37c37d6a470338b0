//! The address of a client, also behind proxies that the operator trusts.
//!
//! Anybody can write `X-Forwarded-For`. A trusted proxy appends the address of
//! its own peer, so the entries are true from the right end up to the first
//! that no trusted proxy wrote.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, header};
use axum::middleware::Next;
use axum::response::Response;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The client of a request, in its extensions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientAddress(pub IpAddr);

/// Notes the client's address in the request, if its connection has one.
pub(crate) async fn identify(
    State(proxies): State<TrustedProxies>,
    mut request: Request,
    next: Next,
) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    if let Some(ConnectInfo(peer)) = peer {
        let client = proxies.client(peer.ip(), request.headers());
        request.extensions_mut().insert(ClientAddress(client));
    }
    next.run(request).await
}

/// The proxies whose `X-Forwarded-For` and `Forwarded` are believed. Cheap to
/// clone.
#[derive(Debug, Clone, Default)]
pub struct TrustedProxies(Arc<[Network]>);

impl FromIterator<Network> for TrustedProxies {
    fn from_iter<T: IntoIterator<Item = Network>>(networks: T) -> Self {
        Self(networks.into_iter().collect())
    }
}

impl TrustedProxies {
    /// The client of a request that `peer` sent. If the two headers disagree, a
    /// proxy passed on one that the client wrote, and neither is believed.
    fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let peer = peer.to_canonical();
        if !self.trusts(peer) {
            return peer;
        }
        let values = |name| {
            let lines = headers.get_all(name).into_iter();
            lines.map(|line| line.to_str().unwrap_or_default())
        };
        let by = |entries: Vec<Option<IpAddr>>| {
            (!entries.is_empty()).then(|| self.rightmost_untrusted(peer, &entries))
        };
        let x_forwarded = values(X_FORWARDED_FOR).flat_map(|line| line.split(','));
        let x_forwarded = by(x_forwarded.map(address).collect());
        let forwarded = values(header::FORWARDED).flat_map(|line| line.split(','));
        let forwarded = by(forwarded.map(forwarded_for).collect());
        match (x_forwarded, forwarded) {
            (Some(one), Some(other)) if one != other => peer,
            (one, other) => one.or(other).unwrap_or(peer),
        }
    }

    /// Entries that are no addresses hide what is left of them.
    fn rightmost_untrusted(&self, peer: IpAddr, entries: &[Option<IpAddr>]) -> IpAddr {
        let mut client = peer;
        for entry in entries.iter().rev() {
            let Some(entry) = entry else { break };
            client = *entry;
            if !self.trusts(client) {
                break;
            }
        }
        client
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }
}

/// An address, or a network in CIDR notation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    /// Leading bits that an address has in common with `address`.
    prefix: u32,
}

impl Network {
    fn contains(self, address: IpAddr) -> bool {
        let (own, other, bits) = match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits().into(), other.to_bits().into(), 32)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => (own.to_bits(), other.to_bits(), 128),
            _ => return false,
        };
        // A shift by all 128 bits leaves nothing to compare.
        let differing: u128 = own ^ other;
        differing.checked_shr(bits - self.prefix).unwrap_or(0) == 0
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let must = || {
            format!(
                "`{text}` is neither an address nor a network, such as 10.0.0.7, 10.0.0.0/8 or fd00::/8"
            )
        };
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| must())?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Ok(bits), str::parse).map_err(|_| must())?;
        if prefix > bits {
            return Err(must());
        }
        Ok(Self { address, prefix })
    }
}

/// The address in an entry: alone, or with a port; IPv6 in brackets or not.
fn address(entry: &str) -> Option<IpAddr> {
    let entry = entry.trim();
    let alone = || entry.parse::<IpAddr>().ok();
    let with_port = || Some(entry.parse::<SocketAddr>().ok()?.ip());
    let bracketed = || {
        let inner = entry.strip_prefix('[')?.strip_suffix(']')?;
        Some(IpAddr::V6(inner.parse::<Ipv6Addr>().ok()?))
    };
    let found = alone().or_else(with_port).or_else(bracketed);
    found.map(|address| address.to_canonical())
}

/// The address in an element of `Forwarded` (RFC 7239).
fn forwarded_for(element: &str) -> Option<IpAddr> {
    element.split(';').find_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let own = name.trim().eq_ignore_ascii_case("for");
        own.then(|| value.trim().trim_matches('"'))
            .and_then(address)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rightmost_untrusted_entry_is_the_client() {
        let proxies: TrustedProxies = ["10.0.0.0/8", "127.0.0.1", "fd00::/8"]
            .map(|text| text.parse().unwrap())
            .into_iter()
            .collect();
        let check = |peer: &str, lines: &[(HeaderName, &str)], expect: &str| {
            let mut headers = HeaderMap::new();
            for (name, value) in lines {
                headers.append(name, value.parse().unwrap());
            }
            let found = proxies.client(peer.parse().unwrap(), &headers);
            assert_eq!(found.to_string(), expect, "{peer} {lines:?}");
        };
        let list = |text| (X_FORWARDED_FOR, text);
        let elements = |text| (header::FORWARDED, text);
        // A peer that nobody trusts may write what it wants.
        check("192.0.2.1", &[], "192.0.2.1");
        check("192.0.2.1", &[list("198.51.100.1")], "192.0.2.1");
        check("10.0.0.1", &[], "10.0.0.1");
        check("10.0.0.1", &[list("198.51.100.1")], "198.51.100.1");
        check("::ffff:10.0.0.1", &[list("198.51.100.1")], "198.51.100.1");
        // The client wrote the left one.
        check(
            "10.0.0.1",
            &[list("203.0.113.9, 198.51.100.1")],
            "198.51.100.1",
        );
        check(
            "10.0.0.1",
            &[list("203.0.113.9, 198.51.100.1, 10.0.0.2,127.0.0.1")],
            "198.51.100.1",
        );
        check(
            "10.0.0.1",
            &[list("203.0.113.9"), list("198.51.100.1"), list("10.0.0.2")],
            "198.51.100.1",
        );
        // All trusted: the outermost.
        check("10.0.0.1", &[list("10.0.0.3, 10.0.0.2")], "10.0.0.3");
        check("10.0.0.1", &[list("198.51.100.1:4711")], "198.51.100.1");
        check("10.0.0.1", &[list("[2001:db8::1]:4711")], "2001:db8::1");
        check("10.0.0.1", &[list("[2001:db8::1]")], "2001:db8::1");
        check("fd00::1", &[list("2001:db8::1")], "2001:db8::1");
        check("10.0.0.1", &[list("::ffff:198.51.100.1")], "198.51.100.1");
        // What is no address ends the search.
        for hidden in ["", "unknown", "198.51.100.1, unknown", "198.51.100.1,"] {
            check("10.0.0.1", &[list(hidden)], "10.0.0.1");
        }
        check("10.0.0.1", &[list("unknown, 10.0.0.2")], "10.0.0.2");

        check("10.0.0.1", &[elements("for=198.51.100.1")], "198.51.100.1");
        check(
            "10.0.0.1",
            &[elements(
                "for=203.0.113.9, proto=https;For=\"[2001:db8::1]:4711\";by=10.0.0.1",
            )],
            "2001:db8::1",
        );
        check("10.0.0.1", &[elements("for=_hidden")], "10.0.0.1");
        check("10.0.0.1", &[elements("proto=https")], "10.0.0.1");
        check(
            "10.0.0.1",
            &[list("198.51.100.1"), elements("for=198.51.100.1")],
            "198.51.100.1",
        );
        check(
            "10.0.0.1",
            &[list("198.51.100.1"), elements("for=203.0.113.9")],
            "10.0.0.1",
        );
    }

    #[test]
    fn without_proxies_the_peer_is_the_client() {
        let mut headers = HeaderMap::new();
        headers.append(X_FORWARDED_FOR, "198.51.100.1".parse().unwrap());
        let peer: IpAddr = "10.0.0.1".parse().unwrap();
        assert_eq!(TrustedProxies::default().client(peer, &headers), peer);
    }

    #[test]
    fn networks() {
        let check = |network: &str, address: &str, expect: bool| {
            let network: Network = network.parse().unwrap();
            assert_eq!(
                network.contains(address.parse().unwrap()),
                expect,
                "{address}"
            );
        };
        check("10.1.2.3", "10.1.2.3", true);
        check("10.1.2.3", "10.1.2.4", false);
        check("10.1.2.3/8", "10.255.0.1", true);
        check("10.0.0.0/8", "11.0.0.1", false);
        check("10.0.0.0/8", "::ffff:10.0.0.1", false);
        check("192.168.4.0/22", "192.168.7.255", true);
        check("192.168.4.0/22", "192.168.8.0", false);
        check("0.0.0.0/0", "198.51.100.1", true);
        check("::/0", "2001:db8::1", true);
        check("::/0", "198.51.100.1", false);
        check("fd00::/8", "fdff::1", true);
        check("::1", "::1", true);
        for wrong in [
            "",
            "10.0.0",
            "10.0.0.0/33",
            "::/129",
            "10.0.0.0/",
            "10.0.0.0/-1",
            "proxy",
        ] {
            let says = wrong.parse::<Network>().unwrap_err();
            assert!(says.contains("10.0.0.0/8"), "{says}");
        }
    }
}
