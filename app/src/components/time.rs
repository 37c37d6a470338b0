use leptos::prelude::*;

use crate::format;

/// A moment, to the minute, in UTC: the same text from server and browser.
#[component]
pub fn Time(
    /// RFC 3339; a dash when there is none.
    #[prop(into)]
    at: Option<String>,
) -> impl IntoView {
    match at {
        Some(at) => {
            let text = format::minute(&at);
            view! { <time datetime=at>{text}</time> }.into_any()
        }
        None => view! { <span class="none">"–"</span> }.into_any(),
    }
}
