//! A row for each number of the code style: its correlation with later regressions,
//! a dot with its interval.

use swe_ci_views::figures::{StylePrediction, StylePredictions};

use crate::axes;
use crate::brush::Brush;
use crate::canvas::{Anchor, Canvas, Frame, Margins};
use crate::format;
use crate::paint::{Look, Paint};
use crate::{Figure, Mark};

/// Of dots and intervals: one colour, for they belong to no run.
const DOT: Paint = Paint::Run(0, Look::Solid);
/// The shape of the dots.
const DISC: usize = 0;

pub(crate) fn predictions(brush: &Brush<'_>, data: &StylePredictions, title: &str) -> Figure {
    let rows = u32::try_from(data.predictors.len()).unwrap_or(1);
    let row = brush.either(27, 40);
    let margins = Margins::new(10, brush.either(64, 56), 50, brush.either(214, 14));
    let frame = Frame {
        size: brush.size(margins.top + margins.bottom + rows * row),
        margins,
        x: -1.0..=1.0,
        y: 0.0..=f64::from(rows),
    };
    let all = data.predictors.iter();
    let all = all.map(|one| format!("{} {}", one.title, number(one.correlation)));
    let summary = format!("{title} {}.", all.collect::<Vec<_>>().join(", "));
    frame.draw(brush.theme, summary, |canvas| {
        scale(canvas, f64::from(rows));
        axes::along(
            canvas,
            &frame,
            "rank correlation with later regressions",
            26.0,
        );
        let row = |(number, one): (usize, &StylePrediction)| {
            draw_row(brush, canvas, one, f64::from(rows) - number as f64 - 0.5)
        };
        data.predictors.iter().enumerate().map(row).collect()
    })
}

fn scale(canvas: &Canvas<'_>, top: f64) {
    for value in [-1.0, -0.5, 0.0, 0.5, 1.0] {
        let is_zero = value == 0.0;
        let paint = if is_zero { Paint::Goal } else { Paint::Grid };
        canvas.line(&[(value, 0.0), (value, top)], paint, 1.0);
        let (x, y) = canvas.pixel(value, 0.0);
        let text = format::decimals(value, 1);
        canvas.text(&text, (x, y + 7.0), Anchor::Below, Paint::Muted);
    }
}

/// In narrow layouts, names are above their rows.
fn draw_row(brush: &Brush<'_>, canvas: &Canvas<'_>, one: &StylePrediction, y: f64) -> Mark {
    let (left, middle) = canvas.pixel(-1.0, y);
    let (right, _) = canvas.pixel(1.0, y);
    let (at, anchor) = brush.either(
        ((left - 12.0, middle), Anchor::Left),
        ((left, middle - 9.0), Anchor::Right),
    );
    canvas.text(&one.title, at, anchor, Paint::Ink);
    let middle = middle + brush.either(0.0, 8.0);
    if let Some(interval) = one.interval {
        let (low, _) = canvas.pixel(interval.low, y);
        let (high, _) = canvas.pixel(interval.high, y);
        canvas.interval((low, high), middle, 3.5, DOT, (2.0, 1.5));
    }
    let (x, _) = canvas.pixel(one.correlation.unwrap_or_default(), y);
    if one.correlation.is_some() {
        canvas.marker((x, middle), DISC, 5.0, DOT, true);
    }
    let value = number(one.correlation);
    canvas.bold_text(&value, (right + 12.0, middle), Anchor::Right, Paint::Ink);
    let interval = one.interval.map_or_else(String::new, |interval| {
        format!(" {}", format::interval(interval, 2))
    });
    let evolutions = format::count(one.evolutions, "evolution");
    let shown = one.correlation.map_or("undefined", |_| &value);
    let label = format!("{}: {shown}{interval}, {evolutions}", one.title);
    Mark::new(
        (one.correlation.unwrap_or_default(), y),
        (x, middle),
        None::<usize>,
        label,
    )
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |r| format::decimals(r, 2))
}

#[cfg(test)]
mod tests {
    use swe_ci_core::uncertainty::Interval;
    use swe_ci_views::figures::{Data, Figure as Which};

    use super::*;
    use crate::{Layout, Series, Theme, figure};

    fn prediction(title: &str, correlation: Option<f64>) -> StylePrediction {
        StylePrediction {
            name: "name".into(),
            title: title.into(),
            evolutions: 4,
            correlation,
            interval: correlation.map(|r| Interval {
                low: r - 0.25,
                high: r + 0.25,
            }),
        }
    }

    #[test]
    fn positive_ones_are_right_of_negative_ones() {
        let data = Data::StylePredictions(StylePredictions {
            predictors: vec![
                prediction("MI", Some(-0.5)),
                prediction("Unused code, %", Some(0.5)),
                prediction("Pylint score", None),
            ],
        });
        for layout in [Layout::Wide, Layout::Narrow, Layout::Print] {
            let series = Series::all([]);
            let drawn = figure(Which::StylePrediction, &data, &series, layout, Theme::Page);
            let labels: Vec<&str> = drawn.marks.iter().map(|m| m.label.as_str()).collect();
            let expect = [
                "MI: −0.50 [−0.75, −0.25], 4 evolutions",
                "Unused code, %: 0.50 [0.25, 0.75], 4 evolutions",
                "Pylint score: undefined, 4 evolutions",
            ];
            assert_eq!(labels, expect);
            let [mi, unused, pylint] = [0, 1, 2].map(|n| &drawn.marks[n]);
            assert!(mi.px < pylint.px && pylint.px < unused.px);
            assert!(mi.py < unused.py && unused.py < pylint.py);
            assert!(
                drawn
                    .summary
                    .ends_with("MI −0.50, Unused code, % 0.50, Pylint score –.")
            );
        }
    }
}
