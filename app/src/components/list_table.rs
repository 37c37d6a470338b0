use leptos::either::Either;
use leptos::prelude::*;

/// A table whose rows become cards on narrow screens. Its cells have `data-label`s.
#[component]
pub fn ListTable(
    caption: &'static str,
    columns: &'static [&'static str],
    /// The label of a last column of buttons, which has no visible heading.
    #[prop(optional_no_strip, into)]
    deed: Option<&'static str>,
    #[prop(optional)] class: &'static str,
    children: Children,
) -> impl IntoView {
    let head = |name: &'static str| view! { <th role="columnheader" scope="col">{name}</th> };
    let deed = deed.map(|deed| {
        view! { <th role="columnheader" scope="col"><span class="visually-hidden">{deed}</span></th> }
    });
    view! {
        <div class="table-frame">
            <table class=format!("list cards {class}").trim_end().to_owned() role="table">
                <caption class="visually-hidden">{caption}</caption>
                <thead role="rowgroup">
                    <tr role="row">
                        {columns.iter().copied().map(head).collect_view()}
                        {deed}
                    </tr>
                </thead>
                <tbody role="rowgroup">{children()}</tbody>
            </table>
        </div>
    }
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
    let rows = items.into_iter().map(row).collect_view();
    Either::Right(view! { <ListTable caption columns deed class>{rows}</ListTable> })
}

/// A link to the rest of a list, when there is more.
#[component]
pub fn NextPage(href: Option<String>) -> impl IntoView {
    href.map(|href| {
        view! {
            <nav class="paging" aria-label="Pages">
                <a class="button" href=href rel="next">"Next page"</a>
            </nav>
        }
    })
}
