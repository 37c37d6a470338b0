//! The harness's request, and the request to the provider made from it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use axum::body::Bytes;
use axum::http::Method;
use serde_json::{Value, json};
use swe_ci_core::agent::{Endpoint, Protocol};
use swe_ci_core::hosted_tools;

use super::fields::Fields;
use super::unambiguous::Unambiguous;
use super::{dialect, lenient, normalisation};

/// The operation a request calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// Get an answer of the model.
    Ask(Route),
    /// Count the tokens of a conversation; free and not metered.
    CountTokens(Route),
    Models,
}

/// The parts of a request that its address determines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    pub protocol: Protocol,
    /// The model, if the path names it; otherwise the body does.
    pub model: Option<String>,
    /// Whether to stream, if the path says it; otherwise the body does.
    pub streamed: Option<bool>,
    /// The query of the provider's address.
    pub query: Option<&'static str>,
}

impl Route {
    /// A route whose path says nothing further.
    pub fn new(protocol: Protocol) -> Self {
        Self {
            protocol,
            model: None,
            streamed: None,
            query: None,
        }
    }
}

/// A parsed request of the harness.
#[derive(Debug, Clone)]
pub struct AgentRequest {
    pub protocol: Protocol,
    /// The harness's name of the model.
    pub model: String,
    pub streamed: bool,
    /// The body as text; a tree takes several times as much memory.
    fields: Fields,
    pub counting: bool,
    /// The caller is in this process. It leaves to the gateway how the provider answers,
    /// and gets the answer whole.
    pub in_process: bool,
    /// The tools and fields with which the provider would act for the agent.
    hosted_tools: BTreeSet<String>,
    query: Option<&'static str>,
}

/// How an answer is asked for. A provider may refuse the first two.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    #[default]
    Streamed,
    /// As a stream that need not count its tokens.
    Uncounted,
    Whole,
}

impl Form {
    pub const ALL: [Self; 3] = [Self::Streamed, Self::Uncounted, Self::Whole];
}

/// The request to the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Relative to the endpoint's address, with a leading slash.
    pub path: String,
    pub query: Option<&'static str>,
    /// Cheap to clone, since retries send it again.
    pub body: Bytes,
}

/// The call of a request, if the gateway knows it. The path may include the
/// query.
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
/// The problem with the body, for the harness.
pub fn parse_request(call: &Call, bytes: &[u8]) -> Result<AgentRequest, String> {
    let (route, counting) = match call {
        Call::Ask(route) => (route, false),
        Call::CountTokens(route) => (route, true),
        Call::Models => return Err("a request for the list of models has no body".into()),
    };
    let not_an_object = |error| format!("the body is not a JSON object: {error}");
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    // Some clients write JSON that is not strict. The provider gets strict JSON.
    let text = match (
        serde_json::from_slice::<Value>(bytes),
        str::from_utf8(bytes),
    ) {
        (Ok(_), Ok(text)) => text.into(),
        _ => Cow::from(lenient::mended(&String::from_utf8_lossy(bytes))),
    };
    let fields: Fields = serde_json::from_str(&text).map_err(not_an_object)?;
    // The provider gets the deepest parts too; nothing in them is for the gateway.
    let shallow = lenient::shallow(&text);
    let Unambiguous(body) = serde_json::from_str(&shallow).map_err(not_an_object)?;
    let body = body.as_object().ok_or("the body is not a JSON object")?;
    let in_body = || body.get("model").and_then(Value::as_str);
    let model = match &route.model {
        Some(model) => model.clone(),
        None => in_body().ok_or("`model` is missing")?.to_owned(),
    };
    let in_body = || body.get("stream") == Some(&Value::Bool(true));
    Ok(AgentRequest {
        protocol: route.protocol,
        model,
        streamed: !counting && route.streamed.unwrap_or_else(in_body),
        fields,
        counting,
        in_process: false,
        hosted_tools: hosted_tools::requested(route.protocol, body),
        query: route.query,
    })
}

/// A request of our own to an endpoint for an answer to `text`.
///
/// # Errors
/// None that was seen: the body is one that [`parse_request`] takes.
pub fn minimal(endpoint: &Endpoint, text: &str, streamed: bool) -> Result<AgentRequest, String> {
    let (path, body) = dialect(endpoint.protocol).minimal(endpoint, text, streamed);
    let call = call(&Method::POST, &path).ok_or("no such path")?;
    parse_request(&call, body.to_string().as_bytes())
}

impl AgentRequest {
    /// The request to the provider in this form: it names the endpoint's model, overrides
    /// the harness's parameters with the endpoint's, and requests usage. Unless
    /// hosted tools are allowed, the provider is not to store the conversation.
    pub fn outgoing(&self, endpoint: &Endpoint, form: Form, allow_hosted_tools: bool) -> Outgoing {
        let dialect = dialect(self.protocol);
        let mut body = self.fields.clone();
        if self.in_process {
            body.put("stream", &self.streamed.into());
        }
        if self.streamed {
            dialect.request_usage(form != Form::Uncounted, &mut body);
        }
        if !self.counting {
            body.merge(&endpoint.parameters);
        }
        if !allow_hosted_tools && body.is_true("store") {
            body.put("store", &false.into());
        }
        dialect.name_model(&mut body, &endpoint.model);
        Outgoing {
            path: dialect.path(self, &endpoint.model),
            query: self.query,
            body: body.to_string().into(),
        }
    }

    /// The names of the tools and fields with which the provider would act for
    /// the agent, in this request or in the endpoint's configuration.
    pub fn hosted_tools(&self, endpoint: &Endpoint) -> BTreeSet<String> {
        let mut names = self.hosted_tools.clone();
        // A run may be older than this rule for configurations.
        names.extend(hosted_tools::requested(self.protocol, &endpoint.parameters));
        if hosted_tools::is_searching_model(&endpoint.model) {
            names.insert(endpoint.model.clone());
        }
        names
    }

    pub fn body(&self) -> Value {
        // It was parsed as an object before, so this does not fail.
        lenient::read_json(self.fields.to_string().as_bytes()).unwrap_or_default()
    }

    /// The body without incidental differences between runs, with sorted keys,
    /// to be compared with a recording.
    pub fn normalised(&self) -> Value {
        let varying: Vec<&str> = dialect(self.protocol).varying().split(' ').collect();
        normalisation::normalised(self.body(), &varying)
    }
}

/// The list with the one model, in the format of the protocol of this path.
pub fn models_body(path: &str, model: &str) -> Vec<u8> {
    let body = if path.starts_with("/v1beta/") {
        let methods = ["generateContent", "streamGenerateContent", "countTokens"];
        json!({ "models": [{
            "name": format!("models/{model}"),
            "displayName": model,
            "supportedGenerationMethods": methods,
        }] })
    } else {
        // OpenAI and Anthropic share the path; this has the fields of both.
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
