//! A panel for each number of the code style, a line per run: how it differs after each
//! iteration from where the code began.

use swe_ci_views::figures::{Changes, StyleTrends, Subject};

use crate::brush::{Brush, summary};
use crate::canvas::{Anchor, Canvas, Frame, Margins};
use crate::format;
use crate::legend::Legend;
use crate::lines::marked;
use crate::paint::Paint;
use crate::ticks::{places, ticks, whole_ticks};
use crate::{Figure, Mark};

/// A number that has a panel.
#[derive(Clone, Copy)]
struct Followed {
    title: &'static str,
    /// Its name in labels of marks.
    name: &'static str,
    /// The direction that is worse, if one is.
    worse: &'static str,
    places: usize,
}

struct Trends<'a>(Vec<Trend<'a>>);

struct Trend<'a> {
    run: &'a Subject,
    /// By panel.
    panels: Vec<Vec<Step>>,
}

#[derive(Clone, Copy)]
struct Step {
    iteration: u32,
    tasks: u32,
    value: f64,
}

const UP: &str = " (up is worse)";
const DOWN: &str = " (down is worse)";

type OfChanges = fn(&Changes) -> Option<f64>;

const STYLE: [(Followed, OfChanges); 4] = [
    (followed("MI", "MI", DOWN, 2), |changes| changes.mi),
    (
        followed("Pylint score", "Pylint score", DOWN, 2),
        |changes| changes.pylint,
    ),
    (
        followed("Mean complexity", "complexity", UP, 2),
        |changes| changes.complexity,
    ),
    (
        followed("Passing tests, normalized", "tests", "", 3),
        |changes| changes.tests,
    ),
];

const fn followed(
    title: &'static str,
    name: &'static str,
    worse: &'static str,
    places: usize,
) -> Followed {
    Followed {
        title,
        name,
        worse,
        places,
    }
}

/// Pixels left of a panel, for its numbers, and around its scale.
const NUMBERS: f64 = 51.0;
const ABOVE: f64 = 26.0;
const BELOW: f64 = 28.0;

struct Panel {
    number: usize,
    followed: Followed,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// The iterations of the longest run.
    longest: f64,
    low: f64,
    high: f64,
}

/// The difference of code style and passing tests from the base.
pub(crate) fn style_trends(brush: &Brush<'_>, data: &StyleTrends) -> Figure {
    let runs = data.runs.iter().map(|trend| {
        let steps = |of: OfChanges| {
            let known = trend.steps.iter().filter_map(move |step| {
                Some(Step {
                    iteration: step.iteration,
                    tasks: step.tasks,
                    value: of(&step.changes)?,
                })
            });
            known.collect()
        };
        Trend {
            run: &trend.run,
            panels: STYLE.iter().map(|(_, of)| steps(*of)).collect(),
        }
    });
    Trends(runs.collect()).draw(brush)
}

