//! The protocols between harnesses and models, as pure functions: they parse
//! requests, write the provider's request, meter answers and format errors.
//!
//! A [`Dialect`] per protocol, one file each, holds the differences.

mod chat;
mod fields;
mod gemini;
mod headers;
mod lenient;
mod messages;
mod meter;
mod normalisation;
mod problem;
mod request;
mod responses;
#[cfg(test)]
mod tests;
mod unambiguous;

use axum::http::{HeaderName, header};
use serde_json::{Value, json};
use swe_ci_core::agent::{Endpoint, Protocol};

pub use headers::{key_header, passed_on_request, passed_on_response, token};
pub use lenient::{events_of_list, read_json, readable};
pub use meter::{Meter, Metered};
pub use problem::{Problem, error_body, error_event, keep_alive};
pub use request::{
    AgentRequest, Call, Form, Outgoing, Route, call, minimal, models_body, parse_request,
};

use fields::Fields;
use meter::AnswerProgress;

/// The differences between the protocols. The defaults are those of OpenAI's.
trait Dialect {
    /// The call of a POST to this path, if the path belongs to this protocol.
    fn call(&self, path: &str, query: &str) -> Option<Call>;

    /// The path and the body of a request for an answer to `text`, with nothing in
    /// it that could be left out.
    fn minimal(&self, endpoint: &Endpoint, text: &str, streamed: bool) -> (String, Value);

    /// The path below the provider's address.
    fn path(&self, request: &AgentRequest, model: &str) -> String;

    /// Writes the provider's name of the model into the body.
    fn name_model(&self, body: &mut Fields, model: &str) {
        body.put("model", &model.into());
    }

    /// Requests usage in a stream or not, in protocols that send it only on request.
    fn request_usage(&self, _wanted: bool, _body: &mut Fields) {}

    /// Paths of the fields that vary from run to run; `*` is each of a list.
    fn varying(&self) -> &'static str;

    /// The header for the provider's key, and the prefix of its value.
    fn key_header(&self) -> (HeaderName, &'static str) {
        (header::AUTHORIZATION, "Bearer ")
    }

    /// Meters an event of a stream; data that is not JSON comes as a string.
    fn event(&self, event: &Value, progress: &mut AnswerProgress) {
        self.answer(event, progress);
    }

    /// Meters a whole answer.
    fn answer(&self, answer: &Value, progress: &mut AnswerProgress);

    /// An error in the protocol's format.
    fn error(&self, problem: Problem, message: &str) -> Value {
        let (kind, code) = match problem {
            Problem::UnknownPath => ("invalid_request_error", "unknown_url"),
            Problem::BadToken => ("authentication_error", "invalid_api_key"),
            Problem::WrongModel => ("invalid_request_error", "model_not_found"),
            Problem::BadRequest => ("invalid_request_error", "bad_request"),
            Problem::HostedTool => ("invalid_request_error", "tool_not_available"),
            Problem::TooLarge => ("invalid_request_error", "request_too_large"),
            Problem::BudgetSpent => ("insufficient_quota", "insufficient_quota"),
            Problem::ProviderFailed => ("server_error", "provider_failed"),
        };
        json!({ "error": { "message": message, "type": kind, "param": null, "code": code } })
    }

    /// The same for a stream that has started.
    fn error_event(&self, problem: Problem, message: &str) -> String {
        format!("data: {}\n\n", self.error(problem, message))
    }

    /// Bytes a client ignores at any place of a stream.
    fn keep_alive(&self) -> &'static str {
        ": waiting\n\n"
    }
}

fn dialect(protocol: Protocol) -> &'static dyn Dialect {
    match protocol {
        Protocol::Chat => &chat::Chat,
        Protocol::Responses => &responses::Responses,
        Protocol::Messages => &messages::Messages,
        Protocol::Gemini => &gemini::Gemini,
    }
}
