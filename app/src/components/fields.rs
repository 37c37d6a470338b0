//! The fields of a form: a label above, a validation error and a hint below.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_views::account::{AccountRole, TokenScope};

use super::forms::Form;
use crate::components::CollectAny;
use crate::labels;

#[component]
pub fn Field(
    form: Form,
    /// Its name in the form; its id on the page ends with it.
    name: &'static str,
    label: &'static str,
    /// As in `<input type>`. A submitted password is never shown again.
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
    /// The id of a list of suggestions.
    #[prop(optional)]
    list: Option<&'static str>,
) -> impl IntoView {
    let hint = hint.filter(|hint| !hint.is_empty());
    let shown = kind != "password";
    let value = form.kept(name).or(value).filter(|_| shown);
    let described = described(form, name, hint.is_some());
    view! {
        <Row form name label hint>
            <input
                id=field_id(name)
                name=name
                type=kind
                value=value
                list=list
                autocomplete=autocomplete
                autocapitalize="none"
                spellcheck="false"
                required=required
                autofocus=focused(form, name)
                aria-invalid=invalid(form, name)
                aria-describedby=described
            />
        </Row>
    }
}

/// A text of several lines.
#[component]
pub fn LongText(
    form: Form,
    /// Its name in the form; its id on the page ends with it.
    name: &'static str,
    label: &'static str,
    #[prop(default = 3)] rows: u32,
    #[prop(optional, into)] hint: Option<String>,
    /// The text before anything was submitted.
    #[prop(optional, into)]
    value: String,
) -> impl IntoView {
    let hint = hint.filter(|hint| !hint.is_empty());
    let text = form.kept(name).unwrap_or(value);
    let described = described(form, name, hint.is_some());
    view! {
        <Row form name label hint>
            <textarea
                id=field_id(name)
                name=name
                rows=rows
                autocomplete=form.is_checked().then_some("off")
                autocapitalize="none"
                spellcheck="false"
                autofocus=focused(form, name)
                aria-invalid=invalid(form, name)
                aria-describedby=described
            >
                {text}
            </textarea>
        </Row>
    }
}

#[component]
pub fn OneOf(
    form: Form,
    /// Its name in the form; its id on the page ends with it.
    name: &'static str,
    label: &'static str,
    /// Value and label.
    options: Vec<(String, String)>,
    #[prop(optional, into)] hint: Option<String>,
) -> impl IntoView {
    let hint = hint.filter(|hint| !hint.is_empty());
    let chosen = form.kept(name);
    let option = |(value, words): (String, String)| {
        let selected = chosen.as_ref() == Some(&value);
        view! { <option value=value selected=selected>{words}</option> }
    };
    let options = options.into_iter().map(option).collect_any();
    let described = described(form, name, hint.is_some());
    view! {
        <Row form name label hint>
            <select
                id=field_id(name)
                name=name
                autofocus=focused(form, name)
                aria-invalid=invalid(form, name)
                aria-describedby=described
            >
                {options}
            </select>
        </Row>
    }
}

#[component]
pub fn RoleSelect(
    form: Form,
    /// Its name in the form; its id on the page ends with it.
    name: &'static str,
    label: &'static str,
    #[prop(default = AccountRole::Admin)] most: AccountRole,
) -> impl IntoView {
    let roles = AccountRole::ALL.into_iter().filter(|role| *role <= most);
    let option = |role: AccountRole| (role.name().to_owned(), labels::role(role).to_owned());
    let options = roles.map(option).collect::<Vec<_>>();
    view! { <OneOf form name label options/> }
}

/// Chooses what a new token permits.
#[component]
pub fn ScopeSelect(
    form: Form,
    name: &'static str,
    label: &'static str,
    /// The role of its owner.
    owner: AccountRole,
) -> impl IntoView {
    let scopes = TokenScope::ALL.into_iter();
    let scopes = scopes.filter(|scope| scope.given_by() <= owner);
    let option = |scope: TokenScope| (scope.name().to_owned(), labels::scope(scope).to_owned());
    let options = scopes.map(option).collect::<Vec<_>>();
    view! { <OneOf form name label options/> }
}

/// A file in TOML.
#[component]
pub fn TomlFile(name: &'static str, label: &'static str) -> impl IntoView {
    let id = field_id(name);
    view! {
        <div class="form-row">
            <label for=id.clone()>{label}</label>
            <input id=id type="file" name=name accept=".toml,application/toml,text/plain"/>
        </div>
    }
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

#[component]
fn Row(
    form: Form,
    name: &'static str,
    label: &'static str,
    hint: Option<String>,
    children: Children,
) -> impl IntoView {
    let id = field_id(name);
    let problem_id = format!("{id}-problem");
    let text = form.problem(name);
    let problem = if form.is_checked() {
        let class = match text {
            Some(_) => "form-problem",
            None => "visually-hidden",
        };
        // Always present, so that screen readers announce a new text.
        Either::Left(view! { <p class=class id=problem_id aria-live="polite">{text}</p> })
    } else {
        Either::Right(text.map(|text| view! { <p class="form-problem" id=problem_id>{text}</p> }))
    };
    let hint = hint.map(|hint| view! { <p class="quiet" id=format!("{id}-hint")>{hint}</p> });
    view! {
        <div class="form-row">
            <label for=id>{label}</label>
            {children()}
            {problem}
            {hint}
        </div>
    }
}

pub fn field_id(name: &str) -> String {
    format!("field-{name}")
}

fn invalid(form: Form, name: &str) -> Option<&'static str> {
    form.problem(name).map(|_| "true")
}

/// The first field to correct takes the focus of a new page.
fn focused(form: Form, name: &str) -> bool {
    form.problem(name).is_some()
}

/// The ids of the texts that a screen reader reads with the field.
fn described(form: Form, name: &str, hint: bool) -> Option<String> {
    let id = field_id(name);
    let problem = form.is_checked() || form.problem(name).is_some();
    let texts = [(problem, "problem"), (hint, "hint")].into_iter();
    let ids: Vec<String> = texts
        .filter(|(present, _)| *present)
        .map(|(_, text)| format!("{id}-{text}"))
        .collect();
    (!ids.is_empty()).then(|| ids.join(" "))
}
