//! The configuration of the architect and the programmer: a harness (the agent
//! program), the endpoint of its model, and a budget.

use core::net::Ipv6Addr;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::problems::{BadConfig, Problems};
use crate::task::is_plain_name;
use crate::usage::Prices;

crate::named! {
    /// The protocol between a harness and its model. The gateway forwards a
    /// conversation without translation, so an endpoint must use the protocol of
    /// the harness.
    #[derive(Default)]
    pub enum Protocol {
        /// OpenAI's Chat Completions, which most providers offer.
        #[default]
        Chat = "chat",
        /// OpenAI's Responses.
        Responses = "responses",
        /// Anthropic's Messages.
        Messages = "messages",
        /// Google's generateContent.
        Gemini = "gemini",
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The program that acts as an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "HarnessFields", into = "HarnessFields")]
pub enum HarnessConfig {
    /// Replays the real history between base and target, in at most
    /// `max_chunks` chunks; the last chunk is the target itself.
    Replay { max_chunks: u32 },
    /// A program that ran elsewhere; its results were imported, and it cannot
    /// run here. `program` is the name its operators use.
    Elsewhere { program: String },
    /// The platform's own small agent. It needs nothing in the image.
    Builtin,
    /// A program installed beside the image: the name of its description, and
    /// its version unless it is the pinned one.
    Program {
        program: String,
        version: Option<String>,
    },
}

/// A harness in a configuration:
/// `{ name = "opencode", version = "1.18.33" }`.
#[derive(Serialize, Deserialize, utoipa::ToSchema)]
struct HarnessFields {
    /// `replay`, `builtin`, `elsewhere`, or the name of a description.
    name: String,
    /// For `replay`: the maximum number of chunks of the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_chunks: Option<u32>,
    /// For `elsewhere`: the name its operators use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    /// For a description: a version other than the pinned one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

impl utoipa::PartialSchema for HarnessConfig {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        HarnessFields::schema()
    }
}

impl utoipa::ToSchema for HarnessConfig {}

impl TryFrom<HarnessFields> for HarnessConfig {
    type Error = String;

    fn try_from(fields: HarnessFields) -> Result<Self, String> {
        let missing = |field: &str| format!("harness `{}` needs `{field}`", fields.name);
        match fields.name.as_str() {
            "replay" => Ok(Self::Replay {
                max_chunks: fields.max_chunks.ok_or_else(|| missing("max_chunks"))?,
            }),
            "elsewhere" => Ok(Self::Elsewhere {
                program: fields.program.ok_or_else(|| missing("program"))?,
            }),
            "builtin" => Ok(Self::Builtin),
            name if is_plain_name(name) => Ok(Self::Program {
                program: fields.name,
                version: fields.version,
            }),
            name => Err(format!("`{name}` is not the name of a harness")),
        }
    }
}

impl From<HarnessConfig> for HarnessFields {
    fn from(config: HarnessConfig) -> Self {
        let (name, max_chunks, program, version) = match config {
            HarnessConfig::Replay { max_chunks } => ("replay".into(), Some(max_chunks), None, None),
            HarnessConfig::Elsewhere { program } => ("elsewhere".into(), None, Some(program), None),
            HarnessConfig::Builtin => ("builtin".into(), None, None, None),
            HarnessConfig::Program { program, version } => (program, None, None, version),
        };
        Self {
            name,
            max_chunks,
            program,
            version,
        }
    }
}

impl HarnessConfig {
    pub fn name(&self) -> &str {
        match self {
            Self::Replay { .. } => "replay",
            Self::Builtin => "builtin",
            Self::Elsewhere { program } | Self::Program { program, .. } => program,
        }
    }

    /// Whether it calls a model, and so needs an endpoint.
    pub fn asks_a_model(&self) -> bool {
        matches!(self, Self::Builtin | Self::Program { .. })
    }
}

/// Headers that the gateway or HTTP itself sets.
const RESERVED_HEADERS: [&str; 14] = [
    "accept-encoding",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-api-key",
    "x-goog-api-key",
];

