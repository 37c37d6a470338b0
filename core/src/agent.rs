//! Who plays architect and programmer: a harness (the agent program) and the
//! endpoint its model answers at, within a budget.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::problems::{BadConfig, Problems};
use crate::run::is_day;
use crate::usage::Prices;

/// How a harness speaks with its model. The gateway passes a conversation on
/// as it is, so an endpoint must speak what the harness speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Protocol {
    /// OpenAI's chat completions, which most providers offer.
    Chat,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's messages.
    Messages,
    /// Google's generateContent.
    Gemini,
}

impl Protocol {
    pub const ALL: [Self; 4] = [Self::Chat, Self::Responses, Self::Messages, Self::Gemini];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
            Self::Gemini => "gemini",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The program that plays an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum HarnessConfig {
    /// Replays the real history between base and target, in at most
    /// `max_chunks` chunks, the last of which is the target itself.
    Replay { max_chunks: u32 },
    /// A program somebody else ran elsewhere; its results were imported, and
    /// nothing of it can be run here. `program` is what they call it.
    Elsewhere { program: String },
    /// The platform's own small agent. It needs nothing in the image.
    Builtin,
    /// A program that is installed beside the image; by the name of its
    /// description, in its pinned version unless another is given.
    Program {
        program: String,
        version: Option<String>,
    },
}

/// A harness as configurations write it:
/// `{ name = "opencode", version = "1.18.33" }`.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct Written {
    /// `replay`, `builtin`, `elsewhere`, or the name of a description.
    name: String,
    /// Of `replay`: the most chunks the history is cut into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_chunks: Option<u32>,
    /// Of `elsewhere`: what those who ran it call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    /// Of a description: another version than the pinned one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for HarnessConfig {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        Written::schema()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for HarnessConfig {}

impl TryFrom<Written> for HarnessConfig {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let missing = |field: &str| format!("harness `{}` needs `{field}`", written.name);
        match written.name.as_str() {
            "replay" => Ok(Self::Replay {
                max_chunks: written.max_chunks.ok_or_else(|| missing("max_chunks"))?,
            }),
            "elsewhere" => Ok(Self::Elsewhere {
                program: written.program.ok_or_else(|| missing("program"))?,
            }),
            "builtin" => Ok(Self::Builtin),
            name if crate::task::is_plain_name(name) => Ok(Self::Program {
                program: written.name,
                version: written.version,
            }),
            name => Err(format!("`{name}` is not the name of a harness")),
        }
    }
}

impl From<HarnessConfig> for Written {
    fn from(config: HarnessConfig) -> Self {
        let named = |name: &str| Self {
            name: name.to_owned(),
            max_chunks: None,
            program: None,
            version: None,
        };
        match config {
            HarnessConfig::Replay { max_chunks } => Self {
                max_chunks: Some(max_chunks),
                ..named("replay")
            },
            HarnessConfig::Elsewhere { program } => Self {
                program: Some(program),
                ..named("elsewhere")
            },
            HarnessConfig::Builtin => named("builtin"),
            HarnessConfig::Program { program, version } => Self {
                version,
                ..named(&program)
            },
        }
    }
}

impl HarnessConfig {
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Replay { .. } => "replay",
            Self::Builtin => "builtin",
            Self::Elsewhere { program } | Self::Program { program, .. } => program,
        }
    }

    /// Whether it asks a model, and so needs an endpoint.
    #[must_use]
    pub fn asks_a_model(&self) -> bool {
        matches!(self, Self::Builtin | Self::Program { .. })
    }
}

/// Where a model answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Endpoint {
    #[serde(default = "chat")]
    pub protocol: Protocol,
    /// The provider's address up to its version, such as
    /// `https://api.example.org/v1`; what the protocol calls is added to it.
    pub url: String,
    /// The name the provider knows the model by.
    pub model: String,
    /// The stored key it is paid with, by its name; none when it needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Put into every request, over what the harness says there:
    /// `{ "temperature": 0 }`.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub parameters: serde_json::Map<String, serde_json::Value>,
    /// What tokens cost; from the price table when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
    /// Answers from what an earlier run was answered, by that run's id,
    /// instead of asking anybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<String>,
}

fn chat() -> Protocol {
    Protocol::Chat
}

