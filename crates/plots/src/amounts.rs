//! Axes of dates, and of what a task takes.

use std::ops::RangeInclusive;

use swe_ci_views::figures::{Resource, day_number};

/// Round times, in seconds.
const CLOCK: [f64; 17] = [
    1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_200.0, 1_800.0, 3_600.0, 7_200.0,
    18_000.0, 36_000.0, 72_000.0,
];
/// The possible intervals between dates, in months.
const MONTHS: [i64; 7] = [1, 2, 3, 6, 12, 24, 60];

/// Firsts of months with their names, about as many as wanted.
pub(crate) fn dates(days: &RangeInclusive<f64>, wanted: usize) -> Vec<(f64, String)> {
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
pub(crate) fn round_amounts(resource: Resource, range: &RangeInclusive<f64>) -> Vec<f64> {
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
pub(crate) fn short(resource: Resource, amount: f64) -> String {
    match resource {
        Resource::Tokens => tokens(amount),
        Resource::Money => dollars(amount),
        Resource::Time => time(amount),
    }
}

pub(crate) fn in_full(resource: Resource, amount: f64) -> String {
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