/// The address of a model, and how to call it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Endpoint {
    /// That of the harness when absent or `chat`.
    #[serde(default)]
    pub protocol: Protocol,
    /// The provider's address up to its version, such as
    /// `https://api.example.org/v1`; the protocol adds its own path.
    pub url: String,
    /// The provider's name of the model.
    pub model: String,
    /// The name of the stored key; absent when the endpoint needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Parameters added to every request, overriding the harness's:
    /// `{ "temperature": 0 }`.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    #[schema(value_type = Object)]
    pub parameters: serde_json::Map<String, serde_json::Value>,
    /// Further headers of every request, for a proxy of the user's for instance.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, HeaderText>,
    /// Prices of tokens; from the price table when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
    /// The id of an earlier run: the gateway replays the answers recorded
    /// there instead of calling the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<String>,
}

/// The value of a configured header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(untagged)]
pub enum HeaderText {
    Plain(String),
    /// The text of a stored key, by its name.
    Stored {
        key: String,
    },
}

impl HeaderText {
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Plain(_) => None,
            Self::Stored { key } => Some(key),
        }
    }
}

/// A harness with its endpoint, for a programmer that differs from the
/// architect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AgentConfig {
    pub harness: HarnessConfig,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Endpoint>,
}

impl AgentConfig {
    pub fn validate(&self, max_iterations: u32, problems: &mut Problems) {
        match &self.harness {
            HarnessConfig::Replay { max_chunks } => {
                let most = max_iterations.max(1).into();
                problems.range("harness.max_chunks", *max_chunks, 1..=most);
            }
            HarnessConfig::Elsewhere { program } => {
                problems.one_line("harness.program", program, 1);
            }
            HarnessConfig::Builtin => {}
            HarnessConfig::Program { version, .. } => {
                let version = version.as_deref().unwrap_or("0");
                let plain = |c: char| c.is_ascii_alphanumeric() || ".-+_".contains(c);
                let plain =
                    !version.is_empty() && version.len() <= 60 && version.chars().all(plain);
                problems.ensure("harness.version", plain, || {
                    "needs 1 to 60 letters, digits and .-+_".into()
                });
            }
        }
        let (name, asks) = (self.harness.name(), self.harness.asks_a_model());
        match &self.endpoint {
            Some(endpoint) if asks => endpoint.validate(problems),
            endpoint => problems.ensure("endpoint", endpoint.is_some() == asks, || {
                if asks {
                    format!(
                        "the harness `{name}` needs the endpoint of its model: endpoint = {{ url = \"https://…/v1\", model = \"…\", key = \"…\" }}"
                    )
                } else {
                    format!("the harness `{name}` asks no model; omit the endpoint")
                }
            }),
        }
    }
}

impl Endpoint {
    pub fn validate(&self, problems: &mut Problems) {
        problems.one_line("endpoint.model", &self.model, 1);
        problems.ensure("endpoint.url", self.has_valid_url(), || {
            "enter the API's base URL without user, query or fragment, such as https://api.example.org/v1".into()
        });
        let key = self.key.as_deref().is_none_or(is_plain_name);
        problems.ensure("endpoint.key", key, || {
                "must be the name of a stored key, never the key itself; `swe-ci key set NAME` stores one".into()
        });
        let prices = self.prices.is_none_or(Prices::are_valid);
        problems.ensure("endpoint.prices", prices, price_range);
        let bytes = serde_json::to_string(&self.parameters).map_or(0, |text| text.len());
        problems.ensure("endpoint.parameters", bytes <= 10_000, || {
            format!("have {bytes} bytes; at most 10,000 are allowed")
        });
        self.validate_headers(problems);
        let reserved = ["model", "stream", "messages", "input", "contents", "tools"];
        let mut used = reserved.into_iter();
        let used = used.find(|name| self.parameters.contains_key(*name));
        problems.ensure("endpoint.parameters", used.is_none(), || {
            let name = used.unwrap_or_default();
            format!("`{name}` is reserved for the harness and the gateway")
        });
    }

    /// The names of the stored keys that it uses, each with its field.
    pub fn keys(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let own = self.key.as_deref().map(|key| ("endpoint.key", key));
        let headers = self.headers.values().filter_map(HeaderText::key);
        own.into_iter()
            .chain(headers.map(|key| ("endpoint.headers", key)))
    }

