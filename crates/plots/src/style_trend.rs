//! Four panels, a line per run: the difference of maintainability index,
//! Pylint's score, mean complexity and passing tests from the base after each
//! iteration.

use swe_ci_views::figures::{Changes, StyleStep, StyleTrend, StyleTrends};

use crate::brush::{Brush, summary};
use crate::canvas::{Anchor, Canvas, Frame, Margins};
use crate::format;
use crate::legend::Legend;
use crate::lines::marked;
use crate::paint::Paint;
use crate::ticks::{places, ticks, whole_ticks};
use crate::{Figure, Mark};

struct Followed {
    title: &'static str,
    /// Its name in labels of marks.
    name: &'static str,
    of: fn(&Changes) -> Option<f64>,
    places: usize,
}

const FOLLOWED: [Followed; 4] = [
    Followed {
        title: "MI (down is worse)",
        name: "MI",
        of: |changes| changes.mi,
        places: 2,
    },
    Followed {
        title: "Pylint score (down is worse)",
        name: "Pylint score",
        of: |changes| changes.pylint,
        places: 2,
    },
    Followed {
        title: "Mean complexity (up is worse)",
        name: "complexity",
        of: |changes| changes.complexity,
        places: 2,
    },
    Followed {
        title: "Passing tests, normalized",
        name: "tests",
        of: |changes| changes.tests,
        places: 3,
    },
];

/// Pixels left of a panel, for its numbers, and around its scale.
const NUMBERS: f64 = 46.0;
const ABOVE: f64 = 26.0;
const BELOW: f64 = 28.0;

struct Panel {
    followed: &'static Followed,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// The iterations of the longest run.
    longest: f64,
    low: f64,
    high: f64,
}

pub(crate) fn style_trends(brush: &Brush<'_>, data: &StyleTrends) -> Figure {
    let legend = Legend::of(brush, &data.runs, |trend| &trend.run);
    let columns = brush.either(2, 1);
    let height = brush.either(210, 180);
    let panels_height = height * 4 / columns;
    let frame = Frame {
        size: brush.size(panels_height + 34 + legend.height()),
        margins: Margins::new(0, 12, 34 + legend.height(), 0),
        x: 0.0..=1.0,
        y: 0.0..=1.0,
    };
    let title = "Change of code style since the base, by iteration";
    let summary = summary(title, data.runs.iter().map(end));
    frame.draw(brush.theme, summary, |canvas| {
        let panels = panels(&frame, data, columns);
        let width = f64::from(frame.size.width);
        let below = f64::from(panels_height);
        let at = (width / 2.0, below);
        canvas.text("iteration", at, Anchor::Below, Paint::Muted);
        legend.draw(brush, canvas, (12.0, width - 8.0), below + 26.0);
        let marks = panels.iter().flat_map(|panel| {
            panel.axes(canvas);
            panel.lines(brush, canvas, data)
        });
        marks.collect()
    })
}

fn panels(frame: &Frame, data: &StyleTrends, columns: u32) -> Vec<Panel> {
    let rows = FOLLOWED.len() as f64 / f64::from(columns);
    let width = f64::from(frame.size.width - frame.margins.right) / f64::from(columns);
    let height = f64::from(frame.inner_height()) / rows;
    let longest = steps(data).map(|step| step.iteration).max().unwrap_or(1);
    let panel = |(number, followed): (u32, &'static Followed)| {
        let left = f64::from(number % columns) * width;
        let top = f64::from(number / columns) * height;
        let (low, high) = range(data, followed);
        Panel {
            followed,
            left: left + NUMBERS,
            right: left + width - 8.0,
            top: top + ABOVE,
            bottom: top + height - BELOW,
            longest: f64::from(longest),
            low,
            high,
        }
    };
    (0u32..).zip(&FOLLOWED).map(panel).collect()
}

fn steps(data: &StyleTrends) -> impl Iterator<Item = &StyleStep> {
    data.runs.iter().flat_map(|trend| &trend.steps)
}

