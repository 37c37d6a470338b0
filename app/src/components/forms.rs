//! Forms, their buttons, and the answers to them.

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use swe_ci_core::run::BadConfig;
use swe_ci_views::submission::{Estimate, ExperimentEstimate, RunForm};

use super::HiddenFields;
use crate::components::CollectAny;
use crate::context::SignInProvider;

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
    let forms = providers.into_iter().map(form).collect_any();
    view! { <div class="providers">{forms}</div> }
}

/// The outcome of a submitted form, for the page rendered in response.
///
/// The server provides it when a form posts to the address of its page. It never
/// contains submitted secrets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FormAnswer {
    /// Which form of the page was submitted.
    pub form: String,
    /// Validation errors, safe to show; with any, the server did nothing.
    pub problems: Vec<BadConfig>,
    /// The submitted values by field, to fill the form again.
    pub kept: Vec<(String, String)>,
    pub estimate: Option<Estimate>,
    /// Of an experiment.
    pub planned: Option<ExperimentEstimate>,
    /// Those that the provider lists, to choose from.
    pub models: Vec<String>,
    /// A newly created secret, shown only this once.
    pub made: Option<String>,
}

/// A form of the page, and the answer if it was the submitted one.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    pub name: &'static str,
    answer: StoredValue<FormAnswer>,
    /// The first content of a form whose fields are checked while somebody fills
    /// it in; none for a form that is checked when it is sent.
    checked: Option<StoredValue<RunForm>>,
}

impl FormAnswer {
    /// That of the current page; empty after a plain GET.
    pub(crate) fn of_page() -> StoredValue<Self> {
        StoredValue::new(use_context::<Self>().unwrap_or_default())
    }
}

impl Form {
    pub(crate) fn new(name: &'static str, answer: StoredValue<FormAnswer>) -> Self {
        Self {
            name,
            answer,
            checked: None,
        }
    }

    /// Another form of the same page.
    pub(crate) fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Makes the browser check the fields. They start with the submitted values,
    /// otherwise with `fresh`.
    pub(crate) fn checked(self, fresh: RunForm) -> Self {
        let values = self.read(|answer| Some(answer.kept.iter().cloned().collect()));
        let values = values.filter(|_| self.kept("split").is_some());
        Self {
            checked: Some(StoredValue::new(values.unwrap_or(fresh))),
            ..self
        }
    }

    pub(crate) fn is_checked(self) -> bool {
        self.checked.is_some()
    }

    /// Reads the answer if it is to this form.
    pub(crate) fn read<T>(self, read: impl FnOnce(&FormAnswer) -> Option<T>) -> Option<T> {
        self.answer
            .with_value(|answer| (answer.form == self.name).then(|| read(answer)).flatten())
    }

    pub(crate) fn problems(self) -> Vec<BadConfig> {
        self.read(|answer| Some(answer.problems.clone()))
            .unwrap_or_default()
    }

    pub(crate) fn problem(self, field: &str) -> Option<String> {
        let bad = self.problems().into_iter().find(|bad| bad.field == field);
        bad.map(|bad| bad.problem)
    }

    pub(crate) fn kept(self, field: &str) -> Option<String> {
        if let Some(values) = self.checked {
            return Some(values.with_value(|form| form.text(field).to_owned()));
        }
        self.read(|answer| {
            let (_, text) = answer.kept.iter().find(|(name, _)| name == field)?;
            Some(text.clone())
        })
    }
}
