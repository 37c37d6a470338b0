//! Tests passing, iteration by iteration, of one evolution.

use std::ops::RangeInclusive;

use swe_ci_core::metrics::Verdict;
use swe_ci_views::view::{EvolutionView, IterationView};

use crate::axes;
use crate::canvas::{Anchor, Canvas, Frame, Margins};
use crate::marker::Filling;
use crate::paint::{Look, Paint, Theme};
use crate::ticks::whole_ticks;
use crate::{Figure, Mark, Size};

/// With more iterations, the line has no dots.
const MOST_DOTS: usize = 60;
const LINE: Paint = Paint::Run(0, Look::Line);

/// n(c) after each iteration, the target as a dashed line, regressions as
/// hollow marks, collapsed code as crosses on the axis.
pub fn passing(evolution: &EvolutionView, size: Size, theme: Theme) -> Figure {
    let scored = scored(evolution);
    let frame = Frame {
        size,
        margins: Margins::new(22, 40, 40, 46),
        x: 0.0..=last_iteration(evolution),
        y: range(evolution, &scored),
    };
    frame.draw(theme, summary(evolution), |canvas| {
        draw_axes(canvas, &frame, 4);
        goal(canvas, &frame, evolution.suite.target);
        canvas.line(&scored, LINE, 2.25);
        let target = f64::from(evolution.suite.target);
        if let Some((iteration, tests)) = scored.last().filter(|last| last.1 < target) {
            let (x, y) = canvas.pixel(*iteration, *tests);
            canvas.text(&tests.to_string(), (x + 8.0, y), Anchor::Right, Paint::Ink);
        }
        marks(canvas, &frame, evolution)
    })
}

/// The base and every scored iteration. Collapsed code is never built upon, so
/// the line skips it.
fn scored(evolution: &EvolutionView) -> Vec<(f64, f64)> {
    let base = (0.0, f64::from(evolution.suite.base_in_target));
    let later = evolution.iterations.iter().filter_map(|i| match i.verdict {
        Verdict::Scored { in_target, .. } => Some((f64::from(i.iteration), f64::from(in_target))),
        Verdict::Collapsed { .. } => None,
    });
    std::iter::once(base).chain(later).collect()
}

/// While the evolution runs there is room for all possible iterations;
/// afterwards the picture ends with the last one.
fn last_iteration(evolution: &EvolutionView) -> f64 {
    let done = evolution.iterations.iter().map(|i| i.iteration).max();
    let last = match evolution.progress.is_over() {
        true => 1,
        false => evolution.max_iterations,
    };
    f64::from(last.max(done.unwrap_or(0)).max(1))
}

fn range(evolution: &EvolutionView, scored: &[(f64, f64)]) -> RangeInclusive<f64> {
    let target = f64::from(evolution.suite.target);
    let low = scored.iter().map(|p| p.1).fold(target, f64::min);
    let pad = ((target - low) * 0.14).max(1.0);
    (low - pad).max(0.0).min(low)..=target + pad
}

/// Tests on the vertical axis with about this many lines, iterations from the
/// base on the horizontal one.
pub(crate) fn draw_axes(canvas: &Canvas<'_>, frame: &Frame, lines: u32) {
    let last = *frame.x.end();
    for tests in whole_ticks(frame.y.clone(), lines) {
        canvas.line(&[(0.0, tests), (last, tests)], Paint::Grid, 1.0);
        let (x, y) = canvas.pixel(0.0, tests);
        let text = tests.to_string();
        canvas.text(&text, (x - 10.0, y), Anchor::Left, Paint::Muted);
    }
    for iteration in whole_ticks(frame.x.clone(), 8) {
        let text = match iteration {
            0.0 => "base".to_owned(),
            _ => iteration.to_string(),
        };
        axes::tick(canvas, frame, iteration, &text);
    }
    axes::bottom(canvas, frame);
    axes::along(canvas, frame, "iteration", 23.0);
}

pub(crate) fn goal(canvas: &Canvas<'_>, frame: &Frame, target: u32) {
    let goal = f64::from(target);
    canvas.line(&[(0.0, goal), (*frame.x.end(), goal)], Paint::Goal, 1.25);
    let (x, y) = canvas.pixel(0.0, goal);
    let text = format!("target {target}");
    canvas.text(&text, (x + 4.0, y - 9.0), Anchor::Right, Paint::Muted);
}

