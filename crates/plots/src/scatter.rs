//! EvoScore against another quantity: the release date of a model, or what a task
//! takes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use swe_ci_core::uncertainty::Interval;
use swe_ci_views::figures::{Releases, Resource, Spending, Subject, day_number};
use swe_ci_views::leaderboard::PublishedRow;

use crate::amounts::{dates, in_full, round_amounts, short};
use crate::axes;
use crate::brush::{Brush, summary};
use crate::canvas::{Canvas, Frame, Margins};
use crate::format;
use crate::labels::{Places, Written};
use crate::legend::{Key, Legend};
use crate::marker::Filling;
use crate::paint::{Paint, shape};
use crate::ticks::score_ticks;
use crate::{Figure, Mark, text};

/// Longest name beside a point, in pixels.
const LONGEST: f64 = 180.0;
struct Dot<'a> {
    run: &'a Subject,
    at: (f64, f64),
    interval: Option<Interval>,
    /// Of the quantity along the axis.
    along: Option<Interval>,
    /// Of its marker, in pixels.
    radius: f64,
    words: String,
}

struct Hollow<'a> {
    row: &'a PublishedRow,
    at: (f64, f64),
}

/// Points with names, and how they are to be read.
struct Chart<'a> {
    brush: &'a Brush<'a>,
    x: RangeInclusive<f64>,
    y: RangeInclusive<f64>,
    dots: Vec<Dot<'a>>,
    hollow: Vec<Hollow<'a>>,
    /// The line that no point is beyond.
    front: Vec<(f64, f64)>,
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
            radius: 5.0,
            words: format!("{}, {}", format::score(point.evoscore), point.date),
        })
        .collect();
    let hollow = published(data);
    let chart = Chart::new(brush, dots, hollow, (0.05, 20.0));
    chart.draw("EvoScore by release date", |canvas, frame| {
        for (day, text) in dates(&frame.x, brush.either(8, 4)) {
            axes::tick(canvas, frame, day, &text);
        }
        if brush.print() {
            axes::along(canvas, frame, "release date of the model", 28.0);
        }
        let hollow = chart.hollow.iter();
        let providers = hollow.map(|h| (h.row.provider.as_str(), h.at));
        join(canvas, providers, Paint::Goal, 1.0);
        let dots = chart.dots.iter();
        let providers = dots.map(|d| (d.run.provider.as_str(), d.at));
        join(canvas, providers, Paint::Axis, 1.75);
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
                format!(" (95\u{a0}%: {low} to {high})")
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
                radius: 3.0 + 4.0 * point.zero_regression,
                words: format!("{score}, {spent}{between}, {kept}{front}"),
            }
        })
        .collect();
    let (of_task, title) = match data.resource {
        Resource::Tokens => ("tokens per task", "tokens per task, sent and received"),
        Resource::Money => ("US dollars per task", "US dollars per task"),
        Resource::Time => ("time per task", "time of the agents per task"),
    };
    let mut chart = Chart::new(brush, dots, Vec::new(), (0.08, 0.15));
    chart.front = front(data, *chart.x.end());
    let summary = format!("EvoScore against {of_task}");
    chart.draw(&summary, |canvas, frame| {
        for power in round_amounts(data.resource, &frame.x) {
            let text = short(data.resource, 10f64.powf(power));
            axes::tick(canvas, frame, power, &text);
        }
        axes::along(canvas, frame, title, 28.0);
        canvas.line(&chart.front, Paint::Cursor, 1.5);
    })
}

impl<'a> Chart<'a> {
    /// `room` is that beside the points: a share of their range, and at least.
    fn new(
        brush: &'a Brush<'a>,
        dots: Vec<Dot<'a>>,
        hollow: Vec<Hollow<'a>>,
        room: (f64, f64),
    ) -> Self {
        let all = || dots.iter().map(|d| d.at).chain(hollow.iter().map(|h| h.at));
        let along = dots.iter().filter_map(|dot| dot.along);
        let along = along.flat_map(|interval| [interval.low, interval.high]);
        Self {
            x: widened(all().map(|at| at.0).chain(along), room.0, room.1),
            y: scores(&dots, all()),
            brush,
            front: Vec::new(),
            dots,
            hollow,
        }
    }

    fn frame(&self, legend: u32) -> Frame {
        let brush = self.brush;
        let below = 50 + legend + if legend > 0 { 8 } else { 0 };
        Frame {
            size: brush.size(brush.either(440, 380) + below - 50),
            margins: Margins::new(34, brush.either(40, 18), below, 44),
            x: self.x.clone(),
            y: self.y.clone(),
        }
    }

