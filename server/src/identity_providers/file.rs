//! The operator's file of providers: TOML, parsed strictly and validated.

use openidconnect::{ClientSecret, IssuerUrl};
use serde::Deserialize;
use swe_ci_views::account::AccountRole;
use url::{Host, Url};

/// A sign-in page with more would be unusable.
const MOST: usize = 10;
const LONGEST_ID: usize = 40;
const LONGEST_NAME: usize = 40;
const GITHUB: &str = "https://github.com";

/// The validated configuration of one provider.
#[derive(Debug, Clone)]
pub struct ProviderConfig {
    /// The id in addresses and in the database.
    pub id: String,
    /// The name people know.
    pub name: String,
    pub client_id: String,
    pub client_secret: ClientSecret,
    pub admits: Admits,
    pub kind: Kind,
}

#[derive(Debug, Clone)]
pub enum Kind {
    Oidc { issuer: IssuerUrl },
    GitHub { site: Url },
}

/// The people who may create an account with the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admits {
    /// Nobody: existing accounts may link it.
    Linked,
    /// People with an invitation.
    Invited,
    /// Everyone in `only`, with this role; or people with an invitation.
    Anyone { role: AccountRole, only: Only },
}

/// The people "anyone" means. The comparison ignores case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Only {
    Everybody,
    /// People with a verified e-mail address at one of these domains.
    EmailDomains(Vec<String>),
    /// People with one of these GitHub logins.
    Logins(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    provider: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Entry {
    id: String,
    name: String,
    kind: KindName,
    issuer: Option<String>,
    url: Option<String>,
    client_id: String,
    client_secret_env: String,
    allow: Allow,
    role: Option<AccountRole>,
    email_domains: Option<Vec<String>>,
    logins: Option<Vec<String>>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum KindName {
    Oidc,
    Github,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Allow {
    Linked,
    Invited,
    Anyone,
}

/// Parses the file's text; `variable` looks up an environment variable.
///
/// # Errors
/// The error, its position, and a valid alternative.
pub fn read(
    text: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Vec<ProviderConfig>, String> {
    let File { provider: entries } = toml::from_str(text).map_err(|e| e.to_string())?;
    if entries.is_empty() {
        return Err("the file has no [[provider]]; write one, or omit the file".into());
    }
    if entries.len() > MOST {
        let count = entries.len();
        return Err(format!(
            "the file has {count} providers; at most {MOST} are allowed"
        ));
    }
    let mut read: Vec<ProviderConfig> = Vec::new();
    for (n, entry) in (1..).zip(entries) {
        let place = format!("[[provider]] number {n} (`{}`)", entry.id);
        if read.iter().any(|before| before.id == entry.id) {
            return Err(format!("{place}: another provider has the same id"));
        }
        let config = entry.validated(&variable);
        read.push(config.map_err(|says| format!("{place}: {says}"))?);
    }
    Ok(read)
}

impl Entry {
    fn validated(
        self,
        variable: &impl Fn(&str) -> Option<String>,
    ) -> Result<ProviderConfig, String> {
        let (kind, admits) = (self.kind()?, self.admits()?);
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let fits = self.id.len() <= LONGEST_ID
            && self.id.starts_with(|c: char| c.is_ascii_lowercase())
            && self.id.bytes().all(plain);
        if !fits {
            return Err(format!(
                "`id` has 1 to {LONGEST_ID} letters (a to z), digits and `-`, and begins with a letter"
            ));
        }
        let name = self.name.trim();
        let fits = (1..=LONGEST_NAME).contains(&name.chars().count());
        if !fits || name.chars().any(char::is_control) {
            return Err(format!(
                "`name` has 1 to {LONGEST_NAME} characters, on one line"
            ));
        }
        if self.client_id.trim().is_empty() {
            return Err(
                "`client-id` is empty; the provider issued one when this site was registered there"
                    .into(),
            );
        }
        let secret = variable(&self.client_secret_env).ok_or_else(|| {
            format!(
                "`client-secret-env` names `{}`, and no such environment variable is set; it names the one that holds the secret, and is not the secret",
                self.client_secret_env
            )
        })?;
        Ok(ProviderConfig {
            name: name.to_owned(),
            id: self.id,
            client_id: self.client_id.trim().to_owned(),
            client_secret: ClientSecret::new(secret),
            admits,
            kind,
        })
    }

    fn kind(&self) -> Result<Kind, String> {
        match (self.kind, &self.issuer, &self.url) {
            (KindName::Oidc, Some(issuer), None) => {
                address("issuer", issuer)?;
                // As written: it must equal the provider's own issuer letter by
                // letter.
                let issuer = IssuerUrl::new(issuer.clone()).map_err(|e| e.to_string())?;
                Ok(Kind::Oidc { issuer })
            }
            (KindName::Github, None, url) => {
                let site = address("url", url.as_deref().unwrap_or(GITHUB))?;
                match site.path() {
                    "/" => Ok(Kind::GitHub { site }),
                    _ => Err("`url` has no path, as in https://github.example.org".into()),
                }
            }
            (KindName::Oidc, ..) => Err("kind \"oidc\" has an `issuer`, such as https://sso.example.org/realms/lab, and no `url`".into()),
            (KindName::Github, ..) => Err("kind \"github\" has no `issuer`; where it is not github.com, `url` says where".into()),
        }
    }

    fn admits(&self) -> Result<Admits, String> {
        let some = self.role.is_some() || self.email_domains.is_some() || self.logins.is_some();
        let only = match (self.kind, &self.email_domains, &self.logins) {
            (_, None, None) => Only::Everybody,
            (KindName::Oidc, Some(domains), None) => {
                Only::EmailDomains(filled("email-domains", domains)?)
            }
            (KindName::Github, None, Some(logins)) => Only::Logins(filled("logins", logins)?),
            _ => {
                return Err(
                    "`email-domains` is for kind \"oidc\", `logins` for kind \"github\"".into(),
                );
            }
        };
        match (self.allow, self.role.unwrap_or(AccountRole::Reader)) {
            (Allow::Anyone, AccountRole::Admin) => {
                Err("`role` is \"reader\" or \"submitter\": administrators are invited".into())
            }
            (Allow::Anyone, role) => Ok(Admits::Anyone { role, only }),
            _ if some => Err(
                "`role`, `email-domains` and `logins` are for `allow = \"anyone\"`; an invitation has its own role".into(),
            ),
            (Allow::Linked, _) => Ok(Admits::Linked),
            (Allow::Invited, _) => Ok(Admits::Invited),
        }
    }
}

/// An address that is safe to send a secret to.
fn address(field: &str, text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|e| format!("`{field}` is not an address: {e}"))?;
    let bare = url.query().is_none() && url.fragment().is_none();
    let nobody = url.username().is_empty() && url.password().is_none();
    let fine = match url.scheme() {
        "https" => url.has_host(),
        "http" => is_this_machine(&url),
        _ => false,
    };
    match fine && bare && nobody {
        true => Ok(url),
        false => Err(format!(
            "`{field}` begins with https:// (http:// for this machine alone) and has neither `?`, `#` nor a password"
        )),
    }
}

fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

/// An empty list could mean everybody or nobody.
fn filled(field: &str, list: &[String]) -> Result<Vec<String>, String> {
    let empty = list.is_empty() || list.iter().any(|one| one.trim().is_empty());
    match empty || list.iter().any(|one| one.contains(['@', '*'])) {
        true => Err(format!(
            "`{field}` is a list of names, without `@` and `*`; omit it for everybody"
        )),
        false => Ok(list.iter().map(|one| one.trim().to_owned()).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORP: &str = r#"
        [[provider]]
        id = "corp"
        name = "Corp SSO"
        kind = "oidc"
        issuer = "https://sso.example.org/realms/lab"
        client-id = "bench"
        client-secret-env = "CORP_SECRET"
        allow = "invited"
    "#;

    const GITHUB: &str = r#"
        [[provider]]
        id = "github"
        name = "GitHub"
        kind = "github"
        client-id = "Iv1"
        client-secret-env = "GITHUB_SECRET"
        allow = "anyone"
        role = "submitter"
        logins = ["octocat"]
    "#;

    fn variable(name: &str) -> Option<String> {
        let known = ["CORP_SECRET", "GITHUB_SECRET"].contains(&name);
        known.then(|| "hunter2".to_owned())
    }

    #[test]
    fn the_file_is_parsed() {
        let read = read(&format!("{CORP}{GITHUB}"), variable).unwrap();
        let [corp, github] = &read[..] else {
            panic!("{read:?}")
        };
        assert_eq!((corp.id.as_str(), corp.name.as_str()), ("corp", "Corp SSO"));
        assert_eq!(corp.admits, Admits::Invited);
        assert!(matches!(&corp.kind, Kind::Oidc { issuer }
            if issuer.as_str() == "https://sso.example.org/realms/lab"));
        assert_eq!(corp.client_secret.secret(), "hunter2");
        assert!(!format!("{read:?}").contains("hunter2"));
        assert_eq!(
            github.admits,
            Admits::Anyone {
                role: AccountRole::Submitter,
                only: Only::Logins(vec!["octocat".into()])
            }
        );
        assert!(matches!(&github.kind, Kind::GitHub { site }
            if site.as_str() == "https://github.com/"));
    }

    #[test]
    fn invalid_files_are_refused_with_the_position() {
        let check = |text: &str, from: &str, to: &str, expect: &[&str]| {
            let changed = text.replace(from, to);
            assert_ne!(text, changed, "{from}");
            let error = read(&changed, variable).unwrap_err();
            for words in expect {
                assert!(error.contains(words), "{from} → {to}: {error}");
            }
            assert!(!error.contains("hunter2"), "{error}");
        };
        let corp = |from: &str, to: &str, expect: &[&str]| check(CORP, from, to, expect);
        let github = |from: &str, to: &str, expect: &[&str]| check(GITHUB, from, to, expect);
        corp("\"oidc\"", "\"saml\"", &["line 5", "saml"]);
        corp("client-id", "client_id", &["line 7", "client_id"]);
        corp("name = \"Corp SSO\"", "", &["name"]);
        corp("allow = \"invited\"", "", &["allow"]);
        corp("allow", "= allow", &["line 9"]);
        corp("\"corp\"", "\"Corp\"", &["number 1 (`Corp`)", "`id`"]);
        corp("\"corp\"", "\"a/b\"", &["`id`"]);
        corp("Corp SSO", "", &["`name`"]);
        corp("\"bench\"", "\"\"", &["`client-id`"]);
        corp("CORP_SECRET", "CORP", &["`CORP`", "environment variable"]);
        for bad in [
            "http://sso.example.org",
            "sso.example.org",
            "https://u:p@h",
            "https://h/?a=b",
            "javascript:alert(1)",
        ] {
            corp("https://sso.example.org/realms/lab", bad, &["`issuer`"]);
        }
        corp("issuer =", "url =", &["`issuer`"]);
        corp("\"oidc\"", "\"github\"", &["`issuer`"]);
        corp(
            "\"invited\"",
            "\"invited\"\nrole = \"reader\"",
            &["allow = \"anyone\""],
        );
        corp("\"invited\"", "\"anyone\"\nlogins = [\"a\"]", &["`logins`"]);
        corp(
            "\"invited\"",
            "\"anyone\"\nemail-domains = []",
            &["`email-domains`"],
        );
        corp(
            "\"invited\"",
            "\"anyone\"\nemail-domains = [\"@corp.example\"]",
            &["`@`"],
        );
        github(
            "\"submitter\"",
            "\"admin\"",
            &["administrators are invited"],
        );
        github("\"anyone\"", "\"linked\"", &["allow = \"anyone\""]);
        github("client-id", "url = \"https://h/x\"\nclient-id", &["`url`"]);
        check(
            &format!("{CORP}{GITHUB}"),
            "\"github\"\n        name",
            "\"corp\"\n        name",
            &["number 2", "same id"],
        );
        assert!(read("", variable).unwrap_err().contains("[[provider]]"));
        assert!(read(&CORP.repeat(11), variable).unwrap_err().contains("11"));
    }

    #[test]
    fn this_machine_needs_no_certificate() {
        for host in ["127.0.0.1:9", "[::1]:9", "localhost"] {
            assert!(
                address("issuer", &format!("http://{host}/")).is_ok(),
                "{host}"
            );
        }
        for host in ["127.0.0.1.evil.org", "192.168.0.1", "localhost.evil.org"] {
            assert!(
                address("issuer", &format!("http://{host}/")).is_err(),
                "{host}"
            );
        }
    }
}
