//! Numbers and times as the pages write them: pure functions, so that server
//! and browser write the same characters.

use swe_ci_core::uncertainty::Interval;
pub(crate) use swe_ci_views::format::{
    clip, decimals, gamma, interval, ranks, score, share, thousands,
};

/// "2026-11-20 14:03 UTC" from RFC 3339 in UTC; another text stays as it is.
pub(crate) fn minute(rfc3339: &str) -> String {
    match (rfc3339.get(..10), rfc3339.get(10..11), rfc3339.get(11..16)) {
        (Some(day), Some("T"), Some(time)) => format!("{day} {time} UTC"),
        _ => rfc3339.to_owned(),
    }
}

/// "2026-11-20".
pub(crate) fn day(rfc3339: &str) -> String {
    rfc3339.get(..10).unwrap_or(rfc3339).to_owned()
}

/// "95 % interval 0.51 to 0.70": screen readers skip brackets.
pub(crate) fn interval_in_words(interval: Interval, places: usize) -> String {
    range_in_words(interval, |end| decimals(end, places))
}

/// "95 % interval $0.40 to $0.60".
pub(crate) fn range_in_words(interval: Interval, show: impl Fn(f64) -> String) -> String {
    let [low, high] = [interval.low, interval.high].map(show);
    format!("95\u{a0}% interval {low} to {high}")
}

/// "[$0.40, $0.60]".
pub(crate) fn range(interval: Interval, show: impl Fn(f64) -> String) -> String {
    let [low, high] = [interval.low, interval.high].map(show);
    format!("[{low}, {high}]")
}

/// "0.4 s", "12 s", "3 min 20 s", "2 h 5 min".
pub(crate) fn seconds(value: f64) -> String {
    if value < 9.95 {
        return format!("{value:.1} s");
    }
    let whole = value.round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, 0) => format!("{m} min"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, 0, _) => format!("{h} h"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// "7.5 s", "54 s", "8.2 min", "1.5 h": for a narrow column.
pub(crate) fn brief(value: f64) -> String {
    match value {
        ..9.95 => format!("{value:.1} s"),
        ..59.5 => format!("{value:.0} s"),
        ..3_570.0 => format!("{:.1} min", value / 60.0),
        _ => format!("{:.1} h", value / 3_600.0),
    }
}

/// "40 s", "18 min", "2 h 5 min", "31 h": as precise as an estimate.
pub(crate) fn roughly(estimate: f64) -> String {
    let step = match estimate {
        ..60.0 => 10.0,
        60.0..3_600.0 => 60.0,
        3_600.0..36_000.0 => 300.0,
        _ => 3_600.0,
    };
    seconds(((estimate / step).round() * step).max(10.0))
}

/// "123", "45 k", "1.9 M".
pub(crate) fn compact(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..999_500 => format!("{:.0} k", count as f64 / 1e3),
        999_500..99_950_000 => format!("{:.1} M", count as f64 / 1e6),
        _ => format!("{:.0} M", count as f64 / 1e6),
    }
}

/// "412 days", "1 day", "5.8 years".
pub(crate) fn span(days: f64) -> String {
    if days >= 730.0 {
        format!("{:.1} years", days / 365.25)
    } else {
        count(days.round() as u32, "day")
    }
}

/// "$12.30", "$0.0042", "$1 234" from millionths of a US dollar: cents where
/// they are precise enough, whole dollars for large amounts.
pub(crate) fn dollars(micro_usd: u64) -> String {
    match micro_usd {
        0 => "$0".to_owned(),
        1..50 => "< $0.0001".to_owned(),
        50..99_950 => format!("${:.4}", micro_usd as f64 / 1e6),
        99_950..999_995_000 => format!("${:.2}", micro_usd as f64 / 1e6),
        _ => {
            let whole = micro_usd.saturating_add(500_000) / 1_000_000;
            format!("${}", thousands(whole))
        }
    }
}

/// "$25" and "$0.50": an amount that somebody typed.
pub(crate) fn usd(amount: f64) -> String {
    let text = dollars((amount * 1e6).round() as u64);
    text.strip_suffix(".00").unwrap_or(&text).to_owned()
}

/// "1 test", "20 tests".
pub(crate) fn count(n: impl TryInto<u32>, noun: &str) -> String {
    swe_ci_views::format::count(n.try_into().unwrap_or(u32::MAX), noun)
}

/// "93 %"
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0}\u{a0}%", share * 100.0)
}

/// "2 retries"; none for none.
pub(crate) fn retries(n: u64) -> Option<String> {
    match n {
        0 => None,
        1 => Some("1 retry".to_owned()),
        n => Some(format!("{} retries", thousands(n))),
    }
}

/// "1 repository", "18 repositories".
pub(crate) fn repositories(n: usize) -> String {
    match n {
        1 => "1 repository".to_owned(),
        n => format!("{} repositories", thousands(n as u64)),
    }
}

/// "+0.120", "0.000", "−0.120": the sign shows the direction without colour.
pub(crate) fn signed(value: f64, places: usize) -> String {
    let text = decimals(value, places);
    let is_zero = text.bytes().all(|b| matches!(b, b'0' | b'.'));
    match value > 0.0 && !is_zero {
        true => format!("+{text}"),
        false => text,
    }
}

/// "+12 −3": lines added and deleted.
pub(crate) fn added_deleted(added: u32, deleted: u32) -> String {
    format!("+{} \u{2212}{}", thousands(added), thousands(deleted))
}

