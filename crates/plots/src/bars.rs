//! One number per run, a row each: a dot with its interval on a scale from 0.

use swe_ci_core::uncertainty::Interval;
use swe_ci_views::figures::{Bar, Bars, Others, PublishedBar};

use crate::axes;
use crate::brush::{Brush, summary};
use crate::canvas::{Anchor, Canvas, Frame, Margins};
use crate::format;
use crate::legend::Key;
use crate::marker::Filling;
use crate::paint::{Paint, shape};
use crate::ticks::{places, ticks};
use crate::{Figure, Mark};

pub(crate) fn bars(brush: &Brush<'_>, data: &Bars, title: &str) -> Figure {
    let rows = data.bars.len() + data.published.len() + usize::from(data.others.is_some());
    let rows = u32::try_from(rows).unwrap_or(1);
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
        let others = data.others.as_ref();
        let others = others.and_then(|others| Row::of_others(data, others));
        let published = data.published.iter();
        let published = published.map(|bar| Row::of_published(brush, data, bar));
        let bars = data.bars.iter().map(|bar| Row::of_run(brush, data, bar));
        let all = bars.chain(others).chain(published);
        let draw = |(number, row): (usize, Row)| {
            let y = f64::from(rows) - number as f64 - 0.5;
            row.draw(brush, canvas, data, y)
        };
        all.enumerate().map(draw).collect()
    })
}

struct Row {
    name: String,
    /// Of the name.
    ink: Paint,
    value: f64,
    interval: Option<Interval>,
    marker: Key,
    radius: f64,
    filling: Filling,
    label: String,
    line: Option<usize>,
}

impl Row {
    fn of_run(brush: &Brush<'_>, data: &Bars, bar: &Bar) -> Self {
        let interval = bar.interval.map_or_else(String::new, |interval| {
            format!(" {}", format::interval(interval, data.measure.places()))
        });
        let model = &bar.run.model;
        let marker = Key::of_run(brush, &bar.run, model.clone());
        Self {
            name: model.clone(),
            ink: Paint::Ink,
            value: bar.value,
            interval: bar.interval,
            radius: 5.0,
            filling: Filling::of(marker.number),
            label: format!("{model}: {}{interval}", number(data, bar.value)),
            line: Some(marker.number),
            marker,
        }
    }

    fn of_others(data: &Bars, others: &Others) -> Option<Self> {
        let middle = *others.middles.first()?;
        Some(Self {
            name: others.name(),
            ink: Paint::Muted,
            value: middle.median,
            interval: Some(middle.most),
            marker: Key {
                number: 0,
                paint: Paint::Muted,
                words: String::new(),
            },
            radius: 4.0,
            filling: Filling::None,
            label: others.in_words(middle, data.measure.places()),
            line: None,
        })
    }

    fn of_published(brush: &Brush<'_>, data: &Bars, bar: &PublishedBar) -> Self {
        let value = number(data, bar.value);
        Self {
            name: bar.model.clone(),
            ink: Paint::Muted,
            value: bar.value,
            interval: None,
            marker: Key::of_provider(brush, &bar.provider, String::new()),
            radius: 3.0,
            filling: Filling::None,
            label: format!("{}: {value}, as published", bar.model),
            line: None,
        }
    }

    /// In narrow layouts, names are above their rows.
    fn draw(self, brush: &Brush<'_>, canvas: &Canvas<'_>, data: &Bars, y: f64) -> Mark {
        let (left, middle) = canvas.pixel(0.0, y);
        let (x, _) = canvas.pixel(self.value, y);
        let (right, _) = canvas.pixel(data.most, y);
        let (roomy, narrow) = ((left - 12.0, middle), (left, middle - 9.0));
        brush.words(canvas, &self.name, self.ink, roomy, narrow);
        let middle = middle + brush.either(0.0, 8.0);
        let Key {
            number: n, paint, ..
        } = self.marker;
        if let Some(interval) = self.interval {
            let (low, _) = canvas.pixel(interval.low, y);
            let (high, _) = canvas.pixel(interval.high, y);
            canvas.interval((low, high), middle, 3.5, paint, (2.0, 1.5));
        }
        canvas.marker((x, middle), shape(n), self.radius, paint, self.filling);
        let value = number(data, self.value);
        canvas.bold_text(&value, (right + 12.0, middle), Anchor::Right, self.ink);
        Mark::new((self.value, y), (x, middle), self.line, self.label)
    }
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

fn number(data: &Bars, value: f64) -> String {
    format::decimals(value, data.measure.places())
}

#[cfg(test)]
mod tests {
    use swe_ci_views::figures::Figure as Which;

    use crate::fixture::{data, leaderboard, leaderboard_of, study};
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

    #[test]
    fn others_and_published_ones_come_last() {
        let names: Vec<String> = (0..4).map(|i| format!("m{i}")).collect();
        let models: Vec<(&str, &[f64])> = names.iter().map(|n| (n.as_str(), &[0.5][..])).collect();
        let leaderboard = leaderboard(&models);
        let mut study = study(&leaderboard, 1.0);
        study.others = study.rows.split_off(2);
        let rates = Which::ZeroRegression.data(&study);
        let series = Series::new(&leaderboard, &study.rows);
        let drawn = figure(
            Which::ZeroRegression,
            &rates,
            &series,
            Layout::Wide,
            Theme::Page,
        );
        let labels: Vec<&str> = drawn.marks.iter().map(|m| m.label.as_str()).collect();
        let expect = [
            "m0: 1.00",
            "m1: 1.00",
            "median of 2 others: 1.00, four of five 1.00 to 1.00",
            "Published model: 0.37, as published",
        ];
        assert_eq!(labels, expect);
        assert_eq!(drawn.marks[2].line, None);
    }
}
