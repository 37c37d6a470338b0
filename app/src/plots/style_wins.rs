//! Two panels side by side, a bar for each run: the shares of its solved tasks
//! whose code is better, equal and worse than the oracle's. Better is always
//! left and solid, equal empty, worse right and hatched.

use swe_ci_core::figures::{StyleBars, StyleWins};
use swe_ci_core::leaderboard::WinRates;
use swe_ci_core::style::StyleMetric;
use swe_ci_core::uncertainty::Interval;

use super::canvas::{Anchor, Area, Canvas, Frame, Margins};
use super::figure::{Brush, summary};
use super::paint::Paint;
use super::{Figure, Mark};
use crate::format;

/// What the panels show, from left to right.
const PANELS: [(StyleMetric, &str); 2] = [(StyleMetric::Mi, "MI"), (StyleMetric::Pylint, "Pylint")];
/// Pixels right of a panel, for its numbers.
const NUMBERS: f64 = 40.0;
/// Half the height of a bar.
const HALF: f64 = 6.0;

pub(super) fn style_wins(brush: &Brush<'_>, data: &StyleWins) -> Figure {
    let rows = u32::try_from(data.runs.len()).unwrap_or(1);
    let row = brush.either(29, 42);
    let margins = Margins {
        top: 34,
        right: 8,
        bottom: 54,
        left: brush.either(214, 8),
    };
    let frame = Frame {
        size: brush.size(margins.top + margins.bottom + rows * row),
        margins,
        x: 0.0..=1.0,
        y: 0.0..=f64::from(rows),
    };
    let told: Vec<String> = data.runs.iter().map(both).collect();
    let title = "Share of solved tasks with better MI and Pylint score than the oracle";
    frame.draw(brush.theme, summary(title, &told), |canvas| {
        let panels = panels(&frame);
        for panel in &panels {
            panel.scale(canvas, &frame);
        }
        key(canvas, &frame);
        let rows = (0u32..).zip(&data.runs).flat_map(|(number, run)| {
            let y = f64::from(margins.top + number * row) + f64::from(row) / 2.0;
            draw_row(brush, canvas, &panels, run, y)
        });
        rows.collect()
    })
}

/// The pixels a panel's 0 and 1 are at.
struct Panel {
    metric: StyleMetric,
    name: &'static str,
    left: f64,
    right: f64,
}

fn panels(frame: &Frame) -> [Panel; 2] {
    let left = f64::from(frame.margins.left);
    let width = (f64::from(frame.size.width - frame.margins.right) - left) / 2.0;
    let mut number = 0.0;
    PANELS.map(|(metric, name)| {
        let panel = Panel {
            metric,
            name,
            left: left + number * width + 10.0,
            right: left + (number + 1.0) * width - NUMBERS,
        };
        number += 1.0;
        panel
    })
}

/// A part of a bar.
struct Part {
    word: &'static str,
    fill: Fill,
    share: f64,
    interval: Option<Interval>,
}

#[derive(Clone, Copy)]
enum Fill {
    Solid(Paint),
    Empty,
    Hatched,
}

impl Panel {
    fn at(&self, share: f64) -> f64 {
        self.left + (self.right - self.left) * share
    }

    fn scale(&self, canvas: &Canvas<'_>, frame: &Frame) {
        let top = f64::from(frame.margins.top);
        let bottom = top + f64::from(frame.inner_height());
        for share in [0.0, 0.5, 1.0] {
            let paint = if share == 0.0 {
                Paint::Axis
            } else {
                Paint::Grid
            };
            let x = self.at(share);
            canvas.pixel_line(&[(x, top), (x, bottom)], paint, 1.0);
            let places = usize::from(share == 0.5);
            let text = format::decimals(share, places);
            canvas.text(&text, (x, bottom + 7.0), Anchor::Below, Paint::Muted);
        }
        let at = (self.at(0.5), top - 10.0);
        canvas.bold_text(self.name, at, Anchor::Above, Paint::Ink);
    }

