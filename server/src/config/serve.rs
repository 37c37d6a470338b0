//! The configuration of `serve`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use secrecy::{ExposeSecret, SecretString};
use swe_ci_app::PublicUrl;
use swe_ci_core::labels::Labels;
use swe_ci_engine::{Mailer, SnapshotEvery};
use url::Url;

use super::environment::Environment;
use super::number;
use crate::client_address::{Network, TrustedProxies};
use crate::identity_providers::{self, Providers};

/// Options of `serve`.
#[derive(Debug, Clone, Args)]
#[command(mut_args(|arg| arg.hide_env_values(true)))]
pub struct ServeOptions {
    /// Address and port to listen on
    #[arg(
        long,
        env = "SWE_CI_LISTEN",
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:3000",
        value_parser = listen_address
    )]
    pub listen: SocketAddr,

    /// Folder of the built site; when absent the site that the program carries,
    /// else `site` next to the program or to its folder, else target/site
    #[arg(long, env = "SWE_CI_SITE", value_name = "FOLDER")]
    site: Option<PathBuf>,

    /// Evolutions to run at the same time, 0 to 256; with 0 the server only
    /// shows results and another process does the work. Half the processors
    /// when absent
    #[arg(
        long,
        env = "SWE_CI_WORKERS",
        value_name = "N",
        value_parser = number(0..=256, "SWE_CI_WORKERS")
    )]
    workers: Option<u16>,

    /// What is special about this machine, such as `arch=amd64,gpu=yes`: its
    /// workers also take runs that need some of these labels
    #[arg(
        long,
        env = "SWE_CI_LABELS",
        value_name = "NAME=VALUE,…",
        default_value = ""
    )]
    pub labels: Labels,

    /// The site's public URL, such as https://bench.example.org, for previews,
    /// search engines, feeds and citations
    #[arg(long, env = "SWE_CI_PUBLIC_URL", value_name = "URL", value_parser = public_url)]
    public_url: Option<OrNone<PublicUrl>>,

    /// Proxies in front of this server, as addresses or networks such as
    /// 10.0.0.0/8, separated by commas: their `X-Forwarded-For` or `Forwarded`
    /// names the client, whose attempts to sign in are limited
    #[arg(
        long,
        env = "SWE_CI_TRUSTED_PROXIES",
        value_name = "LIST",
        value_parser = trusted_proxies
    )]
    trusted_proxies: Option<TrustedProxies>,

    /// TOML file of the sign-in providers: GitHub, and those that speak OpenID
    /// Connect. It requires --public-url; docs/accounts.md shows one
    #[arg(long, env = "SWE_CI_SIGN_IN_PROVIDERS", value_name = "FILE")]
    sign_in_providers: Option<PathBuf>,

    /// Whether everybody may see the site; with `no`, visitors get only the
    /// sign-in page
    #[arg(long, env = "SWE_CI_PUBLIC", value_name = "YES|NO", value_enum, default_value_t = YesNo::Yes)]
    public: YesNo,

    /// The same as `--public no`
    #[arg(long)]
    closed: bool,

    /// Let runs of all accounts have endpoints on this machine and in private
    /// networks; those of administrators may anyway
    #[arg(
        long,
        env = "SWE_CI_ALLOW_PRIVATE_ENDPOINTS",
        value_parser = clap::builder::FalseyValueParser::new()
    )]
    pub allow_private_endpoints: bool,

    /// Whether to audit evolutions as they end: tests that pass are run with
    /// contradicting expectations. A run takes no rank before
    #[arg(long, env = "SWE_CI_AUDIT", value_name = "YES|NO", value_enum, default_value_t = YesNo::Yes)]
    audit: YesNo,

    /// Whether to measure the code style of evolutions as they end; needs
    /// `--workers`, and the style tools from the package index
    #[arg(long, env = "SWE_CI_CODE_STYLE", value_name = "YES|NO", value_enum, default_value_t = YesNo::Yes)]
    code_style: YesNo,

    /// Mail server for notifications about runs, such as
    /// smtps://USER:PASSWORD@mail.example.org; without it the server sends no
    /// mails
    #[arg(long, env = "SWE_CI_SMTP_URL", value_name = "URL")]
    smtp_url: Option<SecretString>,

    /// Sender of mails, such as swe-ci@example.org
    #[arg(long, env = "SWE_CI_MAIL_FROM", value_name = "ADDRESS")]
    mail_from: Option<String>,

    /// How often to make snapshots of the leaderboards that have changed since the
    /// last one
    #[arg(
        long,
        env = "SWE_CI_SNAPSHOT_EVERY",
        value_name = "PERIOD",
        default_value = "off",
        value_parser = PossibleValuesParser::new(["off"].into_iter().chain(SnapshotEvery::ALL.map(SnapshotEvery::name)))
    )]
    snapshot_every: String,

    /// Import the demo split and queue the human baseline, unless that run exists
    #[arg(long)]
    pub demo: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum YesNo {
    Yes,
    No,
}

