//! Forms to change or set the password.

use leptos::prelude::*;

use crate::components::Field;
use crate::form_answer::FormAnswer;

const FORM: &str = "change-password";
const FIRST: &str = "set-password";

#[component]
pub fn PasswordForm(
    /// The name of the account.
    name: String,
    answer: FormAnswer,
) -> impl IntoView {
    let problem = |field: &str| answer.problem(FORM, field);
    view! {
        <form class="form" method="post" action="/account">
            <input type="hidden" name="deed" value=FORM/>
            // For the reader's password manager.
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

/// Sets a first password, for accounts that have only used another site.
#[component]
pub fn FirstPasswordForm(
    /// The name of the account.
    name: String,
    answer: FormAnswer,
) -> impl IntoView {
    let problem = |field: &str| answer.problem(FIRST, field);
    view! {
        <p class="quiet">"You have none. With a password you can also sign in with your name."</p>
        <form class="form" method="post" action="/account">
            <input type="hidden" name="deed" value=FIRST/>
            // For the reader's password manager.
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
