//! The dialect of Google's generateContent.

use axum::http::HeaderName;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Map, Value, json};
use swe_ci_core::agent::{Endpoint, Protocol};
use swe_ci_core::step::Truncation;

use super::fields::Fields;
use super::meter::{AnswerProgress, Counts, Ends, number};
use super::{AgentRequest, Call, Dialect, Problem, Route};

/// The bytes of a model's name that a path cannot hold.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/')
    .remove(b':')
    .remove(b'@');

pub struct Gemini;

const ENDS: Ends = Ends {
    done: &["STOP"],
    cut: &[
        ("MAX_TOKENS", Truncation::CutOff),
        ("SAFETY", Truncation::Filtered),
        ("RECITATION", Truncation::Filtered),
        ("LANGUAGE", Truncation::Filtered),
        ("BLOCKLIST", Truncation::Filtered),
        ("PROHIBITED_CONTENT", Truncation::Filtered),
        ("SPII", Truncation::Filtered),
        ("UNEXPECTED_TOOL_CALL", Truncation::CutOff),
        ("MALFORMED_FUNCTION_CALL", Truncation::CutOff),
    ],
};

impl Dialect for Gemini {
    fn call(&self, path: &str, _query: &str) -> Option<Call> {
        // Some model names contain a colon.
        let (model, verb) = path.strip_prefix("/v1beta/models/")?.rsplit_once(':')?;
        let route = |streamed: bool| Route {
            protocol: Protocol::Gemini,
            model: Some(decode_path(model)),
            streamed: Some(streamed),
            // Without this the provider streams a JSON list, and no harness
            // expects one.
            query: streamed.then_some("alt=sse"),
        };
        match verb {
            "streamGenerateContent" => Some(Call::Ask(route(true))),
            "generateContent" => Some(Call::Ask(route(false))),
            "countTokens" => Some(Call::CountTokens(route(false))),
            _ => None,
        }
    }

    fn minimal(&self, endpoint: &Endpoint, text: &str, streamed: bool) -> (String, Value) {
        let verb = match streamed {
            true => "streamGenerateContent",
            false => "generateContent",
        };
        let path = format!("/v1beta/models/{}:{verb}", encode_path(&endpoint.model));
        let contents = json!([{ "role": "user", "parts": [{ "text": text }] }]);
        (path, json!({ "contents": contents }))
    }

    fn path(&self, request: &AgentRequest, model: &str) -> String {
        let verb = match (request.counting, request.streamed) {
            (true, _) => "countTokens",
            (false, true) => "streamGenerateContent",
            (false, false) => "generateContent",
        };
        format!("/models/{}:{verb}", encode_path(model))
    }

    /// The path names the model; a body may also name it, in two places.
    fn name_model(&self, body: &mut Fields, model: &str) {
        let name = json!(format!("models/{model}"));
        if body.has("model") {
            body.put("model", &name);
        }
        let nested = "generateContentRequest";
        if body.has(nested) {
            let patch = json!({ "model": name });
            body.merge(&Map::from_iter([(nested.to_owned(), patch)]));
        }
    }

    fn varying(&self) -> &'static str {
        "contents.*.parts.*.functionCall.id contents.*.parts.*.functionResponse.id"
    }

    fn key_header(&self) -> (HeaderName, &'static str) {
        (HeaderName::from_static("x-goog-api-key"), "")
    }

    fn answer(&self, answer: &Value, progress: &mut AnswerProgress) {
        progress.fail(&answer["error"]);
        progress.count(counts(&answer["usageMetadata"]));
        for candidate in answer["candidates"].as_array().into_iter().flatten() {
            progress.say(&candidate["content"]["parts"]);
            progress.end(&candidate["finishReason"], ENDS);
        }
        // Refused prompts and token counts have no candidates.
        let refused = &answer["promptFeedback"]["blockReason"];
        progress.say(refused);
        progress.end_if(refused.is_string());
        progress.end_if(!answer["totalTokens"].is_null());
    }

    fn error(&self, problem: Problem, message: &str) -> Value {
        let code = problem.status().as_u16();
        let status = match problem {
            Problem::UnknownPath | Problem::WrongModel => "NOT_FOUND",
            Problem::BadToken => "UNAUTHENTICATED",
            Problem::BadRequest | Problem::HostedTool | Problem::TooLarge => "INVALID_ARGUMENT",
            // Not `RESOURCE_EXHAUSTED`: clients retry after that.
            Problem::BudgetSpent => "FAILED_PRECONDITION",
            Problem::ProviderFailed => "UNAVAILABLE",
        };
        json!({ "error": { "code": code, "message": message, "status": status } })
    }

    /// Google ends a failed stream with the bare object, and its clients expect
    /// that.
    fn error_event(&self, problem: Problem, message: &str) -> String {
        format!("{}\n\n", self.error(problem, message))
    }

    /// Gemini CLI fails on comments, but skips white space.
    fn keep_alive(&self) -> &'static str {
        "\n"
    }
}

fn counts(usage: &Value) -> Counts {
    let thoughts = number(usage, "/thoughtsTokenCount");
    Counts {
        input: [
            number(usage, "/promptTokenCount"),
            number(usage, "/toolUsePromptTokenCount"),
            0,
        ],
        output: [number(usage, "/candidatesTokenCount"), thoughts],
        cached: number(usage, "/cachedContentTokenCount"),
        reasoning: thoughts,
    }
}

/// Percent-encodes a model's name for a path. Slashes stay, as in Google's
/// clients.
fn encode_path(model: &str) -> String {
    utf8_percent_encode(model, ENCODED).to_string()
}

fn decode_path(written: &str) -> String {
    let name = percent_decode_str(written);
    name.decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_through_a_path() {
        let check = |name: &str, written: &str| {
            assert_eq!(encode_path(name), written);
            assert_eq!(decode_path(written), name);
        };
        check("gemini-2.5-pro", "gemini-2.5-pro");
        check("google/gemini:free@1", "google/gemini:free@1");
        check("ein Modell?ä#%41", "ein%20Modell%3F%C3%A4%23%2541");
        for odd in ["%", "%4", "%zz", "%+4", "a%"] {
            assert_eq!(decode_path(odd), odd);
        }
    }
}
