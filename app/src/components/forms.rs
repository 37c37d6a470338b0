//! Forms: their fields, with labels, hints and validation errors, and the
//! answers to them.

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use serde::{Deserialize, Serialize};
use swe_ci_core::run::BadConfig;
use swe_ci_views::account::AccountRole;
use swe_ci_views::submission::Estimate;

use crate::context::SignInProvider;
use crate::labels;

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

/// A text of several lines.
#[component]
pub fn LongText(
    form: Form,
    /// Its name in the form; its id on the page ends with it.
    name: &'static str,
    label: &'static str,
    rows: u32,
    #[prop(optional, into)] hint: Option<String>,
    /// The text before anything was submitted.
    #[prop(optional, into)]
    value: String,
) -> impl IntoView {
    let described = Described::new(form, name, hint);
    let wrong = described.problem.is_some();
    let area = view! {
        <textarea
            id=described.id.clone()
            name=name
            rows=rows
            spellcheck="false"
            autocapitalize="none"
            autofocus=wrong
            aria-invalid=wrong.then_some("true")
            aria-describedby=described.ids()
        >
            {form.kept(name).unwrap_or(value)}
        </textarea>
    };
    described.row(label, area)
}

/// A file in TOML.
#[component]
pub fn TomlFile(name: &'static str, label: &'static str) -> impl IntoView {
    let id = format!("field-{name}");
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
        view! { <option value=role.name() selected=chosen>{labels::role(role)}</option> }
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

/// A form of one button, which posts what to do and to what.
#[component]
pub fn ActionButton(
    #[prop(into)] action: String,
    /// The action's name, in the field `deed`.
    deed: &'static str,
    #[prop(optional)] fields: Vec<(&'static str, String)>,
    #[prop(into)] text: String,
    /// Read out in place of the text, where many buttons have the same.
    #[prop(optional, into)]
    label: Option<String>,
) -> impl IntoView {
    view! {
        <form method="post" action=action>
            <input type="hidden" name="deed" value=deed/>
            <HiddenFields fields/>
            <button class="button" type="submit" aria-label=label>{text}</button>
        </form>
    }
}

/// A form of a page, with the button that sends it.
#[component]
pub fn PostForm(
    form: Form,
    #[prop(into)] action: String,
    button: &'static str,
    #[prop(default = "form")] class: &'static str,
    /// As in `<form autocomplete>`.
    #[prop(optional)]
    autocomplete: Option<&'static str>,
    children: Children,
) -> impl IntoView {
    view! {
        <form class=class method="post" action=action autocomplete=autocomplete>
            <input type="hidden" name="deed" value=form.name/>
            {children()}
            <button class="button" type="submit">{button}</button>
        </form>
    }
}

#[component]
pub fn HiddenFields(fields: Vec<(&'static str, String)>) -> impl IntoView {
    let field = |(name, value)| view! { <input type="hidden" name=name value=value/> };
    fields.into_iter().map(field).collect_view()
}

/// Confirms the action in the query's `done`. Anybody can write an address, so
/// only known words count.
#[component]
pub fn Confirmation(
    /// Values of `done` and their messages.
    known: &'static [(&'static str, &'static str)],
) -> impl IntoView {
    let done = use_query_map().with_untracked(|query| query.get("done"));
    let found = known.iter().find(|(word, _)| done.as_deref() == Some(word));
    found.map(|(_, says)| view! { <p class="note" data-tone="good" role="status">{*says}</p> })
}

/// A secret that a form has just created, in a field to copy it from.
#[component]
pub fn ShownOnce(
    form: Form,
    label: &'static str,
    #[prop(default = "Copy it now: it is not shown again and cannot be retrieved.")]
    advice: &'static str,
) -> impl IntoView {
    form.read(|answer| answer.made.clone()).map(|text| view! {
        <div class="note shown-once" data-tone="good" role="status">
            <label for="shown-once">{label}</label>
            <input id="shown-once" type="text" value=text readonly=true autofocus=true autocomplete="off" spellcheck="false"/>
            <p>{advice}</p>
        </div>
    })
}

/// Why an action was refused.
#[component]
pub fn Refusal(
    #[prop(into)] why: Option<String>,
    #[prop(default = "bad")] tone: &'static str,
) -> impl IntoView {
    why.map(|why| view! { <p class="note" data-tone=tone role="alert">{why}</p> })
}

/// A button for each provider, which leads there and back.
#[component]
pub fn ProviderButtons(
    providers: Vec<SignInProvider>,
    /// The text before each name.
    #[prop(default = "Sign in with")]
    words: &'static str,
    #[prop(optional)] along: Vec<(&'static str, String)>,
) -> impl IntoView {
    let form = |SignInProvider { id, name, .. }| {
        view! {
            <form method="post" action=format!("/sign-in/{id}")>
                <HiddenFields fields=along.clone()/>
                <button class="button" type="submit">{format!("{words} {name}")}</button>
            </form>
        }
    };
    let forms = providers.into_iter().map(form).collect_view();
    view! { <div class="providers">{forms}</div> }
}

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