/// "3", "2.5": one decimal, only where it is needed.
pub(crate) fn few(value: f64) -> String {
    let text = decimals(value, 1);
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// "a, b", or the first eight "and 42 more".
pub(crate) fn names(names: &[String]) -> String {
    const LISTED: usize = 8;
    let (listed, rest) = names.split_at(names.len().min(LISTED));
    match rest.len() {
        0 => listed.join(", "),
        n => format!("{} and {n} more", listed.join(", ")),
    }
}

/// A dash where nothing is known.
pub(crate) fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
}

/// The text with its first letter in upper case.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// The first characters of a digest or commit.
pub(crate) fn short(digest: &str) -> String {
    let hex = digest.strip_prefix("sha256:").unwrap_or(digest);
    hex.chars().take(10).collect()
}

/// Escapes a text for HTML that is written as text, between tags and in
/// attributes. Tables of thousands of cells are: as parts of a view, each cell
/// would be built one by one.
pub(crate) fn escape(text: &str) -> String {
    html_escape::encode_quoted_attribute(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let check = |text, expect| assert_eq!(minute(text), expect);
        check("2026-11-20T14:03:59Z", "2026-11-20 14:03 UTC");
        check("2026-11-20T14:03:59.123+00:00", "2026-11-20 14:03 UTC");
        check("", "");
        check("yesterday", "yesterday");
        check("äääääääää", "äääääääää");
        assert_eq!(day("2026-11-20T14:03:59Z"), "2026-11-20");
    }

    #[test]
    fn intervals() {
        let check = |low, high, places, expect: &str| {
            let interval = Interval { low, high };
            assert_eq!(interval_in_words(interval, places), expect);
        };
        check(0.514, 0.7, 2, "95\u{a0}% interval 0.51 to 0.70");
        check(-0.2, -0.001, 2, "95\u{a0}% interval \u{2212}0.20 to 0.00");
        check(9.75, 12.0, 1, "95\u{a0}% interval 9.8 to 12.0");
    }

    #[test]
    fn intervals_with_units() {
        let interval = Interval {
            low: 0.4,
            high: 12.0,
        };
        assert_eq!(range(interval, usd), "[$0.40, $12]");
        let words = range_in_words(interval, usd);
        assert_eq!(words, "95\u{a0}% interval $0.40 to $12");
    }

    #[test]
    fn lengths_of_time() {
        let check = |value, expect: &str| assert_eq!(seconds(value), expect);
        check(0.04, "0.0 s");
        check(0.74, "0.7 s");
        check(12.4, "12 s");
        check(200.0, "3 min 20 s");
        check(240.0, "4 min");
        check(7500.0, "2 h 5 min");
        let check = |value, expect: &str| assert_eq!(brief(value), expect);
        check(7.46, "7.5 s");
        check(54.5, "54 s");
        check(60.5, "1.0 min");
        check(3_569.0, "59.5 min");
        check(5_400.0, "1.5 h");
        assert_eq!(span(1.0), "1 day");
        assert_eq!(span(412.3), "412 days");
        assert_eq!(span(2119.0), "5.8 years");
    }

    #[test]
    fn estimates_are_rounded() {
        let check = |value, expect: &str| assert_eq!(roughly(value), expect);
        check(0.4, "10 s");
        check(37.0, "40 s");
        check(1_092.0, "18 min");
        check(7_400.0, "2 h 5 min");
        check(112_000.0, "31 h");
    }

    #[test]
    fn many_names_are_counted() {
        let all = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
        assert_eq!(names(&all(2)), "0, 1");
        assert_eq!(names(&all(8)), "0, 1, 2, 3, 4, 5, 6, 7");
        assert_eq!(names(&all(10)), "0, 1, 2, 3, 4, 5, 6, 7 and 2 more");
    }

    #[test]
    fn large_counts_in_few_digits() {
        let check = |count, expect: &str| assert_eq!(compact(count), expect);
        check(0, "0");
        check(999, "999");
        check(1_499, "1 k");
        check(999_499, "999 k");
        check(999_500, "1.0 M");
        check(1_900_000, "1.9 M");
        check(123_456_789, "123 M");
    }

    #[test]
    fn money() {
        let check = |micro_usd, expect: &str| assert_eq!(dollars(micro_usd), expect);
        check(0, "$0");
        check(49, "< $0.0001");
        check(50, "$0.0001");
        check(4_200, "$0.0042");
        check(99_949, "$0.0999");
        check(99_950, "$0.10");
        check(12_300_000, "$12.30");
        check(999_994_999, "$999.99");
        check(999_995_000, "$1000");
        check(12_345_678_000, "$12\u{202f}346");
        let check = |amount, expect: &str| assert_eq!(usd(amount), expect);
        check(25.0, "$25");
        check(0.5, "$0.50");
        check(0.0075, "$0.0075");
        check(1e4, "$10\u{202f}000");
    }

    #[test]
    fn digests_are_cut_short() {
        assert_eq!(short("sha256:0123456789abcdef"), "0123456789");
    }

    #[test]
    fn what_others_wrote_stays_text() {
        let check = |text, expect| assert_eq!(escape(text), expect);
        check("plain ä", "plain ä");
        check(
            "<a href=\"x\" title='y'>&amp;",
            "&lt;a href=&quot;x&quot; title=&#x27;y&#x27;&gt;&amp;amp;",
        );
    }
}
