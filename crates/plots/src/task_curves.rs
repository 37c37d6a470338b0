//! Tests passing, iteration by iteration, of one task in several runs.

use std::ops::RangeInclusive;

use swe_ci_views::leaderboard::{Course, Loss, TaskCourses};

use crate::canvas::{Anchor, Canvas, Frame, Margins};
use crate::labels::spread;
use crate::marker::Filling;
use crate::paint::{Look, Paint, Theme, shape};
use crate::passing::{draw_axes, goal};
use crate::{Figure, Mark, Size};

/// A line for each sample of each run, the targets as dashed lines, hollow
/// marks at regressions. Where an evolution ended before others, a thin line
/// continues its last value. `names`, and the numbers of their looks, are in the
/// order of the runs.
pub fn courses(
    task: &TaskCourses,
    names: &[String],
    looks: &[usize],
    size: Size,
    theme: Theme,
) -> Figure {
    let all = || task.runs.iter().flatten();
    let longest = all().map(|c| c.passes.len()).max().unwrap_or(0).max(1);
    let frame = Frame {
        size,
        margins: Margins::new(24, 52, 42, 46),
        x: 0.0..=longest as f64,
        y: range(task),
    };
    frame.draw(theme, summary(task, names), |canvas| {
        draw_axes(canvas, &frame, 5);
        goals(canvas, &frame, task);
        for (run, samples) in looks.iter().zip(&task.runs) {
            for course in samples {
                line(canvas, &frame, *run, course);
            }
        }
        labels(canvas, &frame, task, names, looks);
        let runs = looks.iter().zip(&task.runs).zip(names);
        let marks = runs.flat_map(|((run, samples), name)| {
            samples
                .iter()
                .flat_map(move |c| marks(canvas, *run, c, name))
        });
        marks.collect()
    })
}

fn range(task: &TaskCourses) -> RangeInclusive<f64> {
    let all = || task.runs.iter().flatten();
    let counts = || all().flat_map(|c| c.passes.iter().copied().chain([c.base, c.target]));
    let (low, high) = (counts().min().unwrap_or(0), counts().max().unwrap_or(1));
    let (low, high) = (f64::from(low), f64::from(high));
    let pad = ((high - low) * 0.1).max(1.0);
    (low - pad).max(0.0).min(low)..=high + pad
}

/// Runs mostly share a target; imported results may count another.
fn goals(canvas: &Canvas<'_>, frame: &Frame, task: &TaskCourses) {
    let mut targets: Vec<u32> = task.runs.iter().flatten().map(|c| c.target).collect();
    targets.sort_unstable();
    targets.dedup();
    for target in targets {
        goal(canvas, frame, target);
    }
}

fn points(course: &Course) -> Vec<(f64, f64)> {
    let passes = std::iter::once(course.base).chain(course.passes.iter().copied());
    (0..)
        .zip(passes)
        .map(|(i, n)| (f64::from(i), f64::from(n)))
        .collect()
}

fn end(course: &Course) -> (f64, f64) {
    let last = course.passes.last().copied().unwrap_or(course.base);
    (course.passes.len() as f64, f64::from(last))
}

fn line(canvas: &Canvas<'_>, frame: &Frame, run: usize, course: &Course) {
    let paint = Paint::Run(run, Look::Line);
    canvas.line(&points(course), paint, 2.25);
    let (x, y) = end(course);
    if x < *frame.x.end() {
        canvas.line(&[(x, y), (*frame.x.end(), y)], paint, 0.75);
    }
    for (at, passes) in points(course).into_iter().skip(1) {
        let place = canvas.pixel(at, passes);
        match course.loss_at(at as u32) {
            Some(Loss::Regression) => {
                canvas.marker(place, shape(run), 4.0, Paint::Bad, Filling::None);
            }
            Some(Loss::Collapse) => canvas.cross(place, 4.5, Paint::Bad),
            None => {}
        }
    }
    canvas.marker(canvas.pixel(x, y), shape(run), 4.0, paint, Filling::of(run));
}

