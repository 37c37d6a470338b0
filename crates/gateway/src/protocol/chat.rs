//! The dialect of OpenAI's chat completions.

use serde_json::{Map, Value, json};
use swe_ci_core::agent::{Endpoint, Protocol};
use swe_ci_core::step::Truncation;

use super::fields::Fields;
use super::meter::{AnswerProgress, Counts, Ends, number};
use super::{AgentRequest, Call, Dialect, Route};

pub struct Chat;

const ENDS: Ends = Ends {
    done: &["stop", "tool_calls", "function_call"],
    cut: &[
        ("length", Truncation::CutOff),
        ("content_filter", Truncation::Filtered),
    ],
};

impl Dialect for Chat {
    fn call(&self, path: &str, _query: &str) -> Option<Call> {
        let route = Route::new(Protocol::Chat);
        (path == "/v1/chat/completions").then_some(Call::Ask(route))
    }

    fn minimal(&self, endpoint: &Endpoint, text: &str, streamed: bool) -> (String, Value) {
        let messages = json!([{ "role": "user", "content": text }]);
        let body = json!({ "model": endpoint.model, "messages": messages, "stream": streamed });
        ("/v1/chat/completions".into(), body)
    }

    fn path(&self, _request: &AgentRequest, _model: &str) -> String {
        "/chat/completions".into()
    }

    fn request_usage(&self, wanted: bool, body: &mut Fields) {
        let options = match wanted {
            true => json!({ "include_usage": true }),
            false => Value::Null,
        };
        body.merge(&Map::from_iter([("stream_options".into(), options)]));
    }

    fn varying(&self) -> &'static str {
        "user metadata prompt_cache_key safety_identifier messages.*.tool_call_id \
            messages.*.tool_calls.*.id"
    }

    fn event(&self, event: &Value, progress: &mut AnswerProgress) {
        progress.fail(&event["error"]);
        progress.count(counts(&event["usage"]));
        for choice in event["choices"].as_array().into_iter().flatten() {
            // Moonshot reports usage here.
            progress.count(counts(&choice["usage"]));
            progress.fail(&choice["error"]);
            for part in ["delta", "message"] {
                progress.say(&choice[part]);
            }
            progress.end(&choice["finish_reason"], ENDS);
        }
        progress.end_if(event == "[DONE]");
    }

    fn answer(&self, answer: &Value, progress: &mut AnswerProgress) {
        self.event(answer, progress);
        progress.end_if(answer["choices"].is_array());
    }
}

fn counts(usage: &Value) -> Counts {
    let input = number(usage, "/prompt_tokens");
    let output = number(usage, "/completion_tokens");
    let reasoning = number(usage, "/completion_tokens_details/reasoning_tokens");
    // Most providers count reasoning as part of the completion. For those that
    // do not (xAI), the total shows the difference.
    let apart = number(usage, "/total_tokens").checked_sub(input.saturating_add(output));
    let apart = apart.filter(|&rest| rest == reasoning).unwrap_or(0);
    // The names of OpenAI, DeepSeek and Moonshot.
    let cached = [
        "/prompt_tokens_details/cached_tokens",
        "/prompt_cache_hit_tokens",
        "/cached_tokens",
    ];
    let cached = cached.map(|name| number(usage, name)).into_iter().max();
    Counts {
        input: [input, 0, 0],
        output: [output, apart],
        cached: cached.unwrap_or(0),
        reasoning,
    }
}
