//! Ranges of stars, into which a search is divided.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A range of stars, inclusive at both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stars {
    pub from: u64,
    /// None for an open range.
    pub to: Option<u64>,
}

/// No repository has this many; open ranges from here on are not divided.
const MAX_STARS: u64 = 1 << 30;

impl Stars {
    pub(super) fn above(stars: u64) -> Self {
        Self {
            from: stars.saturating_add(1),
            to: None,
        }
    }

    /// The lower and the upper part; None if the range cannot be divided. PathSample
    /// repositories have many stars, so the split is logarithmic.
    pub(super) fn split(self) -> Option<(Self, Self)> {
        let middle = match self.to {
            Some(to) if self.from >= to => return None,
            None if self.from >= MAX_STARS => return None,
            Some(to) => geometric_mean(self.from, to).clamp(self.from, to - 1),
            None => self.from.max(1) * 2,
        };
        let lower = Self {
            from: self.from,
            to: Some(middle),
        };
        let upper = Self {
            from: middle + 1,
            to: self.to,
        };
        Some((lower, upper))
    }
}

fn geometric_mean(a: u64, b: u64) -> u64 {
    // Both are below `MAX_STARS`, so the product does not overflow.
    a.saturating_mul(b).isqrt()
}

/// In the syntax of GitHub's search.
impl fmt::Display for Stars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to {
            Some(to) => write!(f, "{}..{to}", self.from),
            None => write!(f, ">={}", self.from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_divided_without_a_gap() {
        let check = |from: u64, to: Option<u64>, expect: Option<(&str, &str)>| {
            let parts = Stars { from, to }.split();
            let parts = parts.map(|(lower, upper)| (lower.to_string(), upper.to_string()));
            let parts = parts.as_ref().map(|(a, b)| (a.as_str(), b.as_str()));
            assert_eq!(parts, expect, "{from} {to:?}");
        };
        check(501, None, Some(("501..1002", ">=1003")));
        check(0, None, Some(("0..2", ">=3")));
        check(100, Some(10_000), Some(("100..1000", "1001..10000")));
        check(0, Some(9), Some(("0..0", "1..9")));
        check(7, Some(8), Some(("7..7", "8..8")));
        check(7, Some(7), None);
        check(MAX_STARS, None, None);
        check(u64::MAX, None, None);
    }

    #[test]
    fn dividing_comes_to_an_end() {
        let mut parts = vec![Stars::above(900)];
        let mut single = 0;
        while let Some(part) = parts.pop() {
            match part.split() {
                // Only ranges below 2000 are followed.
                Some((lower, upper)) => {
                    parts.extend([lower, upper].into_iter().filter(|part| part.from < 2_000));
                }
                None => single += 1,
            }
        }
        assert!(single >= 2_000 - 901, "{single}");
    }
}
