//! Numbers as figures and pages write them: pure functions, so that server and
//! browser write the same characters.

use crate::Gamma;
use crate::uncertainty::{Interval, RankInterval};

/// "1.07".
pub fn gamma(gamma: Gamma) -> String {
    format!("{:.2}", gamma.get())
}

/// Three decimals, a true minus sign, and no minus before zero.
pub fn score(value: f64) -> String {
    decimals(value, 3)
}

/// A share from 0 to 1, two decimals.
pub fn share(value: f64) -> String {
    decimals(value, 2)
}

pub fn decimals(value: f64, places: usize) -> String {
    let digits = format!("{:.places$}", value.abs());
    let is_zero = digits.bytes().all(|b| matches!(b, b'0' | b'.'));
    if value < 0.0 && !is_zero {
        format!("\u{2212}{digits}")
    } else {
        digits
    }
}

/// "[0.51, 0.70]".
pub fn interval(Interval { low, high }: Interval, places: usize) -> String {
    format!("[{}, {}]", decimals(low, places), decimals(high, places))
}

/// "2–4", or "2" where no other rank is possible.
pub fn ranks(RankInterval { best, worst }: RankInterval) -> String {
    if best == worst {
        best.to_string()
    } else {
        format!("{best}–{worst}")
    }
}

/// "1 task", "4 tasks".
pub fn count(n: u32, noun: &str) -> String {
    if n == 1 {
        format!("1 {noun}")
    } else {
        format!("{} {noun}s", thousands(n))
    }
}

/// "1 150": digits in groups of three, a thin space between.
pub fn thousands(n: impl Into<u64>) -> String {
    let digits = n.into().to_string();
    let mut text = String::with_capacity(digits.len() + 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) && digits.len() > 4 {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// At most `most` characters, with an ellipsis if it was cut.
pub fn clip(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let start: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", start.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let check = |value, expect: &str| assert_eq!(score(value), expect);
        check(0.0, "0.000");
        check(-0.0, "0.000");
        check(-0.0004, "0.000");
        check(-0.1333, "\u{2212}0.133");
        check(1.0, "1.000");
        assert_eq!(share(0.625), "0.62");
        assert_eq!(thousands(999u32), "999");
        assert_eq!(thousands(1150u32), "1150");
        assert_eq!(thousands(1_234_567u64), "1\u{202f}234\u{202f}567");
    }

    #[test]
    fn intervals() {
        let check = |low, high, places, expect: &str| {
            assert_eq!(interval(Interval { low, high }, places), expect);
        };
        check(0.514, 0.7, 2, "[0.51, 0.70]");
        check(-0.2, -0.001, 2, "[\u{2212}0.20, 0.00]");
        check(9.75, 12.0, 1, "[9.8, 12.0]");
        assert_eq!(ranks(RankInterval { best: 2, worst: 4 }), "2–4");
        assert_eq!(ranks(RankInterval { best: 1, worst: 1 }), "1");
    }

    #[test]
    fn long_names_are_clipped_between_characters() {
        assert_eq!(clip("Müller", 6), "Müller");
        assert_eq!(clip("a model with a long name", 9), "a model…");
    }
}
