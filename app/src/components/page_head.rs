use leptos::prelude::*;
use leptos_meta::{Meta, Title};

/// The page's title and description, for tabs and search engines.
#[component]
pub fn PageHead(
    /// Without the site's name.
    #[prop(into)]
    title: String,
    #[prop(into)] description: String,
) -> impl IntoView {
    view! {
        <Title text=format!("{title} · swe-ci")/>
        <Meta name="description" content=description/>
    }
}