/// A harness with its endpoint, where the programmer's is not the architect's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AgentConfig {
    pub harness: HarnessConfig,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Endpoint>,
}

impl AgentConfig {
    pub(crate) fn look_at(&self, max_iterations: u32, problems: &mut Problems) {
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
            Some(endpoint) if asks => endpoint.look_at(problems),
            endpoint => problems.ensure("endpoint", endpoint.is_some() == asks, || {
                if asks {
                    format!(
                        "the harness `{name}` needs to know where its model answers: endpoint = {{ url = \"https://…/v1\", model = \"…\", key = \"…\" }}"
                    )
                } else {
                    format!("the harness `{name}` asks no model; leave it out")
                }
            }),
        }
    }
}

impl Endpoint {
    fn look_at(&self, problems: &mut Problems) {
        problems.one_line("endpoint.model", &self.model, 1);
        problems.ensure("endpoint.url", self.has_good_url(), || {
            "needs the provider's address up to its version, such as https://api.example.org/v1, without user, query or fragment".into()
        });
        let key = self.key.as_deref();
        problems.ensure(
            "endpoint.key",
            key.is_none_or(crate::task::is_plain_name),
            || {
                "is the name of a stored key, never the key itself; `swe-ci key set NAME` stores one".into()
            },
        );
        problems.ensure(
            "endpoint.prices",
            self.prices.is_none_or(Prices::are_sound),
            || "are US dollars for a million tokens, each 0 to 100,000".into(),
        );
        let written = serde_json::to_string(&self.parameters).map_or(0, |text| text.len());
        problems.ensure("endpoint.parameters", written <= 10_000, || {
            format!("have {written} bytes; at most 10,000 are taken")
        });
        let own = ["model", "stream", "messages", "input", "contents", "tools"];
        let taken = own.iter().find(|name| self.parameters.contains_key(**name));
        problems.ensure("endpoint.parameters", taken.is_none(), || {
            format!(
                "`{}` is for harness and gateway to say",
                taken.copied().unwrap_or_default()
            )
        });
    }

    fn has_good_url(&self) -> bool {
        let host = ["https://", "http://"]
            .iter()
            .find_map(|scheme| self.url.strip_prefix(scheme));
        let plain = |c: char| c.is_ascii_graphic() && !"?#@\"<>\\".contains(c);
        host.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
            && self.url.len() <= 500
            && self.url.chars().all(plain)
    }
}

/// What a run may take at most; what is absent has no limit. When one is
/// spent, the step at work ends (`budget_spent`) and nothing is begun any more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Budget {
    /// Input and output together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars; needs prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Since the run began, whatever it did meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
}

impl Budget {
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }

    /// # Errors
    /// [`BadConfig`] naming the first limit that is none.
    pub(crate) fn check(&self) -> Result<(), BadConfig> {
        Problems::first_of(|problems| self.look_at(problems))
    }

    pub(crate) fn look_at(&self, problems: &mut Problems) {
        let mut some = |field: &str, limit: Option<u64>| {
            problems.ensure(field, limit != Some(0), || {
                "0 allows nothing; leave it out for no limit".into()
            });
        };
        some("budget.tokens", self.tokens);
        some("budget.requests", self.requests);
        some("budget.seconds", self.seconds);
        let sound = self.usd.is_none_or(|usd| usd > 0.0 && usd <= 1e9);
        problems.ensure("budget.usd", sound, || {
            "needs to be more than 0 and at most 1e9".into()
        });
    }
}

/// A line of the price table: what a model costs from a day on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PriceLine {
    /// The name the provider knows the model by.
    pub model: String,
    /// The first day it holds, `YYYY-MM-DD`.
    pub from: String,
    #[serde(flatten)]
    pub prices: Prices,
}

impl PriceLine {
    /// # Errors
    /// [`BadConfig`] naming the field that is out of range.
    pub fn check(&self) -> Result<(), BadConfig> {
        Problems::first_of(|problems| {
            problems.one_line("model", &self.model, 1);
            problems.ensure("from", is_day(&self.from), || {
                format!("`{}` is not a day as YYYY-MM-DD", self.from)
            });
            problems.ensure("prices", self.prices.are_sound(), || {
                "are US dollars for a million tokens, each 0 to 100,000".into()
            });
        })
    }
}