    fn validate_headers(&self, problems: &mut Problems) {
        problems.ensure("endpoint.headers", self.headers.len() <= 20, || {
            "are more than 20".into()
        });
        for (name, text) in &self.headers {
            let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
            let is_free =
                !RESERVED_HEADERS.contains(&name.as_str()) && !name.starts_with("x-swe-ci-");
            let named = !name.is_empty() && name.len() <= 100 && name.bytes().all(plain);
            problems.ensure("endpoint.headers", named && is_free, || {
                format!(
                    "`{name}` is not a name in lower case that is free for a header of your own"
                )
            });
            let valid = match text {
                HeaderText::Plain(text) => {
                    text.len() <= 1_000 && text.bytes().all(|b| b == b' ' || b.is_ascii_graphic())
                }
                HeaderText::Stored { key } => is_plain_name(key),
            };
            problems.ensure("endpoint.headers", valid, || {
                format!("`{name}` needs a text of at most 1,000 characters (ASCII), or {{ key = \"…\" }} with the name of a stored key")
            });
        }
    }

    fn has_valid_url(&self) -> bool {
        let host = ["https://", "http://"]
            .iter()
            .find_map(|scheme| self.url.strip_prefix(scheme));
        let plain = |c: char| c.is_ascii_graphic() && !"?#@\"<>\\".contains(c);
        host.is_some_and(|rest| is_authority(rest.split('/').next().unwrap_or_default()))
            && self.url.len() <= 500
            && self.url.chars().all(plain)
    }
}

/// Whether a text is a host that every program reads in the same way, and maybe
/// a port. A zone of an IPv6 address (`fe80::1%25eth0`) means a network of this
/// machine, and percent signs could hide any other host.
fn is_authority(text: &str) -> bool {
    let (is_host, port) = match text.strip_prefix('[').map(|rest| rest.split_once(']')) {
        Some(Some((address, port))) => (address.parse::<Ipv6Addr>().is_ok(), port),
        Some(None) => return false,
        None => {
            let (name, port) = text.split_at(text.find(':').unwrap_or(text.len()));
            let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._".contains(&b);
            (!name.is_empty() && name.bytes().all(plain), port)
        }
    };
    let digits = |port: &str| port.bytes().all(|b| b.is_ascii_digit());
    let is_port = |port: &str| digits(port) && port.parse::<u16>().is_ok();
    is_host && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
}

fn price_range() -> String {
    "must be US dollars per million tokens, each 0 to 100,000".into()
}

/// The limits of a run; an absent one is unlimited. When one is spent, the
/// current step ends (`budget_spent`) and no further step starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Input and output tokens together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars; needs prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Elapsed time since the run started, waiting included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
}

impl Budget {
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }

    /// # Errors
    /// [`BadConfig`] naming the first invalid limit.
    pub fn check(&self) -> Result<(), BadConfig> {
        Problems::first(|problems| self.validate(problems))
    }

    pub fn validate(&self, problems: &mut Problems) {
        let mut nonzero = |field: &str, limit: Option<u64>| {
            problems.ensure(field, limit != Some(0), || {
                "0 allows nothing; omit it for no limit".into()
            });
        };
        nonzero("budget.tokens", self.tokens);
        nonzero("budget.requests", self.requests);
        nonzero("budget.seconds", self.seconds);
        let valid = self.usd.is_none_or(|usd| usd > 0.0 && usd <= 1e9);
        problems.ensure("budget.usd", valid, || {
            match self.usd.is_some_and(|usd| usd > 1e9) {
                true => "Enter at most 1e9.".into(),
                false => "Enter an amount above 0.".into(),
            }
        });
    }
}

impl FromStr for Budget {
    type Err = String;