    /// The bar of a run, and what its parts say.
    fn bar(
        &self,
        brush: &Brush<'_>,
        canvas: &Canvas<'_>,
        run: &StyleBars,
        rates: WinRates,
        y: f64,
    ) -> Vec<Mark> {
        let mut from = 0.0;
        let mut marks = Vec::new();
        for part in parts(brush, run, self.metric, rates) {
            let (left, right) = (self.at(from), self.at(from + part.share));
            let area = Area {
                left,
                top: y - HALF,
                right,
                bottom: y + HALF,
            };
            part.fill.draw(canvas, area);
            from += part.share;
            // Wins are said even where there is none: it is what is asked.
            if part.share > 0.0 || part.word == "better" {
                let at = (f64::midpoint(left, right), y);
                marks.push(self.mark(run, &part, rates.tasks, at));
            }
        }
        if let Some(interval) = run.interval(self.metric).map(|i| i.win) {
            let y = y + HALF + 3.5;
            let ends = [interval.low, interval.high].map(|end| self.at(end));
            canvas.pixel_line(&[(ends[0], y), (ends[1], y)], Paint::Ink, 1.5);
            for x in ends {
                canvas.pixel_line(&[(x, y - 2.5), (x, y + 2.5)], Paint::Ink, 1.5);
            }
        }
        let win = format::share(rates.win);
        canvas.bold_text(&win, (self.right + 8.0, y), Anchor::Right, Paint::Ink);
        marks
    }

    fn mark(&self, run: &StyleBars, part: &Part, tasks: u32, at: (f64, f64)) -> Mark {
        let interval = part.interval.map_or_else(String::new, |interval| {
            format!(" {}", format::interval(interval, 2))
        });
        Mark {
            x: part.share,
            y: at.1,
            px: at.0,
            py: at.1,
            label: format!(
                "{}: {} {} {}{interval}, {}",
                run.run.model,
                self.name,
                part.word,
                format::share(part.share),
                format::count(tasks, "task")
            ),
            series: run.run.run_id.clone(),
        }
    }

    /// Of a run that has nothing to show here.
    fn unmeasured(&self, canvas: &Canvas<'_>, run: &StyleBars, y: f64) -> Mark {
        canvas.text("–", (self.left + 6.0, y), Anchor::Right, Paint::Muted);
        Mark {
            x: 0.0,
            y,
            px: self.left,
            py: y,
            label: format!("{}: {} not measured", run.run.model, self.name),
            series: run.run.run_id.clone(),
        }
    }
}

fn parts(brush: &Brush<'_>, run: &StyleBars, metric: StyleMetric, rates: WinRates) -> [Part; 3] {
    let intervals = run.interval(metric);
    let part = |word, fill, share, interval| Part {
        word,
        fill,
        share,
        interval,
    };
    let solid = Fill::Solid(brush.solid(&run.run));
    [
        part("better", solid, rates.win, intervals.map(|i| i.win)),
        part("equal", Fill::Empty, rates.tie, intervals.map(|i| i.tie)),
        part(
            "worse",
            Fill::Hatched,
            rates.loss,
            intervals.map(|i| i.loss),
        ),
    ]
}

impl Fill {
    fn draw(self, canvas: &Canvas<'_>, area: Area) {
        if area.right - area.left < 0.5 {
            return;
        }
        match self {
            Self::Solid(paint) => canvas.area(area, paint),
            Self::Empty => {
                canvas.area(area, Paint::Surface);
                canvas.outline(area, Paint::Muted, 1.0);
            }
            Self::Hatched => {
                canvas.area(area, Paint::Surface);
                canvas.hatch(area, Paint::Muted, 1.0);
                canvas.outline(area, Paint::Muted, 1.0);
            }
        }
    }
}