/// The letter of each run at the right, moved apart to avoid overlaps.
fn labels(
    canvas: &Canvas<'_>,
    frame: &Frame,
    task: &TaskCourses,
    names: &[String],
    looks: &[usize],
) {
    let last = *frame.x.end();
    let mut ends: Vec<(f64, usize)> = Vec::new();
    for (run, samples) in task.runs.iter().enumerate() {
        let first = samples.first().map(|c| canvas.pixel(last, end(c).1).1);
        ends.extend(first.map(|y| (y, run)));
    }
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted: Vec<f64> = ends.iter().map(|e| e.0).collect();
    let top = f64::from(frame.margins.top);
    let placed = spread(&wanted, top, top + f64::from(frame.inner_height()));
    let x = canvas.pixel(last, 0.0).0;
    for ((from, run), y) in ends.into_iter().zip(placed) {
        let number = looks.get(run).copied().unwrap_or_default();
        let paint = Paint::Run(number, Look::Solid);
        canvas.pixel_line(&[(x + 6.0, from), (x + 16.0, y)], paint, 1.0);
        let letter = names.get(run).and_then(|name| name.chars().next());
        let letter = letter.map(String::from).unwrap_or_default();
        canvas.bold_text(&letter, (x + 20.0, y), Anchor::Right, Paint::Ink);
    }
}

fn marks(canvas: &Canvas<'_>, run: usize, course: &Course, name: &str) -> Vec<Mark> {
    let mark = |(x, y): (f64, f64)| {
        let label = if x == 0.0 {
            format!("{name}: base, {y} of {} pass", course.target)
        } else {
            let lost = match course.loss_at(x as u32) {
                Some(Loss::Regression) => ", regression",
                Some(Loss::Collapse) => ", collapsed",
                None => "",
            };
            format!("{name}: iteration {x}, {y} of {} pass{lost}", course.target)
        };
        canvas.mark((x, y), run, label)
    };
    points(course).into_iter().map(mark).collect()
}

fn summary(task: &TaskCourses, names: &[String]) -> String {
    let run = |(samples, name): (&Vec<Course>, &String)| {
        let course = samples.first()?;
        Some(format!(
            "{name} {} of {} after {} iterations",
            end(course).1,
            course.target,
            course.passes.len()
        ))
    };
    let runs: Vec<String> = task.runs.iter().zip(names).filter_map(run).collect();
    format!("Tests passing in {}: {}.", task.task_id, runs.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{assert_well_formed, task_id};

    fn course(passes: &[u32], regressions: &[u32]) -> Course {
        Course {
            base: 10,
            target: 20,
            passes: passes.to_vec(),
            regressions: regressions.to_vec(),
        }
    }

    fn draw(runs: Vec<Vec<Course>>) -> Figure {
        let names = ["A < B", "B & C"].map(str::to_owned);
        let task = TaskCourses {
            task_id: task_id("t"),
            repo: "r".into(),
            runs,
        };
        let figure = courses(&task, &names, &[0, 1], Size::NARROW, Theme::Page);
        assert_well_formed(&figure.svg);
        figure
    }

    #[test]
    fn every_run_has_its_line_and_marks() {
        let one = course(&[12, 9, 20], &[2]);
        let figure = draw(vec![vec![one], vec![course(&[11], &[])]]);
        let at: Vec<(Option<usize>, f64, f64)> =
            figure.marks.iter().map(|m| (m.line, m.x, m.y)).collect();
        let expect = [
            (Some(0), 0.0, 10.0),
            (Some(0), 1.0, 12.0),
            (Some(0), 2.0, 9.0),
            (Some(0), 3.0, 20.0),
            (Some(1), 0.0, 10.0),
            (Some(1), 1.0, 11.0),
        ];
        assert_eq!(at, expect);
        assert!(figure.marks[2].label.ends_with("9 of 20 pass, regression"));
        assert!(figure.svg.contains("stroke=\"var(--bad)\""));
        assert!(
            figure
                .summary
                .contains("20 of 20 after 3 iterations; B & C 11 of 20")
        );
        // One target, one dashed line; two lead to two.
        assert_eq!(figure.svg.matches("target 20").count(), 1);
        let mut other = course(&[11], &[]);
        other.target = 22;
        let two = draw(vec![vec![course(&[12], &[])], vec![other]]);
        assert!(two.svg.contains("target 22") && two.svg.contains("target 20"));
    }

    #[test]
    fn a_collapse_is_no_regression() {
        let figure = draw(vec![vec![course(&[9, 0], &[1, 2])], vec![]]);
        let labels: Vec<&str> = figure
            .marks
            .iter()
            .map(|mark| mark.label.as_str())
            .collect();
        assert!(
            labels[1].ends_with("9 of 20 pass, regression"),
            "{labels:?}"
        );
        assert!(labels[2].ends_with("0 of 20 pass, collapsed"), "{labels:?}");
    }

    #[test]
    fn nothing_done_is_drawn_too() {
        assert_eq!(draw(vec![vec![course(&[], &[])], vec![]]).marks.len(), 1);
    }
}
