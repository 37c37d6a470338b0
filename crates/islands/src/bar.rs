//! Where a score is on the bar of a row, the same on the server and while γ moves.

/// The start and length of a bar between two scores, in percent of the scale,
/// which goes from `floor` (−1 to 0) to 1.
pub fn span(from: f64, to: f64, floor: f64) -> (String, String) {
    let (a, b) = (place(from, floor), place(to, floor));
    (percent(a.min(b)), percent((a - b).abs()))
}

/// The position of a score on the scale, 0 to 1.
pub fn place(score: f64, floor: f64) -> f64 {
    (score.clamp(floor, 1.0) - floor) / (1.0 - floor)
}

pub fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_grow_from_zero_in_both_directions() {
        let check = |value, floor, x: &str, width: &str| {
            assert_eq!(span(0.0, value, floor), (x.to_owned(), width.to_owned()));
        };
        check(0.5, 0.0, "0.00%", "50.00%");
        check(0.5, -1.0, "50.00%", "25.00%");
        check(-0.5, -1.0, "25.00%", "25.00%");
        check(0.5, -0.25, "20.00%", "40.00%");
        check(-0.5, 0.0, "0.00%", "0.00%");
        check(7.0, 0.0, "0.00%", "100.00%");
    }
}
