//! Rank against γ: lines that cross where the order changes, and beside them
//! the certainty of the ranks at the selected γ.

use swe_ci_views::figures::{RankLine, Ranks};

use crate::axes;
use crate::brush::{Brush, summary};
use crate::canvas::{Anchor, Canvas, Frame, Margins};
use crate::format;
use crate::labels::{self, End};
use crate::paint::Paint;
use crate::{Figure, Mark};

/// Pixels per rank.
const ROW: u32 = 26;
/// Pixels right of the names for the intervals.
const STRIP: u32 = 132;

pub(crate) fn ranks(brush: &Brush<'_>, data: &Ranks) -> Figure {
    let runs = u32::try_from(data.lines.len()).unwrap_or(1);
    let margins = Margins::new(40, brush.either(196 + STRIP, 112), 50, 34);
    let frame = Frame {
        size: brush.size(margins.top + margins.bottom + runs.max(3) * ROW),
        margins,
        x: data.range().0..=data.range().1,
        // The first rank is at the top.
        y: -(f64::from(runs) + 0.5)..=-0.5,
    };
    let (from, to) = data.range();
    let title = format!("Ranks for γ from {from} to {to}, at γ {:.2}", data.gamma);
    let summary = summary(&title, data.lines.iter().map(words));
    frame.draw(brush.theme, summary, |canvas| {
        draw_axes(brush, canvas, &frame, data);
        for line in brush.layers(&data.lines, |line| &line.run) {
            let ranks = line.ranks.iter().map(|rank| down(data, *rank));
            let points: Vec<(f64, f64)> = data.gammas.iter().copied().zip(ranks).collect();
            canvas.line(&points, brush.look(&line.run).line(), 2.25);
        }
        let named = brush.named(&data.lines, |line| &line.run);
        let ends = named.into_iter().map(|line| {
            let last = line.ranks.last().copied().unwrap_or_default();
            End {
                at: canvas.pixel(to, down(data, last)),
                name: &line.run.model,
                paint: brush.solid(&line.run),
            }
        });
        labels::ends(canvas, &frame, ends.collect(), brush.either(196.0, 112.0));
        if !brush.narrow() {
            strip(brush, canvas, &frame, data);
        }
        let mark = |line| mark(brush, canvas, data, line);
        data.lines.iter().map(mark).collect()
    })
}

fn draw_axes(brush: &Brush<'_>, canvas: &Canvas<'_>, frame: &Frame, data: &Ranks) {
    for rank in ranks_with_a_line(data) {
        let y = -(rank as f64);
        let (from, to) = data.range();
        canvas.line(&[(from, y), (to, y)], Paint::Grid, 1.0);
        let (x, y) = canvas.pixel(from, y);
        canvas.text(&rank.to_string(), (x - 10.0, y), Anchor::Left, Paint::Muted);
    }
    axes::gammas(canvas, frame);
    axes::bottom(canvas, frame);
    let title = brush.either("γ: above 1, later iterations weigh more", "γ");
    axes::along(canvas, frame, title, 28.0);
    axes::upright(canvas, "Rank");
    axes::cursor(canvas, frame, data.gamma);
}

fn ranks_with_a_line(data: &Ranks) -> impl Iterator<Item = usize> {
    let every = data.lines.len().div_ceil(25).max(1);
    (1..=data.lines.len()).step_by(every)
}

/// How far down a rank is. Ranks are those among all runs, and a figure of the
/// best ends with them.
fn down(data: &Ranks, rank: u32) -> f64 {
    -f64::from(rank).min(data.lines.len() as f64 + 0.5)
}

