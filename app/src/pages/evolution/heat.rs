//! The heat map: the outcome of every test on every version of the code.

use std::ops::Range;

use leptos::prelude::*;

use super::row::row_html;
use super::tests::Tests;
use super::window::{ROW, around, first_rows};
use crate::pages::routes::{EvolutionAddress, EvolutionQuery};

/// A table that scrolls in its own frame. The server renders its first rows.
/// The browser keeps only the rows around the visible ones in the page, between
/// two blank rows as high as the rest.
#[component]
pub(super) fn HeatMap(
    tests: StoredValue<Tests>,
    /// The indices of the selected tests.
    shown: Memo<Vec<usize>>,
    reading: Signal<EvolutionQuery>,
) -> impl IntoView {
    let columns = tests.with_value(Tests::columns);
    let count = Memo::new(move |_| shown.with(Vec::len));
    let sight = Sight::new(shown);
    let window = Memo::new(move |_| sight.window(count.get(), columns));
    let rows = move || {
        let Range { start, end } = window.get();
        shown.with(|shown| {
            let part = shown.get(start..end).unwrap_or_default();
            (start..).zip(part.iter().copied()).collect::<Vec<_>>()
        })
    };
    let above = Signal::derive(move || window.with(|w| w.start));
    let below = Signal::derive(move || count.get() - window.with(|w| w.end.min(count.get())));
    view! {
        <div
            class="heat-frame"
            node_ref=sight.frame
            tabindex="0"
            role="region"
            aria-label="Tests by iteration; scrolls in both directions"
            hidden=move || count.get() == 0
            on:scroll=move |_| sight.measure()
        >
            <table class="heat" aria-rowcount=move || count.get() + 1>
                <Head tests reading/>
                <tbody>
                    <Blank rows=above columns/>
                    <For
                        each=rows
                        key=|row| *row
                        children=move |(row, test)| view! { <Row tests row test/> }
                    />
                    <Blank rows=below columns/>
                </tbody>
            </table>
        </div>
    }
}

/// The visible part of the table: its scroll offset and the height of its
/// frame. None on the server, which knows neither.
#[derive(Clone, Copy)]
struct Sight {
    frame: NodeRef<leptos::html::Div>,
    seen: RwSignal<Option<(u32, u32)>>,
}

impl Sight {
    /// Another selection of tests starts at the top.
    fn new(shown: Memo<Vec<usize>>) -> Self {
        let sight = Self {
            frame: NodeRef::new(),
            seen: RwSignal::new(None),
        };
        Effect::new(move |before: Option<()>| {
            shown.track();
            if let Some(frame) = sight.frame.get().filter(|_| before.is_some()) {
                frame.set_scroll_top(0);
            }
            sight.measure();
        });
        sight
    }

    fn measure(self) {
        if let Some(frame) = self.frame.get_untracked() {
            let pixels = |n: i32| u32::try_from(n).unwrap_or(0);
            let top = pixels(frame.scroll_top());
            self.seen.set(Some((top, pixels(frame.client_height()))));
        }
    }

    fn window(self, rows: usize, columns: usize) -> Range<usize> {
        match self.seen.get() {
            Some((top, height)) => around(top, height, rows),
            None => 0..rows.min(first_rows(columns)),
        }
    }
}

/// Every column heading links to its iteration.
#[component]
fn Head(tests: StoredValue<Tests>, reading: Signal<EvolutionQuery>) -> impl IntoView {
    let heads = tests.with_value(|tests| {
        let address = EvolutionAddress::of_detail(&tests.detail);
        let numbers = tests.detail.view.iterations.iter().map(|i| i.iteration);
        let head = move |n: u32| {
            let address = address.clone();
            let href = move || reading.with(|reading| address.at_iteration(reading, n));
            let chosen = move || reading.with(|r| r.iteration == Some(n)).then_some("true");
            view! {
                <th scope="col">
                    <a href=href aria-label=format!("Iteration {n}") aria-current=chosen>{n}</a>
                </th>
            }
        };
        numbers.map(head).collect_view()
    });
    view! {
        <thead>
            <tr aria-rowindex="1">
                <th scope="col" class="heat-test">"Test"</th>
                <th scope="col">"base"</th>
                {heads}
            </tr>
        </thead>
    }
}

/// As high as this many rows.
#[component]
fn Blank(rows: Signal<usize>, columns: usize) -> impl IntoView {
    let height = move || (rows.get() * ROW as usize).to_string();
    view! {
        <tr class="heat-blank" aria-hidden="true">
            <td colspan=columns + 1>
                <svg width="1" height=height focusable="false"></svg>
            </td>
        </tr>
    }
}

#[component]
fn Row(
    tests: StoredValue<Tests>,
    /// Its position in the table, from 0.
    row: usize,
    test: usize,
) -> impl IntoView {
    let cells = tests.with_value(|tests| row_html(tests, test));
    view! { <tr aria-rowindex=row + 2 inner_html=cells></tr> }
}
