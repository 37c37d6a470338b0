//! The network of image builds: its settings, taken from the host's.

use std::path::{Path, PathBuf};

use anyhow::Context;

/// The engine's own network, from which containers reach what is outside this
/// machine.
const BRIDGE: &str = "bridge";
/// The network of the host, with services that listen only there.
const HOST: &str = "host";
/// Settings that the engine passes to `RUN` lines by itself, in either case,
/// and keeps out of an image's history.
const PROXIES: [&str; 4] = ["http_proxy", "https_proxy", "ftp_proxy", "no_proxy"];

const CA_BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The host's CA bundle, if it is in one of the common places.
pub fn usual_ca_bundle() -> Option<PathBuf> {
    CA_BUNDLES
        .map(PathBuf::from)
        .into_iter()
        .find(|path| path.is_file())
}

/// The host's network settings that image builds may use.
#[derive(Debug, Clone, Default)]
pub struct BuildNetwork {
    /// Proxies and package registries, passed as build arguments; no container
    /// has them. An image's history contains all but the proxies.
    pub env: Vec<(String, String)>,
    /// The host's CA bundle, used only during the build. Containers do not see
    /// it, but a lower layer of the image contains it; certificates are public.
    pub ca_bundle: Option<Vec<u8>>,
    /// Name of the engine's network for builds; chosen by `env` when absent.
    pub name: Option<String>,
}

impl BuildNetwork {
    /// With the CA bundle of this file.
    pub fn read(env: Vec<(String, String)>, ca_bundle: Option<&Path>) -> anyhow::Result<Self> {
        let read = |path: &Path| {
            std::fs::read(path)
                .with_context(|| format!("cannot read the CA bundle {}", path.display()))
        };
        let ca_bundle = ca_bundle.map(read).transpose()?;
        Ok(Self {
            env,
            ca_bundle,
            name: None,
        })
    }

    /// The network of a build. Proxies and registries of this machine itself are
    /// reached only from the host's own network; `apart` is never put there.
    pub(super) fn mode(&self, apart: bool) -> &str {
        let local = || {
            let mut passed = self.split().0.into_iter();
            passed.any(|(name, value)| !is_exception(name) && names_this_machine(value))
        };
        match self.name.as_deref() {
            Some(HOST) | None if apart => BRIDGE,
            Some(name) => name,
            None if local() => HOST,
            None => BRIDGE,
        }
    }

    /// The variables to pass on, and the ones that would put a password into an
    /// image.
    pub(super) fn split(&self) -> (Vec<Variable<'_>>, Vec<Variable<'_>>) {
        let variables = self.env.iter().map(|(k, v)| (k.as_str(), v.as_str()));
        variables.partition(|(name, value)| is_proxy(name) || !names_a_user(value))
    }
}

pub(super) type Variable<'a> = (&'a str, &'a str);

pub(super) fn is_proxy(name: &str) -> bool {
    PROXIES.iter().any(|proxy| proxy.eq_ignore_ascii_case(name))
}

/// Whether an address in the value has a user part before the host.
pub fn names_a_user(value: &str) -> bool {
    value.split_whitespace().any(|address| {
        let rest = address.split_once("://").map(|(_, rest)| rest);
        let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
        authority.is_some_and(|authority| authority.contains('@'))
    })
}

/// Whether a variable lists hosts that are reached without a proxy.
fn is_exception(name: &str) -> bool {
    name.eq_ignore_ascii_case("no_proxy")
}

/// Whether an address in the value is one of this machine's loopback interface.
fn names_this_machine(value: &str) -> bool {
    value.split_whitespace().any(|address| {
        let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority
            .rsplit_once('@')
            .map_or(authority, |(_, host)| host);
        host.starts_with("localhost") || host.starts_with("127.") || host.starts_with("[::1]")
    })
}

#[cfg(test)]
mod tests {
    use swe_ci_base::code::CodeTree;

    use super::super::context;
    use super::*;

    #[test]
    fn registries_are_declared_and_passwords_withheld() {
        let check = |name: &str, value: &str, expect: &str| {
            let network = BuildNetwork {
                env: vec![(name.into(), value.into())],
                ..BuildNetwork::default()
            };
            let passed = !network.split().0.is_empty();
            let files = context("base", &["RUN a"], CodeTree::default(), &network);
            let text = std::str::from_utf8(files.file("Dockerfile").unwrap()).unwrap();
            let declared = text.contains(&format!("\nARG {name}\n"));
            assert_eq!(
                (passed, declared),
                (expect != "withheld", expect == "declared"),
                "{name}"
            );
        };
        check("PIP_INDEX_URL", "https://mirror/simple", "declared");
        check("PIP_TRUSTED_HOST", "mirror", "declared");
        check("PIP_INDEX_URL", "https://u:p@mirror/simple", "withheld");
        check("PIP_EXTRA_INDEX_URL", "https://a https://p@b/", "withheld");
        check("npm_config_registry", "https://mirror/@scope/", "declared");
        check("HTTPS_PROXY", "http://u:p@proxy:1", "passed");
    }

    #[test]
    fn builds_stay_out_of_the_hosts_network_where_they_can() {
        let check = |env: &[(&str, &str)], name: Option<&str>, expect: [&str; 2]| {
            let env = env.iter().map(|(k, v)| ((*k).into(), (*v).into()));
            let network = BuildNetwork {
                env: env.collect(),
                name: name.map(str::to_owned),
                ..BuildNetwork::default()
            };
            let found = [network.mode(false), network.mode(true)];
            assert_eq!(found, expect, "{network:?}");
        };
        let far = ("https_proxy", "http://proxy.example.org:3128");
        let near = ("HTTPS_PROXY", "http://localhost:3128");
        check(&[], None, [BRIDGE, BRIDGE]);
        check(&[far], None, [BRIDGE, BRIDGE]);
        check(&[far, near], None, [HOST, BRIDGE]);
        check(&[("http_proxy", "127.0.0.1:3128")], None, [HOST, BRIDGE]);
        check(
            &[("http_proxy", "http://u:p@[::1]:1")],
            None,
            [HOST, BRIDGE],
        );
        check(
            &[("PIP_EXTRA_INDEX_URL", "https://a http://127.0.0.2/simple")],
            None,
            [HOST, BRIDGE],
        );
        check(
            &[("no_proxy", "localhost,127.0.0.1")],
            None,
            [BRIDGE, BRIDGE],
        );
        check(&[near], Some(BRIDGE), [BRIDGE, BRIDGE]);
        check(&[far], Some(HOST), [HOST, BRIDGE]);
        check(&[near], Some("builds"), ["builds", "builds"]);
    }
}