/// The range of all values and the base's 0, with a margin.
fn range(data: &StyleTrends, followed: &Followed) -> (f64, f64) {
    let values = steps(data).filter_map(|step| (followed.of)(&step.changes));
    let (low, high) = values.fold((0.0f64, 0.0f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let room = ((high - low) * 0.08).max(0.01);
    (low - room, high + room)
}

impl Panel {
    fn at(&self, (iteration, value): (f64, f64)) -> (f64, f64) {
        let x = self.left + (self.right - self.left) * (iteration / self.longest);
        let up = (value - self.low) / (self.high - self.low);
        (x, self.bottom - (self.bottom - self.top) * up)
    }

    fn axes(&self, canvas: &Canvas<'_>) {
        let values = ticks(self.low..=self.high, 4);
        let decimals = places(&values);
        for value in values {
            let is_zero = value.abs() < 1e-9;
            let paint = if is_zero { Paint::Goal } else { Paint::Grid };
            let (_, y) = self.at((0.0, value));
            canvas.pixel_line(&[(self.left, y), (self.right, y)], paint, 1.0);
            let text = format::decimals(value, decimals);
            canvas.text(&text, (self.left - 7.0, y), Anchor::Left, Paint::Muted);
        }
        for iteration in whole_ticks(0.0..=self.longest, 5) {
            let (x, _) = self.at((iteration, 0.0));
            let text = match iteration {
                0.0 => "base".to_owned(),
                _ => format::decimals(iteration, 0),
            };
            canvas.text(&text, (x, self.bottom + 6.0), Anchor::Below, Paint::Muted);
        }
        let at = (self.left, self.top - 13.0);
        canvas.bold_text(self.followed.title, at, Anchor::Right, Paint::Ink);
    }

    fn lines(&self, brush: &Brush<'_>, canvas: &Canvas<'_>, data: &StyleTrends) -> Vec<Mark> {
        // The best are drawn on top.
        for trend in brush.layers(&data.runs, |trend| &trend.run) {
            let base = std::iter::once((0.0, 0.0));
            let points = base.chain(self.points(trend).map(|(_, at)| at));
            let path: Vec<(f64, f64)> = points.map(|at| self.at(at)).collect();
            canvas.pixel_line(&path, brush.look(&trend.run).line(), 2.0);
        }
        let marked = marked(self.longest as usize, brush.narrow());
        let marks = data.runs.iter().flat_map(|trend| {
            let last = trend.steps.last().map(|step| step.iteration);
            let here = self.points(trend).filter(|(step, _)| {
                let at = step.iteration as usize - 1;
                marked.contains(&at) || Some(step.iteration) == last
            });
            let marks = here.map(|(step, at)| self.mark(brush, canvas, trend, step, at));
            marks.collect::<Vec<_>>()
        });
        marks.collect()
    }

    /// The points of a run, with their positions in the units of the data.
    fn points<'a>(
        &self,
        trend: &'a StyleTrend,
    ) -> impl Iterator<Item = (&'a StyleStep, (f64, f64))> + use<'a> {
        let of = self.followed.of;
        let steps = trend.steps.iter();
        steps.filter_map(move |step| {
            let value = of(&step.changes)?;
            Some((step, (f64::from(step.iteration), value)))
        })
    }

    fn mark(
        &self,
        brush: &Brush<'_>,
        canvas: &Canvas<'_>,
        trend: &StyleTrend,
        step: &StyleStep,
        at: (f64, f64),
    ) -> Mark {
        let pixel = self.at(at);
        brush.marker(canvas, &trend.run, pixel, 3.0);
        let label = format!(
            "{}, iteration {}: {} {}, {}",
            trend.run.model,
            step.iteration,
            self.followed.name,
            signed(at.1, self.followed.places),
            format::count(step.tasks, "task")
        );
        Mark::new(at, pixel, brush.number(&trend.run), label)
    }
}

/// "+0.12", "−1.20", "0.00".
fn signed(value: f64, places: usize) -> String {
    let text = format::decimals(value, places);
    let digits = |c: char| c.is_ascii_digit() && c != '0';
    if value > 0.0 && text.contains(digits) {
        return format!("+{text}");
    }
    text
}

/// "m −1.20 MI after 5 iterations".
fn end(trend: &StyleTrend) -> String {
    let mi = trend.steps.iter().rev();
    let mi = mi.filter_map(|step| Some((step.iteration, step.changes.mi?)));
    match mi.into_iter().next() {
        None => format!("{} –", trend.run.model),
        Some((iteration, mi)) => format!(
            "{} {} MI after {}",
            trend.run.model,
            signed(mi, 2),
            format::count(iteration, "iteration")
        ),
    }
}

#[cfg(test)]
mod tests {
    use swe_ci_views::figures::Figure as Which;
    use swe_ci_views::style::{Beside, StylePoint};
    use swe_ci_views::testing::beside;

    use super::*;
    use crate::fixture::{data, leaderboard_of, styled};
    use crate::{Layout, Series, Theme, figure};

    #[test]
    fn every_number_has_its_panel() {
        let mut leaderboard = leaderboard_of(&[("m", vec![&[0.5, 1.0]])]);
        styled(&mut leaderboard, |_, _| {
            let point = |mi, complexity| StylePoint {
                mi: Some(mi),
                pylint: None,
                complexity: Some(complexity),
            };
            Beside {
                course: vec![(1, point(70.0, 3.5)), (2, point(68.8, 2.0))],
                ..beside([70.0; 2], [8.0; 2], [1, 1])
            }
        });
        let trend = data(&leaderboard, Which::StyleTrend, 1.0);
        for layout in [Layout::Wide, Layout::Narrow] {
            let drawn = figure(
                Which::StyleTrend,
                &trend,
                &Series::all([1]),
                layout,
                Theme::Page,
            );
            let labels: Vec<&str> = drawn.marks.iter().map(|m| m.label.as_str()).collect();
            let expect = [
                "m, iteration 1: MI 0.00, 1 task",
                "m, iteration 2: MI −1.20, 1 task",
                "m, iteration 1: complexity +0.50, 1 task",
                "m, iteration 2: complexity −1.00, 1 task",
                "m, iteration 1: tests +0.500, 1 task",
                "m, iteration 2: tests +1.000, 1 task",
            ];
            assert_eq!(labels, expect);
            // Lower values are lower, and later ones further right.
            assert!(drawn.marks[0].py < drawn.marks[1].py);
            assert!(drawn.marks[2].py < drawn.marks[3].py);
            assert!(drawn.marks[0].px < drawn.marks[1].px);
            assert!(drawn.summary.ends_with("m −1.20 MI after 2 iterations."));
        }
    }

    #[test]
    fn signs() {
        let check = |value, expect: &str| assert_eq!(signed(value, 2), expect);
        check(0.004, "0.00");
        check(-0.004, "0.00");
        check(0.1, "+0.10");
        check(-12.345, "−12.35");
    }
}
