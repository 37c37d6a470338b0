//! Restricts the addresses that accounts can make this machine connect to
//! (protection against server-side request forgery): only public ones.
//!
//! [`refused_by_name`] checks the text of an address when a run is submitted.
//! [`PublicNames`] checks the resolved addresses at every connection, since DNS
//! can change in between.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{ClientBuilder, Url};
use swe_ci_core::permissions::Reach;

/// The host is not public.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{0}` is this machine or in a private network; the operator can allow such endpoints (--allow-private-endpoints)"
)]
pub(super) struct NotPublic(String);

/// Why a URL cannot be an endpoint, judged by its text alone. Another check
/// rejects other texts that are not URLs.
pub fn refused_by_name(url: &str) -> Option<String> {
    if let Some(why) = ambiguous(url) {
        return Some(why.to_owned());
    }
    let url = Url::parse(url).ok()?;
    let local = |host: &str| {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        ["localhost", "local", "internal"]
            .iter()
            .any(|zone| host == *zone || host.ends_with(&format!(".{zone}")))
    };
    let by_name = url.host_str().filter(|host| local(host));
    let by_name = by_name.map(|host| NotPublic(host.to_owned()));
    let refusal = by_name.or_else(|| refused_literal(&url))?;
    Some(refusal.to_string())
}

/// Why two programs may read a URL in different ways: one that checks it, and
/// one that connects.
fn ambiguous(url: &str) -> Option<&'static str> {
    // The URL standard removes tabs and line ends; others end the line there.
    if url.chars().any(char::is_control) {
        return Some("the address has a line end or another control character; write it again");
    }
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    (host.starts_with('[') && host.contains('%')).then_some(
        "the address names a network interface of this machine (`%` in an IPv6 address); write it without",
    )
}

/// Refuses a host that is an IP address, in any notation of the URL standard: no
/// resolver sees those.
pub(super) fn refused_literal(url: &Url) -> Option<NotPublic> {
    let host = url.host_str()?;
    let ip: IpAddr = host.trim_matches(['[', ']']).parse().ok()?;
    (!is_allowed(ip)).then(|| NotPublic(host.to_owned()))
}

/// Makes a client connect only within `reach`. Callers must check IP addresses
/// themselves ([`refused_by_name`]): the client does not resolve those.
pub fn client_within(reach: Reach, client: ClientBuilder) -> ClientBuilder {
    match reach {
        Reach::Anywhere => client,
        // A proxy would resolve names itself, unchecked.
        Reach::Public => client.no_proxy().dns_resolver(PublicNames),
    }
}

/// The refusal that made a request fail, if one did.
pub fn refusal(error: &reqwest::Error) -> Option<String> {
    let mut causes = anyhow::Chain::new(error);
    causes.find_map(|cause| Some(cause.downcast_ref::<NotPublic>()?.to_string()))
}

/// Resolves names as the system does, and refuses names with an address that is
/// not public.
#[derive(Debug, Clone, Copy)]
struct PublicNames;

impl Resolve for PublicNames {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let host = name.as_str();
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host, 0)).await?.collect();
            // One private address is enough: the client may pick any of them.
            if found.iter().all(|address| is_allowed(address.ip())) {
                Ok(Box::new(found.into_iter()) as Addrs)
            } else {
                Err(NotPublic(host.to_owned()).into())
            }
        })
    }
}

fn is_allowed(ip: IpAddr) -> bool {
    is_public(ip) && !is_own(ip)
}

/// Whether this machine has the address: only then can it bind to it.
fn is_own(ip: IpAddr) -> bool {
    UdpSocket::bind((ip, 0)).is_ok()
}

/// Whether an address is public (by IANA's registries of special-purpose
/// addresses). An IPv6 address that embeds an IPv4 address counts as the latter.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => match embedded_v4(ip) {
            Some(inner) => is_public_v4(inner),
            // Only 2000::/3 is allocated for public use.
            None => ip.segments()[0] & 0xe000 == 0x2000 && !is_special_v6(ip),
        },
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let special = ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_documentation()
        || a == 0
        || a >= 224
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (18..20).contains(&b))
        || (a == 192 && b == 0 && c == 0);
    !special
}

/// Protocol assignments (with Teredo) and documentation.
fn is_special_v6(ip: Ipv6Addr) -> bool {
    let [a, b, ..] = ip.segments();
    (a == 0x2001 && (b < 0x200 || b == 0xdb8)) || (a == 0x3fff && b < 0x1000)
}

/// The IPv4 address in addresses that are mapped (`::ffff:0:0/96`), compatible (`::/96`),
/// translated (`64:ff9b::/96`, `64:ff9b:1::/48`) or tunnelled (`2002::/16`).
fn embedded_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = ip.segments();
    let v4 = |high: u16, low: u16| {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        Ipv4Addr::new(a, b, c, d)
    };
    match s {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => Some(v4(high, low)),
        [0x64, 0xff9b, 0 | 1, _, _, _, high, low] => Some(v4(high, low)),
        [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_open_internet() {
        let check = |address: &str, expect: bool| {
            assert_eq!(is_public(address.parse().unwrap()), expect, "{address}");
        };
        for public in [
            "1.1.1.1",
            "100.63.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.20.0.1",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "64:ff9b::8.8.8.8",
            "::ffff:8.8.8.8",
        ] {
            check(public, true);
        }
        for special in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.169.254",
            "172.16.0.1",
            "192.0.0.170",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::169.254.169.254",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "ff02::1",
        ] {
            check(special, false);
        }
    }

    #[test]
    fn urls_refused_by_their_text() {
        let check = |url: &str, refused: bool| {
            let found = refused_by_name(url);
            assert_eq!(found.is_some(), refused, "{url} → {found:?}");
        };
        check("https://api.example.org/v1", false);
        check("https://1.1.1.1/v1", false);
        check("https://localhost.example.org/v1", false);
        // Not a URL: another check.
        check("api.example.org", false);
        for odd in [
            "http://[fe80::1%25eth0]/v1",
            "http://[fe80::1%eth0]:8080/v1",
            "http://[2606:4700::1111%251]/v1",
            "http://user@[fe80::1%25eth0]/v1",
            "https://api.example.org/v1\r\nx-evil: 1",
            "https://api.exam\nple.org/v1",
            "https://api.example.org/v1\t",
            "https://api.example.org\0.internal/v1",
            "https://api.example.org/\u{7f}",
            "https://api.example.org/\u{85}",
        ] {
            check(odd, true);
        }
        check("https://api.example.org/a%20b/[x%25]", false);
        for local in [
            "http://localhost:8080/v1",
            "http://LOCALHOST./v1",
            "http://llm.localhost/v1",
            "http://metadata.google.internal/v1",
            "http://printer.local/v1",
            "http://127.0.0.1/v1",
            "http://127.1/v1",
            "http://0x7f000001/v1",
            "http://2130706433/v1",
            "http://0177.0.0.1/v1",
            "http://169.254.169.254/latest",
            "http://[::1]:3000/v1",
            "http://[::ffff:127.0.0.1]/v1",
            "http://10.0.0.7/v1",
        ] {
            check(local, true);
        }
    }

    #[tokio::test]
    async fn names_are_refused_by_their_addresses() {
        let resolved = PublicNames.resolve("localhost".parse().unwrap()).await;
        let refused = resolved.err().unwrap();
        assert!(refused.is::<NotPublic>(), "{refused}");
        // The machine's own addresses, including loopback.
        assert!(is_own(Ipv4Addr::LOCALHOST.into()));
        assert!(!is_own(Ipv4Addr::new(1, 1, 1, 1).into()));
    }
}
