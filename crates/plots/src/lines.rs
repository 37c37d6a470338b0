//! A line per run over steps: the best change by turns, and EvoScore by the
//! number of iterations.

use std::collections::HashSet;

use swe_ci_views::figures::{Line, Lines, Middle, Others};

use crate::axes;
use crate::brush::{Brush, Layout, summary};
use crate::canvas::{Canvas, Frame, Margins};
use crate::format;
use crate::labels::{self, End};
use crate::paint::{PAIRS, Paint, Theme};
use crate::ticks::ticks;
use crate::{Figure, Mark, Series};

/// With more steps, only some have markers; the table has all.
const MOST_MARKED: usize = 8;

/// The runs of one model, each a line that starts at the base's 0: the state of
/// its code after each iteration. `looks` has the number of each run's look on its
/// leaderboard; two that look alike there do not here.
pub fn trend(data: &Lines, looks: &[usize], layout: Layout) -> Figure {
    let mut taken = HashSet::new();
    let apart = |look: &usize| {
        let mut look = *look;
        while !taken.insert(look) {
            look += PAIRS;
        }
        look
    };
    let series = Series::all(looks.iter().map(apart));
    let brush = Brush::new(layout, Theme::Page, &series);
    lines(&brush, data, "Where its code stood")
}

pub(crate) fn lines(brush: &Brush<'_>, data: &Lines, title: &str) -> Figure {
    let (low, high) = range(data);
    let steps = data.steps.len() as f64;
    let frame = Frame {
        size: brush.size_with_names(brush.either(420, 360), 84, data.lines.len()),
        margins: Margins::new(34, brush.either(204, 112), 50, 44),
        x: 1.0..=steps.max(1.5),
        y: low..=high,
    };
    let runs = data.lines.iter();
    let runs = runs.map(|line| format!("{} {}", line.run.model, format::score(end(line))));
    frame.draw(brush.theme, summary(title, runs), |canvas| {
        let of_others = data.others.as_ref();
        let of_others = of_others.map(|others| (others, others.name()));
        if let Some((others, _)) = &of_others {
            let low = middles(others, |middle| middle.most.low);
            let high = middles(others, |middle| middle.most.high);
            canvas.band(&low, &high, Paint::Grid);
        }
        let marked = marked(data.steps.len(), brush.narrow());
        axes::values(canvas, &frame, &ticks(frame.y.clone(), 7));
        axes::bottom(canvas, &frame);
        for at in &marked {
            axes::tick(canvas, &frame, *at as f64 + 1.0, &data.steps[*at]);
        }
        axes::along(canvas, &frame, &data.along, 28.0);
        axes::upright(canvas, &data.value);
        let median = of_others.as_ref().and_then(|(others, name)| {
            let median = middles(others, |middle| middle.median);
            canvas.line(&median, Paint::Muted, 1.5);
            let end = median.last()?;
            Some(End {
                at: canvas.pixel(end.0, end.1),
                name,
                paint: Paint::Muted,
            })
        });
        for line in brush.layers(&data.lines, |line| &line.run) {
            canvas.line(&points(line), brush.look(&line.run).line(), 2.0);
        }
        let named = brush.named(&data.lines, |line| &line.run);
        let ends = named.into_iter().map(|line| End {
            at: canvas.pixel(line.values.len() as f64, end(line)),
            name: &line.run.model,
            paint: brush.solid(&line.run),
        });
        let ends = median.into_iter().chain(ends);
        labels::ends(canvas, &frame, ends.collect(), brush.either(204.0, 112.0));
        let marks = data.lines.iter().flat_map(|line| {
            let here = marked.iter().copied().filter(|at| *at < line.values.len());
            here.map(|at| mark(brush, canvas, data, line, at))
        });
        marks.collect()
    })
}

fn points(line: &Line) -> Vec<(f64, f64)> {
    let steps = (1u32..).map(f64::from);
    steps.zip(line.values.iter().copied()).collect()
}

fn middles(others: &Others, value: fn(&Middle) -> f64) -> Vec<(f64, f64)> {
    let steps = (1u32..).map(f64::from);
    steps.zip(others.middles.iter().map(value)).collect()
}

fn end(line: &Line) -> f64 {
    line.values.last().copied().unwrap_or_default()
}

fn range(data: &Lines) -> (f64, f64) {
    let of_others = || data.others.iter().flat_map(|others| &others.middles);
    let of_others = || of_others().flat_map(|middle| [middle.most.low, middle.most.high]);
    let of_lines = || data.lines.iter().flat_map(|line| &line.values).copied();
    let all = || of_lines().chain(of_others());
    let low = all().fold(f64::INFINITY, f64::min);
    let high = all().fold(f64::NEG_INFINITY, f64::max);
    if !low.is_finite() {
        return (0.0, 1.0);
    }
    let room = ((high - low) * 0.06).max(0.03);
    // A scale that nearly reaches 0 starts there.
    let near_zero = (0.0..0.2).contains(&low);
    let low = if near_zero { 0.0 } else { low - room };
    (low.max(-1.04), (high + room).min(1.04))
}

/// Steps with a marker, from 0: the first, the last and round ones between.
pub(crate) fn marked(steps: usize, narrow: bool) -> Vec<usize> {
    if steps <= MOST_MARKED {
        return (0..steps).collect();
    }
    let every = (steps / if narrow { 3 } else { 5 }).max(1);
    let round = (1..).map(|n| n * every).take_while(|n| *n <= steps);
    let mut marked: Vec<usize> = std::iter::once(0).chain(round.map(|n| n - 1)).collect();
    if marked.last() != Some(&(steps - 1)) {
        marked.push(steps - 1);
    }
    marked
}

fn mark(brush: &Brush<'_>, canvas: &Canvas<'_>, data: &Lines, line: &Line, at: usize) -> Mark {
    let point = (at as f64 + 1.0, line.values[at]);
    let (x, y) = canvas.pixel(point.0, point.1);
    brush.marker(canvas, &line.run, (x, y), 3.5);
    let label = format!(
        "{}, {} {}: {}",
        line.run.model,
        data.along,
        data.steps[at],
        format::score(point.1)
    );
    canvas.mark(point, brush.number(&line.run), label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_with_a_marker() {
        let check = |steps, narrow, expect: &[usize]| {
            assert_eq!(marked(steps, narrow), expect, "{steps}");
        };
        check(0, false, &[]);
        check(1, false, &[0]);
        check(5, false, &[0, 1, 2, 3, 4]);
        check(20, false, &[0, 3, 7, 11, 15, 19]);
        check(20, true, &[0, 5, 11, 17, 19]);
        check(1000, false, &[0, 199, 399, 599, 799, 999]);
    }
}
