//! The dialect of Anthropic's messages.

use axum::http::HeaderName;
use serde_json::{Value, json};
use swe_ci_core::agent::{Endpoint, Protocol};
use swe_ci_core::step::Truncation;

use super::meter::{AnswerProgress, Counts, Ends, number};
use super::{AgentRequest, Call, Dialect, Problem, Route};

pub struct Messages;

const ENDS: Ends = Ends {
    done: &["end_turn", "stop_sequence", "tool_use", "pause_turn"],
    cut: &[
        ("max_tokens", Truncation::CutOff),
        ("refusal", Truncation::Filtered),
        ("model_context_window_exceeded", Truncation::ContextFull),
    ],
};

impl Dialect for Messages {
    fn call(&self, path: &str, query: &str) -> Option<Call> {
        let beta = query.split('&').any(|part| part == "beta=true");
        let route = Route {
            query: beta.then_some("beta=true"),
            ..Route::new(Protocol::Messages)
        };
        match path {
            "/v1/messages" => Some(Call::Ask(route)),
            "/v1/messages/count_tokens" => Some(Call::CountTokens(route)),
            _ => None,
        }
    }

    /// This protocol asks for a limit, above what may be thought.
    fn minimal(&self, endpoint: &Endpoint, text: &str, streamed: bool) -> (String, Value) {
        let thinking = endpoint.parameters.get("thinking");
        let thinking = thinking.map_or(0, |thinking| number(thinking, "/budget_tokens"));
        let messages = json!([{ "role": "user", "content": text }]);
        let body = json!({
            "model": endpoint.model,
            "messages": messages,
            "max_tokens": thinking.saturating_add(1024),
            "stream": streamed,
        });
        ("/v1/messages".into(), body)
    }

    fn path(&self, request: &AgentRequest, _model: &str) -> String {
        match request.counting {
            true => "/messages/count_tokens".into(),
            false => "/messages".into(),
        }
    }

    fn varying(&self) -> &'static str {
        "metadata messages.*.content.*.id messages.*.content.*.tool_use_id"
    }

    fn key_header(&self) -> (HeaderName, &'static str) {
        (HeaderName::from_static("x-api-key"), "")
    }

    fn event(&self, event: &Value, progress: &mut AnswerProgress) {
        match event["type"].as_str() {
            Some("message_start") => progress.count(counts(&event["message"]["usage"])),
            Some("content_block_start") => progress.say(&event["content_block"]),
            Some("content_block_delta") => progress.say(&event["delta"]),
            Some("message_delta") => {
                progress.count(counts(&event["usage"]));
                progress.reason(&event["delta"]["stop_reason"], ENDS);
            }
            Some("message_stop") => progress.end_if(true),
            _ => progress.fail(&event["error"]),
        }
    }

    fn answer(&self, answer: &Value, progress: &mut AnswerProgress) {
        progress.fail(&answer["error"]);
        progress.count(counts(&answer["usage"]));
        progress.say(&answer["content"]);
        progress.reason(&answer["stop_reason"], ENDS);
        // An answer, or a count of tokens.
        progress.end_if(answer["content"].is_array() || !answer["input_tokens"].is_null());
    }

    fn error(&self, problem: Problem, message: &str) -> Value {
        let kind = match problem {
            Problem::UnknownPath | Problem::WrongModel => "not_found_error",
            Problem::BadToken => "authentication_error",
            Problem::BadRequest | Problem::HostedTool => "invalid_request_error",
            Problem::TooLarge => "request_too_large",
            Problem::BudgetSpent => "billing_error",
            Problem::ProviderFailed => "api_error",
        };
        json!({ "type": "error", "error": { "type": kind, "message": message } })
    }

    fn error_event(&self, problem: Problem, message: &str) -> String {
        format!("event: error\ndata: {}\n\n", self.error(problem, message))
    }

    fn keep_alive(&self) -> &'static str {
        "event: ping\ndata: {\"type\": \"ping\"}\n\n"
    }
}

fn counts(usage: &Value) -> Counts {
    let cached = number(usage, "/cache_read_input_tokens");
    Counts {
        input: [
            number(usage, "/input_tokens"),
            cached,
            number(usage, "/cache_creation_input_tokens"),
        ],
        output: [number(usage, "/output_tokens"), 0],
        cached,
        reasoning: number(usage, "/output_tokens_details/thinking_tokens"),
    }
}
