//! The models that a provider lists, for whoever chooses one.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use futures::StreamExt;
use secrecy::SecretString;
use serde_json::Value;
use swe_ci_core::agent::{Endpoint, Protocol};
use swe_ci_core::permissions::Reach;
use swe_ci_core::problems::Problems;

use super::protocol::read_json;
use super::provider_request::{innermost, with_headers};
use super::unpacking::pieces;
use super::{Gateway, refusal, refused_by_name};

const LIMIT: Duration = Duration::from_secs(10);
const MAX_BYTES: usize = 4 << 20;
const MAX_MODELS: usize = 2_000;

impl Gateway {
    /// The models of an endpoint, by name; its own `model` is not used. `keys` are those
    /// that it names.
    ///
    /// # Errors
    /// Why there is no list, in words that hold nothing of the answer.
    pub async fn models(
        &self,
        reach: Reach,
        endpoint: &Endpoint,
        keys: &BTreeMap<String, SecretString>,
    ) -> Result<Vec<String>, String> {
        let refused = || refused_by_name(&endpoint.url);
        if let Some(why) = (reach == Reach::Public).then(refused).flatten() {
            return Err(why);
        }
        let base = endpoint.url.trim_end_matches('/');
        // These two answer with a short page otherwise.
        let query = match endpoint.protocol {
            Protocol::Messages => "?limit=1000",
            Protocol::Gemini => "?pageSize=1000",
            Protocol::Chat | Protocol::Responses => "",
        };
        let mut request = self.client(reach).get(format!("{base}/models{query}"));
        if endpoint.protocol == Protocol::Messages {
            request = request.header("anthropic-version", "2023-06-01");
        }
        let sent = with_headers(request, endpoint, keys)?.timeout(LIMIT).send();
        let no_answer = |error: reqwest::Error| {
            refusal(&error).unwrap_or_else(|| format!("no answer ({})", innermost(&error)))
        };
        let response = sent.await.map_err(no_answer)?;
        let status = response.status();
        if !status.is_success() {
            return Err(format!("the provider lists no models: HTTP {status}"));
        }
        let mut bytes = Vec::new();
        let mut pieces = pin!(pieces(response));
        while let Some(piece) = pieces.next().await {
            bytes.extend_from_slice(&piece.map_err(|why| format!("no answer ({why})"))?);
            if bytes.len() > MAX_BYTES {
                return Err("the provider's list of models is too long".to_owned());
            }
        }
        let names = names(&bytes);
        match names.is_empty() {
            true => Err("the provider's answer is no list of models".to_owned()),
            false => Ok(names),
        }
    }
}

/// From the lists of OpenAI and Anthropic, or of Google.
fn names(answer: &[u8]) -> Vec<String> {
    let answer = read_json(answer).unwrap_or_default();
    let (list, field) = match answer.get("data") {
        Some(list) => (Some(list), "id"),
        None => (answer.get("models"), "name"),
    };
    let models = list.and_then(Value::as_array).into_iter().flatten();
    let names = models.filter_map(|model| {
        let name = model.get(field)?.as_str()?;
        Some(name.strip_prefix("models/").unwrap_or(name).to_owned())
    });
    // Of those that a configuration may have.
    let valid = |name: &String| Problems::first(|p| p.one_line("model", name, 1)).is_ok();
    let mut names: Vec<String> = names.filter(valid).take(MAX_MODELS).collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_models() {
        let check = |answer: &str, expect: &[&str]| {
            assert_eq!(names(answer.as_bytes()), expect, "{answer}");
        };
        check(
            r#"{"data": [{"id": "b"}, {"id": "a"}, {"id": "a"}]}"#,
            &["a", "b"],
        );
        check(r#"{"models": [{"name": "models/g-1"}]}"#, &["g-1"]);
        check(r#"{"data": [{"id": ""}, {"id": 3}, {}]}"#, &[]);
        check(
            r#"{"data": [{"id": "a\nb"}, {"id": "a", "n": NaN}]}"#,
            &["a"],
        );
        check(r#"{"data": "x"}"#, &[]);
        check("<html>", &[]);
    }
}
