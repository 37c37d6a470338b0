//! EvoScore against another quantity: the release date of a model, or what a task
//! takes.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use swe_ci_core::uncertainty::Interval;
use swe_ci_views::figures::{Releases, Resource, Spending, Subject, day_number};

use crate::axes;
use crate::brush::{Brush, summary};
use crate::canvas::{Canvas, Frame, Margins};
use crate::format;
use crate::labels::Places;
use crate::paint::Paint;
use crate::ticks::score_ticks;
use crate::{Figure, Mark, text};

/// Longest name beside a point, in pixels.
const LONGEST: f64 = 180.0;
/// Round times, in seconds.
const CLOCK: [f64; 17] = [
    1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_200.0, 1_800.0, 3_600.0, 7_200.0,
    18_000.0, 36_000.0, 72_000.0,
];
/// The possible intervals between dates, in months.
const MONTHS: [i64; 7] = [1, 2, 3, 6, 12, 24, 60];

struct Dot<'a> {
    run: &'a Subject,
    at: (f64, f64),
    interval: Option<Interval>,
    /// Of the quantity along the axis.
    along: Option<Interval>,
    /// The share of its marker that is filled.
    filled: f64,
    words: String,
}

pub(crate) fn releases(brush: &Brush<'_>, data: &Releases) -> Figure {
    let dots: Vec<Dot<'_>> = data
        .points
        .iter()
        .map(|point| Dot {
            run: &point.run,
            at: (point.day as f64, point.evoscore),
            interval: point.interval,
            along: None,
            filled: 0.0,
            words: format!("{}, {}", format::score(point.evoscore), point.date),
        })
        .collect();
    let hollow = published(data);
    let all = || dots.iter().map(|d| d.at).chain(hollow.iter().map(|h| h.at));
    let days = widened(all().map(|at| at.0), 0.05, 20.0);
    let frame = frame(brush, days, scores(&dots, all()));
    let summary = in_words("EvoScore by release date", &dots);
    frame.draw(brush.theme, summary, |canvas| {
        axis_of_scores(canvas, &frame);
        for (day, text) in dates(&frame.x, brush.either(8, 4)) {
            axes::tick(canvas, &frame, day, &text);
        }
        if brush.print() {
            axes::along(canvas, &frame, "release date of the model", 28.0);
        }
        let providers = hollow.iter().map(|h| (h.provider, h.at));
        join(canvas, providers, Paint::Goal, 1.0);
        let providers = dots.iter().map(|d| (d.run.provider.as_str(), d.at));
        join(canvas, providers, Paint::Axis, 1.75);
        let mut marks = put(brush, canvas, &frame, &dots, all(), &[]);
        for point in &hollow {
            let at = canvas.pixel(point.at.0, point.at.1);
            canvas.marker(at, 0, 2.5, Paint::Muted, true);
            marks.push(canvas.mark(point.at, None::<usize>, point.words.clone()));
        }
        marks
    })
}

pub(crate) fn spending(brush: &Brush<'_>, data: &Spending) -> Figure {
    let dots: Vec<Dot<'_>> = data
        .points
        .iter()
        .map(|point| {
            let front = if point.on_front { ", on the front" } else { "" };
            let score = format::score(point.evoscore);
            let kept = 100.0 * point.zero_regression;
            let kept = format!("no regression in {kept:.0}\u{a0}% of the tasks");
            let spent = in_full(data.resource, point.amount);
            // An axis of logarithms does not reach 0.
            let along = point.amount_interval.filter(|interval| interval.low > 0.0);
            let between = along.map(|Interval { low, high }| {
                let [low, high] = [low, high].map(|end| short(data.resource, end));
                format!(" (95 %: {low} to {high})")
            });
            let between = between.unwrap_or_default();
            Dot {
                run: &point.run,
                at: (point.amount.log10(), point.evoscore),
                interval: point.interval,
                along: along.map(|Interval { low, high }| Interval {
                    low: low.log10(),
                    high: high.log10(),
                }),
                filled: point.zero_regression,
                words: format!("{score}, {spent}{between}, {kept}{front}"),
            }
        })
        .collect();
    let all = || dots.iter().map(|dot| dot.at);
    let ends = dots.iter().filter_map(|dot| dot.along);
    let ends = ends.flat_map(|interval| [interval.low, interval.high]);
    let powers = widened(all().map(|at| at.0).chain(ends), 0.08, 0.15);
    let frame = frame(brush, powers, scores(&dots, all()));
    let (of_task, title) = match data.resource {
        Resource::Tokens => ("tokens per task", "tokens per task, sent and received"),
        Resource::Money => ("US dollars per task", "US dollars per task"),
        Resource::Time => ("time per task", "time of the agents per task"),
    };
    let summary = in_words(&format!("EvoScore against {of_task}"), &dots);
    frame.draw(brush.theme, summary, |canvas| {
        axis_of_scores(canvas, &frame);
        for power in round_amounts(data.resource, &frame.x) {
            let text = short(data.resource, 10f64.powf(power));
            axes::tick(canvas, &frame, power, &text);
        }
        axes::along(canvas, &frame, title, 28.0);
        let front = front(data, *frame.x.end());
        canvas.line(&front, Paint::Cursor, 1.5);
        put(brush, canvas, &frame, &dots, all(), &front)
    })
}

