//! One question to the judge's model: the request, the reply, and a second try
//! after a reply that cannot be read.

use axum::http::StatusCode;
use serde_json::{Value, json};
use swe_ci_core::usage::Usage;
use swe_ci_gateway::{GatewaySession, StopReason};
use swe_ci_views::judge::{Criterion, CriterionAnswer, Record, answers, instructions};

/// The most characters of a provider's error.
const MAX_ERROR: usize = 300;

/// The questions about an iteration.
pub struct Question<'a> {
    pub criteria: &'a [Criterion],
    pub record: &'a Record,
}

/// The result of asking.
pub struct Asked {
    /// The answers, or why there are none.
    pub answers: Result<Vec<CriterionAnswer>, String>,
    pub usage: Usage,
    pub micro_usd: Option<u64>,
}

impl Question<'_> {
    /// Asks in a session, and closes it.
    pub async fn ask(&self, session: GatewaySession) -> Asked {
        let answers = tokio::select! {
            biased;
            reason = session.stopped() => Err(match reason {
                StopReason::Budget(why)
                | StopReason::EvolutionBudget(why)
                | StopReason::Provider(why) => why,
            }),
            answers = self.converse(&session) => answers,
        };
        let account = session.close().await;
        Asked {
            answers,
            usage: account.usage,
            micro_usd: account.traffic.micro_usd,
        }
    }

    async fn converse(&self, session: &GatewaySession) -> Result<Vec<CriterionAnswer>, String> {
        let mut messages = vec![
            json!({ "role": "system", "content": instructions(self.criteria) }),
            json!({ "role": "user", "content": self.record.text() }),
        ];
        let reply = said(session, &messages).await?;
        let wrong = match answers(&reply, self.criteria, self.record) {
            Ok(answers) => return Ok(answers),
            Err(wrong) => wrong,
        };
        messages.push(json!({ "role": "assistant", "content": reply }));
        let again = format!("{wrong}. Answer again, with the JSON object alone.");
        messages.push(json!({ "role": "user", "content": again }));
        let reply = said(session, &messages).await?;
        answers(&reply, self.criteria, self.record)
    }
}

/// The text of the model's next reply.
async fn said(session: &GatewaySession, messages: &[Value]) -> Result<String, String> {
    let body = json!({ "model": session.endpoint().model, "messages": messages });
    let answer = session.chat(&body).await;
    let (status, body) = answer.map_err(|error| format!("{error:#}"))?;
    content(status, &body)
}

fn content(status: StatusCode, body: &[u8]) -> Result<String, String> {
    if !status.is_success() {
        let text = String::from_utf8_lossy(body);
        let text: String = text.chars().take(MAX_ERROR).collect();
        return Err(format!("the judge's model answered HTTP {status}: {text}"));
    }
    let reply: Value = serde_json::from_slice(body)
        .map_err(|error| format!("the reply of the judge's model is not JSON: {error}"))?;
    let text = reply.pointer("/choices/0/message/content");
    let text = text.and_then(Value::as_str);
    text.map(str::to_owned)
        .ok_or_else(|| "the reply of the judge's model has no text".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_or_explained() {
        let check = |status: u16, body: &str, expect: Result<&str, &str>| {
            let status = StatusCode::from_u16(status).unwrap();
            let given = content(status, body.as_bytes());
            match (given, expect) {
                (Ok(text), Ok(expect)) => assert_eq!(text, expect),
                (Err(why), Err(expect)) => assert!(why.contains(expect), "{why}"),
                (given, expect) => panic!("{given:?} is not {expect:?}"),
            }
        };
        let reply = r#"{"choices": [{"message": {"content": "yes"}}]}"#;
        check(200, reply, Ok("yes"));
        check(200, "{}", Err("has no text"));
        check(200, "<html>", Err("is not JSON"));
        check(400, "too long", Err("HTTP 400 Bad Request: too long"));
    }
}
