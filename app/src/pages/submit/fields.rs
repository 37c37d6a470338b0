//! The fields of the form: a label above, a hint and a validation error below.

use leptos::ev::Targeted;
use leptos::prelude::*;
use leptos::web_sys;
use swe_ci_core::run::BadConfig;
use swe_ci_views::submission::RunForm;

use crate::components::Form;

#[component]
pub fn Line(
    state: FormState,
    name: &'static str,
    label: &'static str,
    /// As in `<input type>`.
    #[prop(default = "text")]
    kind: &'static str,
    #[prop(optional)] hint: &'static str,
    /// The id of a list of suggestions.
    #[prop(optional)]
    list: &'static str,
    /// Never shows the submitted value again.
    #[prop(optional)]
    secret: bool,
) -> impl IntoView {
    let value = (!secret).then(|| state.text(name));
    let changed = move |event: Targeted<web_sys::Event, web_sys::HtmlInputElement>| {
        if !secret {
            state.changed(name, event.target().value());
        }
    };
    let autocomplete = if secret { "new-password" } else { "off" };
    view! {
        <Row state name label hint>
            <input
                id=id(name)
                name=name
                type=kind
                value=value
                list=(!list.is_empty()).then_some(list)
                autocomplete=autocomplete
                autocapitalize="none"
                spellcheck="false"
                aria-invalid=move || invalid(state, name)
                aria-describedby=described(name, hint)
                on:change:target=changed
            />
        </Row>
    }
}

#[component]
pub fn Lines(
    state: FormState,
    name: &'static str,
    label: &'static str,
    #[prop(optional)] hint: &'static str,
    #[prop(default = 3)] rows: u32,
) -> impl IntoView {
    view! {
        <Row state name label hint>
            <textarea
                id=id(name)
                name=name
                rows=rows
                autocomplete="off"
                autocapitalize="none"
                spellcheck="false"
                aria-invalid=move || invalid(state, name)
                aria-describedby=described(name, hint)
                on:change:target=move |event| state.changed(name, event.target().value())
            >
                {state.text(name)}
            </textarea>
        </Row>
    }
}

#[component]
pub fn OneOf(
    state: FormState,
    name: &'static str,
    label: &'static str,
    /// Value and label.
    options: Vec<(String, String)>,
    #[prop(optional)] hint: &'static str,
) -> impl IntoView {
    let chosen = state.text(name);
    let option = |(value, words)| {
        let selected = value == chosen;
        view! { <option value=value selected=selected>{words}</option> }
    };
    let options = options.into_iter().map(option).collect_view();
    view! {
        <Row state name label hint>
            <select
                id=id(name)
                name=name
                aria-invalid=move || invalid(state, name)
                aria-describedby=described(name, hint)
                on:change:target=move |event| state.changed(name, event.target().value())
            >
                {options}
            </select>
        </Row>
    }
}

#[component]
fn Row(
    state: FormState,
    name: &'static str,
    label: &'static str,
    hint: &'static str,
    children: Children,
) -> impl IntoView {
    let problem = move || state.problem(name).unwrap_or_default();
    let class = move || match state.problem(name) {
        Some(_) => "form-problem",
        None => "visually-hidden",
    };
    let hint = (!hint.is_empty())
        .then(|| view! { <p class="quiet" id=format!("{}-hint", id(name))>{hint}</p> });
    view! {
        <div class="form-row">
            <label for=id(name)>{label}</label>
            {children()}
            // Always present, so that screen readers announce a new text.
            <p class=class id=format!("{}-problem", id(name)) aria-live="polite">{problem}</p>
            {hint}
        </div>
    }
}

pub fn id(name: &str) -> String {
    format!("field-{name}")
}

fn invalid(state: FormState, name: &str) -> Option<&'static str> {
    state.problem(name).is_some().then_some("true")
}

/// The ids of the texts that a screen reader reads with the field.
fn described(name: &str, hint: &str) -> String {
    let id = id(name);
    match hint {
        "" => format!("{id}-problem"),
        _ => format!("{id}-problem {id}-hint"),
    }
}

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
