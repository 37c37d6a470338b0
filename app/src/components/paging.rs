use leptos::prelude::*;

/// A link to the rest of a list, when there is more.
#[component]
pub fn NextPage(#[prop(into)] href: Option<String>) -> impl IntoView {
    href.map(|href| {
        view! {
            <nav class="paging" aria-label="Pages">
                <a class="button" href=href rel="next">"Next page"</a>
            </nav>
        }
    })
}
