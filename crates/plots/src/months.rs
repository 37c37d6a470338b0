//! EvoScore by the month of the tasks, with intervals.

use swe_ci_views::leaderboard::{Freshness, MonthScore};

use crate::axes;
use crate::canvas::{Canvas, Frame, Margins};
use crate::format;
use crate::paint::{Look, Paint, Theme};
use crate::ticks::score_ticks;
use crate::{Figure, Mark, Size};

const LINE: Paint = Paint::Run(0, Look::Line);
/// Pixels that the name of a month takes.
const NAME: u32 = 58;

/// A mark for each month that has tasks: hollow where the model may know some of
/// them, or nobody knows.
pub fn months(freshness: &Freshness, size: Size, theme: Theme) -> Figure {
    let months = &freshness.months;
    let numbers: Vec<f64> = months.iter().map(|month| number(&month.month)).collect();
    let first = numbers.first().copied().unwrap_or(0.0);
    let last = numbers.last().copied().unwrap_or(first);
    let ends = months.iter().flat_map(|month| {
        let interval = month.interval.map(|interval| [interval.low, interval.high]);
        interval.into_iter().flatten().chain([month.evoscore])
    });
    let (low, high) = ends.fold((0.0, 0.1), |(low, high): (f64, f64), end| {
        (low.min(end), high.max(end))
    });
    let pad = (high - low) * 0.08;
    let frame = Frame {
        size,
        margins: Margins::new(26, 16, 40, 42),
        x: first - 0.7..=last + 0.7,
        y: low - pad..=high + pad,
    };
    frame.draw(theme, summary(freshness), |canvas| {
        axes::values(canvas, &frame, &score_ticks(frame.y.clone(), 5));
        axes::bottom(canvas, &frame);
        axes::upright(canvas, "EvoScore");
        names(canvas, &frame, months, &numbers);
        let both = months.iter().zip(&numbers);
        both.map(|(month, at)| draw(canvas, month, *at)).collect()
    })
}

/// As many names of months as there is room for.
fn names(canvas: &Canvas<'_>, frame: &Frame, months: &[MonthScore], numbers: &[f64]) {
    let mut end = f64::MIN;
    for (month, at) in months.iter().zip(numbers) {
        let (x, _) = canvas.pixel(*at, *frame.y.start());
        if x >= end {
            axes::tick(canvas, frame, *at, &month.month);
            end = x + f64::from(NAME);
        }
    }
}

fn draw(canvas: &Canvas<'_>, month: &MonthScore, at: f64) -> Mark {
    if let Some(interval) = month.interval {
        canvas.line(&[(at, interval.low), (at, interval.high)], LINE, 1.5);
    }
    let hollow = month.unseen != Some(month.tasks);
    let place = canvas.pixel(at, month.evoscore);
    canvas.marker(place, 0, 4.0, LINE, hollow);
    canvas.mark((at, month.evoscore), 0usize, describe(month))
}

/// "2026-03: 0.42 [0.30, 0.51], 12 tasks of 5 repositories, 4 unseen".
fn describe(month: &MonthScore) -> String {
    let interval = month
        .interval
        .map(|i| format!(" {}", format::interval(i, 2)));
    let unseen = month.unseen.map(|unseen| format!(", {unseen} unseen"));
    format!(
        "{}: {}{}, {} of {}{}",
        month.month,
        format::share(month.evoscore),
        interval.unwrap_or_default(),
        format::count(month.tasks, "task"),
        match month.repositories {
            1 => "1 repository".to_owned(),
            n => format!("{n} repositories"),
        },
        unseen.unwrap_or_default(),
    )
}

fn summary(freshness: &Freshness) -> String {
    let months = &freshness.months;
    match (months.first(), months.last()) {
        (Some(first), Some(last)) => format!(
            "EvoScore by the month of the tasks, from {} with {} to {} with {}.",
            first.month,
            format::share(first.evoscore),
            last.month,
            format::share(last.evoscore),
        ),
        _ => "EvoScore by the month of the tasks: no task has a date.".to_owned(),
    }
}

/// Months since year 0; 0 for what is no month.
fn number(month: &str) -> f64 {
    let parts = month.split_once('-');
    let parts = parts.and_then(|(y, m)| Some((y.parse::<u32>().ok()?, m.parse::<u32>().ok()?)));
    parts.map_or(0.0, |(year, month)| f64::from(12 * year + month))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::assert_well_formed;
    use swe_ci_core::metrics::{Convention, Gamma};
    use swe_ci_core::uncertainty::Interval;

    fn freshness(months: &[(&str, f64, Option<u32>)]) -> Freshness {
        let month = |(month, evoscore, unseen): &(&str, f64, Option<u32>)| MonthScore {
            month: (*month).to_owned(),
            tasks: 2,
            repositories: 2,
            unseen: *unseen,
            evoscore: *evoscore,
            interval: Some(Interval {
                low: evoscore - 0.1,
                high: evoscore + 0.1,
            }),
        };
        Freshness {
            convention: Convention::Paper,
            gamma: Gamma::ONE,
            learnt_until: None,
            months: months.iter().map(month).collect(),
            undated: 0,
            unseen: None,
            against: None,
        }
    }

    #[test]
    fn time_goes_right_and_better_is_higher() {
        let data = [
            ("2025-12", 0.2, Some(0)),
            ("2026-01", 0.5, Some(1)),
            ("2026-04", -0.3, Some(2)),
        ];
        let figure = months(&freshness(&data), Size::SMALL, Theme::Page);
        assert_well_formed(&figure.svg);
        let marks = &figure.marks;
        assert_eq!(marks.len(), 3);
        assert_eq!(marks[1].x - marks[0].x, 1.0);
        assert_eq!(marks[2].x - marks[1].x, 3.0);
        assert!(marks[1].py < marks[0].py && marks[0].py < marks[2].py);
        assert_eq!(
            marks[2].label,
            "2026-04: \u{2212}0.30 [\u{2212}0.40, \u{2212}0.20], 2 tasks of 2 repositories, 2 unseen"
        );
        let empty = months(&freshness(&[]), Size::SMALL, Theme::Page);
        assert!(empty.marks.is_empty());
        assert_well_formed(&empty.svg);
    }
}
