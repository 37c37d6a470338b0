//! How long slots take for evolutions of known durations.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

/// The time that a run takes on so many slots, and how it is used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    pub slots: usize,
    /// From the first claim to the end of the last evolution.
    pub seconds: f64,
    /// The share of the slots' time in which they work, 0 to 1.
    pub busy: f64,
    /// From the last claim to the end: slots run empty in it.
    pub tail_seconds: f64,
}

impl Schedule {
    /// Each slot takes the longest evolution that is left, as workers do.
    /// Durations are in seconds and not negative; there is at least one slot.
    pub fn of(durations: &[f64], slots: usize) -> Self {
        let slots = slots.max(1);
        let mut longest_first = durations.to_vec();
        longest_first.sort_by(|a, b| b.total_cmp(a));
        // When each slot becomes free, the earliest on top.
        let mut free: BinaryHeap<Reverse<Moment>> =
            (0..slots).map(|_| Reverse(Moment(0.0))).collect();
        let (mut last_claim, mut end) = (0.0, 0.0_f64);
        for seconds in longest_first {
            let Some(Reverse(Moment(claimed))) = free.pop() else {
                continue;
            };
            last_claim = claimed;
            end = end.max(claimed + seconds);
            free.push(Reverse(Moment(claimed + seconds)));
        }
        let work: f64 = durations.iter().sum();
        let offered = end * slots as f64;
        Self {
            slots,
            seconds: end,
            busy: if offered > 0.0 { work / offered } else { 0.0 },
            tail_seconds: end - last_claim,
        }
    }
}

/// Seconds, in their order.
#[derive(Debug, Clone, Copy)]
struct Moment(f64);

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Moment {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Moment {}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(durations: &[f64], slots: usize, seconds: f64, busy: f64, tail: f64) {
        let schedule = Schedule::of(durations, slots);
        let actual = [schedule.seconds, schedule.busy, schedule.tail_seconds];
        assert_eq!(actual, [seconds, busy, tail], "{durations:?} on {slots}");
    }

    #[test]
    fn worked_out_by_hand() {
        check(&[], 4, 0.0, 0.0, 0.0);
        check(&[10.0], 1, 10.0, 1.0, 10.0);
        // More slots than evolutions: the longest decides.
        check(&[10.0, 30.0], 4, 30.0, 40.0 / 120.0, 30.0);
        // 8 and 6 begin; 4 follows the 6, and at second 8 the 2 follows the 8.
        check(&[2.0, 4.0, 6.0, 8.0], 2, 10.0, 1.0, 2.0);
        check(&[5.0, 5.0, 5.0], 2, 10.0, 0.75, 5.0);
        // No slot is one slot.
        check(&[1.0, 1.0], 0, 2.0, 1.0, 1.0);
    }

    /// It takes at least what the slots' mean work and the longest evolution do,
    /// and at most both together (Graham 1966).
    #[test]
    fn between_its_bounds() {
        let mut state = 7_u64;
        let mut next = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % 1000
        };
        for _ in 0..500 {
            let count = 1 + next() % 60;
            let durations: Vec<f64> = (0..count).map(|_| (1 + next()) as f64).collect();
            let slots = 1 + usize::try_from(next() % 12).unwrap();
            let Schedule { seconds, busy, .. } = Schedule::of(&durations, slots);
            let work: f64 = durations.iter().sum();
            let longest = durations.iter().copied().fold(0.0, f64::max);
            let bound = (work / slots as f64).max(longest);
            assert!(seconds >= bound - 1e-9);
            assert!(seconds <= work / slots as f64 + longest);
            assert!(busy > 0.0 && busy <= 1.0 + 1e-12);
        }
    }
}
