//! Fields of forms, with labels, hints and validation errors.

use leptos::prelude::*;
use swe_ci_views::account::AccountRole;

use crate::form_answer::Form;
use crate::words;

/// A text input with its label above and its validation error below.
#[component]
pub fn Field(
    form: Form,
    /// Its name in the form; its id on the page ends with it.
    name: &'static str,
    label: &'static str,
    /// As in `<input type>`.
    #[prop(default = "text")]
    kind: &'static str,
    /// As in `<input autocomplete>`.
    #[prop(default = "off")]
    autocomplete: &'static str,
    /// The value before anything was submitted.
    #[prop(optional, into)]
    value: Option<String>,
    #[prop(optional, into)] hint: Option<String>,
    #[prop(optional)] required: bool,
) -> impl IntoView {
    let described = Described::new(form, name, hint);
    let wrong = described.problem.is_some();
    let input = view! {
        <input
            id=described.id.clone()
            name=name
            type=kind
            value=form.kept(name).or(value)
            autocomplete=autocomplete
            autocapitalize="none"
            spellcheck="false"
            required=required
            autofocus=wrong
            aria-invalid=wrong.then_some("true")
            aria-describedby=described.ids()
        />
    };
    described.row(label, input)
}

/// A new password, typed twice.
#[component]
pub fn NewPassword(
    form: Form,
    #[prop(default = "new")] name: &'static str,
    label: &'static str,
    /// The label of the second field.
    again: &'static str,
) -> impl IntoView {
    view! {
        <Field form name label kind="password" autocomplete="new-password" hint="10 characters or more." required=true/>
        <Field form name="again" label=again kind="password" autocomplete="new-password" required=true/>
    }
}

/// A menu of roles in a form.
#[component]
pub fn RoleSelect(
    form: Form,
    /// Its name in the form; its id on the page ends with it.
    name: &'static str,
    label: &'static str,
    #[prop(default = AccountRole::Admin)] most: AccountRole,
) -> impl IntoView {
    let described = Described::new(form, name, None);
    let wrong = described.problem.is_some();
    let kept = form.kept(name);
    let roles = AccountRole::ALL.into_iter().filter(|role| *role <= most);
    let options = roles.map(|role| {
        let chosen = kept.as_deref() == Some(role.name());
        view! { <option value=role.name() selected=chosen>{words::role(role)}</option> }
    });
    let menu = view! {
        <select
            id=described.id.clone()
            name=name
            autofocus=wrong
            aria-invalid=wrong.then_some("true")
            aria-describedby=described.ids()
        >
            {options.collect_view()}
        </select>
    };
    described.row(label, menu)
}

/// A field and the texts below it.
struct Described {
    id: String,
    hint: Option<String>,
    problem: Option<String>,
}

impl Described {
    fn new(form: Form, name: &str, hint: Option<String>) -> Self {
        Self {
            id: format!("field-{name}"),
            hint,
            problem: form.problem(name),
        }
    }

    /// The texts that a screen reader reads with the field.
    fn ids(&self) -> Option<String> {
        let problem = self.problem.iter().map(|_| format!("{}-problem", self.id));
        let hint = self.hint.iter().map(|_| format!("{}-hint", self.id));
        let ids: Vec<String> = problem.chain(hint).collect();
        (!ids.is_empty()).then(|| ids.join(" "))
    }

    /// The label, the field and the texts.
    fn row(self, label: &'static str, field: impl IntoView) -> impl IntoView {
        let Self { id, hint, problem } = self;
        view! {
            <div class="form-row">
                <label for=id.clone()>{label}</label>
                {field}
                {problem.map(|text| view! { <p class="form-problem" id=format!("{id}-problem")>{text}</p> })}
                {hint.map(|text| view! { <p class="quiet" id=format!("{id}-hint")>{text}</p> })}
            </div>
        }
    }
}