impl Trends<'_> {
    fn draw(&self, brush: &Brush<'_>) -> Figure {
        let legend = Legend::of(brush, &self.0, |trend| trend.run);
        let columns = brush.either(2, 1);
        let rows = u32::try_from(STYLE.len()).unwrap_or(1).div_ceil(columns);
        let panels_height = rows * brush.either(210, 180);
        let frame = Frame {
            size: brush.size(panels_height + 34 + legend.height()),
            margins: Margins::new(0, 12, 34 + legend.height(), 0),
            x: 0.0..=1.0,
            y: 0.0..=1.0,
        };
        let summary = summary(
            "Change of code style since the base, by iteration",
            self.0.iter().map(|trend| self.end(trend)),
        );
        frame.draw(brush.theme, summary, |canvas| {
            let panels = self.panels(&frame, columns, rows);
            let width = f64::from(frame.size.width);
            let below = f64::from(panels_height);
            let at = (width / 2.0, below);
            canvas.text("iteration", at, Anchor::Below, Paint::Muted);
            legend.draw(canvas, (12.0, width - 8.0), below + 26.0);
            let marks = panels.iter().flat_map(|panel| {
                panel.axes(canvas);
                panel.lines(brush, canvas, &self.0)
            });
            marks.collect()
        })
    }

    fn panels(&self, frame: &Frame, columns: u32, rows: u32) -> Vec<Panel> {
        let width = f64::from(frame.size.width - frame.margins.right) / f64::from(columns);
        let height = f64::from(frame.inner_height()) / f64::from(rows);
        let steps = self
            .0
            .iter()
            .flat_map(|trend| trend.panels.iter().flatten());
        let longest = steps.map(|step| step.iteration).max().unwrap_or(1);
        let panel = |(place, (number, (followed, _))): (u32, (usize, &(Followed, OfChanges)))| {
            let left = f64::from(place % columns) * width;
            let top = f64::from(place / columns) * height;
            let (low, high) = self.range(number);
            Panel {
                number,
                followed: *followed,
                left: left + NUMBERS,
                right: left + width - 8.0,
                top: top + ABOVE,
                bottom: top + height - BELOW,
                longest: f64::from(longest),
                low,
                high,
            }
        };
        (0u32..).zip(STYLE.iter().enumerate()).map(panel).collect()
    }

    /// The range of all values and 0, no difference, with a margin.
    fn range(&self, panel: usize) -> (f64, f64) {
        let steps = self.0.iter().flat_map(|trend| &trend.panels[panel]);
        let (low, high) = steps.fold((0.0f64, 0.0f64), |(low, high), step| {
            (low.min(step.value), high.max(step.value))
        });
        // Of equal values too, a difference of some units of the last digit is seen.
        let unit = 10f64.powi(-(STYLE[panel].0.places as i32));
        let room = ((high - low) * 0.08).max((5.0 * unit).min(0.05));
        (low - room, high + room)
    }

    /// "m −1.20 MI after 5 iterations".
    fn end(&self, trend: &Trend<'_>) -> String {
        let first = STYLE.iter().map(|(followed, _)| followed);
        let first = first.zip(&trend.panels).next();
        let last = first.and_then(|(followed, steps)| Some((followed, steps.last()?)));
        match last {
            None => format!("{} –", trend.run.model),
            Some((followed, step)) => format!(
                "{} {} {} after {}",
                trend.run.model,
                signed(step.value, followed.places),
                followed.name,
                format::count(step.iteration, "iteration")
            ),
        }
    }
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
        let title = format!("{}{}", self.followed.title, self.followed.worse);
        let at = (self.left, self.top - 13.0);
        canvas.bold_text(&title, at, Anchor::Right, Paint::Ink);
    }

    fn lines(&self, brush: &Brush<'_>, canvas: &Canvas<'_>, runs: &[Trend<'_>]) -> Vec<Mark> {
        // The best are drawn on top.
        for trend in brush.layers(runs, |trend| trend.run) {
            let steps = trend.panels[self.number].iter();
            let points = steps.map(|step| (f64::from(step.iteration), step.value));
            let path = std::iter::once((0.0, 0.0)).chain(points);
            let path = path.map(|at| self.at(at));
            let path: Vec<(f64, f64)> = path.collect();
            if path.len() > 1 {
                canvas.pixel_line(&path, brush.look(trend.run).line(), 2.0);
            }
        }
        let marked = marked(self.longest as usize, brush.narrow());
        let marks = runs.iter().flat_map(|trend| {
            let last = trend
                .panels
                .iter()
                .flatten()
                .map(|step| step.iteration)
                .max();
            let here = trend.panels[self.number].iter().filter(|step| {
                let at = step.iteration as usize - 1;
                marked.contains(&at) || Some(step.iteration) == last
            });
            let marks = here.map(|step| self.mark(brush, canvas, trend, *step));
            marks.collect::<Vec<_>>()
        });
        marks.collect()
    }

    fn mark(&self, brush: &Brush<'_>, canvas: &Canvas<'_>, trend: &Trend<'_>, step: Step) -> Mark {
        let iteration = f64::from(step.iteration);
        let at = (iteration, step.value);
        let pixel = self.at(at);
        let places = self.followed.places;
        brush.marker(canvas, trend.run, pixel, 3.0);
        let label = format!(
            "{}, iteration {}: {} {}, {}",
            trend.run.model,
            step.iteration,
            self.followed.name,
            signed(step.value, places),
            format::count(step.tasks, "task")
        );
        Mark::new(at, pixel, brush.number(trend.run), label)
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
                ..StylePoint::default()
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