/// A bar per run over the ranks it holds in 95 % of the resamples.
fn strip(brush: &Brush<'_>, canvas: &Canvas<'_>, frame: &Frame, data: &Ranks) {
    let right = f64::from(frame.size.width) - 8.0;
    let left = right - f64::from(STRIP) + 34.0;
    let top = f64::from(frame.margins.top);
    let bottom = top + f64::from(frame.inner_height());
    for rank in ranks_with_a_line(data) {
        let (_, y) = canvas.pixel(data.gamma, -(rank as f64));
        canvas.pixel_line(&[(left, y), (right, y)], Paint::Grid, 1.0);
        let at = (left - 6.0, y);
        canvas.text(&rank.to_string(), at, Anchor::Left, Paint::Muted);
    }
    canvas.pixel_line(&[(left, bottom), (right, bottom)], Paint::Axis, 1.0);
    let step = (right - left) / data.lines.len().max(1) as f64;
    for (number, line) in data.lines.iter().enumerate() {
        let x = left + (number as f64 + 0.5) * step;
        let at = |rank: u32| canvas.pixel(data.gamma, down(data, rank)).1;
        if let Some(interval) = line.interval {
            // A certain rank has a bar too.
            let (best, worst) = (at(interval.best) - 4.0, at(interval.worst) + 4.0);
            canvas.pixel_line(&[(x, best), (x, worst)], brush.solid(&line.run), 2.5);
        }
        brush.marker(canvas, &line.run, (x, at(line.rank)), 3.0);
    }
    let text = format!("95\u{a0}% at γ {:.2}", data.gamma);
    let middle = f64::midpoint(left, right);
    canvas.text(&text, (middle, top - 4.0), Anchor::Above, Paint::Muted);
    let below = (middle, bottom + 8.0);
    canvas.text("runs, best first", below, Anchor::Below, Paint::Muted);
}

fn mark(brush: &Brush<'_>, canvas: &Canvas<'_>, data: &Ranks, line: &RankLine) -> Mark {
    let (from, to) = data.range();
    let gamma = data.gamma.clamp(from, to);
    let at = (gamma, -f64::from(line.rank));
    brush.marker(canvas, &line.run, canvas.pixel(at.0, at.1), 5.0);
    canvas.mark(at, brush.number(&line.run), words(line))
}

/// "a: rank 2, 95 % 1–4".
fn words(line: &RankLine) -> String {
    let interval = line.interval.map_or_else(String::new, |interval| {
        format!(", 95\u{a0}% {}", format::ranks(interval))
    });
    format!("{}: rank {}{interval}", line.run.model, line.rank)
}

#[cfg(test)]
mod tests {
    use swe_ci_views::figures::{Data, Figure as Which};

    use crate::fixture::{data, leaderboard_of};
    use crate::{Layout, Series, Theme, figure};

    #[test]
    fn the_best_is_on_top_at_the_gamma_looked_at() {
        let early: [&[f64]; 2] = [&[1.0, 0.0], &[1.0, 0.0]];
        let late: [&[f64]; 2] = [&[0.0, 1.0], &[0.0, 1.0]];
        let leaderboard = leaderboard_of(&[("early", early.to_vec()), ("late", late.to_vec())]);
        let check = |gamma, best: &str| {
            let ranks = data(&leaderboard, Which::RankByGamma, gamma);
            let layout = Layout::Wide;
            let marks = figure(
                Which::RankByGamma,
                &ranks,
                &Series::all([1, 2]),
                layout,
                Theme::Page,
            )
            .marks;
            assert_eq!(marks[0].label, format!("{best}: rank 1, 95\u{a0}% 1"));
            assert!(marks[0].py < marks[1].py);
        };
        check(0.5, "early");
        check(2.0, "late");
        check(10.0, "late");
    }

    /// Of the best of many, one may hold a rank below the last one that is drawn.
    #[test]
    fn no_line_leaves_the_picture() {
        let falls: [&[f64]; 2] = [&[1.0, 0.0], &[0.9, 0.0]];
        let rises: [&[f64]; 2] = [&[0.0, 0.6], &[0.0, 0.5]];
        let leaderboard = leaderboard_of(&[
            ("falls", falls.to_vec()),
            ("rises", rises.to_vec()),
            ("rises too", rises.to_vec()),
        ]);
        let Data::Ranks(mut ranks) = data(&leaderboard, Which::RankByGamma, 0.5) else {
            panic!("ranks are ranks")
        };
        ranks.lines.truncate(1);
        assert_eq!(ranks.lines[0].ranks.last(), Some(&3));
        let series = Series::all([1, 2, 3]);
        let data = Data::Ranks(ranks);
        let drawn = figure(
            Which::RankByGamma,
            &data,
            &series,
            Layout::Wide,
            Theme::Page,
        );
        let lowest = f64::from(drawn.size.height - 50) * 4.0;
        let line = drawn
            .svg
            .split("<polyline")
            .find(|part| part.contains("data-line"));
        let points = line.unwrap().split("points=\"").nth(1).unwrap();
        let points = points.split('"').next().unwrap().split_whitespace();
        for point in points {
            let y: f64 = point.split(',').nth(1).unwrap().parse().unwrap();
            assert!(y <= lowest, "{point} of {lowest}");
        }
    }
}
