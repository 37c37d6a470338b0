//! Dates of the calendar as text.

/// Whether a text is a day of the calendar, `YYYY-MM-DD`.
pub fn is_day(text: &str) -> bool {
    let number = |range: std::ops::Range<usize>| {
        let digits = text.get(range)?;
        let plain = digits.bytes().all(|b| b.is_ascii_digit());
        plain.then(|| digits.parse::<u32>().ok())?
    };
    let dashes = text.len() == 10 && text.get(4..5) == Some("-") && text.get(7..8) == Some("-");
    let (Some(year), Some(month), Some(day)) = (number(0..4), number(5..7), number(8..10)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    dashes && (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_the_calendar() {
        for good in ["2026-11-20", "2024-02-29", "2000-02-29", "0001-01-01"] {
            assert!(is_day(good), "{good}");
        }
        for bad in [
            "",
            "2026-11-31",
            "1900-02-29",
            "2026-13-01",
            "2026-00-10",
            "26-1-1",
            "2026-1-01x",
            "2026/11/20",
            "２026-11-20",
            "+026-11-20",
        ] {
            assert!(!is_day(bad), "{bad}");
        }
    }
}
