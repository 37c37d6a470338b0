use leptos::prelude::*;

use crate::form_answer::Form;

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
    action: &'static str,
    button: &'static str,
    children: Children,
) -> impl IntoView {
    view! {
        <form class="form" method="post" action=action>
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
