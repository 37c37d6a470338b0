//! The protocols harnesses speak with their models, as pure functions: what is
//! asked, what the provider is sent, what an answer cost, how errors look.
//!
//! What differs between the protocols is a [`Dialect`], one file each.

mod chat;
mod fields;
mod gemini;
mod headers;
mod messages;
mod meter;
mod normal;
mod problem;
mod request;
mod responses;
#[cfg(test)]
mod tests;

use axum::http::HeaderName;
use serde_json::Value;
use swe_ci_core::agent::Protocol;

pub use headers::{key_header, passed_on_request, passed_on_response, token};
pub use meter::Meter;
pub use problem::{Problem, error_body, error_event, keep_alive};
pub use request::{Asked, Call, Outgoing, Route, call, models_body, read};

use fields::Fields;
use meter::Seen;

/// What differs between the protocols.
trait Dialect {
    /// What a POST to this path asks for, if it is one of this protocol.
    fn call(&self, path: &str, query: &str) -> Option<Call>;

    /// The path below the provider's address.
    fn path(&self, asked: &Asked, model: &str) -> String;

    /// Puts the provider's name of the model where the body has one.
    fn name_model(&self, body: &mut Fields, model: &str) {
        body.put("model", &model.into());
    }

    /// Asks that the answer says what it used, where that has to be asked.
    fn ask_for_usage(&self, _asked: &Asked, _body: &mut Fields) {}

    /// Where a body holds what varies from run to run; `*` is each of a list.
    fn varying(&self) -> &'static [&'static str];

    /// The header that holds the provider's key, and what stands before it.
    fn key_header(&self) -> (HeaderName, &'static str);

    /// Looks at an event of a stream; what is no JSON comes as a string.
    fn event(&self, event: &Value, seen: &mut Seen);

    /// Looks at a whole answer.
    fn answer(&self, answer: &Value, seen: &mut Seen);

    /// An error in the protocol's own shape.
    fn error(&self, problem: Problem, message: &str) -> Value;

    /// The same for a stream that has begun.
    fn error_event(&self, problem: Problem, message: &str) -> String {
        format!("data: {}\n\n", self.error(problem, message))
    }

    /// What a stream can hold at any place without meaning anything.
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
