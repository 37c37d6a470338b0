//! Environment variables that have no option.

use std::path::PathBuf;

/// Where pip and npm find packages; both read these variables themselves.
const REGISTRIES: [&str; 4] = [
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_TRUSTED_HOST",
    "npm_config_registry",
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
    fn a_missing_ca_bundle_is_an_error() {
        let env = environment(&[("SSL_CERT_FILE", "/no/such/bundle.pem")]);
        let message = env.ca_bundle().unwrap_err();
        assert!(message.contains("SSL_CERT_FILE") && message.contains("/no/such/bundle.pem"));
    }
}
