use super::{Interval, NORMAL_975};

/// The 95 % interval of a share of `number` independent answers (Wilson's score
/// interval): narrower than 0 to 1 even if all of a few are alike.
pub fn wilson(share: f64, number: f64) -> Interval {
    let z = NORMAL_975 * NORMAL_975 / number;
    let middle = share + z / 2.0;
    let half = NORMAL_975 * (share * (1.0 - share) / number + z / number / 4.0).sqrt();
    Interval {
        low: ((middle - half) / (1.0 + z)).clamp(0.0, 1.0),
        high: ((middle + half) / (1.0 + z)).clamp(0.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As in the tables of Newcombe (1998), method 3.
    #[test]
    fn as_published() {
        let check = |share: u32, number: u32, low: f64, high: f64| {
            let Interval { low: a, high: b } =
                wilson(f64::from(share) / f64::from(number), f64::from(number));
            assert!((a - low).abs() < 1e-4 && (b - high).abs() < 1e-4, "{a} {b}");
        };
        check(81, 263, 0.2553, 0.3662);
        check(15, 148, 0.0624, 0.1605);
        check(0, 20, 0.0, 0.1611);
        check(29, 29, 0.8830, 1.0);
    }
}
