use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use swe_ci_core::run::BadConfig;
use swe_ci_views::submission::Estimate;

/// The outcome of a submitted form, for the page rendered in response.
///
/// The server provides it when a form posts to the address of its page, and
/// sends it to the browser with the page. It never contains submitted secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormAnswer {
    /// Which form of the page was submitted.
    pub form: String,
    /// Validation errors, safe to show; with any, the server did nothing.
    pub problems: Vec<BadConfig>,
    /// The submitted values by field, to fill the form again.
    pub kept: Vec<(String, String)>,
    pub estimate: Option<Estimate>,
    /// A newly created secret, shown only this once.
    pub made: Option<String>,
}

/// A form of the page, and the answer if it was the submitted one.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    pub name: &'static str,
    answer: StoredValue<FormAnswer>,
}

impl FormAnswer {
    /// That of the current page; empty after a plain GET.
    pub(crate) fn of_page() -> StoredValue<Self> {
        let sent = SharedValue::new(|| use_context::<Self>().unwrap_or_default());
        StoredValue::new(sent.into_inner())
    }
}

impl Form {
    pub(crate) fn new(name: &'static str, answer: StoredValue<FormAnswer>) -> Self {
        Self { name, answer }
    }

    /// Reads the answer if it is to this form.
    pub(crate) fn read<T>(self, read: impl FnOnce(&FormAnswer) -> Option<T>) -> Option<T> {
        self.answer
            .with_value(|answer| (answer.form == self.name).then(|| read(answer)).flatten())
    }

    pub(crate) fn problem(self, field: &str) -> Option<String> {
        self.read(|answer| {
            let bad = answer.problems.iter().find(|bad| bad.field == field)?;
            Some(bad.problem.clone())
        })
    }

    pub(crate) fn kept(self, field: &str) -> Option<String> {
        self.read(|answer| {
            let (_, text) = answer.kept.iter().find(|(name, _)| name == field)?;
            Some(text.clone())
        })
    }
}
