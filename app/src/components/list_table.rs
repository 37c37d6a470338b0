use leptos::either::Either;
use leptos::prelude::*;

use crate::components::CollectAny;

/// A table whose rows become cards on narrow screens. Its cells have `data-label`s.
#[component]
pub fn CardTable(
    #[prop(into)] class: String,
    #[prop(optional)] caption: Option<&'static str>,
    /// The id of its title, where it has no caption.
    #[prop(optional)]
    titled: Option<&'static str>,
    /// The label of the frame, where a keyboard can scroll it.
    #[prop(optional_no_strip)]
    scrolls: Option<&'static str>,
    heads: AnyView,
    children: Children,
) -> impl IntoView {
    let (tabindex, region) = (scrolls.map(|_| "0"), scrolls.map(|_| "region"));
    let caption =
        caption.map(|caption| view! { <caption class="visually-hidden">{caption}</caption> });
    view! {
        <div class="table-frame" tabindex=tabindex role=region aria-label=scrolls>
            <table class=class role="table" aria-labelledby=titled>
                {caption}
                <thead role="rowgroup"><tr role="row">{heads}</tr></thead>
                <tbody role="rowgroup">{children()}</tbody>
            </table>
        </div>
    }
}

/// A [`CardTable`] with plain headings.
#[component]
pub fn ListTable(
    caption: &'static str,
    columns: &'static [&'static str],
    /// The label of a last column of buttons, which has no visible heading.
    #[prop(optional_no_strip, into)]
    deed: Option<&'static str>,
    #[prop(optional)] class: &'static str,
    /// Names the frame of a table that is too wide for most screens, and has
    /// nothing in it to move to with the keyboard.
    #[prop(optional)]
    scrolls: Option<&'static str>,
    children: Children,
) -> impl IntoView {
    let head = |name: &'static str| view! { <th role="columnheader" scope="col">{name}</th> };
    let deed = deed.map(|deed| {
        view! { <th role="columnheader" scope="col"><span class="visually-hidden">{deed}</span></th> }
    });
    let heads = (columns.iter().copied().map(head).collect_any(), deed).into_any();
    let class = format!("list cards {class}").trim_end().to_owned();
    view! { <CardTable class caption heads scrolls>{children()}</CardTable> }
}

/// A [`ListTable`] of these items, or a sentence when there are none.
#[component]
pub fn ItemTable<T, V>(
    caption: &'static str,
    columns: &'static [&'static str],
    #[prop(optional)] deed: Option<&'static str>,
    #[prop(optional)] class: &'static str,
    items: Vec<T>,
    row: impl Fn(T) -> V + 'static,
    none: &'static str,
) -> impl IntoView
where
    T: 'static,
    V: IntoView + 'static,
{
    if items.is_empty() {
        return Either::Left(view! { <p>{none}</p> });
    }
    let rows = items.into_iter().map(row).collect_any();
    Either::Right(view! { <ListTable caption columns deed class>{rows}</ListTable> })
}

/// A table in a frame.
#[component]
pub fn PlainTable(
    class: &'static str,
    caption: &'static str,
    /// The label of the frame, where a keyboard can scroll it.
    #[prop(optional)]
    scrolls: Option<&'static str>,
    heads: AnyView,
    children: Children,
) -> impl IntoView {
    let (tabindex, role) = (scrolls.map(|_| "0"), scrolls.map(|_| "region"));
    view! {
        <div class="table-frame" tabindex=tabindex role=role aria-label=scrolls>
            <table class=class>
                <caption class="visually-hidden">{caption}</caption>
                <thead><tr>{heads}</tr></thead>
                <tbody>{children()}</tbody>
            </table>
        </div>
    }
}

/// A line of a list of facts: its name and its value.
pub fn fact(name: impl IntoView, value: impl IntoView) -> impl IntoView {
    view! { <div><dt>{name}</dt><dd>{value}</dd></div> }
}

/// A link to the rest of a list, when there is more.
#[component]
pub fn NextPage(href: Option<String>) -> impl IntoView {
    href.map(|href| {
        view! {
            <nav class="paging" aria-label="Pages">
                <a class="button" href=href rel="next" data-whole-page="">"Next page"</a>
            </nav>
        }
    })
}
