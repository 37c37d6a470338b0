use std::sync::Arc;

use leptos::prelude::*;
use swe_ci_core::run::Kind;
use swe_ci_views::leaderboard::{Column, Row, Sort, View};
use swe_ci_views::verification::Mark;

use super::board_state::BoardState;
use super::column_names;
use super::controls::Hidden;
use crate::components::Popup;
use crate::query::EXCLUDE;

/// One form for all of it. In the browser every control acts at once; without
/// JavaScript the button does. Folded on narrow screens.
#[component]
pub(super) fn Filters(rows: Memo<Vec<Arc<Row>>>, state: BoardState) -> impl IntoView {
    let unseen = checkbox(
        ("seen", EXCLUDE, "Unseen tasks only"),
        Some("Only tasks whose target was committed after the model was released"),
        state,
        |view| view.unseen,
        |view, on| view.unseen = on,
    );
    let verified = checkbox(
        ("mark", Mark::Verified.name(), "Verified only"),
        Some("Only results whose tests were run again here and came out as recorded"),
        state,
        |view| view.mark == Some(Mark::Verified),
        |view, on| view.mark = on.then_some(Mark::Verified),
    );
    view! {
        <details class="filters">
            <summary>
                "Filter, sort, columns"
                <span class="filters-on">{move || in_force(&state.get().view)}</span>
            </summary>
            <form
                class="filters-form"
                method="get"
                action="/"
                aria-label="Rows and columns"
                on:submit=|event| event.prevent_default()
            >
                <Hidden state gamma=true view=false/>
                {view! { <Search state/> }.into_any()}
                {view! { <Providers rows state/> }.into_any()}
                {view! { <Kinds state/> }.into_any()}
                {view! { <Order state/> }.into_any()}
                {unseen.into_any()}
                {verified.into_any()}
                {view! { <ColumnChooser state/> }.into_any()}
                <button class="button no-js">"Show"</button>
            </form>
        </details>
    }
}

/// " · 2 on", so that a folded form still shows that it filters.
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
        0 => String::new(),
        n => format!(" · {n} in force"),
    }
}

#[component]
fn Search(state: BoardState) -> impl IntoView {
    let text = state.text;
    let on_input = move |event| {
        text.set(event_target_value(&event));
        state.later();
    };
    view! {
        <label class="field">
            <span>"Find"</span>
            <input
                id="find"
                type="search"
                name="text"
                autocomplete="off"
                placeholder="model, provider, harness"
                value=text.get_untracked()
                prop:value=move || text.get()
                on:input=on_input
            />
        </label>
    }
}

#[component]
fn Providers(rows: Memo<Vec<Arc<Row>>>, state: BoardState) -> impl IntoView {
    let chosen = Memo::new(move |_| state.get().view.provider);
    let names = Memo::new(move |_| {
        let mut names: Vec<String> = rows.with(|r| r.iter().map(|r| r.provider.clone()).collect());
        names.extend(chosen.get());
        names.retain(|name| !name.is_empty());
        names.sort_by_key(|name| name.to_lowercase());
        names.dedup();
        names
    });
    let option = move |name: String| {
        let is_chosen = chosen.get().as_ref() == Some(&name);
        view! { <option value=name.clone() selected=is_chosen prop:selected=is_chosen>{name.clone()}</option> }
    };
    let on_change = move |event| {
        let name = event_target_value(&event);
        state.choose(|r| r.view.provider = (!name.is_empty()).then_some(name));
    };
    view! {
        <label class="field">
            <span>"Provider"</span>
            <select name="provider" on:change=on_change>
                <option value="">"any"</option>
                {move || names.get().into_iter().map(option).collect_view()}
            </select>
        </label>
    }
}

#[component]
fn Kinds(state: BoardState) -> impl IntoView {
    let boxes = [Kind::Measured, Kind::Imported, Kind::Human].map(|kind| {
        checkbox(
            ("kind", kind.name(), kind.name()),
            None,
            state,
            move |view| wants(view, kind),
            move |view, on| toggle(view, kind, on),
        )
    });
    view! {
        <fieldset class="field boxes">
            <legend>"Runs"</legend>
            {boxes.collect_view()}
        </fieldset>
    }
}

