//! Estimates the remaining time of a run from its finished evolutions.

/// The minimum remaining time of an evolution, as a share of the mean of the
/// finished ones; it applies to evolutions that take longer than that mean.
const OVERDUE: f64 = 0.1;

/// Seconds of work so far in the evolutions of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pace {
    /// Of each finished evolution.
    pub over: Vec<f64>,
    /// Of each current evolution.
    pub at_work: Vec<f64>,
    /// Of each queued evolution, before its release; 0 if not started.
    pub waiting: Vec<f64>,
}

impl Pace {
    /// Seconds until the run is over, if the other evolutions take as long as
    /// the finished ones and the concurrency stays the same. Absent while no
    /// evolution is finished, or none is at work.
    pub fn remaining(&self) -> Option<f64> {
        if self.over.is_empty() || self.at_work.is_empty() {
            return None;
        }
        let mean = self.over.iter().sum::<f64>() / self.over.len() as f64;
        let left = |elapsed: &f64| (mean - elapsed).max(mean * OVERDUE);
        let work: f64 = self.at_work.iter().chain(&self.waiting).map(left).sum();
        // The longest evolution is a lower bound: its steps are serial.
        let longest = self.at_work.iter().map(left).fold(0.0, f64::max);
        Some((work / self.at_work.len() as f64).max(longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_time() {
        let check = |over: &[f64], at_work: &[f64], waiting: &[f64], expect: Option<f64>| {
            let pace = Pace {
                over: over.to_vec(),
                at_work: at_work.to_vec(),
                waiting: waiting.to_vec(),
            };
            let actual = pace.remaining();
            let close = match (actual, expect) {
                (Some(actual), Some(expect)) => (actual - expect).abs() < 1e-9,
                (actual, expect) => actual == expect,
            };
            assert!(close, "{pace:?} {actual:?}");
        };
        // No finished evolution; no current one.
        check(&[], &[5.0], &[0.0], None);
        check(&[10.0], &[], &[0.0], None);
        // Two at a time, four to go.
        check(&[80.0, 120.0], &[0.0, 0.0], &[0.0, 0.0], Some(200.0));
        check(&[100.0], &[40.0], &[], Some(60.0));
        // A released evolution has done part of its work.
        check(&[100.0], &[0.0], &[75.0], Some(125.0));
        // An overdue evolution counts with the minimum.
        check(&[100.0], &[500.0], &[], Some(10.0));
        // The slowest evolution is the lower bound.
        check(&[100.0], &[90.0, 0.0], &[], Some(100.0));
        check(&[0.0], &[0.0], &[], Some(0.0));
    }
}
