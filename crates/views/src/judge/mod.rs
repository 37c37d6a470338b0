//! A model's judgement of iterations: a rubric of questions, each answered about
//! one iteration with yes, no or unclear, and with quotes from its record. A
//! quote that does not stand there is marked. Nothing of it is part of a score.
//!
//! ```text
//! JudgePlan ─┐
//! Record ────┴▶ prompt ─ the judge's model ─▶ reply ▶ Judgement ─▶ JudgedRun
//! ```

mod prompt;
mod reply;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use swe_ci_core::agent::{Budget, Endpoint, Protocol};
use swe_ci_core::problems::{BadConfig, Problems};
use swe_ci_core::task::TaskId;
use swe_ci_core::usage::Usage;

pub use self::prompt::{Record, SYSTEM, instructions};
pub use self::reply::answers;

/// The most questions of a rubric.
const MAX_CRITERIA: usize = 20;
/// The most characters of a question.
const MAX_QUESTION: usize = 1_000;

/// Who judges a run, by which rubric, for how much.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct JudgePlan {
    /// The judge's model. It must speak chat completions.
    pub endpoint: Endpoint,
    /// Limits of one pass over the run; absent ones are unlimited.
    #[serde(default)]
    pub budget: Budget,
    /// The rubric: 1 to 20 questions.
    #[serde(rename = "criterion")]
    pub criteria: Vec<Criterion>,
}

/// A question of a rubric, about one iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Criterion {
    /// 1 to 120 characters, unique in the rubric.
    pub name: String,
    /// 1 to 1,000 characters, to be answered with yes or no.
    pub question: String,
}

swe_ci_core::named! {
    pub enum Answer {
        Yes = "yes",
        No = "no",
        /// The record does not tell.
        Unclear = "unclear",
    }
}

swe_ci_core::named! {
    /// A part of the record of an iteration.
    pub enum Section {
        /// The architect's document.
        Requirement = "requirement",
        /// The change of the code.
        Change = "change",
        /// The tests that the iteration gained and lost.
        Tests = "tests",
        /// The programmer's conversation.
        Conversation = "conversation",
    }
}

/// The answer to one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CriterionAnswer {
    /// The criterion's name.
    pub name: String,
    pub answer: Answer,
    pub quotes: Vec<Quote>,
    /// The judge's reason.
    pub why: String,
}

/// What the judge gives as evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Quote {
    pub text: String,
    /// Where it stands, white space aside; null if it stands nowhere in what the
    /// judge was shown.
    pub found_in: Option<Section>,
}

/// A judge: a model with a rubric. Another parameter, prompt or question makes
/// another judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Judge {
    /// Digest of all that the answers depend on.
    pub judge_id: String,
    /// The provider's name of the model.
    pub model: String,
    #[schema(value_type = Object)]
    pub parameters: serde_json::Map<String, serde_json::Value>,
    /// SHA-256 of the instructions with the rubric.
    pub prompt_digest: String,
    pub criteria: Vec<Criterion>,
    /// Name of the account that first asked it; `operator` for the command line.
    pub by: String,
    /// RFC 3339.
    pub at: String,
}

/// What a judge says of one iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Judgement {
    pub task_id: TaskId,
    pub sample: u32,
    pub evolution_id: String,
    pub iteration: u32,
    /// In the order of the rubric; empty after a problem.
    pub answers: Vec<CriterionAnswer>,
    /// Why there are no answers. The next pass asks again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    pub usage: Usage,
    /// Millionths of a US dollar; null if no price is known.
    pub micro_usd: Option<u64>,
    /// RFC 3339.
    pub at: String,
}

/// All that a judge says of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct JudgedRun {
    #[serde(flatten)]
    pub judge: Judge,
    /// By task, sample and iteration.
    pub judgements: Vec<Judgement>,
}

impl JudgePlan {
    /// The invalid fields.
    pub fn problems(&self) -> Vec<BadConfig> {
        Problems::collect(|problems| {
            self.endpoint.validate(problems);
            let chat = self.endpoint.protocol == Protocol::Chat;
            problems.ensure("endpoint.protocol", chat, || {
                "a judge is asked by chat completions: use `chat`, or omit it".into()
            });
            let live = self.endpoint.recording.is_none();
            problems.ensure("endpoint.recording", live, || {
                "a judge has no recorded answers; omit it".into()
            });
            self.budget.validate(problems);
            let count = (1..=MAX_CRITERIA).contains(&self.criteria.len());
            problems.ensure("criterion", count, || {
                format!("give 1 to {MAX_CRITERIA} questions, each as a table [[criterion]]")
            });
            let mut names = BTreeSet::new();
            for Criterion { name, question } in &self.criteria {
                problems.one_line("criterion.name", name, 1);
                problems.ensure("criterion.name", names.insert(name), || {
                    format!("`{name}` is given twice")
                });
                let length = question.trim().chars().count();
                problems.ensure(
                    "criterion.question",
                    (1..=MAX_QUESTION).contains(&length),
                    || format!("the question of `{name}` needs 1 to {MAX_QUESTION} characters"),
                );
            }
        })
    }
}

impl JudgedRun {
    /// How many iterations have this answer to a question.
    pub fn count(&self, criterion: &str, answer: Answer) -> usize {
        let all = self.judgements.iter().flat_map(|one| &one.answers);
        all.filter(|given| given.name == criterion && given.answer == answer)
            .count()
    }

    /// Iterations without answers.
    pub fn unanswered(&self) -> usize {
        let all = self.judgements.iter();
        all.filter(|one| one.problem.is_some()).count()
    }

    /// Quotes that stand nowhere in the record, and all.
    pub fn invented_quotes(&self) -> (usize, usize) {
        let answers = self.judgements.iter().flat_map(|one| &one.answers);
        let quotes: Vec<&Quote> = answers.flat_map(|answer| &answer.quotes).collect();
        let invented = quotes.iter().filter(|quote| quote.found_in.is_none());
        (invented.count(), quotes.len())
    }

    pub fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        for one in &self.judgements {
            usage += one.usage;
        }
        usage
    }

    /// The price of all judgements; unknown if that of one is.
    pub fn micro_usd(&self) -> Option<u64> {
        self.judgements.iter().map(|one| one.micro_usd).sum()
    }
}
