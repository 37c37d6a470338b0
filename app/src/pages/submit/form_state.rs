//! The state of the form that submits a run.

use leptos::prelude::*;
use swe_ci_core::run::BadConfig;
use swe_ci_views::submission::RunForm;

use crate::form_answer::Form;

/// The content of the fields and its validation errors. The browser updates
/// both while somebody types, with the server's rules.
#[derive(Clone, Copy)]
pub struct FormState {
    form: StoredValue<RunForm>,
    problems: RwSignal<Vec<BadConfig>>,
}

impl FormState {
    /// Starts with the submitted values, otherwise with `fresh`.
    pub fn new(fresh: RunForm, sent: Form) -> Self {
        let values = sent.read(|answer| Some(answer.kept.iter().cloned().collect()));
        let values = values.filter(|_| sent.kept("split").is_some());
        let problems = sent.read(|answer| Some(answer.problems.clone()));
        Self {
            form: StoredValue::new(values.unwrap_or(fresh)),
            problems: RwSignal::new(problems.unwrap_or_default()),
        }
    }

    pub fn text(self, name: &str) -> String {
        self.form.with_value(|form| form.text(name).to_owned())
    }

    pub fn problems(self) -> Vec<BadConfig> {
        self.problems.get()
    }

    pub fn problem(self, name: &str) -> Option<String> {
        self.problems.with(|problems| {
            let found = problems.iter().find(|bad| bad.field == name);
            found.map(|bad| bad.problem.clone())
        })
    }

    /// Validates a field that somebody has left. Fields that nobody has visited
    /// are left alone.
    pub fn changed(self, name: &str, text: String) {
        self.form.update_value(|form| form.set(name, text));
        let found = self
            .form
            .with_value(|form| form.config().err().unwrap_or_default());
        self.problems.update(|problems| {
            problems.retain(|bad| bad.field != name);
            problems.extend(found.into_iter().filter(|bad| bad.field == name));
        });
    }
}