fn marks(canvas: &Canvas<'_>, frame: &Frame, evolution: &EvolutionView) -> Vec<Mark> {
    let many = evolution.iterations.len() > MOST_DOTS;
    let suite = evolution.suite;
    let base = (0.0, f64::from(suite.base_in_target));
    let at = canvas.pixel(base.0, base.1);
    canvas.marker(at, 0, 3.0, LINE, Filling::Full);
    let label = format!(
        "Base: {} of {} target tests pass",
        suite.base_in_target, suite.target
    );
    let mut marks = vec![canvas.mark(base, 0usize, label)];
    for iteration in &evolution.iterations {
        let x = f64::from(iteration.iteration);
        let at = match iteration.verdict {
            Verdict::Scored {
                in_target, lost, ..
            } => {
                let at = (x, f64::from(in_target));
                if lost > 0 {
                    let place = canvas.pixel(at.0, at.1);
                    canvas.marker(place, 0, 4.5, Paint::Bad, Filling::None);
                } else if !many {
                    let place = canvas.pixel(at.0, at.1);
                    canvas.marker(place, 0, 3.0, LINE, Filling::Full);
                }
                at
            }
            Verdict::Collapsed { .. } => {
                let at = (x, *frame.y.start());
                canvas.cross(canvas.pixel(at.0, at.1), 4.5, Paint::Bad);
                at
            }
        };
        let label = describe(iteration, suite.target);
        marks.push(canvas.mark(at, 0usize, label));
    }
    marks
}

/// "Iteration 3: 440 of 461 pass, 17 gained, 3 lost".
fn describe(iteration: &IterationView, target: u32) -> String {
    let number = iteration.iteration;
    match iteration.verdict {
        Verdict::Scored {
            in_target, lost, ..
        } => format!(
            "Iteration {number}: {in_target} of {target} pass, {} gained, {lost} lost",
            iteration.gained
        ),
        Verdict::Collapsed { lost } => {
            format!("Iteration {number}: collapsed, all {lost} passing tests lost")
        }
    }
}

fn summary(evolution: &EvolutionView) -> String {
    let suite = evolution.suite;
    format!(
        "Tests passing in {}: {} on the base, {} after {} iterations, target {}.",
        evolution.task_id,
        suite.base_in_target,
        evolution.passing(),
        evolution.iterations.len(),
        suite.target
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{assert_well_formed, evolution, scored as ok};

    fn draw(verdicts: &[Verdict]) -> Figure {
        let figure = passing(&evolution(verdicts), Size::SMALL, Theme::Page);
        assert_well_formed(&figure.svg);
        figure
    }

    #[test]
    fn a_mark_for_the_base_and_each_iteration() {
        let figure = draw(&[ok(12, 0), ok(9, 3), ok(20, 0)]);
        let at: Vec<(f64, f64)> = figure.marks.iter().map(|m| (m.x, m.y)).collect();
        assert_eq!(at, [(0.0, 10.0), (1.0, 12.0), (2.0, 9.0), (3.0, 20.0)]);
        assert!(
            figure.marks.windows(2).all(|m| m[0].px < m[1].px),
            "time goes right"
        );
        assert!(
            figure.marks[3].py < figure.marks[2].py,
            "more tests stand higher"
        );
        assert!(
            figure.marks[2].label.contains("9 of 20 pass")
                && figure.marks[2].label.contains("3 lost")
        );
    }

    #[test]
    fn regressions_and_collapses_are_marked() {
        let calm = draw(&[ok(12, 0)]).svg;
        assert!(!calm.contains("--bad"));
        let regressed = draw(&[ok(12, 1)]).svg;
        assert!(regressed.contains("stroke=\"var(--bad)\""));
        let collapsed = draw(&[Verdict::Collapsed { lost: 10 }]);
        assert!(collapsed.marks[1].label.contains("collapsed"));
        assert!(collapsed.svg.contains("stroke=\"var(--bad)\""));
    }

    #[test]
    fn the_target_is_dashed() {
        let svg = draw(&[ok(12, 0)]).svg;
        assert!(svg.contains("stroke=\"var(--plot-goal)\" stroke-dasharray"));
        assert!(svg.contains("target 20"));
    }

    #[test]
    fn nothing_yet_and_nothing_to_do() {
        assert_eq!(draw(&[]).marks.len(), 1);
        let mut done = evolution(&[]);
        done.suite.base_in_target = done.suite.target;
        assert_well_formed(&passing(&done, Size::SMALL, Theme::Paper).svg);
        done.suite.target = 0;
        done.suite.base_in_target = 0;
        assert_well_formed(&passing(&done, Size::SMALL, Theme::Paper).svg);
    }

    #[test]
    fn very_long_evolutions_are_drawn_too() {
        let verdicts: Vec<Verdict> = (0..1000).map(|i| ok(i % 20, 0)).collect();
        let figure = draw(&verdicts);
        assert_eq!(figure.marks.len(), 1001);
        assert_eq!(figure.svg.matches("<circle").count(), 2);
    }
}