impl ServeOptions {
    /// The number of evolutions to run at the same time.
    pub fn workers(&self) -> usize {
        self.workers.map_or_else(default_workers, usize::from)
    }

    pub fn audit(&self) -> bool {
        self.audit == YesNo::Yes
    }

    /// Whether to measure code style.
    pub fn measure_style(&self) -> bool {
        self.code_style == YesNo::Yes
    }

    /// How often to make snapshots, if at all.
    pub fn snapshot_every(&self) -> Option<SnapshotEvery> {
        SnapshotEvery::from_name(&self.snapshot_every)
    }

    /// Whether visitors see only the sign-in page.
    pub fn closed(&self) -> bool {
        self.closed || self.public == YesNo::No
    }

    /// The mail client, if mails are configured.
    ///
    /// # Errors
    /// A text that names the invalid option, without its value.
    pub fn mailer(&self) -> Result<Option<Mailer>, String> {
        let url = self.smtp_url.as_ref();
        let Some(url) = url.filter(|url| !url.expose_secret().is_empty()) else {
            return Ok(None);
        };
        let from = self.mail_from.as_deref().filter(|from| !from.is_empty());
        let from =
            from.ok_or("mails need a sender; give one with --mail-from or SWE_CI_MAIL_FROM")?;
        Mailer::new(url, from).map(Some).map_err(|wrong| {
            format!("mails cannot be sent (--smtp-url or SWE_CI_SMTP_URL, --mail-from or SWE_CI_MAIL_FROM): {wrong}")
        })
    }

    /// The proxies that tell the client's address.
    pub fn trusted_proxies(&self) -> TrustedProxies {
        self.trusted_proxies.clone().unwrap_or_default()
    }

    /// The folder of the built site, if one is named; it may not exist.
    pub fn site(&self) -> Option<PathBuf> {
        self.site.clone().filter(|p| !p.as_os_str().is_empty())
    }

    /// The sign-in providers; none without a file.
    ///
    /// # Errors
    /// The problem with the file, and its position.
    pub fn providers(&self) -> Result<Providers, String> {
        self.providers_with(&Environment::from_process())
    }

    fn providers_with(&self, environment: &Environment) -> Result<Providers, String> {
        let file = self.sign_in_providers.as_ref();
        let Some(file) = file.filter(|file| !file.as_os_str().is_empty()) else {
            return Ok(Providers::default());
        };
        let wrong = |says: &str| format!("the sign-in providers in {}: {says}", file.display());
        let text = std::fs::read_to_string(file).map_err(|e| wrong(&e.to_string()))?;
        let configs = identity_providers::read(&text, |name| environment.get(name));
        let configs = configs.map_err(|says| wrong(&says))?;
        let site = self.public_url().ok_or_else(|| {
            wrong("they redirect to this site, whose address is unknown; give it with --public-url or SWE_CI_PUBLIC_URL")
        })?;
        Providers::new(configs, &site).map_err(|e| wrong(&format!("{e:#}")))
    }

    /// The site's public URL. Never taken from a request: its sender controls
    /// the `Host` header, and the page cache shows responses to everybody.
    pub fn public_url(&self) -> Option<PublicUrl> {
        self.public_url.clone().and_then(|OrNone(url)| url)
    }
}

