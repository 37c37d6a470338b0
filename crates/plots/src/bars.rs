//! One number per run, a row each: a dot with its interval on a scale from 0.

use swe_ci_views::figures::{Bar, Bars};

use crate::axes;
use crate::brush::{Brush, summary};
use crate::canvas::{Anchor, Canvas, Frame, Margins};
use crate::format;
use crate::paint::Paint;
use crate::ticks::{places, ticks};
use crate::{Figure, Mark};

pub(crate) fn bars(brush: &Brush<'_>, data: &Bars, title: &str) -> Figure {
    let rows = u32::try_from(data.bars.len()).unwrap_or(1);
    let row = brush.either(27, 40);
    let margins = Margins::new(10, brush.either(64, 56), 50, brush.either(214, 14));
    let frame = Frame {
        size: brush.size(margins.top + margins.bottom + rows * row),
        margins,
        x: 0.0..=data.most,
        y: 0.0..=f64::from(rows),
    };
    let runs = data.bars.iter();
    let runs = runs.map(|bar| format!("{} {}", bar.run.model, number(data, bar.value)));
    frame.draw(brush.theme, summary(title, runs), |canvas| {
        scale(canvas, data, f64::from(rows));
        axes::along(canvas, &frame, data.measure.axis(), 26.0);
        let row = |(number, bar): (usize, &Bar)| {
            let y = f64::from(rows) - number as f64 - 0.5;
            draw_row(brush, canvas, data, bar, y)
        };
        data.bars.iter().enumerate().map(row).collect()
    })
}

fn scale(canvas: &Canvas<'_>, data: &Bars, top: f64) {
    let values = ticks(0.0..=data.most, 5);
    for value in &values {
        let is_zero = *value == 0.0;
        let paint = if is_zero { Paint::Axis } else { Paint::Grid };
        canvas.line(&[(*value, 0.0), (*value, top)], paint, 1.0);
        let (x, y) = canvas.pixel(*value, 0.0);
        let text = format::decimals(*value, places(&values));
        canvas.text(&text, (x, y + 7.0), Anchor::Below, Paint::Muted);
    }
}

/// In narrow layouts, names are above their rows.
fn draw_row(brush: &Brush<'_>, canvas: &Canvas<'_>, data: &Bars, bar: &Bar, y: f64) -> Mark {
    let (left, middle) = canvas.pixel(0.0, y);
    let (x, _) = canvas.pixel(bar.value, y);
    let (right, _) = canvas.pixel(data.most, y);
    let down = brush.either(0.0, 8.0);
    let (roomy, narrow) = ((left - 12.0, middle), (left, middle - 9.0));
    brush.name(canvas, &bar.run, roomy, narrow);
    let middle = middle + down;
    canvas.pixel_line(&[(left, middle), (x, middle)], Paint::Axis, 1.0);
    if let Some(interval) = bar.interval {
        let (low, _) = canvas.pixel(interval.low, y);
        let (high, _) = canvas.pixel(interval.high, y);
        canvas.interval((low, high), middle, 3.5, brush.solid(&bar.run), (2.0, 1.5));
    }
    brush.marker(canvas, &bar.run, (x, middle), 5.0);
    let value = number(data, bar.value);
    canvas.bold_text(&value, (right + 12.0, middle), Anchor::Right, Paint::Ink);
    let interval = bar.interval.map_or_else(String::new, |interval| {
        format!(" {}", format::interval(interval, data.measure.places()))
    });
    let label = format!("{}: {value}{interval}", bar.run.model);
    Mark::new((bar.value, y), (x, middle), brush.number(&bar.run), label)
}

fn number(data: &Bars, value: f64) -> String {
    format::decimals(value, data.measure.places())
}

#[cfg(test)]
mod tests {
    use swe_ci_views::figures::Figure as Which;

    use crate::fixture::{data, leaderboard, leaderboard_of};
    use crate::{Layout, Series, Theme, figure};

    #[test]
    fn rows_go_down_and_values_go_right() {
        let leaderboard = leaderboard_of(&[
            ("none", vec![&[0.5], &[0.5]]),
            ("half", vec![&[1.0], &[0.5]]),
            ("all", vec![&[1.0], &[1.0]]),
        ]);
        let solved = data(&leaderboard, Which::Solved, 1.0);
        let marks = figure(
            Which::Solved,
            &solved,
            &Series::all([1, 2, 3]),
            Layout::Wide,
            Theme::Page,
        )
        .marks;
        let labels: Vec<&str> = marks.iter().map(|m| m.label.as_str()).collect();
        assert_eq!(
            labels,
            [
                "all: 1.00 [1.00, 1.00]",
                "half: 0.50 [0.00, 1.00]",
                "none: 0.00 [0.00, 0.00]"
            ]
        );
        assert!(
            marks
                .windows(2)
                .all(|m| m[0].py < m[1].py && m[0].px > m[1].px)
        );
    }

    #[test]
    fn without_an_interval_there_is_none() {
        let leaderboard = leaderboard(&[("only", &[0.5])]);
        let turns = data(&leaderboard, Which::Turns, 1.0);
        let marks = figure(
            Which::Turns,
            &turns,
            &Series::all([1]),
            Layout::Narrow,
            Theme::Page,
        )
        .marks;
        assert_eq!(marks[0].label, "only: 1.0");
    }
}
