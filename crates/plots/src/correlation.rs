//! Two panels side by side, a row for each run: its correlation of the
//! regression rate, and of the magnitude, with the iteration.

use swe_ci_core::uncertainty::Interval;
use swe_ci_views::figures::{Correlated, Correlations};

use crate::axes;
use crate::brush::{Brush, summary};
use crate::canvas::{Anchor, Canvas};
use crate::format;
use crate::paint::Paint;
use crate::panels::{Panels, Span};
use crate::{Figure, Mark};

const PANELS: [&str; 2] = ["rate", "magnitude"];

pub(crate) fn correlations(brush: &Brush<'_>, data: &Correlations) -> Figure {
    let panels = Panels {
        row: brush.either(27, 40),
        bottom: if brush.print() { 50 } else { 30 },
        numbers: 44.0,
    };
    let frame = panels.frame(brush, data.runs.len());
    let runs = data.runs.iter();
    let runs = runs.map(|run| format!("{} {}", run.run.model, both(run)));
    let title = "Correlation of regression rate and magnitude with the iteration";
    frame.draw(brush.theme, summary(title, runs), |canvas| {
        let spans = panels.spans(&frame);
        for (span, name) in spans.iter().zip(PANELS) {
            let ends = [-1.0, 1.0].map(|r| format::decimals(r, 0));
            let lines = [
                (Paint::Grid, ends[0].as_str()),
                (Paint::Goal, "0"),
                (Paint::Grid, ends[1].as_str()),
            ];
            span.scale(canvas, &frame, &format!("r of the {name}"), lines);
        }
        if brush.print() {
            let title = brush.either(
                "Pearson's r of a quantity with the number of the iteration",
                "Pearson's r with the iteration",
            );
            axes::along(canvas, &frame, title, 26.0);
        }
        panels.rows(&frame, &data.runs, |run, y| {
            draw_row(brush, canvas, spans, run, y)
        })
    })
}

/// r and its interval.
type OfPanel = (Option<f64>, Option<Interval>);

fn draw_row(
    brush: &Brush<'_>,
    canvas: &Canvas<'_>,
    spans: [Span; 2],
    run: &Correlated,
    y: f64,
) -> Vec<Mark> {
    spans[0].name(brush, canvas, &run.run, (y, 9.0));
    let y = y + brush.either(0.0, 8.0);
    let values = [
        (run.rate, run.rate_interval),
        (run.magnitude, run.magnitude_interval),
    ];
    let dot = |((span, (value, interval)), name): ((Span, OfPanel), &str)| {
        let at = |r: f64| span.at(f64::midpoint(r, 1.0));
        let zero = at(0.0);
        let x = value.map_or(zero, at);
        match value {
            Some(_) => {
                if let Some(interval) = interval {
                    let ends = (at(interval.low), at(interval.high));
                    canvas.interval(ends, y, 3.5, brush.solid(&run.run), (1.5, 1.5));
                }
                brush.marker(canvas, &run.run, (x, y), 5.0);
            }
            None => canvas.text("–", (zero + 6.0, y), Anchor::Right, Paint::Muted),
        }
        let text = number(value);
        canvas.text(&text, (span.right + 10.0, y), Anchor::Right, Paint::Muted);
        let shown = value.map_or("undefined", |_| &text);
        let interval = interval.map_or_else(String::new, |interval| {
            format!(" {}", format::interval(interval, 2))
        });
        let label = format!("{}: {name} {shown}{interval}", run.run.model);
        let at = (value.unwrap_or_default(), y);
        Mark::new(at, (x, y), brush.number(&run.run), label)
    };
    spans.into_iter().zip(values).zip(PANELS).map(dot).collect()
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |r| format::decimals(r, 2))
}

fn both(run: &Correlated) -> String {
    format!("{} and {}", number(run.rate), number(run.magnitude))
}

#[cfg(test)]
mod tests {
    use swe_ci_views::figures::{Data, Figure as Which};

    use super::*;
    use crate::{Layout, Series, Theme, figure, fixture};

    #[test]
    fn what_is_undefined_is_a_dash_and_never_nought() {
        let leaderboard = fixture::leaderboard(&[("m", &[0.5])]);
        let data = fixture::data(&leaderboard, Which::RegressionCorrelation, 1.0);
        let Data::Correlations(mut known) = data else {
            panic!("correlations are correlations")
        };
        let mut check = |rate, magnitude, expect: &str, expected_labels: &[&str]| {
            (known.runs[0].rate, known.runs[0].magnitude) = (rate, magnitude);
            assert_eq!(both(&known.runs[0]), expect);
            let which = Which::RegressionCorrelation;
            let data = Data::Correlations(known.clone());
            let marks = figure(which, &data, &Series::all([1]), Layout::Wide, Theme::Page).marks;
            let labels: Vec<&str> = marks.iter().map(|m| m.label.as_str()).collect();
            assert_eq!(labels, expected_labels);
        };
        check(
            Some(0.5),
            None,
            "0.50 and –",
            &["m: rate 0.50", "m: magnitude undefined"],
        );
        check(
            Some(-1.0),
            Some(0.0),
            "−1.00 and 0.00",
            &["m: rate −1.00", "m: magnitude 0.00"],
        );
        check(None, None, "– and –", &[]);
    }
}
