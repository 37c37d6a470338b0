use leptos::prelude::*;

use crate::sign_in_providers::SignInProvider;

/// A button for each provider, which leads there and back.
#[component]
pub fn ProviderButtons(
    providers: Vec<SignInProvider>,
    /// The text before each name.
    #[prop(default = "Sign in with")]
    words: &'static str,
    /// Hidden fields.
    #[prop(optional)]
    along: Vec<(&'static str, String)>,
) -> impl IntoView {
    let forms = providers
        .into_iter()
        .map(|SignInProvider { id, name, .. }| {
            let along = along.clone().into_iter();
            let along =
                along.map(|(name, value)| view! { <input type="hidden" name=name value=value/> });
            view! {
                <form method="post" action=format!("/sign-in/{id}")>
                    {along.collect_view()}
                    <button class="button" type="submit">{format!("{words} {name}")}</button>
                </form>
            }
        });
    view! { <div class="providers">{forms.collect_view()}</div> }
}