fn frame(brush: &Brush<'_>, x: RangeInclusive<f64>, y: RangeInclusive<f64>) -> Frame {
    Frame {
        size: brush.size(brush.either(440, 380)),
        margins: Margins::new(34, brush.either(40, 18), 50, 44),
        x,
        y,
    }
}

/// The range of all values with a margin of at least `least` on either side.
pub(crate) fn widened(
    values: impl Iterator<Item = f64>,
    share: f64,
    least: f64,
) -> RangeInclusive<f64> {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
        (low.min(v), high.max(v))
    });
    let room = ((high - low) * share).max(least);
    low - room..=high + room
}

fn scores(dots: &[Dot<'_>], all: impl Iterator<Item = (f64, f64)>) -> RangeInclusive<f64> {
    let intervals = dots.iter().filter_map(|dot| dot.interval);
    let ends = intervals.flat_map(|interval| [interval.low, interval.high]);
    let range = widened(all.map(|at| at.1).chain(ends), 0.05, 0.03);
    range.start().max(-1.04)..=range.end().min(1.04)
}

fn axis_of_scores(canvas: &Canvas<'_>, frame: &Frame) {
    axes::values(canvas, frame, &score_ticks(frame.y.clone(), 6));
    axes::bottom(canvas, frame);
    axes::upright(canvas, "EvoScore");
}

/// Intervals, markers and, where space permits, names beside them and the steps
/// of `front`.
fn put(
    brush: &Brush<'_>,
    canvas: &Canvas<'_>,
    frame: &Frame,
    dots: &[Dot<'_>],
    all: impl Iterator<Item = (f64, f64)>,
    front: &[(f64, f64)],
) -> Vec<Mark> {
    let pixel = |(x, y): (f64, f64)| canvas.pixel(x, y);
    let mut lines: Vec<[(f64, f64); 2]> = front.windows(2).map(|w| [w[0], w[1]]).collect();
    for dot in dots {
        let (x, y) = dot.at;
        let upright = dot.interval.map(|i| [(x, i.low), (x, i.high)]);
        let level = dot.along.map(|i| [(i.low, y), (i.high, y)]);
        for ends in [upright, level].into_iter().flatten() {
            canvas.line(&ends, brush.solid(dot.run), 1.0);
            lines.push(ends);
        }
    }
    let lines = lines.into_iter().map(|ends| ends.map(pixel));
    let mut names = Places::around(frame, all.map(pixel), lines);
    let mut best: Vec<&Dot<'_>> = dots.iter().collect();
    best.sort_by(|a, b| b.at.1.total_cmp(&a.at.1));
    let named = brush.named(&best, |dot| dot.run);
    let place = |dot: &Dot<'_>| {
        let at = canvas.pixel(dot.at.0, dot.at.1);
        brush.marker(canvas, dot.run, at, 5.0);
        // Its stroke adds a pixel to the radius of the filling.
        let filling = 4.0 * dot.filled.sqrt() - 1.0;
        if filling > 0.0 {
            canvas.marker(at, 0, filling, brush.solid(dot.run), false);
        }
        let name = text::line(&dot.run.model, brush.either(LONGEST, 100.0));
        if named.iter().any(|named| named.run.index == dot.run.index) {
            names.write(canvas, &name, at, Paint::Ink);
        }
        let label = format!("{}: {}", dot.run.model, dot.words);
        canvas.mark(dot.at, brush.number(dot.run), label)
    };
    dots.iter().map(place).collect()
}

/// A line through the points of each provider, from left to right.
fn join<'a>(
    canvas: &Canvas<'_>,
    points: impl Iterator<Item = (&'a str, (f64, f64))>,
    paint: Paint,
    width: f64,
) {
    let mut providers: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for (provider, at) in points.filter(|(provider, _)| !provider.is_empty()) {
        providers.entry(provider).or_default().push(at);
    }
    for points in providers.values().filter(|points| points.len() > 1) {
        canvas.line(points, paint, width);
    }
}

fn in_words(title: &str, dots: &[Dot<'_>]) -> String {
    let words = |dot: &Dot<'_>| format!("{} {}", dot.run.model, format::score(dot.at.1));
    summary(title, dots.iter().map(words))
}

struct Hollow<'a> {
    at: (f64, f64),
    provider: &'a str,
    words: String,
}

fn published(data: &Releases) -> Vec<Hollow<'_>> {
    let rows = data.published.iter().filter_map(|row| {
        let day = day_number(&row.release_date)?;
        let score = format::score(row.evoscore);
        Some(Hollow {
            at: (day as f64, row.evoscore),
            provider: &row.provider,
            words: format!("{}: {score}, as published", row.model),
        })
    });
    rows.collect()
}

