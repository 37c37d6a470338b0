//! The dialect of OpenAI's responses.

use serde_json::{Value, json};
use swe_ci_core::agent::{Endpoint, Protocol};
use swe_ci_core::step::Truncation;

use super::meter::{AnswerProgress, Counts, Ends, number};
use super::{AgentRequest, Call, Dialect, Problem, Route};

pub struct Responses;

const ENDS: Ends = Ends {
    done: &["completed"],
    cut: &[
        ("incomplete", Truncation::CutOff),
        ("content_filter", Truncation::Filtered),
    ],
};

impl Dialect for Responses {
    fn call(&self, path: &str, _query: &str) -> Option<Call> {
        let route = Route::new(Protocol::Responses);
        (path == "/v1/responses").then_some(Call::Ask(route))
    }

    fn minimal(&self, endpoint: &Endpoint, text: &str, streamed: bool) -> (String, Value) {
        let input = json!([{ "role": "user", "content": text }]);
        let body = json!({ "model": endpoint.model, "input": input, "stream": streamed });
        ("/v1/responses".into(), body)
    }

    fn path(&self, _request: &AgentRequest, _model: &str) -> String {
        "/responses".into()
    }

    fn varying(&self) -> &'static str {
        "user metadata client_metadata prompt_cache_key safety_identifier previous_response_id \
            input.*.id input.*.call_id"
    }

    fn event(&self, event: &Value, progress: &mut AnswerProgress) {
        match event["type"].as_str() {
            Some("response.completed" | "response.incomplete" | "response.failed") => {
                self.answer(&event["response"], progress);
            }
            // The error's fields are beside the type, or below `error`.
            Some("error") => {
                let nested = &event["error"];
                progress.fail(if nested.is_null() { event } else { nested });
            }
            _ => {
                progress.fail(&event["error"]);
                progress.say(&event["delta"]);
            }
        }
    }

    fn answer(&self, answer: &Value, progress: &mut AnswerProgress) {
        progress.count(counts(&answer["usage"]));
        progress.fail(&answer["error"]);
        progress.say(&answer["output"]);
        match answer["status"].as_str() {
            Some("failed") => progress.fail(&"the response failed".into()),
            Some("incomplete") if answer["incomplete_details"]["reason"] == "content_filter" => {
                progress.end(&answer["incomplete_details"]["reason"], ENDS);
            }
            Some(_) => progress.end(&answer["status"], ENDS),
            None => progress.end_if(answer["output"].is_array()),
        }
    }

    /// Codex reads errors only from this event. On a spent quota it gives up
    /// instead of retrying.
    fn error_event(&self, problem: Problem, message: &str) -> String {
        let error = &self.error(problem, message)["error"];
        let event = json!({
            "type": "response.failed",
            "sequence_number": 0,
            "response": {
                "id": "resp_gateway",
                "object": "response",
                "status": "failed",
                "output": [],
                "error": { "code": error["code"], "message": message },
            },
        });
        format!("event: response.failed\ndata: {event}\n\n")
    }
}

fn counts(usage: &Value) -> Counts {
    Counts {
        input: [number(usage, "/input_tokens"), 0, 0],
        output: [number(usage, "/output_tokens"), 0],
        cached: number(usage, "/input_tokens_details/cached_tokens"),
        reasoning: number(usage, "/output_tokens_details/reasoning_tokens"),
    }
}
