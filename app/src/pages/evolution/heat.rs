//! The heat map: the outcome of every test on every version of the code.

use std::ops::Range;

use leptos::prelude::*;

use super::symbols::row_html;
use super::tests::Tests;
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

/// Height of a row in CSS pixels, as in the style sheet.
pub(super) const ROW: u32 = 26;

/// Rows above and below the visible ones.
const MARGIN: usize = 20;

/// The part in the page moves in steps of this many rows; between them,
/// scrolling changes nothing.
const STEP: usize = 10;

/// The most cells the server renders.
const MOST_CELLS: usize = 8_000;

/// The most rows the server renders.
const MOST_ROWS: usize = 200;

/// The number of rows the server renders for a table with this many columns.
pub(super) fn first_rows(columns: usize) -> usize {
    (MOST_CELLS / columns.max(1)).clamp(STEP, MOST_ROWS)
}

/// The rows around the visible part of `rows` rows, scrolled down by `top`
/// pixels in a frame of this height.
pub(super) fn around(top: u32, height: u32, rows: usize) -> Range<usize> {
    let seen = (top / ROW) as usize;
    let start = (seen / STEP * STEP).saturating_sub(MARGIN).min(rows);
    let shown = height.div_ceil(ROW) as usize + STEP;
    let end = (seen / STEP * STEP + shown + MARGIN).min(rows);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_sees_is_there_and_little_else() {
        let check = |top, height, rows, expect: Range<usize>| {
            assert_eq!(around(top, height, rows), expect, "{top} {height} {rows}");
        };
        check(0, 520, 5_000, 0..50);
        check(ROW * 9, 520, 5_000, 0..50);
        check(ROW * 10, 520, 5_000, 0..60);
        check(ROW * 1_000, 520, 5_000, 980..1_050);
        check(ROW * 4_980, 520, 5_000, 4_960..5_000);
        // Fewer rows than fit in the frame, or than the scroll offset.
        check(0, 520, 3, 0..3);
        check(0, 520, 0, 0..0);
        check(ROW * 4_980, 520, 7, 7..7);
        for top in (0..130_000).step_by(97) {
            let window = around(top, 520, 5_000);
            let (first, last) = ((top / ROW) as usize, ((top + 520) / ROW) as usize);
            assert!(
                window.start <= first && window.end >= last.min(5_000),
                "{top}"
            );
            assert!(window.len() <= 80);
        }
    }

    #[test]
    fn the_server_writes_a_bounded_part() {
        assert_eq!(first_rows(4), 200);
        assert_eq!(first_rows(21), 200);
        assert_eq!(first_rows(101), 79);
        assert_eq!(first_rows(1_001), 10);
    }
}
