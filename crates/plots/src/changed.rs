//! Lines a run changed against lines the oracle changed, a point for each
//! solved task, both logarithmic.

use swe_ci_views::figures::{Changed, ChangedLines, Subject};

use crate::amounts::decades;
use crate::axes;
use crate::brush::{Brush, summary};
use crate::canvas::{Anchor, Canvas, Frame, Margins};
use crate::format;
use crate::legend::Legend;
use crate::paint::Paint;
use crate::scatter::widened;
use crate::{Figure, Mark};

/// This many points have marks, those furthest from the diagonal: more would be
/// a burden for readers who go through them one by one, and the table has all.
const MOST_MARKED: usize = 150;

struct Point<'a> {
    run: &'a Subject,
    task: &'a Changed,
    /// Logarithms to base 10.
    at: (f64, f64),
}

impl Point<'_> {
    /// The distance from the diagonal, in powers of ten.
    fn off(&self) -> f64 {
        (self.at.1 - self.at.0).abs()
    }
}

pub(crate) fn changed_lines(brush: &Brush<'_>, data: &ChangedLines) -> Figure {
    let points = points(data);
    let legend = Legend::of(brush, &data.runs, |by| &by.run);
    let values = points.iter().flat_map(|point| [point.at.0, point.at.1]);
    // The same range on both axes, so that the diagonal goes from corner to
    // corner.
    let powers = widened(values, 0.06, 0.15);
    let frame = Frame {
        size: brush.size(brush.either(440, 380) + legend.height()),
        margins: Margins::new(34, brush.either(40, 18), 60 + legend.height(), 56),
        x: powers.clone(),
        y: powers,
    };
    let runs = data.runs.iter();
    let runs = runs.map(|by| format!("{} {}", by.run.model, above(&by.tasks)));
    let title = "Lines changed by run and oracle on solved tasks";
    frame.draw(brush.theme, summary(title, runs), |canvas| {
        draw_axes(canvas, &frame);
        for point in &points {
            let at = canvas.pixel(point.at.0, point.at.1);
            brush.marker(canvas, point.run, at, 4.0);
        }
        let top = f64::from(frame.size.height - legend.height() - 4);
        let sides = (12.0, f64::from(frame.size.width) - 8.0);
        legend.draw(canvas, sides, top);
        marks(brush, canvas, points)
    })
}

fn points(data: &ChangedLines) -> Vec<Point<'_>> {
    let all = data.runs.iter().flat_map(|by| {
        by.tasks.iter().map(|task| Point {
            run: &by.run,
            task,
            at: (power(task.oracle), power(task.own)),
        })
    });
    all.collect()
}

/// Zero lines are drawn at one line, because zero has no logarithm.
fn power(lines: f64) -> f64 {
    lines.max(1.0).log10()
}

/// "3 of 4 tasks above the diagonal".
fn above(tasks: &[Changed]) -> String {
    let above = tasks.iter().filter(|task| task.own > task.oracle).count();
    format!("{above} of {} above the diagonal", tasks.len())
}

fn draw_axes(canvas: &Canvas<'_>, frame: &Frame) {
    let (low, high) = (*frame.x.start(), *frame.x.end());
    for power in decades(&frame.x) {
        let text = lines(10f64.powf(power));
        canvas.line(&[(low, power), (high, power)], Paint::Grid, 1.0);
        canvas.line(&[(power, low), (power, high)], Paint::Grid, 1.0);
        let (x, y) = canvas.pixel(low, power);
        canvas.text(&text, (x - 8.0, y), Anchor::Left, Paint::Muted);
        axes::tick(canvas, frame, power, &text);
    }
    axes::bottom(canvas, frame);
    canvas.line(&[(low, low), (high, high)], Paint::Goal, 1.25);
    axes::along(canvas, frame, "lines the oracle changed", 28.0);
    axes::upright(canvas, "Lines the run changed");
}

fn marks(brush: &Brush<'_>, canvas: &Canvas<'_>, mut points: Vec<Point<'_>>) -> Vec<Mark> {
    points.sort_by(|a, b| b.off().total_cmp(&a.off()));
    points.truncate(MOST_MARKED);
    let mark = |point: &Point<'_>| {
        let label = format!(
            "{}, {}: {} lines, oracle {}",
            point.run.model,
            point.task.task_id,
            lines(point.task.own),
            lines(point.task.oracle)
        );
        canvas.mark(point.at, brush.number(point.run), label)
    };
    points.iter().map(mark).collect()
}

/// A mean over samples may be fractional.
fn lines(lines: f64) -> String {
    format::thousands(lines.round() as u64)
}

#[cfg(test)]
mod tests {
    use swe_ci_views::figures::{Data, Figure as Which};
    use swe_ci_views::testing::beside;

    use super::*;
    use crate::fixture::{data, leaderboard_of, styled};
    use crate::{Layout, Series, Theme, figure};

    #[test]
    fn above_the_diagonal_a_run_changed_more() {
        let mut leaderboard = leaderboard_of(&[("m", vec![&[1.0], &[1.0], &[1.0], &[0.5]])]);
        styled(&mut leaderboard, |_, task| {
            let lines = [[1_000, 10], [20, 20], [0, 30], [9, 9]][task];
            beside([70.0; 2], [8.0; 2], lines)
        });
        let changed = data(&leaderboard, Which::ChangedLines, 1.0);
        for layout in [Layout::Wide, Layout::Narrow] {
            let drawn = figure(
                Which::ChangedLines,
                &changed,
                &Series::all([1]),
                layout,
                Theme::Page,
            );
            let labels: Vec<&str> = drawn.marks.iter().map(|m| m.label.as_str()).collect();
            // The furthest from the diagonal first; unsolved tasks have no
            // mark.
            let expect = [
                "m, task-0: 1000 lines, oracle 10",
                "m, task-2: 0 lines, oracle 30",
                "m, task-1: 20 lines, oracle 20",
            ];
            assert_eq!(labels, expect);
            assert_eq!((drawn.marks[0].x, drawn.marks[0].y), (1.0, 3.0));
            assert_eq!(drawn.marks[1].y, 0.0);
            assert!(drawn.summary.ends_with("m 1 of 3 above the diagonal."));
        }
    }

    #[test]
    fn many_points_are_drawn_and_some_say_what_they_are() {
        let solved: Vec<&[f64]> = vec![&[1.0]; MOST_MARKED + 50];
        let mut leaderboard = leaderboard_of(&[("m", solved)]);
        styled(&mut leaderboard, |_, task| {
            let lines = [100 + u32::try_from(task).unwrap(), 100];
            beside([70.0; 2], [8.0; 2], lines)
        });
        let changed = data(&leaderboard, Which::ChangedLines, 1.0);
        let drawn = figure(
            Which::ChangedLines,
            &changed,
            &Series::all([0]),
            Layout::Wide,
            Theme::Page,
        );
        assert_eq!(drawn.marks.len(), MOST_MARKED);
        let Data::ChangedLines(all) = changed else {
            panic!("changed lines are changed lines")
        };
        // Each point is a disc and its outline; one more is in the legend.
        let discs = drawn.svg.matches("<circle").count();
        assert_eq!(discs, 2 * (all.runs[0].tasks.len() + 1));
    }
}
