//! Which rows follow the slider. Updating a hundred rows takes longer than a
//! frame; a screen shows twenty. The others wait until the slider rests.

use std::ops::Range;

use leptos::html::Tbody;
use leptos::prelude::*;

use super::board_state::BoardState;

/// Rows beyond either edge of the screen that follow too: a new order can move
/// them in, and cards differ in height.
const MARGIN: usize = 8;

/// All rows.
const EVERY: Range<usize> = 0..usize::MAX;

/// The positions in the table that are kept up to date.
pub(super) fn visible_rows(rows: NodeRef<Tbody>, state: BoardState) -> Memo<Range<usize>> {
    let moves = Memo::new(move |_| state.gamma.get() != state.rested.get());
    // Computed once per movement: nobody scrolls while dragging the slider, and
    // measuring in between would force the browser to lay out the page twice.
    Memo::new(move |_| {
        if !moves.get() {
            return EVERY;
        }
        rows.get_untracked().map_or(EVERY, |rows| {
            let area = rows.get_bounding_client_rect();
            let screen = window().inner_height().ok().and_then(|h| h.as_f64());
            let count = rows.child_element_count() as usize;
            screen.map_or(EVERY, |screen| {
                on_screen(area.top(), area.height(), screen, count)
            })
        })
    })
}

/// The visible rows of a table whose top is `top` below the upper edge of the
/// screen, as if all rows were equally high.
fn on_screen(top: f64, height: f64, screen: f64, rows: usize) -> Range<usize> {
    if height <= 0.0 || rows == 0 {
        return EVERY;
    }
    let row = height / rows as f64;
    // A negative position is above the first row; `as` turns it into 0.
    let first = (-top / row).floor() as usize;
    let beyond = ((screen - top) / row).ceil() as usize;
    first.saturating_sub(MARGIN)..beyond.saturating_add(MARGIN)
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    #[test]
    fn rows_on_the_screen_and_a_few_around() {
        let check = |top, expect: Range<usize>| {
            assert_eq!(on_screen(top, 6_000.0, 1_000.0, 100), expect, "{top}");
        };
        // Sixty pixels a row.
        check(400.0, 0..18);
        check(0.0, 0..25);
        check(-600.0, 2..35);
        check(-5_400.0, 82..115);
        // Entirely below the screen, and entirely above.
        check(2_000.0, 0..8);
        check(-9_000.0, 142..175);
        assert_eq!(on_screen(0.0, 0.0, 1_000.0, 3), EVERY);
        assert_eq!(on_screen(0.0, 10.0, 1_000.0, 0), EVERY);
    }
}
