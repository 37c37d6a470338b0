use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use swe_ci_core::submission::Estimate;

/// What came of a form that was sent, for the page that is made in answer.
///
/// The server provides it where a form is sent to the address of its page; the
/// browser is told with the page. Secrets that were typed are never in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormAnswer {
    /// Which form of the page it was.
    pub form: String,
    /// What is wrong, and so why nothing was done.
    pub problems: Vec<FieldProblem>,
    /// What was typed, by field, to be there again.
    pub kept: Vec<(String, String)>,
    /// What the run that was typed would come to.
    pub estimate: Option<Estimate>,
    /// A secret that was made, to be shown this once.
    pub made: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldProblem {
    /// The field at which it is shown.
    pub field: String,
    /// Safe to show.
    pub message: String,
}

impl FormAnswer {
    /// Of the page that is made; empty when it was only asked for.
    pub(crate) fn of_page() -> Self {
        SharedValue::new(|| use_context::<Self>().unwrap_or_default()).into_inner()
    }

    /// What is wrong with a field of a form.
    #[must_use]
    pub fn problem(&self, form: &str, field: &str) -> Option<String> {
        let mut problems = self.problems.iter().filter(|_| self.form == form);
        let problem = problems.find(|problem| problem.field == field)?;
        Some(problem.message.clone())
    }

    /// What was typed into a field of a form.
    #[must_use]
    pub fn kept(&self, form: &str, field: &str) -> Option<String> {
        let mut kept = self.kept.iter().filter(|_| self.form == form);
        let (_, text) = kept.find(|(name, _)| name == field)?;
        Some(text.clone())
    }

    /// What a form made.
    #[must_use]
    pub fn made(&self, form: &str) -> Option<String> {
        self.made.clone().filter(|_| self.form == form)
    }
}