    /// `under` draws what lies below the points.
    fn draw(&self, title: &str, under: impl FnOnce(&Canvas<'_>, &Frame)) -> Figure {
        // The key has the names without space, which its height does not change.
        let (names, keys) = self.names(&self.frame(0));
        let legend = Legend::of_keys(self.brush, keys);
        let frame = self.frame(legend.height());
        let words = |dot: &Dot<'_>| format!("{} {}", dot.run.model, format::score(dot.at.1));
        let summary = summary(title, self.dots.iter().map(words));
        frame.draw(self.brush.theme, summary, |canvas| {
            axes::values(canvas, &frame, &score_ticks(frame.y.clone(), 6));
            axes::bottom(canvas, &frame);
            axes::upright(canvas, "EvoScore");
            under(canvas, &frame);
            let marks = self.marks(canvas);
            for (paint, name) in names {
                name.draw(canvas, paint);
            }
            let top = f64::from(frame.size.height - legend.height() - 4);
            legend.draw(canvas, (12.0, f64::from(frame.size.width) - 8.0), top);
            marks
        })
    }

    /// The lines between the ends of intervals.
    fn intervals(&self) -> impl Iterator<Item = (&Dot<'a>, [(f64, f64); 2])> {
        self.dots.iter().flat_map(|dot| {
            let (x, y) = dot.at;
            let upright = dot.interval.map(|i| [(x, i.low), (x, i.high)]);
            let level = dot.along.map(|i| [(i.low, y), (i.high, y)]);
            let both = [upright, level].into_iter().flatten();
            both.map(move |ends| (dot, ends))
        })
    }

    /// Where names stand, and the key: of the providers, and of the letters in place
    /// of names.
    fn names(&self, frame: &Frame) -> (Vec<(Paint, Written)>, Vec<Key>) {
        let brush = self.brush;
        let all = || {
            self.dots
                .iter()
                .map(|d| d.at)
                .chain(self.hollow.iter().map(|h| h.at))
        };
        let front = self.front.windows(2).map(|w| [w[0], w[1]]);
        let lines = front.chain(self.intervals().map(|(_, ends)| ends));
        let lines = lines.map(|ends| ends.map(|at| frame.pixel(at)));
        let places = Places::around(frame, all().map(|at| frame.pixel(at)), lines);
        // The best come first; published ones last.
        let mut best: Vec<&Dot<'_>> = self.dots.iter().collect();
        best.sort_by(|a, b| b.at.1.total_cmp(&a.at.1));
        let named = brush.named(&best, |dot| dot.run);
        let is_named = |dot: &&&Dot<'_>| named.iter().any(|n| n.run.index == dot.run.index);
        let named: Vec<&Dot<'_>> = best.iter().filter(is_named).copied().collect();
        let cut = |name: &str| text::line(name, brush.either(LONGEST, 100.0));
        let runs = named
            .iter()
            .map(|dot| (cut(&dot.run.model), frame.pixel(dot.at)));
        let hollow = self.hollow.iter();
        let hollow = hollow.map(|h| (cut(&h.row.model), frame.pixel(h.at)));
        let texts: Vec<(String, (f64, f64))> = runs.chain(hollow).collect();
        let texts: Vec<(&str, (f64, f64))> = texts
            .iter()
            .map(|(text, at)| (text.as_str(), *at))
            .collect();
        let mut keys = self.providers();
        let written = places.names(&texts, |index, letter| {
            let key = match named.get(index) {
                Some(dot) => Key::of_run(brush, dot.run, format!("{letter}  {}", dot.run.model)),
                None => {
                    let row = self.hollow[index - named.len()].row;
                    let words = format!("{letter}  {}, as published", row.model);
                    Key::of_provider(brush, &row.provider, words)
                }
            };
            keys.push(key);
        });
        let paint = |name: &Written| match named.len() {
            runs if name.index < runs => Paint::Ink,
            _ => Paint::Muted,
        };
        let written = written.into_iter().map(|name| (paint(&name), name));
        (written.collect(), keys)
    }

    /// The key of providers: each with its colour and shape.
    fn providers(&self) -> Vec<Key> {
        let of_runs = self.dots.iter().map(|dot| dot.run.provider.as_str());
        let of_rows = self.hollow.iter().map(|h| h.row.provider.as_str());
        let names: BTreeSet<&str> = of_runs.chain(of_rows).collect();
        let known = names
            .into_iter()
            .filter(|name| !name.is_empty() && self.brush.series.of_provider(name).is_some());
        let key = |name: &str| Key::of_provider(self.brush, name, name.to_owned());
        let mut keys: Vec<Key> = known.map(key).collect();
        keys.sort_by_key(|key| key.number);
        keys
    }

    fn marks(&self, canvas: &Canvas<'_>) -> Vec<Mark> {
        let brush = self.brush;
        for (dot, ends) in self.intervals() {
            canvas.line(&ends, brush.solid(dot.run), 1.0);
        }
        let hollow = self.hollow.iter().map(|point| {
            let key = Key::of_provider(brush, &point.row.provider, String::new());
            let at = canvas.pixel(point.at.0, point.at.1);
            canvas.marker(at, shape(key.number), 2.5, key.paint, Filling::None);
            let score = format::score(point.row.evoscore);
            let words = format!("{}: {score}, as published", point.row.model);
            canvas.mark(point.at, None::<usize>, words)
        });
        let hollow: Vec<Mark> = hollow.collect();
        let dot = |dot: &Dot<'_>| {
            brush.marker(
                canvas,
                dot.run,
                canvas.pixel(dot.at.0, dot.at.1),
                dot.radius,
            );
            let label = format!("{}: {}", dot.run.model, dot.words);
            canvas.mark(dot.at, brush.number(dot.run), label)
        };
        self.dots.iter().map(dot).chain(hollow).collect()
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

fn published(data: &Releases) -> Vec<Hollow<'_>> {
    let rows = data.published.iter().filter_map(|row| {
        let day = day_number(&row.release_date)?;
        let at = (day as f64, row.evoscore);
        Some(Hollow { row, at })
    });
    rows.collect()
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
