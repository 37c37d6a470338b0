//! A few runs, a row each: name, score and interval.

use swe_ci_core::uncertainty::Interval;
use swe_ci_views::leaderboard::Row;

use super::{EDGE, write};
use crate::canvas::{Canvas, Lettering};
use crate::format;
use crate::paint::{Look, Paint};
use crate::text;

/// Height of a row, in pixels: the minimum, and the maximum with few rows.
const ROW: f64 = 58.0;
const TALL_ROW: f64 = 72.0;

const NAME: Lettering = Lettering::of(27.0);
const SCORE: Lettering = Lettering::of(29.0).bold();
const RANK: Lettering = Lettering::of(24.0);

/// The left edges of the names, the scale and the scores, in pixels.
const NAMES: f64 = EDGE + 60.0;
const SCALE_FROM: f64 = 540.0;
const SCALE_TO: f64 = 1000.0;
const SCORES: f64 = 1030.0;

#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    pub rank: u32,
    pub name: String,
    pub value: f64,
    pub interval: Option<Interval>,
    /// Its colour and marker, as in every figure.
    pub series: usize,
}

impl Bar {
    pub fn of(row: &Row, series: usize) -> Self {
        Self {
            rank: row.rank,
            name: row.model.clone(),
            value: row.evoscore,
            interval: row.intervals.map(|intervals| intervals.evoscore),
            series,
        }
    }
}

/// As many as fit between two heights.
pub(super) fn draw(canvas: &Canvas<'_>, bars: &[Bar], (top, bottom): (f64, f64)) {
    let room = ((bottom - top) / ROW).max(0.0) as usize;
    let bars = &bars[..bars.len().min(room)];
    let row = ((bottom - top) / bars.len().max(1) as f64).min(TALL_ROW);
    let (low, high) = range(bars);
    let at = |value: f64| SCALE_FROM + (value - low) / (high - low) * (SCALE_TO - SCALE_FROM);
    let end = top + row * bars.len() as f64;
    canvas.pixel_line(&[(at(0.0), top), (at(0.0), end)], Paint::Axis, 2.0);
    for (place, bar) in bars.iter().enumerate() {
        let y = top + row * (place as f64 + 0.5);
        draw_row(canvas, bar, y, at);
    }
}

fn draw_row(canvas: &Canvas<'_>, bar: &Bar, y: f64, at: impl Fn(f64) -> f64) {
    let solid = Paint::Run(bar.series, Look::Solid);
    let rank = bar.rank.to_string();
    write(canvas, &rank, (EDGE, y), Paint::Muted, RANK);
    for name in text::fit(&bar.name, NAME, SCALE_FROM - NAMES - 24.0, 1) {
        write(canvas, &name, (NAMES, y), Paint::Ink, NAME);
    }
    canvas.pixel_line(&[(at(0.0), y), (at(bar.value), y)], Paint::Axis, 2.0);
    if let Some(Interval { low, high }) = bar.interval {
        canvas.interval((at(low), at(high)), y, 9.0, solid, (5.0, 3.0));
    }
    canvas.marker((at(bar.value), y), bar.series, 10.0, solid, true);
    let score = format::score(bar.value);
    write(canvas, &score, (SCORES, y), Paint::Ink, SCORE);
}

/// From 0, or a lower value, to the best.
fn range(bars: &[Bar]) -> (f64, f64) {
    let ends = bars.iter().flat_map(|bar| {
        let interval = bar.interval.map(|i| [i.low, i.high]);
        interval.unwrap_or([bar.value; 2])
    });
    let (low, high) = ends.fold((0.0_f64, 0.0_f64), |(low, high), end| {
        (low.min(end), high.max(end))
    });
    (low, if high > low { high } else { low + 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(value: f64, interval: Option<(f64, f64)>) -> Bar {
        Bar {
            rank: 1,
            name: "m".into(),
            value,
            interval: interval.map(|(low, high)| Interval { low, high }),
            series: 1,
        }
    }

    #[test]
    fn the_scale_has_room_for_intervals_and_shows_zero() {
        let check = |bars: &[Bar], expect: (f64, f64)| assert_eq!(range(bars), expect);
        check(&[], (0.0, 1.0));
        check(&[bar(0.0, None)], (0.0, 1.0));
        check(&[bar(0.5, Some((0.4, 0.7)))], (0.0, 0.7));
        check(&[bar(-0.5, Some((-0.7, -0.1)))], (-0.7, 0.0));
        check(&[bar(0.2, None), bar(-0.1, None)], (-0.1, 0.2));
    }
}
