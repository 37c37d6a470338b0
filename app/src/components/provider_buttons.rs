use leptos::prelude::*;

use super::HiddenFields;
use crate::sign_in_providers::SignInProvider;

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
