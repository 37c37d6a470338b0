use leptos::prelude::*;

use crate::components::Field;
use crate::form_answer::FormAnswer;

const FORM: &str = "change-password";
const FIRST: &str = "set-password";

#[component]
pub fn PasswordForm(
    /// Whose password it is.
    name: String,
    answer: FormAnswer,
) -> impl IntoView {
    let problem = |field: &str| answer.problem(FORM, field);
    view! {
        <form class="form" method="post" action="/account">
            <input type="hidden" name="deed" value=FORM/>
            // For whatever keeps the reader's passwords.
            <input type="text" autocomplete="username" value=name readonly=true hidden=true/>
            <Field
                name="old"
                label="Your password"
                kind="password"
                autocomplete="current-password"
                problem=problem("old")
                required=true
            />
            <Field
                name="new"
                label="A new one"
                kind="password"
                autocomplete="new-password"
                hint="10 characters or more."
                problem=problem("new")
                required=true
            />
            <Field
                name="again"
                label="The new one again"
                kind="password"
                autocomplete="new-password"
                problem=problem("again")
                required=true
            />
            <button class="button" type="submit">"Change the password"</button>
        </form>
    }
}

/// For who always came by another site.
#[component]
pub fn FirstPasswordForm(
    /// Whose password it will be.
    name: String,
    answer: FormAnswer,
) -> impl IntoView {
    let problem = |field: &str| answer.problem(FIRST, field);
    view! {
        <p class="quiet">"You have none. With one you get in by your name as well."</p>
        <form class="form" method="post" action="/account">
            <input type="hidden" name="deed" value=FIRST/>
            // For whatever keeps the reader's passwords.
            <input type="text" autocomplete="username" value=name readonly=true hidden=true/>
            <Field
                name="new"
                label="A password"
                kind="password"
                autocomplete="new-password"
                hint="10 characters or more."
                problem=problem("new")
                required=true
            />
            <Field
                name="again"
                label="The password again"
                kind="password"
                autocomplete="new-password"
                problem=problem("again")
                required=true
            />
            <button class="button" type="submit">"Set the password"</button>
        </form>
    }
}
