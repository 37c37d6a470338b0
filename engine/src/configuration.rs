//! Run configurations as text: read strictly, so that no typing error leaves a
//! default in place, and written for others to run again.

use serde_json::Value;
use swe_ci_core::agent::Endpoint;
use swe_ci_core::run::RunConfig;
use swe_ci_core::submission::unknown_field;

use crate::Engine;
use crate::error::{self, Error};

/// Reads a configuration written in TOML.
///
/// # Errors
/// What is wrong with it and where, in words. Whether its values are in range
/// is [`RunConfig::problems`]' matter.
pub fn from_toml(text: &str) -> Result<RunConfig, String> {
    let config = toml::from_str(text).map_err(|e| e.to_string())?;
    let given = toml::from_str(text).map_err(|e| e.to_string())?;
    understood(config, &given)
}

/// Reads a configuration written in JSON.
///
/// # Errors
/// As [`from_toml`].
pub fn from_json(text: &str) -> Result<RunConfig, String> {
    let config = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let given = serde_json::from_str(text).map_err(|e| e.to_string())?;
    understood(config, &given)
}

fn understood(config: RunConfig, given: &Value) -> Result<RunConfig, String> {
    let understood = serde_json::to_value(&config).map_err(|e| e.to_string())?;
    match unknown_field(given, &understood) {
        Some(field) => Err(format!("there is no field `{field}`")),
        None => Ok(config),
    }
}

/// Writes a configuration as TOML.
///
/// # Errors
/// [`Error::Invalid`] when it holds what TOML cannot: a null among the
/// parameters.
pub fn to_toml(config: &RunConfig) -> error::Result<String> {
    toml::to_string(config)
        .map_err(|e| Error::Invalid(format!("this configuration cannot be written as TOML: {e}")))
}

impl Engine {
    /// A run's configuration as TOML, for others to run it too: without the
    /// names of its keys, which they have not.
    ///
    /// # Errors
    /// [`Error::NotFound`] for those who may not see the run.
    pub async fn configuration(&self, run_id: &str) -> error::Result<String> {
        to_toml(&without_keys(self.seen_run(run_id).await?.config))
    }

    /// A run's configuration to begin a new one with. The names of its keys
    /// stay where who asks may use those keys.
    ///
    /// # Errors
    /// As [`Engine::configuration`].
    pub async fn configuration_to_copy(&self, run_id: &str) -> error::Result<RunConfig> {
        let config = self.seen_run(run_id).await?.config;
        let grant = self.inner.store.grant(run_id).await?;
        let own = self.keyrings().unwrap_or_default();
        Ok(match own.contains(&grant.keyring) {
            true => config,
            false => without_keys(config),
        })
    }
}

fn without_keys(mut config: RunConfig) -> RunConfig {
    let programmer = config.programmer.as_mut().and_then(|p| p.endpoint.as_mut());
    let endpoints = [config.endpoint.as_mut(), programmer];
    let forget = |endpoint: &mut Endpoint| endpoint.key = None;
    endpoints.into_iter().flatten().for_each(forget);
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = r#"
        model = "m"
        kind = "measured"
        split = "demo"
        tasks = ["a-1"]
        harness = { name = "builtin" }

        [endpoint]
        url = "https://api.example.org/v1"
        model = "m-1"
        key = "acme"
        parameters = { temperature = 0, thinking = { type = "enabled" } }

        [programmer]
        harness = { name = "opencode" }
        endpoint = { url = "https://api.example.org/v1", model = "m-2", key = "other" }

        [budget]
        usd = 2.5
    "#;

    #[test]
    fn what_is_written_reads_the_same() {
        let config = from_toml(FULL).unwrap();
        assert_eq!(config.problems(), []);
        let written = to_toml(&config).unwrap();
        assert_eq!(from_toml(&written).unwrap(), config, "{written}");
        let json = serde_json::to_string(&config).unwrap();
        assert_eq!(from_json(&json).unwrap(), config);
        let bare = to_toml(&without_keys(config)).unwrap();
        assert!(!bare.contains("key ="), "{bare}");
        assert_eq!(from_toml(&bare).unwrap().problems(), []);
    }

    #[test]
    fn typing_errors_are_named() {
        let check = |text: &str, expect: &str| {
            let error = from_toml(text).unwrap_err();
            assert!(error.contains(expect), "{text} → {error}");
        };
        check("model = ", "line 1");
        check("model = 3", "string");
        check(&FULL.replace("tasks", "taks"), "no field `taks`");
        let limits = format!("{FULL}\n[limits]\nmemory = 3");
        check(&limits, "no field `limits.memory`");
    }
}
