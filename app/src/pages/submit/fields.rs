//! The fields of the form: a name above, and below it what is asked for and
//! what is wrong.

use leptos::ev::Targeted;
use leptos::prelude::*;
use leptos::web_sys;

use super::typed::Typed;

/// A line of text.
#[component]
pub fn Line(
    typed: Typed,
    name: &'static str,
    label: &'static str,
    /// As in `<input type>`.
    #[prop(default = "text")]
    kind: &'static str,
    #[prop(optional)] hint: &'static str,
    /// Id of a list of suggestions.
    #[prop(optional)]
    list: &'static str,
    /// It stands in the form empty, whatever was sent.
    #[prop(optional)]
    secret: bool,
) -> impl IntoView {
    let value = (!secret).then(|| typed.text(name));
    let changed = move |event: Targeted<web_sys::Event, web_sys::HtmlInputElement>| {
        if !secret {
            typed.changed(name, event.target().value());
        }
    };
    let autocomplete = if secret { "new-password" } else { "off" };
    view! {
        <div class="form-row">
            <label for=id(name)>{label}</label>
            <input
                id=id(name)
                name=name
                type=kind
                value=value
                list=(!list.is_empty()).then_some(list)
                autocomplete=autocomplete
                autocapitalize="none"
                spellcheck="false"
                aria-invalid=move || invalid(typed, name)
                aria-describedby=described(name, hint)
                on:change:target=changed
            />
            <Below typed name hint/>
        </div>
    }
}

/// Several lines of text.
#[component]
pub fn Lines(
    typed: Typed,
    name: &'static str,
    label: &'static str,
    #[prop(optional)] hint: &'static str,
    #[prop(default = 3)] rows: u32,
) -> impl IntoView {
    view! {
        <div class="form-row">
            <label for=id(name)>{label}</label>
            <textarea
                id=id(name)
                name=name
                rows=rows
                autocomplete="off"
                autocapitalize="none"
                spellcheck="false"
                aria-invalid=move || invalid(typed, name)
                aria-describedby=described(name, hint)
                on:change:target=move |event| typed.changed(name, event.target().value())
            >
                {typed.text(name)}
            </textarea>
            <Below typed name hint/>
        </div>
    }
}

/// One of a few.
#[component]
pub fn OneOf(
    typed: Typed,
    name: &'static str,
    label: &'static str,
    /// Value and words.
    options: Vec<(String, String)>,
    #[prop(optional)] hint: &'static str,
) -> impl IntoView {
    let chosen = typed.text(name);
    let options = options.into_iter().map(|(value, words)| {
        let selected = value == chosen;
        view! { <option value=value selected=selected>{words}</option> }
    });
    view! {
        <div class="form-row">
            <label for=id(name)>{label}</label>
            <select
                id=id(name)
                name=name
                aria-invalid=move || invalid(typed, name)
                aria-describedby=described(name, hint)
                on:change:target=move |event| typed.changed(name, event.target().value())
            >
                {options.collect_view()}
            </select>
            <Below typed name hint/>
        </div>
    }
}

#[component]
fn Below(typed: Typed, name: &'static str, hint: &'static str) -> impl IntoView {
    let problem = move || typed.problem(name).unwrap_or_default();
    let class = move || match typed.problem(name) {
        Some(_) => "form-problem",
        None => "visually-hidden",
    };
    let hint = (!hint.is_empty())
        .then(|| view! { <p class="quiet" id=format!("{}-hint", id(name))>{hint}</p> });
    view! {
        // There from the start: a screen reader says what comes into it.
        <p class=class id=format!("{}-problem", id(name)) aria-live="polite">{problem}</p>
        {hint}
    }
}

pub fn id(name: &str) -> String {
    format!("field-{name}")
}

fn invalid(typed: Typed, name: &str) -> Option<&'static str> {
    typed.problem(name).is_some().then_some("true")
}

/// What a screen reader reads with the field.
fn described(name: &str, hint: &str) -> String {
    let id = id(name);
    match hint {
        "" => format!("{id}-problem"),
        _ => format!("{id}-problem {id}-hint"),
    }
}