/// The value of a variable that may be empty.
#[derive(Debug, Clone)]
struct OrNone<T>(Option<T>);

fn listen_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        "write an IP address and a port with --listen or in SWE_CI_LISTEN, such as 127.0.0.1:3000, \
         0.0.0.0:3000 for every network, or [::1]:3000"
            .to_owned()
    })
}

/// Half the processors, but two on two: an evolution mostly waits for one
/// container, and its test suite uses one processor.
pub(super) fn default_workers() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    (processors / 2).max(processors.min(2))
}

/// Where the site is when no folder is named and the program carries none.
pub fn default_site() -> PathBuf {
    site_of(std::env::current_exe().ok().as_deref())
}

fn site_of(executable: Option<&Path>) -> PathBuf {
    // Cargo builds the program into a folder beside the site's.
    let folders = executable.into_iter().flat_map(Path::ancestors).skip(1);
    let sites = folders.take(2).map(|folder| folder.join("site"));
    let mut sites = sites.filter(|site| site.is_dir());
    sites.next().unwrap_or_else(|| PathBuf::from("target/site"))
}

/// An empty text names none: a variable may be empty.
fn trusted_proxies(text: &str) -> Result<TrustedProxies, String> {
    let given = text.split(',').map(str::trim).filter(|one| !one.is_empty());
    given.map(str::parse::<Network>).collect()
}

