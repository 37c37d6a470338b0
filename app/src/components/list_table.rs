use leptos::prelude::*;

/// A table whose rows become cards on narrow screens. Its cells name their
/// columns in `data-label`.
#[component]
pub fn ListTable(
    /// The caption of the table.
    caption: &'static str,
    /// The column headings.
    columns: &'static [&'static str],
    /// The label of a last column of buttons, which has no visible heading.
    #[prop(optional)]
    deed: Option<&'static str>,
    /// A further CSS class.
    #[prop(optional)]
    class: &'static str,
    /// The rows.
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
