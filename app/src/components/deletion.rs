use leptos::prelude::*;

use super::{Field, Form, FormAnswer, PostForm};

/// Deletes something for good: says what goes, and asks for its name.
#[component]
pub fn DeleteForm(
    answer: StoredValue<FormAnswer>,
    #[prop(into)] action: String,
    /// Typed to confirm it.
    name: String,
    /// A sentence that says what the server deletes with it, and what it keeps.
    #[prop(into)]
    goes: String,
) -> impl IntoView {
    let form = Form::new("delete", answer);
    let refused = form.problem("name").is_some();
    view! {
        <details class="steer-more" open=refused>
            <summary class="button">"Delete…"</summary>
            <PostForm form action button="Delete for good" class="form steer-box">
                // Within the details, so that a browser opens them for a link to it.
                <p id="delete">{goes}" This cannot be undone."</p>
                <Field form name="name" label="Its name, to confirm it" hint=format!("Type {name}") required=true/>
            </PostForm>
        </details>
    }
}
