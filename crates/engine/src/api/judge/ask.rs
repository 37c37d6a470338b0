//! One question to the judge's model: the request, the reply, and a second try
//! after a reply that cannot be read.

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
    let answer = answer.map_err(|error| format!("{error:#}"))?;
    let answer = answer.map_err(|(status, text)| {
        let text: String = text.chars().take(MAX_ERROR).collect();
        format!("the judge's model answered HTTP {status}: {text}")
    })?;
    let text = answer
        .message
        .and_then(|message| message["content"].as_str().map(str::to_owned));
    text.ok_or_else(|| "the reply of the judge's model has no text".to_owned())
}