fn draw_row(
    brush: &Brush<'_>,
    canvas: &Canvas<'_>,
    panels: &[Panel; 2],
    run: &StyleBars,
    y: f64,
) -> Vec<Mark> {
    let name = format::clip(&run.run.model, brush.either(30, 40));
    let left = panels[0].left;
    if brush.narrow() {
        canvas.text(&name, (left, y - 10.0), Anchor::Right, Paint::Ink);
    } else {
        canvas.text(&name, (left - 22.0, y), Anchor::Left, Paint::Ink);
    }
    let y = y + brush.either(-1.0, 7.0);
    let draw = |panel: &Panel| match run.wins(panel.metric) {
        Some(rates) => panel.bar(brush, canvas, run, rates, y),
        None => vec![panel.unmeasured(canvas, run, y)],
    };
    panels.iter().flat_map(draw).collect()
}

/// Which fill is which, at the bottom.
fn key(canvas: &Canvas<'_>, frame: &Frame) {
    let y = f64::from(frame.size.height) - 14.0;
    let mut x = f64::from(frame.margins.left) + 10.0;
    let fills = [
        (Fill::Solid(Paint::Muted), "better"),
        (Fill::Empty, "equal"),
        (Fill::Hatched, "worse"),
    ];
    for (fill, word) in fills {
        let area = Area {
            left: x,
            top: y - 5.0,
            right: x + 20.0,
            bottom: y + 5.0,
        };
        fill.draw(canvas, area);
        canvas.text(word, (x + 26.0, y), Anchor::Right, Paint::Muted);
        x += 88.0;
    }
}

/// "m 0.50 and –".
fn both(run: &StyleBars) -> String {
    let [mi, pylint] = StyleMetric::ALL.map(|metric| {
        let rates = run.wins(metric);
        rates.map_or_else(|| "–".to_owned(), |rates| format::share(rates.win))
    });
    format!("{} {mi} and {pylint}", run.run.model)
}

#[cfg(test)]
mod tests {
    use swe_ci_core::figures::Figure as Which;
    use swe_ci_core::testing::beside;

    use crate::plots::fixture::{data, sheet_of, styled};
    use crate::plots::{Layout, Theme, figure};

    /// Two solved tasks: by MI one is won and one lost, by Pylint's score
    /// both are equal for `a`; `b` has no Pylint score.
    #[test]
    fn parts_go_from_better_to_worse() {
        let mut sheet = sheet_of(&[("a", vec![&[1.0], &[1.0]]), ("b", vec![&[1.0], &[1.0]])]);
        styled(&mut sheet, |run, task| {
            let own = if task == run { 71.0 } else { 69.0 };
            let mut style = beside([own, 70.0], [8.0, 8.0], [1, 1]);
            style.own.pylint = (run == 0).then_some(8.0);
            style
        });
        let wins = data(&sheet, Which::StyleWins, 1.0);
        for layout in [Layout::Wide, Layout::Narrow] {
            let drawn = figure(Which::StyleWins, &wins, &[1, 2], layout, Theme::Page);
            let said: Vec<&str> = drawn.marks.iter().map(|m| m.label.as_str()).collect();
            let expect = [
                "a: MI better 0.50 [0.00, 1.00], 2 tasks",
                "a: MI worse 0.50 [0.00, 1.00], 2 tasks",
                "a: Pylint better 0.00 [0.00, 0.00], 2 tasks",
                "a: Pylint equal 1.00 [1.00, 1.00], 2 tasks",
                "b: MI better 0.50 [0.00, 1.00], 2 tasks",
                "b: MI worse 0.50 [0.00, 1.00], 2 tasks",
                "b: Pylint not measured",
            ];
            assert_eq!(said, expect);
            assert!(drawn.marks[0].px < drawn.marks[1].px);
            assert!(drawn.marks[1].px < drawn.marks[2].px && drawn.marks[3].py < drawn.marks[4].py);
            assert!(drawn.summary.contains("a 0.50 and 0.00, b 0.50 and –"));
        }
    }
}