/// The site is served only at the root of its host.
fn public_url(text: &str) -> Result<OrNone<PublicUrl>, String> {
    if text.is_empty() {
        return Ok(OrNone(None));
    }
    let must = "write the site's public URL: https:// or http://, a host, and a port if it is not the default, such as https://bench.example.org";
    let url = Url::parse(text).map_err(|e| format!("{e}; {must}"))?;
    let bare = url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    if !["http", "https"].contains(&url.scheme()) || !url.has_host() || !bare {
        return Err(must.to_owned());
    }
    let origin = url.origin().ascii_serialization();
    Ok(OrNone(Some(PublicUrl::new(origin))))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::config::tests::{Line, environment, line};

    #[test]
    fn mails_need_a_server_and_a_sender() {
        let mailer = |args: &[&str]| {
            let line = line(args);
            assert!(!format!("{line:?}").contains("hunter2"));
            line.serve.mailer()
        };
        assert!(mailer(&[]).unwrap().is_none());
        assert!(mailer(&["--smtp-url", ""]).unwrap().is_none());
        let url = ["--smtp-url", "smtps://u:hunter2@mail.example.org"];
        let says = mailer(&url).unwrap_err();
        assert!(says.contains("SWE_CI_MAIL_FROM"), "{says}");
        let from = ["--mail-from", "swe-ci@example.org"];
        let good = mailer(&[url, from].concat()).unwrap();
        assert!(!format!("{good:?}").contains("hunter2"), "{good:?}");
        let bare = ["--smtp-url", "smtp://u:hunter2@mail.example.org"];
        let says = mailer(&[bare, from].concat()).unwrap_err();
        assert!(says.contains("SWE_CI_SMTP_URL") && !says.contains("hunter2"));
    }

    #[test]
    fn bad_values_are_refused() {
        let check = |args: &[&str], expect: &str| {
            let all = [&["swe-ci"], args].concat();
            let message = Line::try_parse_from(all).unwrap_err().to_string();
            assert!(message.contains(expect), "{args:?} → {message}");
        };
        check(&["--workers", "257"], "257 is not in 0..=256");
        check(&["--workers=-1"], "-1 is not in 0..=256");
        check(
            &["--workers", "x"],
            "no whole number in 0..=256; SWE_CI_WORKERS",
        );
        for address in ["localhost:4399", ":4399", "4399", "localhost"] {
            check(&["--listen", address], "such as 127.0.0.1:3000");
        }
        check(&["--log", "swe_ci=loud"], "swe_ci=loud");
        check(&["--public-url", "bench"], "https://bench.example.org");
        check(
            &["--public-url", "https://h/x"],
            "https://bench.example.org",
        );
        check(&["--trusted-proxies", "10.0.0.1,x"], "`x` is neither");
        check(&["--log-format", "xml"], "possible values: text, json");
    }

    #[test]
    fn the_public_url_is_a_scheme_a_host_and_a_port() {
        let check = |given: &str, expect: Option<&str>| {
            let line = Line::try_parse_from(["swe-ci", "--public-url", given]);
            let found = line.ok().and_then(|line| line.serve.public_url());
            assert_eq!(found.as_ref().map(PublicUrl::as_str), expect, "{given}");
        };
        check(
            "https://bench.example.org",
            Some("https://bench.example.org"),
        );
        check(
            "https://Bench.Example.org/",
            Some("https://bench.example.org"),
        );
        check("http://[::1]:3000", Some("http://[::1]:3000"));
        check(
            "https://bücher.example:443",
            Some("https://xn--bcher-kva.example"),
        );
        for wrong in [
            "",
            "bench.example.org",
            "ftp://bench.example.org",
            "https://",
            "https://user:secret@bench.example.org",
            "https://bench.example.org/swe-ci",
            "https://bench.example.org?x=1",
            "https://bench.example.org#x",
            "javascript:alert(1)",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn trusted_proxies_are_a_list() {
        let check = |given: &[&str], expect: usize| {
            let found = format!("{:?}", line(given).serve.trusted_proxies());
            assert_eq!(found.matches("prefix").count(), expect, "{found}");
        };
        check(&[], 0);
        check(&["--trusted-proxies", ""], 0);
        check(&["--trusted-proxies", "10.0.0.1"], 1);
        check(&["--trusted-proxies", "10.0.0.1, fd00::/8,"], 2);
    }

    #[test]
    fn a_site_is_closed_only_by_an_option() {
        let check = |args: &[&str], expect: bool| {
            assert_eq!(line(args).serve.closed(), expect, "{args:?}");
        };
        check(&[], false);
        check(&["--public", "yes"], false);
        check(&["--public", "no"], true);
        check(&["--closed"], true);
        check(&["--closed", "--public", "yes"], true);
    }

    #[test]
    fn sign_in_providers_are_read_from_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("providers.toml");
        std::fs::write(
            &file,
            r#"
            [[provider]]
            id = "github"
            name = "GitHub"
            kind = "github"
            client-id = "Iv1"
            client-secret-env = "GITHUB_SECRET"
            allow = "linked"
            "#,
        )
        .unwrap();
        let path = file.to_str().unwrap();
        let url = ["--public-url", "https://bench.example.org"];
        let given = ["--sign-in-providers", path];
        let check = |args: &[&str], variables, expect: Result<usize, &str>| {
            let found = line(args)
                .serve
                .providers_with(&environment(variables))
                .map(|providers| providers.shown().0.len());
            match (found, expect) {
                (Err(found), Err(expect)) => assert!(
                    found.contains(expect) && found.contains("sign-in providers"),
                    "{found}"
                ),
                (found, expect) => {
                    assert_eq!(found.as_ref().ok(), expect.as_ref().ok(), "{found:?}");
                }
            }
        };
        let secret = &[("GITHUB_SECRET", "hunter2")];
        let all = [url, given].concat();
        check(&[], &[], Ok(0));
        check(&all, secret, Ok(1));
        check(&all, &[("GITHUB_SECRET", "")], Err("GITHUB_SECRET"));
        check(&given, secret, Err("--public-url"));
        let missing = ["--sign-in-providers", "/no/such/file"];
        check(&missing, secret, Err("/no/such/file"));
        std::fs::write(&file, "[[provider]]\nid = 1").unwrap();
        check(&all, secret, Err("line 2"));
    }

    #[test]
    fn the_site_is_next_to_the_program_or_in_target() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("debug/swe-ci");
        let site = || site_of(Some(&program));
        assert_eq!(site(), Path::new("target/site"));
        for place in ["site", "debug/site"] {
            std::fs::create_dir_all(folder.path().join(place)).unwrap();
            assert_eq!(site(), folder.path().join(place));
        }
    }
}