/// Firsts of months with their names, about as many as wanted.
fn dates(days: &RangeInclusive<f64>, wanted: usize) -> Vec<(f64, String)> {
    let day = |month: i64| {
        let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
        day_number(&format!("{year:04}-{month:02}-01")).map(|day| day as f64)
    };
    // Months are counted from year 0; the first is at or before the start.
    let start = ((days.start() + 719_468.0) / 365.2425 * 12.0) as i64 - 1;
    let end = start + ((days.end() - days.start()) / 30.0) as i64 + 4;
    let every = |step: i64| {
        let months = (start..=end).filter(move |month| month % step == 0);
        let dated = months.filter_map(|month| Some((month, day(month)?)));
        let inside = dated.filter(|(_, day)| days.contains(day));
        inside.collect::<Vec<_>>()
    };
    let fitting = MONTHS.into_iter().map(every).find(|m| m.len() <= wanted);
    let named = |(month, day): (i64, f64)| {
        let (year, number) = (month.div_euclid(12), month.rem_euclid(12) + 1);
        (day, format!("{year}-{number:02}"))
    };
    fitting.unwrap_or_default().into_iter().map(named).collect()
}

/// Logarithms of 1, 2 and 5 times powers of ten; of powers only if these are
/// enough.
pub(crate) fn decades(powers: &RangeInclusive<f64>) -> Vec<f64> {
    let factors: &[f64] = match powers.end() - powers.start() {
        span if span < 1.6 => &[1.0, 2.0, 5.0],
        span if span < 3.0 => &[1.0, 3.0],
        _ => &[1.0],
    };
    let whole = powers.start().floor() as i32..=powers.end().ceil() as i32;
    let all = whole.flat_map(|power| factors.iter().map(move |f| f.log10() + f64::from(power)));
    all.filter(|power| powers.contains(power)).collect()
}

/// "950", "12 k", "1.5 M".
fn tokens(count: f64) -> String {
    let (value, unit) = match count {
        c if c < 999.5 => (c, ""),
        c if c < 999_500.0 => (c / 1e3, " k"),
        c if c < 999_500_000.0 => (c / 1e6, " M"),
        c => (c / 1e9, " G"),
    };
    let places = usize::from(value < 9.95 && (value - value.round()).abs() > 0.05);
    format!("{value:.places$}{unit}")
}

/// Round amounts as logarithms: of time, those of clocks.
fn round_amounts(resource: Resource, range: &RangeInclusive<f64>) -> Vec<f64> {
    if resource != Resource::Time {
        return decades(range);
    }
    let every = |step: usize| {
        let round = CLOCK.iter().step_by(step).map(|seconds| seconds.log10());
        let inside = round.filter(|power| range.contains(power));
        inside.collect::<Vec<f64>>()
    };
    let fitting = [1, 2, 4]
        .map(every)
        .into_iter()
        .find(|powers| powers.len() <= 6);
    fitting
        .filter(|powers| !powers.is_empty())
        .unwrap_or_else(|| decades(range))
}

/// "12 k", "$0.05", "20 min".
fn short(resource: Resource, amount: f64) -> String {
    match resource {
        Resource::Tokens => tokens(amount),
        Resource::Money => dollars(amount),
        Resource::Time => time(amount),
    }
}

