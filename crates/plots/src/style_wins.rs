//! Two panels side by side, a bar for each run: the shares of its solved tasks
//! whose code is better, equal and worse than the oracle's. Better is always
//! left and solid, equal empty, worse right and hatched.

use swe_ci_core::uncertainty::Interval;
use swe_ci_views::figures::{StyleBars, StyleWins};
use swe_ci_views::leaderboard::WinRates;
use swe_ci_views::style::StyleMetric;

use crate::brush::{Brush, summary};
use crate::canvas::{Anchor, Area, Canvas, Frame};
use crate::format;
use crate::paint::Paint;
use crate::panels::{Panels, Span};
use crate::{Figure, Mark};

const PANELS: [(StyleMetric, &str); 2] = [(StyleMetric::Mi, "MI"), (StyleMetric::Pylint, "Pylint")];
const HALF: f64 = 6.0;

pub(crate) fn style_wins(brush: &Brush<'_>, data: &StyleWins) -> Figure {
    let layout = Panels {
        row: brush.either(29, 42),
        bottom: 54,
        numbers: 40.0,
    };
    let frame = layout.frame(brush, data.runs.len());
    let title = "Share of solved tasks with better MI and Pylint score than the oracle";
    let summary = summary(title, data.runs.iter().map(both));
    frame.draw(brush.theme, summary, |canvas| {
        let spans = layout.spans(&frame);
        let panels = [0, 1].map(|index| Panel {
            metric: PANELS[index].0,
            name: PANELS[index].1,
            span: spans[index],
        });
        for panel in &panels {
            let lines = [(Paint::Axis, "0"), (Paint::Grid, "0.5"), (Paint::Grid, "1")];
            panel.span.scale(canvas, &frame, panel.name, lines);
        }
        key(canvas, &frame);
        if brush.print() {
            let at = (
                f64::from(frame.size.width) - 40.0,
                f64::from(frame.size.height) - 14.0,
            );
            canvas.text("share of solved tasks", at, Anchor::Left, Paint::Muted);
        }
        layout.rows(&frame, &data.runs, |run, y| {
            draw_row(brush, canvas, &panels, run, y)
        })
    })
}

struct Panel {
    metric: StyleMetric,
    name: &'static str,
    span: Span,
}

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
            let (left, right) = (self.span.at(from), self.span.at(from + part.share));
            let area = Area {
                left,
                top: y - HALF,
                right,
                bottom: y + HALF,
            };
            part.fill.draw(canvas, area);
            from += part.share;
            // The wins have a mark even if there are none, because they are the
            // subject of the figure.
            if part.share > 0.0 || part.word == "better" {
                let at = (f64::midpoint(left, right), y);
                marks.push(self.mark(brush, run, &part, rates.tasks, at));
            }
        }
        if let Some(interval) = run.interval(self.metric).map(|i| i.win) {
            let y = y + HALF + 3.5;
            let ends = (self.span.at(interval.low), self.span.at(interval.high));
            canvas.interval(ends, y, 2.5, Paint::Ink, (1.5, 1.5));
        }
        let win = format::share(rates.win);
        canvas.bold_text(&win, (self.span.right + 8.0, y), Anchor::Right, Paint::Ink);
        marks
    }

    fn mark(
        &self,
        brush: &Brush<'_>,
        run: &StyleBars,
        part: &Part,
        tasks: u32,
        at: (f64, f64),
    ) -> Mark {
        let interval = part.interval.map_or_else(String::new, |interval| {
            format!(" {}", format::interval(interval, 2))
        });
        let label = format!(
            "{}: {} {} {}{interval}, {}",
            run.run.model,
            self.name,
            part.word,
            format::share(part.share),
            format::count(tasks, "task")
        );
        Mark::new((part.share, at.1), at, brush.number(&run.run), label)
    }

    /// For a run without data here.
    fn unmeasured(&self, brush: &Brush<'_>, canvas: &Canvas<'_>, run: &StyleBars, y: f64) -> Mark {
        canvas.text("–", (self.span.left + 6.0, y), Anchor::Right, Paint::Muted);
        let label = format!("{}: {} not measured", run.run.model, self.name);
        Mark::new((0.0, y), (self.span.left, y), brush.number(&run.run), label)
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
    panels[0].span.name(brush, canvas, &run.run, (y, 10.0));
    let y = y + brush.either(-1.0, 7.0);
    let draw = |panel: &Panel| match run.wins(panel.metric) {
        Some(rates) => panel.bar(brush, canvas, run, rates, y),
        None => vec![panel.unmeasured(brush, canvas, run, y)],
    };
    panels.iter().flat_map(draw).collect()
}

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
    use swe_ci_views::figures::Figure as Which;
    use swe_ci_views::testing::beside;

    use crate::fixture::{data, leaderboard_of, styled};
    use crate::{Layout, Series, Theme, figure};

    /// Two solved tasks: by MI one is won and one lost, by Pylint's score
    /// both are equal for `a`; `b` has no Pylint score.
    #[test]
    fn parts_go_from_better_to_worse() {
        let mut leaderboard =
            leaderboard_of(&[("a", vec![&[1.0], &[1.0]]), ("b", vec![&[1.0], &[1.0]])]);
        styled(&mut leaderboard, |run, task| {
            let own = if task == run { 71.0 } else { 69.0 };
            let mut style = beside([own, 70.0], [8.0, 8.0], [1, 1]);
            style.own.pylint = (run == 0).then_some(8.0);
            style
        });
        let wins = data(&leaderboard, Which::StyleWins, 1.0);
        for layout in [Layout::Wide, Layout::Narrow] {
            let drawn = figure(
                Which::StyleWins,
                &wins,
                &Series::all([1, 2]),
                layout,
                Theme::Page,
            );
            let labels: Vec<&str> = drawn.marks.iter().map(|m| m.label.as_str()).collect();
            let expect = [
                "a: MI better 0.50 [0.00, 1.00], 2 tasks",
                "a: MI worse 0.50 [0.00, 1.00], 2 tasks",
                "a: Pylint better 0.00 [0.00, 0.00], 2 tasks",
                "a: Pylint equal 1.00 [1.00, 1.00], 2 tasks",
                "b: MI better 0.50 [0.00, 1.00], 2 tasks",
                "b: MI worse 0.50 [0.00, 1.00], 2 tasks",
                "b: Pylint not measured",
            ];
            assert_eq!(labels, expect);
            assert!(drawn.marks[0].px < drawn.marks[1].px);
            assert!(drawn.marks[1].px < drawn.marks[2].px && drawn.marks[3].py < drawn.marks[4].py);
            assert!(drawn.summary.contains("a 0.50 and 0.00, b 0.50 and –"));
        }
    }
}