    /// Reads `usd=100,tokens=1000000`; there is no other limit.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut budget = Self::default();
        let parts = text.split(',').map(str::trim);
        for part in parts.filter(|part| !part.is_empty()) {
            let (name, value) = part
                .split_once('=')
                .ok_or_else(|| format!("`{part}` is not NAME=NUMBER"))?;
            let wrong = || format!("`{value}` is not a valid number");
            let whole = || value.parse().map(Some).map_err(|_| wrong());
            match name {
                "tokens" => budget.tokens = whole()?,
                "requests" => budget.requests = whole()?,
                "seconds" => budget.seconds = whole()?,
                "usd" => budget.usd = Some(value.parse().map_err(|_| wrong())?),
                _ => return Err(format!("there is no limit `{name}`")),
            }
        }
        budget.check().map_err(|bad| bad.to_string())?;
        Ok(budget)
    }
}

/// A line of the price table: the prices of a model from a day on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PriceLine {
    /// The provider's name of the model.
    pub model: String,
    /// The first day it applies, `YYYY-MM-DD`.
    pub from: String,
    #[serde(flatten)]
    pub prices: Prices,
}

impl PriceLine {
    /// # Errors
    /// [`BadConfig`] naming the field that is out of range.
    pub fn check(&self) -> Result<(), BadConfig> {
        Problems::first(|problems| {
            problems.one_line("model", &self.model, 1);
            problems.day("from", Some(&self.from));
            problems.ensure("prices", self.prices.are_valid(), price_range);
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn headers_of_ones_own() {
        let check = |headers: serde_json::Value, expect: usize| {
            let endpoint = Endpoint {
                url: "https://models.example".into(),
                model: "m".into(),
                headers: serde_json::from_value(headers.clone()).unwrap(),
                ..Endpoint::default()
            };
            let found = Problems::collect(|problems| endpoint.validate(problems));
            assert_eq!(found.len(), expect, "{headers} {found:?}");
            assert!(found.iter().all(|bad| bad.field == "endpoint.headers"));
        };
        check(
            json!({"x-team": "a", "x-token": {"key": "proxy"}, "user-agent": ""}),
            0,
        );
        for name in [
            "X-Team",
            "x team",
            "",
            "authorization",
            "host",
            "x-swe-ci-step",
        ] {
            check(json!({ name: "a" }), 1);
        }
        check(json!({"x-team": "a\nb"}), 1);
        check(json!({"x-token": {"key": "sk-Geheim/1"}}), 1);
    }

    #[test]
    fn budgets_in_one_line() {
        let budget: Budget = "usd=2.5, tokens=1000,".parse().unwrap();
        assert_eq!((budget.usd, budget.tokens), (Some(2.5), Some(1_000)));
        assert!("".parse::<Budget>().unwrap().is_unlimited());
        for wrong in ["usd", "euro=1", "tokens=many", "tokens=0", "usd=-1"] {
            assert!(wrong.parse::<Budget>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn addresses_of_providers() {
        let check = |url: &str, expect: bool| {
            let endpoint = Endpoint {
                protocol: Protocol::Chat,
                url: url.into(),
                model: "m".into(),
                key: None,
                ..Endpoint::default()
            };
            let found = Problems::collect(|problems| endpoint.validate(problems));
            assert_eq!(found.is_empty(), expect, "{url:?} → {found:?}");
        };
        for good in [
            "https://api.example.org/v1",
            "http://localhost:11434/v1",
            "http://llm_1.internal:8080",
            "http://10.0.0.7/v1/",
            "http://[fe80::1]:8080/v1",
            "http://[::ffff:10.0.0.7]",
            "https://api.example.org/a%20b/[x]",
        ] {
            check(good, true);
        }
        for odd in [
            "",
            "https://",
            "https:///v1",
            "api.example.org/v1",
            "http://[fe80::1%25eth0]/v1",
            "http://[fe80::1%eth0]/v1",
            "http://fe80::1/v1",
            "http://[fe80::1/v1",
            "http://[fe80::1]8080/v1",
            "http://[]/v1",
            "http://%6cocalhost/v1",
            "http://:8080/v1",
            "http://h:/v1",
            "http://h:65536/v1",
            "http://h:+80/v1",
            "http://user@h/v1",
            "https://api.example.org/v1\r\nx-evil: 1",
            "https://api.exam\nple.org/v1",
            "https://api.example.org/\tv1",
            "https://api.example.org\0/v1",
        ] {
            check(odd, false);
        }
    }
}
