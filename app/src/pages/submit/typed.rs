use leptos::prelude::*;
use swe_ci_core::run::BadConfig;
use swe_ci_core::submission::RunForm;

use crate::form_answer::FormAnswer;

/// The form whose answers the page holds.
pub const FORM: &str = "run";

/// What is in the fields, and what is wrong with it. The browser keeps both up
/// to date as somebody types, by what the server would say.
#[derive(Clone, Copy)]
pub struct Typed {
    form: StoredValue<RunForm>,
    problems: RwSignal<Vec<BadConfig>>,
}

impl Typed {
    /// Begins with what was sent before, else with `fresh`.
    pub fn new(fresh: RunForm, answer: &FormAnswer) -> Self {
        let sent = answer.form == FORM && answer.kept(FORM, "split").is_some();
        let form = match sent {
            true => answer.kept.iter().cloned().collect(),
            false => fresh,
        };
        let problems = answer.problems.iter().filter(|_| answer.form == FORM);
        let problems = problems.map(|bad| BadConfig::new(&bad.field, &bad.message));
        Self {
            form: StoredValue::new(form),
            problems: RwSignal::new(problems.collect()),
        }
    }

    pub fn text(self, name: &str) -> String {
        self.form.with_value(|form| form.text(name).to_owned())
    }

    /// Everything that is wrong.
    pub fn problems(self) -> Vec<BadConfig> {
        self.problems.get()
    }

    /// What is wrong with a field.
    pub fn problem(self, name: &str) -> Option<String> {
        self.problems.with(|problems| {
            let found = problems.iter().find(|bad| bad.field == name);
            found.map(|bad| bad.problem.clone())
        })
    }

    /// Somebody has left a field: what is said of it is said anew. Fields
    /// nobody has come to yet are left alone.
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
