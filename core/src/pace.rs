//! How long a run will still take, from the pace of what is done of it.

/// Of what the evolutions took that are over, the part a step of one may still
/// take that has taken longer than all of those.
const OVERDUE: f64 = 0.1;

/// Seconds of work in the evolutions of a run, as far as they are begun.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pace {
    /// Of each that is over.
    pub over: Vec<f64>,
    /// Of each that is at work, until now.
    pub at_work: Vec<f64>,
    /// Of each that waits, until it was put down; 0 for one not begun.
    pub waiting: Vec<f64>,
}

impl Pace {
    /// Seconds until the run is over, if the rest goes on as those did that are
    /// over, with as many at the same time as now. Absent while nothing is over,
    /// or nothing is at work.
    #[must_use]
    pub fn remaining(&self) -> Option<f64> {
        if self.over.is_empty() || self.at_work.is_empty() {
            return None;
        }
        let one = self.over.iter().sum::<f64>() / self.over.len() as f64;
        let left = |taken: &f64| (one - taken).max(one * OVERDUE);
        let work: f64 = self.at_work.iter().chain(&self.waiting).map(left).sum();
        // No chain of serial steps is shorter than its longest part.
        let longest = self.at_work.iter().map(left).fold(0.0, f64::max);
        Some((work / self.at_work.len() as f64).max(longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_remains() {
        let check = |over: &[f64], at_work: &[f64], waiting: &[f64], expect: Option<f64>| {
            let pace = Pace {
                over: over.to_vec(),
                at_work: at_work.to_vec(),
                waiting: waiting.to_vec(),
            };
            let found = pace.remaining();
            let close = match (found, expect) {
                (Some(found), Some(expect)) => (found - expect).abs() < 1e-9,
                (found, expect) => found == expect,
            };
            assert!(close, "{pace:?} {found:?}");
        };
        // Nothing to go by; nothing that goes on.
        check(&[], &[5.0], &[0.0], None);
        check(&[10.0], &[], &[0.0], None);
        // Two at a time, four to go.
        check(&[80.0, 120.0], &[0.0, 0.0], &[0.0, 0.0], Some(200.0));
        check(&[100.0], &[40.0], &[], Some(60.0));
        // What was put down has a part behind it.
        check(&[100.0], &[0.0], &[75.0], Some(125.0));
        // One that takes longer than others is soon over, as far as one knows.
        check(&[100.0], &[500.0], &[], Some(10.0));
        // The slowest sets the floor.
        check(&[100.0], &[90.0, 0.0], &[], Some(100.0));
        check(&[0.0], &[0.0], &[], Some(0.0));
    }
}
