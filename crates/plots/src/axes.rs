//! The parts of axes that several shapes share.

use crate::canvas::{Anchor, Canvas, Frame};
use crate::format;
use crate::paint::Paint;
use crate::ticks::places;

/// Pixels between the edge of the picture and the title of an axis.
pub(crate) const EDGE: f64 = 12.0;

/// Lines across the data area, the one at 0 darker, with their numbers left.
pub(crate) fn values(canvas: &Canvas<'_>, frame: &Frame, values: &[f64]) {
    let (left, right) = (*frame.x.start(), *frame.x.end());
    let decimals = places(values).max(1);
    for value in values.iter().copied() {
        let is_zero = value.abs() < 1e-9;
        let paint = if is_zero { Paint::Axis } else { Paint::Grid };
        canvas.line(&[(left, value), (right, value)], paint, 1.0);
        let (x, y) = canvas.pixel(left, value);
        let text = format::decimals(value, decimals);
        canvas.text(&text, (x - 8.0, y), Anchor::Left, Paint::Muted);
    }
}

pub(crate) fn bottom(canvas: &Canvas<'_>, frame: &Frame) {
    let (left, right, low) = (*frame.x.start(), *frame.x.end(), *frame.y.start());
    canvas.line(&[(left, low), (right, low)], Paint::Axis, 1.0);
}

/// A short line below the data area, and its text.
pub(crate) fn tick(canvas: &Canvas<'_>, frame: &Frame, at: f64, text: &str) {
    let (x, y) = canvas.pixel(at, *frame.y.start());
    canvas.pixel_line(&[(x, y), (x, y + 4.0)], Paint::Axis, 1.0);
    canvas.text(text, (x, y + 8.0), Anchor::Below, Paint::Muted);
}

/// The title of the horizontal axis, this many pixels below it.
pub(crate) fn along(canvas: &Canvas<'_>, frame: &Frame, title: &str, below: f64) {
    let middle = f64::midpoint(*frame.x.start(), *frame.x.end());
    let (x, y) = canvas.pixel(middle, *frame.y.start());
    canvas.text(title, (x, y + below), Anchor::Below, Paint::Muted);
}

/// The title of the vertical axis, in the corner above it.
pub(crate) fn upright(canvas: &Canvas<'_>, title: &str) {
    canvas.text(title, (EDGE, 10.0), Anchor::Right, Paint::Muted);
}

/// From end to end: a tick every 0.25, or 0.5 where there is little room; every 0.1
/// of a short range.
pub(crate) fn gammas(canvas: &Canvas<'_>, frame: &Frame) {
    let (low, high) = (*frame.x.start(), *frame.x.end());
    let step = match frame.inner_width() {
        _ if high - low < 1.0 => 0.1,
        0..260 => 0.5,
        _ => 0.25,
    };
    for number in 0..=((high - low) / step).round() as u32 {
        let gamma = low + f64::from(number) * step;
        tick(canvas, frame, gamma, &format!("{gamma:.2}"));
    }
}

/// The line at the selected γ; one outside the picture is shown at its edge.
pub(crate) fn cursor(canvas: &Canvas<'_>, frame: &Frame, gamma: f64) {
    let x = gamma.clamp(*frame.x.start(), *frame.x.end());
    let (low, high) = (*frame.y.start(), *frame.y.end());
    canvas.line(&[(x, low), (x, high)], Paint::Cursor, 1.5);
    let (x, y) = canvas.pixel(x, high);
    let text = format!("γ {gamma:.2}");
    canvas.bold_text(&text, (x, y - 4.0), Anchor::Above, Paint::Cursor);
}
