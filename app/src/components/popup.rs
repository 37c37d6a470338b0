use leptos::prelude::*;

/// A small panel over the page, opened by its summary, with or without scripts.
/// The page's script closes it when Escape is pressed or the focus goes
/// elsewhere, so that it never covers the focused element.
#[component]
pub fn Popup(
    class: &'static str,
    #[prop(into)] summary: String,
    children: Children,
) -> impl IntoView {
    view! {
        <details class=class data-popup="">
            <summary>{summary}</summary>
            {children()}
        </details>
    }
}
