use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use swe_ci_views::submission::Estimate;

/// The outcome of a submitted form, for the page rendered in response.
///
/// The server provides it when a form posts to the address of its page, and
/// sends it to the browser with the page. It never contains submitted secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormAnswer {
    /// Which form of the page was submitted.
    pub form: String,
    /// Validation errors; with any, the server did nothing.
    pub problems: Vec<FieldProblem>,
    /// The submitted values by field, to fill the form again.
    pub kept: Vec<(String, String)>,
    /// The estimate for the submitted run.
    pub estimate: Option<Estimate>,
    /// A newly created secret, shown only this once.
    pub made: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldProblem {
    /// The field that shows it.
    pub field: String,
    /// Safe to show.
    pub message: String,
}

impl FormAnswer {
    /// That of the current page; empty after a plain GET.
    pub(crate) fn of_page() -> Self {
        SharedValue::new(|| use_context::<Self>().unwrap_or_default()).into_inner()
    }

    /// The validation error of a field.
    #[must_use]
    pub fn problem(&self, form: &str, field: &str) -> Option<String> {
        let mut problems = self.problems.iter().filter(|_| self.form == form);
        let problem = problems.find(|problem| problem.field == field)?;
        Some(problem.message.clone())
    }

    /// The submitted value of a field.
    #[must_use]
    pub fn kept(&self, form: &str, field: &str) -> Option<String> {
        let mut kept = self.kept.iter().filter(|_| self.form == form);
        let (_, text) = kept.find(|(name, _)| name == field)?;
        Some(text.clone())
    }

    /// The secret a form created.
    #[must_use]
    pub fn made(&self, form: &str) -> Option<String> {
        self.made.clone().filter(|_| self.form == form)
    }
}
