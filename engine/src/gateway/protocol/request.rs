//! What a harness asks, and what the provider is sent for it.

use axum::body::Bytes;
use axum::http::Method;
use serde_json::{Map, Value, json};
use swe_ci_core::agent::{Endpoint, Protocol};

use super::fields::Fields;
use super::{dialect, normal};

/// What a path of the gateway asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// An answer of the model.
    Ask(Route),
    /// How many tokens a conversation has. Costs nothing and is not metered.
    CountTokens(Route),
    /// Which models there are.
    Models,
}

/// What the address of a request says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    pub protocol: Protocol,
    /// Where the path names the model; elsewhere the body does.
    pub model: Option<String>,
    /// Where the path says it; elsewhere the body does.
    pub streamed: Option<bool>,
    /// What the provider's address has behind its `?`.
    pub query: Option<&'static str>,
}

/// A request that was understood.
#[derive(Debug, Clone)]
pub struct Asked {
    pub protocol: Protocol,
    /// As the harness names it.
    pub model: String,
    pub streamed: bool,
    /// The body as it was written; a tree of it takes several times as much
    /// memory.
    written: Fields,
    /// Whether tokens are to be counted and no more.
    pub counting: bool,
    query: Option<&'static str>,
}

/// What the provider is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Below the endpoint's address, with a slash in front.
    pub path: String,
    /// What stands behind the `?`.
    pub query: Option<&'static str>,
    /// Cheap to clone, for it may be sent again.
    pub body: Bytes,
}

/// What a request asks for, if the gateway knows it. The path may have its
/// query behind it.
#[must_use]
pub fn call(method: &Method, path: &str) -> Option<Call> {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    match *method {
        Method::GET if ["/v1/models", "/v1beta/models"].contains(&path) => Some(Call::Models),
        Method::POST => Protocol::ALL
            .into_iter()
            .find_map(|protocol| dialect(protocol).call(path, query)),
        _ => None,
    }
}

/// # Errors
/// What is wrong with the body, for the harness.
pub fn read(call: &Call, bytes: &[u8]) -> Result<Asked, String> {
    let (route, counting) = match call {
        Call::Ask(route) => (route, false),
        Call::CountTokens(route) => (route, true),
        Call::Models => return Err("the list of models is not asked for with a body".into()),
    };
    let not_an_object = |error| format!("the body is not a JSON object: {error}");
    let body: Map<String, Value> = serde_json::from_slice(bytes).map_err(not_an_object)?;
    let written: Fields = serde_json::from_slice(bytes).map_err(not_an_object)?;
    let in_body = || body.get("model").and_then(Value::as_str);
    let model = match &route.model {
        Some(model) => model.clone(),
        None => in_body().ok_or("`model` is missing")?.to_owned(),
    };
    let in_body = || body.get("stream") == Some(&Value::Bool(true));
    Ok(Asked {
        protocol: route.protocol,
        model,
        streamed: !counting && route.streamed.unwrap_or_else(in_body),
        written,
        counting,
        query: route.query,
    })
}

impl Asked {
    /// The request in the endpoint's terms: with its name of the model, its
    /// parameters over what the harness says, and usage asked for.
    #[must_use]
    pub fn outgoing(&self, endpoint: &Endpoint) -> Outgoing {
        let dialect = dialect(self.protocol);
        let mut body = self.written.clone();
        if !self.counting {
            dialect.ask_for_usage(self, &mut body);
            body.lay_over(&endpoint.parameters);
        }
        dialect.name_model(&mut body, &endpoint.model);
        Outgoing {
            path: dialect.path(self, &endpoint.model),
            query: self.query,
            body: body.to_string().into(),
        }
    }

    /// What the harness asks.
    #[must_use]
    pub fn body(&self) -> Value {
        // What was read as an object before can be read again.
        serde_json::from_str(&self.written.to_string()).unwrap_or_default()
    }

    /// The body without what varies from run to run for no reason, so that it
    /// can be looked up in a recording. Its keys are sorted.
    #[must_use]
    pub fn normalised(&self) -> Value {
        normal::normalised(self.body(), dialect(self.protocol).varying())
    }
}

/// The list of models, which is one, in the shape of who asks at this path.
#[must_use]
pub fn models_body(path: &str, model: &str) -> Vec<u8> {
    let body = if path.starts_with("/v1beta/") {
        let methods = ["generateContent", "streamGenerateContent", "countTokens"];
        json!({ "models": [{
            "name": format!("models/{model}"),
            "displayName": model,
            "supportedGenerationMethods": methods,
        }] })
    } else {
        // OpenAI and Anthropic share the path; this holds the fields of both.
        json!({
            "object": "list",
            "data": [{
                "id": model,
                "object": "model",
                "created": 0,
                "owned_by": "provider",
                "type": "model",
                "display_name": model,
                "created_at": "1970-01-01T00:00:00Z",
            }],
            "first_id": model,
            "last_id": model,
            "has_more": false,
        })
    };
    body.to_string().into_bytes()
}
