//! Which rows of a long table are in the page: the visible ones and a margin,
//! so that scrolling a little shows no blank space.

use std::ops::Range;

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