/// A checkbox that acts at once.
fn checkbox(
    (name, value, label): (&'static str, &'static str, &'static str),
    hint: Option<&'static str>,
    state: BoardState,
    is_on: impl Fn(&View) -> bool + Send + Sync + 'static,
    set: impl Fn(&mut View, bool) + 'static,
) -> impl IntoView {
    let checked = Memo::new(move |_| is_on(&state.get().view));
    let on_change = move |event| {
        let on = event_target_checked(&event);
        state.choose(|reading| set(&mut reading.view, on));
    };
    view! {
        <label class="box" title=hint>
            <input
                type="checkbox"
                name=name
                value=value
                checked=checked.get_untracked()
                prop:checked=move || checked.get()
                on:change=on_change
            />
            {label}
        </label>
    }
}

fn wants(view: &View, kind: Kind) -> bool {
    view.kinds.is_empty() || view.kinds.contains(&kind)
}

/// Selecting all kinds is the same as selecting none. Deselecting the last kind
/// selects the others instead.
fn toggle(view: &mut View, kind: Kind, on: bool) {
    let last = !on && view.kinds == [kind];
    let wanted = |other: Kind| match other == kind {
        true => on,
        false => last || wants(view, other),
    };
    let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(|k| wanted(*k)).collect();
    view.kinds = if kinds.len() == Kind::ALL.len() {
        Vec::new()
    } else {
        kinds
    };
}

/// The column headings sort too, but cards on narrow screens have none.
#[component]
fn Order(state: BoardState) -> impl IntoView {
    let chosen = Memo::new(move |_| state.get().view.sort);
    let sorts = move || {
        let mut sorts: Vec<Sort> = Column::ALL.into_iter().map(Sort::natural).collect();
        if !sorts.contains(&chosen.get()) {
            sorts.push(chosen.get());
        }
        let option = |sort: Sort| {
            let is_chosen = sort == chosen.get();
            view! {
                <option value=sort.to_string() selected=is_chosen prop:selected=is_chosen>
                    {column_names::sort(sort)}
                </option>
            }
        };
        sorts.into_iter().map(option).collect_view()
    };
    let on_change = move |event| {
        if let Ok(sort) = event_target_value(&event).parse() {
            state.choose(|reading| reading.view.sort = sort);
        }
    };
    view! {
        <label class="field field-order">
            <span>"Order"</span>
            <select name="sort" on:change=on_change>{sorts}</select>
        </label>
    }
}

#[component]
fn ColumnChooser(state: BoardState) -> impl IntoView {
    let optional = Column::ALL.into_iter().filter(|c| c.is_optional());
    let boxes = optional.map(|column| {
        checkbox(
            ("columns", column.name(), column_names::column(column)),
            None,
            state,
            move |view| view.columns.has(column),
            move |view, on| view.columns = view.columns.with(column, on),
        )
    });
    let boxes = boxes.collect_view();
    view! {
        <Popup class="columns" summary="Columns">
            <fieldset class="columns-boxes">
                <legend class="visually-hidden">"Columns"</legend>
                {boxes}
            </fieldset>
        </Popup>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_toggled() {
        let check = |before: &[Kind], kind, on, expect: &[Kind]| {
            let mut view = View {
                kinds: before.to_vec(),
                ..View::default()
            };
            toggle(&mut view, kind, on);
            assert_eq!(view.kinds, expect);
        };
        let (human, measured, imported) = (Kind::Human, Kind::Measured, Kind::Imported);
        check(&[], human, false, &[measured, imported]);
        check(&[measured, imported], human, true, &[]);
        check(&[human], human, false, &[measured, imported]);
        check(&[human], imported, true, &[human, imported]);
    }

    #[test]
    fn a_folded_form_says_what_is_in_force() {
        let mut view = View::default();
        assert_eq!(in_force(&view), "");
        view.text = " ".into();
        assert_eq!(in_force(&view), "");
        view.text = "m".into();
        view.unseen = true;
        assert_eq!(in_force(&view), " · 2 in force");
    }
}
