//! Environment variables that have no option.

use std::path::PathBuf;

use swe_ci_engine::Registry;

/// Where pip and npm find packages; both read these variables themselves.
const REGISTRIES: [&str; 4] = [
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_TRUSTED_HOST",
    "npm_config_registry",
];

/// What programs of S3 read; a key's value never appears in a text.
const S3: [&str; 11] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_DEFAULT_REGION",
    "AWS_ENDPOINT_URL",
    "AWS_REGION",
    "AWS_ROLE_ARN",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_VIRTUAL_HOSTED_STYLE_REQUEST",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
];

/// The value of a variable.
type Read = dyn Fn(&str) -> Option<String>;

/// The variables without an option of their own, behind a function so that
/// tests need not touch the process.
pub struct Environment(Box<Read>);

impl Environment {
    #[expect(
        clippy::disallowed_methods,
        reason = "only this function reads the environment"
    )]
    pub fn from_process() -> Self {
        Self::new(|name| std::env::var(name).ok())
    }

    pub fn new(read: impl Fn(&str) -> Option<String> + 'static) -> Self {
        Self(Box::new(read))
    }

    /// An empty variable counts as unset.
    pub fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.is_empty())
    }

    pub fn s3(&self) -> Vec<(String, String)> {
        let set = |name: &str| Some((name.to_owned(), self.get(name)?));
        S3.into_iter().filter_map(set).collect()
    }

    /// The registry where several machines share images.
    pub fn registry(&self, address: String) -> Result<Registry, String> {
        let (user, password) = ("SWE_CI_REGISTRY_USER", "SWE_CI_REGISTRY_PASSWORD");
        if address.contains("://") {
            return Err(format!(
                "SWE_CI_REGISTRY is `{address}`; write HOST:PORT, perhaps with a path, without a scheme"
            ));
        }
        let account = match (self.get(user), self.get(password)) {
            (Some(user), Some(password)) => Some((user, password.into())),
            (None, None) => None,
            _ => return Err(format!("set {user} and {password}, or neither")),
        };
        Ok(Registry { address, account })
    }

    /// The network settings of image builds: proxies and package indexes.
    pub fn build_env(&self) -> Vec<(String, String)> {
        let mut variables = self.proxies();
        for name in REGISTRIES {
            let value = self.get(name).or_else(|| self.get(&name.to_uppercase()));
            variables.extend(value.map(|value| (name.to_owned(), value)));
        }
        variables
    }

    /// Programs disagree on the case, so each set variable is passed on in
    /// both; lower case wins.
    fn proxies(&self) -> Vec<(String, String)> {
        let mut variables = Vec::new();
        for lower in ["http_proxy", "https_proxy", "no_proxy"] {
            let upper = lower.to_uppercase();
            if let Some(value) = self.get(lower).or_else(|| self.get(&upper)) {
                variables.push((lower.to_owned(), value.clone()));
                variables.push((upper, value));
            }
        }
        variables
    }

    pub fn ca_bundle(&self) -> Result<Option<PathBuf>, String> {
        let Some(named) = self.get("SSL_CERT_FILE") else {
            return Ok(swe_ci_engine::usual_ca_bundle());
        };
        let path = PathBuf::from(&named);
        match path.is_file() {
            true => Ok(Some(path)),
            false => Err(format!(
                "SSL_CERT_FILE names `{named}`, which is not a file; correct it or unset it"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::tests::environment;

    #[test]
    fn proxies_come_in_both_cases_and_empty_means_unset() {
        let env = environment(&[
            ("HTTPS_PROXY", "http://up:1"),
            ("http_proxy", "http://low:1"),
            ("HTTP_PROXY", "http://up:2"),
            ("no_proxy", ""),
        ]);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            env.proxies(),
            [
                pair("http_proxy", "http://low:1"),
                pair("HTTP_PROXY", "http://low:1"),
                pair("https_proxy", "http://up:1"),
                pair("HTTPS_PROXY", "http://up:1"),
            ]
        );
    }

    #[test]
    fn image_builds_get_the_registries() {
        let env = environment(&[
            ("NPM_CONFIG_REGISTRY", "https://npm"),
            ("PIP_INDEX_URL", "https://pip/simple"),
            ("PIP_TRUSTED_HOST", ""),
        ]);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            env.build_env(),
            [
                pair("PIP_INDEX_URL", "https://pip/simple"),
                pair("npm_config_registry", "https://npm"),
            ]
        );
    }

    #[test]
    fn a_registry_has_an_account_or_none() {
        let check = |variables, expect: Result<bool, &str>| {
            let registry = environment(variables).registry("r:5000".into());
            match (registry, expect) {
                (Ok(registry), Ok(account)) => assert_eq!(registry.account.is_some(), account),
                (Err(message), Err(expect)) => assert!(message.contains(expect), "{message}"),
                (found, _) => panic!("{found:?}"),
            }
        };
        check(&[], Ok(false));
        let whole = &[
            ("SWE_CI_REGISTRY_USER", "u"),
            ("SWE_CI_REGISTRY_PASSWORD", "p"),
        ];
        check(whole, Ok(true));
        check(&whole[1..], Err("or neither"));
        let scheme = environment(&[]).registry("https://r".into());
        assert!(scheme.unwrap_err().contains("without a scheme"));
    }

    #[test]
    fn a_missing_ca_bundle_is_an_error() {
        let env = environment(&[("SSL_CERT_FILE", "/no/such/bundle.pem")]);
        let message = env.ca_bundle().unwrap_err();
        assert!(message.contains("SSL_CERT_FILE") && message.contains("/no/such/bundle.pem"));
    }
}