fn in_full(resource: Resource, amount: f64) -> String {
    let short = short(resource, amount);
    match resource {
        Resource::Tokens => format!("{short} tokens"),
        Resource::Money | Resource::Time => short,
    }
}

/// "$0.002", "$0.25", "$12": two digits are enough.
fn dollars(amount: f64) -> String {
    let places = match amount {
        9.95.. => 0,
        0.995.. => 1,
        _ => (1.0 - amount.log10().floor()).clamp(0.0, 7.0) as usize,
    };
    let text = format!("{amount:.places$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    format!("${text}")
}

/// "30 s", "1.5 min", "20 min", "2 h".
fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 59.5 => (s, "s"),
        s if s < 3_570.0 => (s / 60.0, "min"),
        s => (s / 3_600.0, "h"),
    };
    let places = usize::from(value < 9.95 && (value - value.round()).abs() > 0.05);
    format!("{value:.places$} {unit}")
}

/// Steps from one run on the front to the next, and on to the right.
fn front(data: &Spending, end: f64) -> Vec<(f64, f64)> {
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for point in data.points.iter().filter(|point| point.on_front) {
        let x = point.amount.log10();
        if let Some((_, below)) = steps.last().copied() {
            steps.push((x, below));
        }
        steps.push((x, point.evoscore));
    }
    if let Some((_, best)) = steps.last().copied() {
        steps.push((end, best));
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_short() {
        let check = |count, expect: &str| assert_eq!(tokens(count), expect);
        check(0.0, "0");
        check(950.0, "950");
        check(1_000.0, "1 k");
        check(1_500.0, "1.5 k");
        check(12_345.0, "12 k");
        check(999_600.0, "1 M");
        check(2.5e9, "2.5 G");
    }

    #[test]
    fn money_and_time_are_short() {
        let check = |amount, expect: &str| assert_eq!(dollars(amount), expect);
        check(0.0012, "$0.0012");
        check(0.002, "$0.002");
        check(0.5, "$0.5");
        check(0.256, "$0.26");
        check(1.0, "$1");
        check(1.54, "$1.5");
        check(20.0, "$20");
        check(123.4, "$123");
        let check = |seconds, expect: &str| assert_eq!(time(seconds), expect);
        check(0.5, "0.5 s");
        check(30.0, "30 s");
        check(90.0, "1.5 min");
        check(1_200.0, "20 min");
        check(3_600.0, "1 h");
        check(9_000.0, "2.5 h");
    }

    #[test]
    fn months_on_the_axis() {
        let day = |date: &str| day_number(date).unwrap() as f64;
        let check = |from, to, wanted, expect: &[&str]| {
            let months = dates(&(day(from)..=day(to)), wanted);
            let names: Vec<&str> = months.iter().map(|(_, name)| name.as_str()).collect();
            assert_eq!(names, expect);
            let near = |(at, name): &(f64, String)| (day(&format!("{name}-01")) - at).abs() < 1e-9;
            assert!(months.iter().all(near));
        };
        check("2025-12-15", "2026-02-15", 4, &["2026-01", "2026-02"]);
        check(
            "2025-01-01",
            "2026-01-01",
            4,
            &["2025-01", "2025-07", "2026-01"],
        );
        check(
            "2020-05-01",
            "2026-05-01",
            3,
            &["2022-01", "2024-01", "2026-01"],
        );
    }

    #[test]
    fn times_on_the_axis() {
        let check = |low: f64, high: f64, expect: &[&str]| {
            let powers = round_amounts(Resource::Time, &(low.log10()..=high.log10()));
            let texts: Vec<String> = powers.iter().map(|p| time(10f64.powf(*p))).collect();
            assert_eq!(texts, expect);
        };
        check(900.0, 8_000.0, &["20 min", "30 min", "1 h", "2 h"]);
        check(
            5.0,
            3_700.0,
            &["5 s", "20 s", "1 min", "5 min", "20 min", "1 h"],
        );
        // None of them: powers of ten.
        check(1e6, 3e6, &["278 h", "556 h"]);
    }

    #[test]
    fn powers_on_the_axis() {
        let check = |low, high, expect: usize| assert_eq!(decades(&(low..=high)).len(), expect);
        check(3.0, 4.0, 4);
        check(3.0, 5.0, 5);
        check(2.0, 7.0, 6);
    }
}
