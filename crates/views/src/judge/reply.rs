//! What the judge answers.

use serde::Deserialize;

use super::{Answer, Criterion, CriterionAnswer, Quote, Record};

/// The most quotes of an answer, and characters of a quote or a reason.
const MAX_QUOTES: usize = 5;
const MAX_TEXT: usize = 600;

#[derive(Deserialize)]
struct Reply {
    answers: Vec<Given>,
}

#[derive(Deserialize)]
struct Given {
    name: String,
    answer: String,
    #[serde(default)]
    quotes: Vec<String>,
    #[serde(default)]
    why: String,
}

/// The answers in a model's reply, in the order of the rubric, with the places of
/// their quotes. Text around the JSON object is ignored; so are answers to
/// questions that nobody asked.
///
/// # Errors
/// What is wrong with the reply, in words for the model.
pub fn answers(
    reply: &str,
    criteria: &[Criterion],
    record: &Record,
) -> Result<Vec<CriterionAnswer>, String> {
    let object = reply.find('{').zip(reply.rfind('}'));
    let object = object.and_then(|(start, end)| reply.get(start..=end));
    let object = object.ok_or("the reply has no JSON object")?;
    let reply: Reply = serde_json::from_str(object)
        .map_err(|error| format!("the reply cannot be read: {error}"))?;
    let answer = |criterion: &Criterion| {
        let name = &criterion.name;
        let mut given = reply.answers.iter().filter(|given| given.name == *name);
        let given = given.next().ok_or(format!("`{name}` has no answer"))?;
        let word = given.answer.trim().to_lowercase();
        let answer = Answer::from_name(&word)
            .ok_or_else(|| format!("the answer to `{name}` must be yes, no or unclear"))?;
        let quotes = given.quotes.iter().take(MAX_QUOTES).map(|text| Quote {
            found_in: record.section_of(text),
            text: shortened(text),
        });
        Ok(CriterionAnswer {
            name: name.clone(),
            answer,
            quotes: quotes.collect(),
            why: shortened(&given.why),
        })
    };
    criteria.iter().map(answer).collect()
}

fn shortened(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
