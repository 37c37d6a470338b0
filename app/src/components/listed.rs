use leptos::prelude::*;

/// The frame of a list: a table whose rows are cards where it is narrow. Its
/// cells name their columns in `data-label`.
#[component]
pub fn Listed(
    /// What it is a list of.
    caption: &'static str,
    /// Heads of the columns.
    columns: &'static [&'static str],
    /// What the buttons of a last column without a head do.
    #[prop(optional)]
    deed: Option<&'static str>,
    /// How it is styled beside that.
    #[prop(optional)]
    class: &'static str,
    /// Its rows.
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
