use leptos::prelude::*;
use swe_ci_core::run::Kind;
use swe_ci_views::leaderboard::{Column, Row, Sort, View};
use swe_ci_views::verification::Mark;

use super::controls::Hidden;
use crate::components::CollectAny;
use crate::components::Popup;
use crate::pages::column_names;
use crate::query::{EXCLUDE, Reading};

/// One form for two menus. With scripts it acts at once; without, the buttons do.
#[component]
pub(super) fn Filters(
    /// The providers of all rows, each once.
    providers: Vec<String>,
    reading: Reading,
) -> impl IntoView {
    let view = reading.view.clone();
    let kinds = [Kind::Measured, Kind::Imported, Kind::Human]
        .map(|kind| checkbox("kind", kind.name(), kind.name(), None, wants(&view, kind)));
    let unseen = checkbox(
        "seen",
        EXCLUDE,
        "Unseen tasks only",
        Some(
            "Only tasks whose target is younger than the model's training data, or than the model",
        ),
        view.unseen,
    );
    let verified = checkbox(
        "mark",
        Mark::Verified.name(),
        "Verified only",
        Some("Only results whose tests were run again here and came out as recorded"),
        view.mark == Some(Mark::Verified),
    );
    let text = view.text.clone();
    let (provider, sort, summary) = (view.provider.clone(), view.sort, in_force(&view));
    let action = reading.path();
    view! {
        <form class="filters-form" method="get" action=action aria-label="Rows and columns" data-in-place="">
            <Hidden reading gamma=true view=false/>
            <Popup class="menu filters" summary>
                <div class="menu-panel">
                    <label class="field">
                        <span>"Find"</span>
                        <input
                            id="find"
                            type="search"
                            name="text"
                            autocomplete="off"
                            placeholder="model, provider, harness"
                            value=text
                        />
                    </label>
                    <Providers names=providers chosen=provider/>
                    <Order chosen=sort/>
                    <fieldset class="field boxes">
                        <legend>"Runs"</legend>
                        {kinds.collect_any()}
                    </fieldset>
                    {unseen}
                    {verified}
                    <button class="button no-js">"Show"</button>
                </div>
            </Popup>
            <ColumnChooser view/>
        </form>
    }
}

/// "Filter · 2 in force".
fn in_force(view: &View) -> String {
    let on = [
        !view.text.trim().is_empty(),
        view.provider.is_some(),
        !view.kinds.is_empty(),
        view.unseen,
        view.mark.is_some(),
        !view.is_ranking(),
    ];
    match on.into_iter().filter(|on| *on).count() {
        0 => "Filter".to_owned(),
        n => format!("Filter · {n} in force"),
    }
}

/// The providers in these rows, and the chosen one.
pub(super) fn providers(rows: &[Row], chosen: Option<&String>) -> Vec<String> {
    let mut names: Vec<String> = rows.iter().map(|row| row.provider.clone()).collect();
    names.extend(chosen.cloned());
    names.retain(|name| !name.is_empty());
    names.sort_by_key(|name| name.to_lowercase());
    names.dedup();
    names
}

#[component]
fn Providers(names: Vec<String>, chosen: Option<String>) -> impl IntoView {
    let option = |name: String| {
        let selected = chosen.as_ref() == Some(&name);
        view! { <option value=name.clone() selected=selected>{name.clone()}</option> }
    };
    view! {
        <label class="field">
            <span>"Provider"</span>
            <select name="provider">
                <option value="">"any"</option>
                {names.into_iter().map(option).collect_any()}
            </select>
        </label>
    }
}

fn checkbox(
    name: &'static str,
    value: &'static str,
    label: &'static str,
    hint: Option<&'static str>,
    checked: bool,
) -> impl IntoView {
    view! {
        <label class="box" title=hint>
            <input type="checkbox" name=name value=value checked=checked/>
            {label}
        </label>
    }
}

fn wants(view: &View, kind: Kind) -> bool {
    view.kinds.is_empty() || view.kinds.contains(&kind)
}

/// The column headings sort too, but cards on narrow screens have none.
#[component]
fn Order(chosen: Sort) -> impl IntoView {
    let mut sorts: Vec<Sort> = Column::ALL.into_iter().map(Sort::natural).collect();
    if !sorts.contains(&chosen) {
        sorts.push(chosen);
    }
    let option = |sort: Sort| {
        view! {
            <option value=sort.to_string() selected=sort == chosen>{column_names::sort(sort)}</option>
        }
    };
    let sorts = sorts.into_iter().map(option).collect_any();
    view! {
        <label class="field field-order">
            <span>"Order"</span>
            <select name="sort">{sorts}</select>
        </label>
    }
}

#[component]
fn ColumnChooser(view: View) -> impl IntoView {
    let optional = Column::ALL.into_iter().filter(|c| c.is_optional());
    let boxes = optional.map(|column| {
        let label = column_names::column(column);
        checkbox(
            "columns",
            column.name(),
            label,
            None,
            view.columns.has(column),
        )
    });
    let boxes = boxes.collect_any();
    view! {
        <Popup class="menu columns" summary="Columns">
            <fieldset class="menu-panel columns-boxes">
                <legend class="visually-hidden">"Columns"</legend>
                {boxes}
                <button class="button no-js">"Show"</button>
            </fieldset>
        </Popup>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folded_form_says_what_is_in_force() {
        let mut view = View::default();
        assert_eq!(in_force(&view), "Filter");
        view.text = " ".into();
        assert_eq!(in_force(&view), "Filter");
        view.text = "m".into();
        view.unseen = true;
        assert_eq!(in_force(&view), "Filter · 2 in force");
    }
}
